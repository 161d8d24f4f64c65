#include "springtime/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "backends/simd/simd.h"
#include "cloths.h"
#include "sim/stepper.h"
#include "springtime/error.h"
#include "stubborn.h"

namespace springtime {

namespace {

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

Cloth small_cloth()
{
    return make_grid_cloth({1.4, 1.0, 2.0}, {6, 8, true, true, true, true},
                           MaterialField::uniform(20), MaterialField::uniform(0.2));
}

GenerateOptions small_options()
{
    GenerateOptions options;
    options.rollouts = 37;  // neither a multiple of any width nor of any number of threads
    options.seconds = 0.2;
    options.dt = 2e-3;
    options.stride = 10;
    options.anchor_size = 2;
    options.threads = 1;
    return options;
}

// FNV-1a over the bits of all that was stored.
class Hash {
  public:
    void add(const std::vector<float>& values)
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(float); ++i)
            value_ = (value_ ^ bytes[i]) * 0x100000001b3ull;
    }
    void add(const Rollout& rollout)
    {
        add(rollout.position);
        add(rollout.velocity);
        add(rollout.acceleration);
        add(std::vector<float>(rollout.handles.particles.begin(), rollout.handles.particles.end()));
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

struct Made {
    std::vector<int> order;
    std::vector<Rollout> rollouts;
    bool finished = false;

    std::uint64_t hash() const
    {
        Hash all;
        for (const Rollout& rollout : rollouts) all.add(rollout);
        return all.value();
    }
};

Made make(const Cloth& cloth, const GenerateOptions& options, int first = 0,
          const Progress& progress = {})
{
    Made made;
    try {
        generate(
            cloth, options, first,
            [&](int index, const Rollout& rollout) {
                made.order.push_back(index);
                made.rollouts.push_back(rollout);
            },
            progress);
        made.finished = true;
    } catch (const Cancelled&) {
    }
    return made;
}

Vec3d vector_at(const std::vector<float>& values, std::size_t frame, std::size_t particle,
                std::size_t count)
{
    const float* v = &values[3 * (frame * count + particle)];
    return {v[0], v[1], v[2]};
}

std::string message(const Cloth& cloth, const GenerateOptions& options)
{
    try {
        make(cloth, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// ---- Starts ----

TEST(RandomStart, DependsOnSeedAndIndexAlone)
{
    const Cloth cloth = small_cloth();
    GenerateOptions options = small_options(), other = options;
    other.rollouts = 999;
    other.threads = 3;
    other.seconds = 7;
    other.stride = 1;
    other.device = Device::reference;
    const RolloutStart a = random_start(cloth, options, 5), b = random_start(cloth, other, 5);
    EXPECT_EQ(largest_distance(a.state.position, b.state.position), 0);
    EXPECT_EQ(a.handles.particles, b.handles.particles);
    EXPECT_EQ(largest_length(a.state.velocity), 0);
    // Another index or another seed turns it otherwise: by chance within a millimetre once in 1e8.
    const RolloutStart next = random_start(cloth, options, 6);
    EXPECT_GT(largest_distance(a.state.position, next.state.position), 1e-3);
    options.seed = 2;
    const RolloutStart seeded = random_start(cloth, options, 5);
    EXPECT_GT(largest_distance(a.state.position, seeded.state.position), 1e-3);
}

TEST(RandomStart, KeepsAllDistances)
{
    const Cloth cloth = small_cloth();
    for (int index = 0; index < 10; ++index) {
        const State state = random_start(cloth, small_options(), index).state;
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            for (std::size_t q = 0; q < p; ++q) {
                const double flat = std::hypot(cloth.rest[p].u - cloth.rest[q].u,
                                               cloth.rest[p].v - cloth.rest[q].v);
                const double turned = length(state.position[p] - state.position[q]);
                EXPECT_NEAR(turned, flat, 1e-14);  // some ten roundings of numbers below 2
            }
        }
    }
}

TEST(RandomStart, RotationsAreUniform)
{
    // A uniform direction n has E n_i = 0 with variance 1/3, and E n_i^2 = 1/3 with variance
    // 1/5 - 1/9 = 4/45. Over N draws means vary by sqrt(variance / N). Twelve means are held to
    // four of those: by chance one in 1300 seeds would fail.
    const Cloth cloth = small_cloth();
    const GenerateOptions options = small_options();
    const int N = 4000;
    Vec3d normal_mean{}, edge_mean{}, normal_square{}, edge_square{};
    for (int i = 0; i < N; ++i) {
        const auto x = random_start(cloth, options, i).state.position;
        const Vec3d u = (1 / cloth.sheet.length) * (x[7] - x[0]);
        const Vec3d v = (1 / cloth.sheet.width) * (x[40] - x[0]);
        const Vec3d n = cross(u, v);
        normal_mean += (1.0 / N) * n;
        edge_mean += (1.0 / N) * u;
        normal_square += (1.0 / N) * Vec3d{n.x * n.x, n.y * n.y, n.z * n.z};
        edge_square += (1.0 / N) * Vec3d{u.x * u.x, u.y * u.y, u.z * u.z};
    }
    for (int axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(normal_mean[axis], 0, 4 * std::sqrt(1.0 / 3 / N));
        EXPECT_NEAR(edge_mean[axis], 0, 4 * std::sqrt(1.0 / 3 / N));
        EXPECT_NEAR(normal_square[axis], 1.0 / 3, 4 * std::sqrt(4.0 / 45 / N));
        EXPECT_NEAR(edge_square[axis], 1.0 / 3, 4 * std::sqrt(4.0 / 45 / N));
    }
}

TEST(RandomStart, AnchorsAreSquaresThatDoNotOverlap)
{
    const Cloth cloth = small_cloth();
    GenerateOptions options = small_options();
    for (const auto& [count, size] : {std::pair{0, 2}, {1, 6}, {2, 3}, {5, 2}, {9, 1}}) {
        options.anchors = count;
        options.anchor_size = size;
        for (int index = 0; index < 50; ++index) {
            const Handles handles = random_start(cloth, options, index).handles;
            EXPECT_FALSE(handles.moving());
            std::set<int> left(handles.particles.begin(), handles.particles.end());
            ASSERT_EQ(left.size(), std::size_t(count * size * size));  // none is there twice
            ASSERT_EQ(left.size(), handles.particles.size());
            // The lowest number is a corner of a square. Squares that touch can be told apart in
            // this order too: all that is left above and to the left has been taken.
            while (!left.empty()) {
                const int corner = *left.begin();
                ASSERT_LE(corner % 8 + size, 8);  // it does not go around the edge
                for (int i = 0; i < size * size; ++i)
                    ASSERT_EQ(left.erase(corner + i / size * 8 + i % size), 1u);
            }
        }
    }
}

TEST(RandomStart, AnchorsReachEveryPlace)
{
    // 35 places for a square of 2 x 2: each is missed by 1000 draws with (34/35)^1000 = 3e-13.
    const Cloth cloth = small_cloth();
    GenerateOptions options = small_options();
    options.anchors = 1;
    std::set<int> corners;
    for (int index = 0; index < 1000; ++index)
        corners.insert(random_start(cloth, options, index).handles.particles.front());
    EXPECT_EQ(corners.size(), 35u);
}

// Grids of one sheet; every particle of a coarse one is a particle of the finer ones.
Cloth nested_grid(int points)
{
    return make_grid_cloth({15.5, 15.5, 30}, {points, points, true, false, false, false},
                           MaterialField::uniform(20), MaterialField::uniform(0.2));
}

TEST(RandomStart, DiscsAreTheSameAtEveryResolution)
{
    // 16, 31 and 61 points a side: one in two of each finer grid. A radius of 1 m is below the
    // 1.033 m between points of the coarsest, yet above half the diagonal of a cell, 0.731 m, so
    // every disc holds a particle of each.
    GenerateOptions options;
    options.anchor_radius = 1;
    const Cloth fine = nested_grid(61);
    for (int index = 0; index < 30; ++index) {
        const RolloutStart finest = random_start(fine, options, index);
        const std::set<int> held(finest.handles.particles.begin(), finest.handles.particles.end());
        for (const auto& [points, step] : {std::pair{31, 2}, {16, 4}}) {
            const RolloutStart start = random_start(nested_grid(points), options, index);
            std::vector<int> expected;
            for (int p = 0; p < points * points; ++p) {
                const int same = step * (p / points) * 61 + step * (p % points);
                if (held.count(same) > 0) expected.push_back(p);
                // 15.5 c / (n - 1) may round otherwise by an ulp of 15.5 m.
                EXPECT_NEAR(length(start.state.position[p] - finest.state.position[same]), 0,
                            1e-14);
            }
            EXPECT_EQ(start.handles.particles, expected) << points << " points, rollout " << index;
        }
    }
}

TEST(RandomStart, DiscsAreRoundAndDoNotOverlap)
{
    // Discs that do not reach over the edge of the sheet hold its points by area, n pi r^2 / h^2 of
    // them for n discs: fewer if they overlapped. The number of points in a circle of r = 7.7 h
    // differs from its area, 188 h^2, by up to 3.3 (seen). One disc is 2 r across, no more.
    const Cloth cloth = nested_grid(61);
    const double h = 15.5 / 60, r = 2;
    for (const int anchors : {1, 2, 3}) {
        GenerateOptions options;
        options.anchors = anchors;
        options.anchor_radius = r;
        int inner = 0;
        for (int index = 0; index < 60; ++index) {
            const Handles handles = random_start(cloth, options, index).handles;
            double to_edge = 15.5, across = 0;
            for (const int p : handles.particles) {
                const auto [u, v] = cloth.rest[p];
                to_edge = std::min({to_edge, u, v, 15.5 - u, 15.5 - v});
                for (const int q : handles.particles) {
                    across = std::max(across, std::hypot(u - cloth.rest[q].u, v - cloth.rest[q].v));
                }
            }
            if (anchors == 1) {
                EXPECT_LE(across, 2 * r);
            }
            if (to_edge < h) continue;
            ++inner;
            EXPECT_NEAR(double(handles.particles.size()), anchors * M_PI * r * r / (h * h),
                        anchors * 6);
        }
        EXPECT_GT(inner, 2) << anchors << " anchors";
    }
}

TEST(RandomStart, DiscCentersAreUniform)
{
    // A tiny disc holds the nearest particle alone, so with one anchor the particle tells the
    // centre to half a cell. The mean of u is 15.5 / 2 with variance 15.5^2 / 12 (and rounding to
    // cells of h = 0.78 m adds h^2 / 6, half a percent); over N draws it is held to four standard
    // deviations.
    const Cloth cloth = nested_grid(21);
    GenerateOptions options;
    options.anchors = 1;
    options.anchor_radius = 1e-6;
    const int N = 1000;
    double u = 0, v = 0, uu = 0;
    for (int index = 0; index < N; ++index) {
        const Handles handles = random_start(cloth, options, index).handles;
        ASSERT_EQ(handles.particles.size(), 1u);
        const SheetPoint p = cloth.rest[handles.particles[0]];
        u += p.u / N;
        v += p.v / N;
        uu += (p.u - 7.75) * (p.u - 7.75) / N;
    }
    const double variance = 15.5 * 15.5 / 12;
    EXPECT_NEAR(u, 7.75, 4 * std::sqrt(variance / N));
    EXPECT_NEAR(v, 7.75, 4 * std::sqrt(variance / N));
    // A uniform number on [-1/2, 1/2] has a square of variance 1/80 - 1/144 = 1/180.
    EXPECT_NEAR(uu, variance, 4 * 15.5 * 15.5 * std::sqrt(1.0 / 180 / N));
}

TEST(RandomStart, DiscsNeedNoGridAndNoParticleInThem)
{
    // Three particles in a row and two discs that are too small to hold any: the nearest ones are
    // taken, each once.
    Cloth cloth = chain_cloth(3, 1, 0.1, 1, 0);
    GenerateOptions options;
    options.anchor_radius = 1e-3;
    std::set<std::vector<int>> seen;
    for (int index = 0; index < 200; ++index) {
        seen.insert(random_start(cloth, options, index).handles.particles);
    }
    // Any one (both discs near it) and any two of three; the rarest, both near one end, has a
    // chance of 1/16 each time, and is missed with (15/16)^200 = 2e-6.
    EXPECT_EQ(seen, (std::set<std::vector<int>>{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}));
}

// ---- Rollouts ----

TEST(Generate, KeepsEveryStrideStep)
{
    // Frame f is the state after f * stride steps, to the last bit of a float.
    const Cloth cloth = small_cloth();
    GenerateOptions options = small_options();
    options.rollouts = 2;
    options.device = Device::reference;
    const Made made = make(cloth, options);
    ASSERT_EQ(made.rollouts.size(), 2u);
    for (int index = 0; index < 2; ++index) {
        const Rollout& rollout = made.rollouts[index];
        ASSERT_EQ(rollout.frame_count, 11u);  // 0.2 s / (10 x 2 ms), and the start
        const RolloutStart start = random_start(cloth, options, index);
        EXPECT_EQ(rollout.handles.particles, start.handles.particles);
        Simulation simulation(cloth, start.state, start.handles,
                              {options.dt, options.environment, options.device});
        for (std::size_t frame = 0; frame < rollout.frame_count; ++frame) {
            if (frame > 0) {
                ASSERT_FALSE(simulation.advance(options.stride));
            }
            EXPECT_NEAR(simulation.state().time, double(frame) * 0.02, 1e-14);
            for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
                const Vec3d x = vector_at(rollout.position, frame, p, cloth.particle_count());
                const Vec3d v = vector_at(rollout.velocity, frame, p, cloth.particle_count());
                for (int axis = 0; axis < 3; ++axis) {
                    EXPECT_EQ(x[axis], float(simulation.state().position[p][axis]));
                    EXPECT_EQ(v[axis], float(simulation.state().velocity[p][axis]));
                }
            }
        }
    }
}

TEST(Generate, StoredAccelerationIsTheSecondDifference)
{
    // x_{n+1} - 2 x_n + x_{n-1} = h (v_{n+1} - v_n) = h^2 a_n exactly in this scheme. Floats below
    // 1 m and below 4 m/s are rounded by epsilon / 4 and by epsilon: that is all that may differ.
    const Cloth cloth = small_cloth();
    const std::size_t count = cloth.particle_count();
    GenerateOptions options = small_options();
    options.rollouts = 1;
    options.stride = 1;
    options.dt = 5e-3;
    options.device = Device::reference;
    const Rollout rollout = make(cloth, options).rollouts[0];
    const double h = options.dt;
    std::set<int> anchored(rollout.handles.particles.begin(), rollout.handles.particles.end());
    double largest = 0;
    for (std::size_t n = 1; n + 1 < rollout.frame_count; ++n) {
        for (std::size_t p = 0; p < count; ++p) {
            const auto x = [&](std::size_t f) { return vector_at(rollout.position, f, p, count); };
            const auto v = [&](std::size_t f) { return vector_at(rollout.velocity, f, p, count); };
            const Vec3d a = vector_at(rollout.acceleration, n, p, count);
            const Vec3d bend = (1 / (h * h)) * (x(n + 1) - 2.0 * x(n) + x(n - 1));
            const Vec3d change = (1 / h) * (v(n + 1) - v(n));
            for (int axis = 0; axis < 3; ++axis) {
                const double own = kFloatEpsilon * std::abs(a[axis]);
                EXPECT_NEAR(a[axis], bend[axis], kFloatEpsilon / (h * h) + own);
                EXPECT_NEAR(a[axis], change[axis], 2 * kFloatEpsilon / h + own);
                if (anchored.count(int(p))) {
                    EXPECT_EQ(a[axis], 0);
                }
            }
            largest = std::max(largest, length(a));
        }
    }
    EXPECT_GT(largest, 9);  // gravity alone is 9.81
}

TEST(Generate, ResultsArriveInOrder)
{
    GenerateOptions options = small_options();
    const Made made = make(small_cloth(), options);
    EXPECT_TRUE(made.finished);
    ASSERT_EQ(made.order.size(), 37u);
    for (int i = 0; i < 37; ++i) EXPECT_EQ(made.order[i], i);
}

TEST(Generate, CanGoOnWhereItStopped)
{
    // Other rollouts share the lanes then, but a lane's bits do not depend on its neighbours.
    const Cloth cloth = small_cloth();
    for (const Device device : {Device::reference, Device::cpu}) {
        GenerateOptions options = small_options();
        options.device = device;
        const Made whole = make(cloth, options);
        for (const int first : {1, 20, 36, 37}) {
            Made rest = make(cloth, options, first);
            EXPECT_TRUE(rest.finished);
            Made expected;
            expected.rollouts.assign(whole.rollouts.begin() + first, whole.rollouts.end());
            ASSERT_EQ(rest.rollouts.size(), std::size_t(37 - first));
            if (first < 37) {
                EXPECT_EQ(rest.order.front(), first);
            }
            EXPECT_EQ(rest.hash(), expected.hash()) << "from " << first;
        }
    }
}

TEST(Generate, HookStopsItAndEarlierRolloutsWereDelivered)
{
    // The reference runs one rollout at a time: at 2.5 of 37 two are done and a third is not.
    GenerateOptions options = small_options();
    options.device = Device::reference;
    double last = 0;
    const Made made = make(small_cloth(), options, 0, Progress([&](const ProgressUpdate& update) {
                               EXPECT_GT(update.done, last);
                               EXPECT_EQ(update.total, 37);
                               last = update.done;
                               return update.done < 2.5;
                           }));
    EXPECT_FALSE(made.finished);
    EXPECT_EQ(made.order, (std::vector<int>{0, 1}));
    EXPECT_NEAR(last, 2.5, 1.0 / 11);  // asked after each of 11 frames
    options.rollouts = 2;
    EXPECT_EQ(made.hash(), make(small_cloth(), options).hash());
}

TEST(Generate, ProgressEndsAtTheTotal)
{
    double last = 0;
    make(small_cloth(), small_options(), 0, Progress([&](const ProgressUpdate& update) {
             last = update.done;
             return true;
         }));
    EXPECT_NEAR(last, 37, 1e-9);
}

// A frame of 100,000 steps of 16 particles is one of several pieces.
TEST(Generate, LooksAtTheListenerWithinLongFrames)
{
    const Cloth cloth = uneven_grid({4, 4, true, true, true, true});
    GenerateOptions options;
    options.rollouts = 1;
    options.stride = 300000;
    options.dt = 1e-3;
    options.seconds = options.stride * options.dt;
    options.anchor_size = 1;
    std::vector<double> done;
    const Progress watch([&](const ProgressUpdate& update) {
        done.push_back(update.done);
        return true;
    });
    const Made whole = make(cloth, options, 0, watch);
    const double piece = double(steps_per_piece(16)) / options.stride;
    ASSERT_EQ(done.size(), 1 + std::size_t(std::ceil(1 / piece)));
    for (std::size_t i = 1; i < done.size(); ++i) {
        EXPECT_GT(done[i], done[i - 1]);
        EXPECT_LE(done[i] - done[i - 1], piece / 2 + 1e-12);  // a rollout is two frames
    }
    EXPECT_DOUBLE_EQ(done.back(), 1);
    Stubborn stubborn{0, 2};
    EXPECT_FALSE(make(cloth, options, 0, stubborn.listener()).finished);
    EXPECT_EQ(stubborn.calls, 2);
    // The pieces change nothing.
    GenerateOptions fine = options;
    fine.stride = options.stride / 10;
    const Made same = make(cloth, fine);
    EXPECT_EQ(same.rollouts[0].frames(10, 1, fine.dt * fine.stride).position,
              whole.rollouts[0].frames(1, 1, options.dt * options.stride).position);
}

TEST(Generate, BlowUpIsAFailureThatSaysWhatToDo)
{
    GenerateOptions options = small_options();
    options.dt = 0.1;
    options.stride = 1;
    options.seconds = 30;
    try {
        make(small_cloth(), options);
        FAIL() << "a step of 0.1 s went well";
    } catch (const Failure& failure) {
        const std::string text = failure.what();
        EXPECT_EQ(text.find("the cloth blew up: particle "), 0u) << text;
        EXPECT_NE(text.find("with a time step of 0.1 s"), std::string::npos) << text;
        EXPECT_NE(text.find("sub-steps"), std::string::npos) << text;
    }
}

TEST(Generate, ErrorsNameTheFieldAndTheValue)
{
    const auto expect_refused = [](const char* field, const char* value, auto change) {
        GenerateOptions options = small_options();
        change(options);
        try {
            make(small_cloth(), options);
            ADD_FAILURE() << field << ": no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.field(), field) << error.what();
            EXPECT_NE(std::string(error.what()).find(value), std::string::npos) << error.what();
        }
    };
    using Options = GenerateOptions;
    expect_refused("rollouts", "0", [](Options& o) { o.rollouts = 0; });
    expect_refused("stride", "0", [](Options& o) { o.stride = 0; });
    expect_refused("dt", "0", [](Options& o) { o.dt = 0; });
    expect_refused("dt", "nan", [](Options& o) { o.dt = std::nan(""); });
    expect_refused("seconds", "0.01", [](Options& o) { o.seconds = 0.01; });
    expect_refused("seconds", "inf", [](Options& o) { o.seconds = HUGE_VAL; });
    expect_refused("anchor_size", "7 x 7", [](Options& o) { o.anchor_size = 7; });
    expect_refused("anchors", "-1", [](Options& o) { o.anchors = -1; });
    expect_refused("anchors", "13", [](Options& o) { o.anchors = 13; });  // of 2 x 2 on 6 x 8
    expect_refused("anchor_radius", "-1", [](Options& o) { o.anchor_radius = -1; });
    expect_refused("anchor_radius", "nan", [](Options& o) { o.anchor_radius = std::nan(""); });
    expect_refused("anchors", "-1", [](Options& o) { o.anchors = -1, o.anchor_radius = 0.1; });
    expect_refused("anchors", "radius 1 m", [](Options& o) { o.anchor_radius = 1; });  // of 1.4 m
    Cloth list = small_cloth();
    list.grid.reset();
    EXPECT_NE(message(list, small_options()).find("grid"), std::string::npos);
}

// ---- Threads ----

class ThreadsGenerate : public testing::TestWithParam<Device> {};

INSTANTIATE_TEST_SUITE_P(Devices, ThreadsGenerate, testing::Values(Device::reference, Device::cpu),
                         [](const testing::TestParamInfo<Device>& test) {
                             return test.param == Device::cpu ? "cpu" : "reference";
                         });

TEST_P(ThreadsGenerate, NumberOfThreadsChangesNoBit)
{
    GenerateOptions options = small_options();
    options.device = GetParam();
    const Made one = make(small_cloth(), options);
    for (const int threads : {2, 5}) {
        options.threads = threads;
        const Made many = make(small_cloth(), options);
        EXPECT_TRUE(many.finished);
        EXPECT_EQ(many.order, one.order);
        EXPECT_EQ(many.hash(), one.hash()) << threads << " threads";
    }
}

TEST_P(ThreadsGenerate, StopDeliversAPrefix)
{
    GenerateOptions options = small_options();
    options.device = GetParam();
    options.threads = 4;
    const Made whole = make(small_cloth(), options);
    const Made made = make(small_cloth(), options, 0,
                           Progress([](const ProgressUpdate& update) { return update.done < 25; }));
    EXPECT_FALSE(made.finished);
    ASSERT_LT(made.rollouts.size(), 37u);
    Made expected;
    expected.rollouts.assign(whole.rollouts.begin(),
                             whole.rollouts.begin() + std::ptrdiff_t(made.rollouts.size()));
    for (std::size_t i = 0; i < made.order.size(); ++i) EXPECT_EQ(made.order[i], int(i));
    EXPECT_EQ(made.hash(), expected.hash());
}

TEST(ThreadsStop, SendsAwayThoseWhoWaitForTheirTurn)
{
    // A full group of lanes and a second of one, which ends sooner since less is to be stored. It
    // waits for its turn when the first is stopped at its last frame: without a word it would wait
    // for ever, and this test with it.
    GenerateOptions options = small_options();
    options.device = Device::cpu;
    options.rollouts = best_instruction_set().width + 1;
    options.threads = 2;
    options.stride = 1;
    const double almost_all = options.rollouts - 1e-3;
    const Made made =
        make(small_cloth(), options, 0,
             Progress([&](const ProgressUpdate& update) { return update.done < almost_all; }));
    EXPECT_FALSE(made.finished);
    EXPECT_LT(made.order.size(), std::size_t(options.rollouts));
}

TEST_P(ThreadsGenerate, ExceptionOfTheSinkEndsIt)
{
    // A full disk, say: the others must not wait for a turn that never comes.
    GenerateOptions options = small_options();
    options.device = GetParam();
    options.threads = 4;
    int taken = 0;
    const auto sink = [&](int index, const Rollout&) {
        if (index == 5) throw Failure("disk full");
        ++taken;
    };
    EXPECT_THROW(generate(small_cloth(), options, 0, sink, {}), Failure);
    EXPECT_EQ(taken, 5);
}

}  // namespace

}  // namespace springtime
