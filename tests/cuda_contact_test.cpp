// Obstacles in kernels: the guarantees of physics/contact.h, and agreement with the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "backends/cuda/contacts.h"
#include "backends/reference/reference.h"
#include "cloths.h"
#include "cuda_falling.h"
#include "obstacles.h"
#include "sim/obstacle_placement.h"

namespace springtime {

namespace {

constexpr double kGravity = 9.81, kStep = 1e-3, kThickness = 0.02;
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr Environment kVacuum{{0, -kGravity, 0}, 0, {}};

SimulationOptions meeting(std::vector<Obstacle> obstacles, const Environment& air = kVacuum)
{
    return {kStep, air, Device::reference, std::move(obstacles), kThickness, 0};
}

// Positions are kept to half an epsilon of their size, and a step rounds a handful of times.
double rounding(double size)
{
    return 8 * kEpsilon * size;
}
// What a velocity gets of that: it is a change of position over a step.
double speed_rounding(double size)
{
    return rounding(size) / kStep;
}

// Loose particles on the device, one state per lane, among obstacles.
class Falling {
  public:
    Falling(const SimulationOptions& options, const std::vector<State>& starts)
        : options_(options), contacts_(options), particles_(starts.front().position.size())
    {
        std::vector<float> state;
        for (const State& start : starts) {
            start_time_.push_back(start.time);
            for (const auto* vectors : {&start.position, &start.velocity}) {
                for (int axis = 0; axis < 3; ++axis) {
                    for (const Vec3d& v : *vectors) state.push_back(float(v[axis]));
                }
            }
        }
        state_.assign(state);
    }

    void begin_frame(const FrameMotion& motion) { walk_.begin(&motion); }
    void end_frames() { walk_.begin(nullptr); }

    void advance(int steps)
    {
        const cuda::ContactView* view = contacts_.send(start_time_, done_, steps, walk_);
        const Vec3d& g = options_.environment.gravity;
        fall({int(start_time_.size()),
              int(particles_),
              state_.data(),
              {float(g.x), float(g.y), float(g.z)},
              float(kStep)},
             view ? *view : cuda::ContactView{}, steps);
        done_ += steps;
        for (int i = 0; i < steps; ++i) walk_.next_step();
    }

    State state(int lane) const
    {
        std::vector<float> numbers(6 * particles_);
        state_.fetch(std::size_t(lane) * numbers.size(), numbers);
        State state{start_time_[lane] + done_ * kStep, {}, {}};
        const auto take = [&](int row, std::size_t p) {
            const auto at = [&](int axis) {
                return double(numbers[(row + axis) * particles_ + p]);
            };
            return Vec3d{at(0), at(1), at(2)};
        };
        for (std::size_t p = 0; p < particles_; ++p) {
            state.position.push_back(take(0, p));
            state.velocity.push_back(take(3, p));
        }
        return state;
    }

  private:
    SimulationOptions options_;
    cuda::Contacts contacts_;
    std::size_t particles_;
    std::vector<double> start_time_;
    cuda::DeviceArray<float> state_;
    FrameWalk walk_;
    int done_ = 0;
};

State at_rest(std::vector<Vec3d> positions, double time = 0)
{
    const std::size_t count = positions.size();
    return {time, std::move(positions), std::vector<Vec3d>(count)};
}

State fallen(const State& start, const SimulationOptions& options, int steps)
{
    Falling falling(options, {start});
    falling.advance(steps);
    return falling.state(0);
}

std::unique_ptr<Stepper> reference_of(const State& start, const SimulationOptions& options)
{
    // Springs without stiffness join nothing.
    const Cloth cloth = chain_cloth(int(start.position.size()), 1, 0.3, 0, 0);
    auto stepper = make_reference_stepper(cloth, options, 1);
    stepper->load(0, start, {});
    return stepper;
}

State expected(const State& start, const SimulationOptions& options, int steps)
{
    const auto stepper = reference_of(start, options);
    stepper->advance(steps);
    State state = start;
    stepper->store(0, state);
    return state;
}

Vec3d point_in_box(Random& random, const Vec3d& half)
{
    const auto any = [&](double size) { return size * (2 * random.uniform() - 1); };
    const double x = any(half.x), y = any(half.y), z = any(half.z);
    return {x, y, z};
}

std::vector<Vec3d> points_in_box(int count, const Vec3d& middle, const Vec3d& half, int seed = 1)
{
    Random random(seed);
    std::vector<Vec3d> points;
    for (int i = 0; i < count; ++i) points.push_back(middle + point_in_box(random, half));
    return points;
}

// ---- Guarantees

TEST(CudaContact, WhatRestsStaysAtTheThickness)
{
    const auto slab = [](const Vec3d& y) { return y.y + 1; };
    const Vec3d low{0.3, -1 + kThickness, 0.2};
    const double r = 0.5 + kThickness, tilt = 0.1;
    struct Case {
        Shape shape;
        Vec3d at;
    };
    const std::vector<Case> cases{
        {PlaneShape{{0, -1, 0}, {0, 2, 0}}, low},
        {BoxShape{{0.2, -1.5, 0}, {1, 0.5, 1}, 0.2}, low},
        {GridShape{sampled({5, 5, 5}, {-1, -2, -1}, 0.5, slab)}, low},
        {sphere({0.1, 0, 0}, 0.5), {0.1, r, 0}},
        // Off the top, held by friction: tan 0.1 < 0.3.
        {sphere({0.1, 0, 0}, 0.5), {0.1 + r * std::sin(tilt), r * std::cos(tilt), 0}},
    };
    for (const Case& c : cases) {
        const State end =
            fallen(at_rest({c.at, c.at + Vec3d{0, 5, 0}}), meeting({solid({c.shape})}), 1000);
        EXPECT_LE(length(end.position[0] - c.at), rounding(2) + 1e-6 * kStep);
        EXPECT_LE(length(end.velocity[0]), speed_rounding(1));
        // Nothing holds the other one: y = 5 - g dt^2 n (n + 1)/2.
        const double fall = kGravity * kStep * kStep * 1000 * 1001 / 2;
        EXPECT_NEAR(end.position[1].y, c.at.y + 5 - fall, 1e4 * kEpsilon);
    }
}

// Points on a slope through the origin, which rises along -x, as far from it as they keep.
std::vector<Vec3d> points_on_slope(double angle)
{
    const double c = std::cos(angle), s = std::sin(angle);
    std::vector<Vec3d> points;
    for (const Vec3d& x : points_in_box(40, {}, {1, 0, 1})) {
        points.push_back({x.x * c + kThickness * s, -x.x * s + kThickness * c, x.z});
    }
    return points;
}

Obstacle slope(double angle, double friction)
{
    return solid({PlaneShape{{}, {std::sin(angle), std::cos(angle), 0}}}, friction);
}

TEST(CudaContact, HoldsBelowTheFrictionAngle)
{
    for (const double angle : {0.2, 0.6}) {
        const State start = at_rest(points_on_slope(angle));
        const State end = fallen(start, meeting({slope(angle, 1.05 * std::tan(angle))}), 2000);
        EXPECT_LE(largest_distance(end.position, start.position), rounding(1));
        EXPECT_LE(largest_length(end.velocity), speed_rounding(1));
    }
}

TEST(CudaContact, SlidesWithCoulombsAccelerationAboveIt)
{
    // v_n = n dt a, so the way is a dt^2 n (n + 1)/2 with a = g (sin - mu cos): only rounding is
    // left. An error of the position by e makes one of the push by e/dt, which the next step takes
    // back, but friction has used it by then: e mu n in all.
    const int n = 500;
    for (const double angle : {0.3, 0.6}) {
        const double mu = 0.25;
        const double a = kGravity * (std::sin(angle) - mu * std::cos(angle));
        const double way = a * kStep * kStep * n * (n + 1) / 2;
        const State start = at_rest(points_on_slope(angle));
        const State end = fallen(start, meeting({slope(angle, mu)}), n);
        const Vec3d down{std::cos(angle), -std::sin(angle), 0};
        for (std::size_t p = 0; p < start.position.size(); ++p) {
            const Vec3d moved = end.position[p] - start.position[p];
            EXPECT_LE(length(moved - way * down), rounding(1) * n);
            EXPECT_LE(length(end.velocity[p] - n * kStep * a * down), speed_rounding(1));
        }
    }
}

TEST(CudaContact, NothingEntersAConvexSolid)
{
    // After every step the particle is at the thickness or farther, see contact_change.
    const std::vector<Shape> shapes{sphere({0, -0.7, 0}, 0.6),
                                    CapsuleShape{{-1, -0.5, 0.2}, {1, -0.3, 0}, 0.3},
                                    BoxShape{{0.2, -0.5, 0}, {0.6, 0.3, 0.5}, 0},
                                    BoxShape{{0.2, -0.5, 0}, {0.6, 0.3, 0.5}, 0.1}};
    for (const Shape& shape : shapes) {
        const Obstacle obstacle = solid({shape});
        const State start = at_rest(points_in_box(100, {0, 0.5, 0}, {1, 0.4, 1}));
        Falling falling(meeting({obstacle}), {start});
        double least = 1;
        for (int step = 0; step < 600; step += 10) {
            falling.advance(10);
            const State state = falling.state(0);
            for (const Vec3d& x : state.position) {
                least = std::min(least, signed_distance(obstacle, x, state.time));
            }
        }
        EXPECT_GE(least, kThickness - rounding(2)) << "shape " << shape.index();
        EXPECT_LE(least, kThickness + 1e-3) << "some have come down, shape " << shape.index();
    }
}

TEST(CudaContact, DeepStartIsPutOutsideWithoutBeingThrown)
{
    const SimulationOptions options = meeting({solid({sphere({0, 0, 0}, 0.5)})}, kEmptySpace);
    const Vec3d deep{0.1, 0.2, -0.2};  // 0.3 from the centre
    const State end = fallen(at_rest({deep, {}, {5, 5, 5}}), options, 10);
    EXPECT_NEAR(length(end.position[0] - ((0.5 + kThickness) / 0.3) * deep), 0, rounding(1));
    EXPECT_LE(length(end.velocity[0]), rounding(1));
    // From the very centre it goes somewhere.
    EXPECT_NEAR(length(end.position[1]), 0.5 + kThickness, rounding(1));
    EXPECT_EQ(length(end.position[2] - Vec3d{5, 5, 5}), 0);
}

TEST(CudaContact, BlowUpStaysABlowUp)
{
    Obstacle ground = solid({PlaneShape{{0, -1, 0}, {0, 1, 0}}});
    const auto ball = [](const Vec3d& y) { return length(y) - 0.4; };
    ground.shapes.push_back(GridShape{sampled({9, 9, 9}, {-0.6, -0.6, -0.6}, 0.15, ball)});
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 1e30}) {
        const State end =
            fallen(at_rest({{bad, 0.3, 0}, {0, bad, 0}, {0, 2, bad}}), meeting({ground}), 3);
        for (int p = 0; p < 3; ++p) EXPECT_FALSE(std::abs(end.position[p][p]) < 1e6);
    }
}

// ---- Obstacles that move

Obstacle moved(Obstacle obstacle, const Pose& from, const Pose& to, double duration)
{
    obstacle.key_time = {0, duration};
    obstacle.key_pose = {from, to};
    return obstacle;
}

TEST(CudaContact, MovingFloorDragsAlong)
{
    // Friction adds mu g dt per step until the floor's speed is reached, and no more.
    const double mu = 0.4, speed = 0.8;
    const State start = at_rest(points_in_box(20, {0, kThickness, 0}, {1, 0, 1}));
    const Obstacle floor =
        moved(solid({BoxShape{{0, -1, 0}, {50, 1, 50}, 0}}, mu), {}, {{10 * speed, 0, 0}, {}}, 10);
    for (const int n : {100, 500}) {
        double v = 0, way = 0;
        for (int i = 0; i < n; ++i) {
            v = std::min(v + mu * kGravity * kStep, speed);
            way += kStep * v;
        }
        const State end = fallen(start, meeting({floor}), n);
        for (std::size_t p = 0; p < start.position.size(); ++p) {
            EXPECT_LE(length(end.velocity[p] - Vec3d{v, 0, 0}), 2 * speed_rounding(1));
            EXPECT_LE(length(end.position[p] - start.position[p] - Vec3d{way, 0, 0}),
                      rounding(1) * n);
        }
    }
}

TEST(CudaContact, TurntableTurnsWhatLiesOnIt)
{
    // w^2 r < mu g holds it. A step leads along the chord that ends where the particle would have
    // gone straight on, off by less than (w dt)^3 r: 1e-6 in 1000 steps.
    const double w = 1;
    const Obstacle table = moved(solid({PlaneShape{}}, 0.5), {}, {{}, {0, 10 * w, 0}}, 10);
    State start = at_rest({{0.5, kThickness, 0}, {0, kThickness, 0}});
    start.velocity[0] = {0, 0, -0.5 * w};
    const State end = fallen(start, meeting({table}), 1000);
    const Vec3d expected_end{0.5 * std::cos(w), kThickness, -0.5 * std::sin(w)};
    EXPECT_LE(length(end.position[0] - expected_end), 2e-6 + 30 * rounding(1));
    EXPECT_LE(length(end.position[1] - start.position[1]), rounding(1));
}

// ---- Against the reference

TEST(CudaContact, OneStepAgreesWithTheReferenceWhereverAShapeIs)
{
    // From places in and around shapes at random poses: what is near is never taken for far.
    const auto egg = [](const Vec3d& y) { return length(Vec3d{y.x, 0.7 * y.y, y.z}) - 0.4; };
    const std::vector<std::vector<Shape>> solids{
        {PlaneShape{{0.1, 0.2, 0}, {1, 2, 2}}},
        {CapsuleShape{{-0.5, 0, 0.2}, {0.4, 0.3, 0}, 0.2}},
        {BoxShape{{0.2, 0, 0}, {0.5, 0.3, 0.2}, 0}},
        {BoxShape{{0.2, 0, 0}, {0.5, 0.3, 0.2}, 0.1}},
        {GridShape{sampled({10, 12, 11}, {-0.55, -0.66, -0.6}, 0.11, egg)}},
        make_animal(1.2).shapes,
    };
    Random random(5);
    for (std::size_t k = 0; k < solids.size(); ++k) {
        for (int pose = 0; pose < 4; ++pose) {
            Obstacle obstacle = solid(solids[k], 0.4);
            const Vec3d place = point_in_box(random, {2, 2, 2});
            const Vec3d turn = point_in_box(random, {2, 2, 2});
            obstacle.key_time = {0, 1};
            obstacle.key_pose = {{place, turn}, {place + Vec3d{0.5, -1, 0.3}, 1.1 * turn}};
            State start = at_rest(points_in_box(1000, place, {0.6, 0.6, 0.6}, pose), 0.3);
            for (Vec3d& v : start.velocity) v = point_in_box(random, {1, 1, 1});
            const SimulationOptions options = meeting({obstacle});
            const State end = fallen(start, options, 1), right = expected(start, options, 1);
            int met = 0;
            for (std::size_t p = 0; p < start.position.size(); ++p) {
                const Vec3d straight = start.position[p] +
                                       kStep * (start.velocity[p] + Vec3d{0, -kGravity * kStep, 0});
                met += length(right.position[p] - straight) > 1e-9;
            }
            EXPECT_GE(met, 30) << "solid " << k << ", pose " << pose;
            EXPECT_LE(largest_distance(end.position, right.position), 2 * rounding(3))
                << "solid " << k << ", pose " << pose;
            EXPECT_LE(largest_distance(end.velocity, right.velocity), 2 * speed_rounding(3))
                << "solid " << k << ", pose " << pose;
        }
    }
}

State above_landscape(int lane)
{
    return at_rest(points_in_box(60, {0, 0.05, 0}, {1.2, 0.1, 0.4}, lane), 0.05 * (lane / 2));
}

TEST(CudaContact, LanesThatBeganAtDifferentTimesAgreeWithTheReference)
{
    // Rounding now decides in which step a particle touches, and sliding keeps what it left behind:
    // a difference e of speed in a step is e dt for each of the steps after it.
    const SimulationOptions options = meeting(landscape());
    std::vector<State> starts;
    for (int lane = 0; lane < 5; ++lane) starts.push_back(above_landscape(lane));
    Falling falling(options, starts);
    falling.advance(300);
    for (int lane = 0; lane < 5; ++lane) {
        const State right = expected(starts[lane], options, 300);
        const State end = falling.state(lane);
        EXPECT_LE(largest_distance(end.position, right.position), 300 * rounding(1))
            << "lane " << lane;
        const State free = expected(starts[lane], meeting({}), 300);
        EXPECT_GE(largest_distance(end.position, free.position), 0.02);  // they did meet
    }
}

TEST(CudaContact, ALaneAloneAndInPiecesHasTheSameBits)
{
    const SimulationOptions options = meeting(landscape());
    std::vector<State> starts;
    for (int lane = 0; lane < 5; ++lane) starts.push_back(above_landscape(lane));
    Falling all(options, starts);
    all.advance(200);
    for (int lane = 0; lane < 5; ++lane) {
        Falling alone(options, {starts[lane]});
        for (const int steps : {1, 70, 29, 100}) alone.advance(steps);
        const State one = all.state(lane), other = alone.state(0);
        EXPECT_EQ(largest_distance(one.position, other.position), 0) << "lane " << lane;
        EXPECT_EQ(largest_distance(one.velocity, other.velocity), 0) << "lane " << lane;
    }
}

TEST(CudaContact, ObstaclesThatAFrameLeadsAgreeWithTheReference)
{
    // A block that stands, then is led, then stands; the others follow their keys or stand.
    const SimulationOptions options = meeting(landscape());
    const State start = above_landscape(1);
    const Pose low{{0.8, -0.3, 0}, {}}, high{{0.7, -0.1, 0.1}, {0.4, 0.2, 0}};
    const Pose ball{}, aside{{0.2, 0.05, 0}, {0, 3, 0}};
    const std::vector<FrameMotion> frames{{30, {}, {{1, low, low}}},
                                          {30, {}, {{1, low, high}, {0, ball, aside}}},
                                          {30, {}, {{1, high, high}, {0, aside, aside}}}};
    const auto reference = reference_of(start, options);
    Falling falling(options, {start});
    for (const FrameMotion& frame : frames) {
        reference->begin_frame(frame);
        falling.begin_frame(frame);
        // One step more than the frame has: what was led stands still.
        for (const int steps : {10, 21}) {
            reference->advance(steps);
            falling.advance(steps);
            State right = start;
            reference->store(0, right);
            const State state = falling.state(0);
            EXPECT_LE(largest_distance(state.position, right.position), 100 * rounding(1));
            EXPECT_LE(largest_distance(state.velocity, right.velocity), 2 * speed_rounding(1));
        }
    }
}

TEST(CudaContact, KeysCountAgainAfterTheLastFrame)
{
    const SimulationOptions options = meeting(landscape());
    const State start = above_landscape(0);
    Falling led(options, {start}), free(options, {start});
    const FrameMotion away{5, {}, {{0, {}, {{0, 0, 9}, {}}}, {1, {}, {{0, 0, 9}, {}}}}};
    led.begin_frame(away);
    led.advance(5);
    led.end_frames();
    free.advance(5);
    // Nothing is touched in the first steps.
    led.advance(200);
    free.advance(200);
    EXPECT_EQ(largest_distance(led.state(0).position, free.state(0).position), 0);
}

}  // namespace

}  // namespace springtime
