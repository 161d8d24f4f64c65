// What a game does with a cloth, frame by frame. An executable of its own, which counts
// allocations.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "backends.h"
#include "cloths.h"
#include "counted_new.h"
#include "sim/frame_motion.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kFrame = 1.0 / 60;

// A cloth and the device to run it on: every stepper that a single simulation may have.
struct Way {
    std::string name;
    Cloth cloth;
    Device device;

    friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

std::vector<Way> all_ways()
{
    const Cloth grid = uneven_grid({7, 9});
    Cloth knitted = grid;  // with a spring that no grid has
    knitted.springs.ends.push_back({0, 20});
    knitted.springs.family.push_back(SpringFamily::bending);
    knitted.springs.rest_length.push_back(1.4);
    knitted.springs.stiffness.push_back(10);
    knitted.springs.damping.push_back(0.1);
    Cloth lawful = grid;
    add_uneven_law(lawful);
    const Cloth mesh = uneven_mesh({6, 7}, MeshCut::alternating, TriangleDamping::strain);
    return {{"grid", grid, Device::cpu},
            {"grid_with_law", lawful, Device::cpu},
            {"lane", knitted, Device::cpu},
            {"mesh", mesh, Device::cpu},
            {"reference", grid, Device::reference},
            {"reference_mesh", mesh, Device::reference}};
}

class GameLoop : public testing::TestWithParam<Way> {
  protected:
    const Cloth& cloth() const { return GetParam().cloth; }
    SimulationOptions options() const
    {
        SimulationOptions options{.dt = kFrame, .device = GetParam().device};
        options.substeps = kAutomatic;
        return options;
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, GameLoop, testing::ValuesIn(all_ways()),
                         [](const auto& test) { return test.param.name; });

bool same(const State& a, const State& b)
{
    return a.time == b.time && largest_distance(a.position, b.position) == 0 &&
           largest_distance(a.velocity, b.velocity) == 0;
}

std::string field_of(const std::function<void()>& act)
{
    try {
        act();
    } catch (const Error& error) {
        return error.field();
    }
    return "(no error)";
}

// A ball below the sheet, and contact of the cloth with itself.
SimulationOptions with_contact(SimulationOptions options)
{
    Obstacle ball;
    ball.name = "ball";
    ball.shapes = {CapsuleShape{{0, -1, 0}, {0, -1, 0}, 0.8}};
    options.obstacles = {ball};
    options.thickness = 0.05;
    options.self_distance = 0.2;
    return options;
}

// ---- Allocations ----

TEST_P(GameLoop, AdvanceAllocatesNothing)
{
    Simulation simulation(cloth(), with_contact(options()));
    const HandleId corner = simulation.hold(0), edge = simulation.hold(std::array{2, 3, 4});
    const Vec3d start = simulation.center(corner), middle = simulation.center(edge);
    const std::size_t ball = simulation.obstacle_named("ball");

    const long before = allocation_count;
    for (int frame = 1; frame <= 90; ++frame) {
        const double t = frame * kFrame;
        simulation.move(corner, start + Vec3d{0.5 * std::sin(t), 0.2 * t, 0});
        simulation.move(edge, middle + Vec3d{0, 0.3 * t, 0}, {0, t, 0});
        simulation.set_wind({std::sin(3 * t), 0, 1});
        simulation.set_gravity({0, -9.81 + std::sin(t), 0});
        simulation.set_pose(ball, {{0, 0.3 * t, 0}, {0, t, 0}});
        ASSERT_FALSE(simulation.advance());
        ASSERT_EQ(simulation.positions().size(), cloth().particle_count());
        ASSERT_EQ(simulation.velocities().size(), cloth().particle_count());
        ASSERT_EQ(simulation.normals().size(), cloth().particle_count());
    }
    EXPECT_EQ(allocation_count - before, 0);
    EXPECT_GT(allocation_count, 0);  // it does count
}

// ---- Handles ----

class FrameSteps : public testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(All, FrameSteps, testing::ValuesIn([] {
                             std::vector<Backend> single;
                             for (const Backend& backend : all_backends()) {
                                 if (!backend.name.ends_with("_batch")) single.push_back(backend);
                             }
                             return single;
                         }()),
                         backend_name);

TEST_P(FrameSteps, HeldParticlesGoStraightInEqualSteps)
{
    // In step i of n a particle is at from + i/n (to - from), with the velocity (to - from)/(n h).
    // Afterwards it stands.
    const double h = 1e-3;
    const int n = 7;
    for (const Way& way : all_ways()) {
        const auto stepper = GetParam().make(way.cloth, {h, {}, Device::automatic});
        State state = flat_state(way.cloth);
        const Vec3d from = state.position[3], to = from + Vec3d{0.02, -0.03, 0.05};
        FrameMotion motion{n, {{3, from, to}, {5, state.position[5], state.position[5]}}, {}};
        stepper->load(0, state, {});
        stepper->hold(0, std::array{3, 5});
        stepper->begin_frame(motion);
        for (int i = 1; i <= n + 3; ++i) {
            stepper->advance(1);
            const Vec3d still = state.position[5];
            stepper->store(0, state);
            const double share = std::min(double(i) / n, 1.0);
            const Vec3d v = i <= n ? (1 / (n * h)) * (to - from) : Vec3d{};
            // Rounding of numbers up to 8 m and 9 m/s.
            const double tolerance = 10 * GetParam().epsilon;
            EXPECT_LE(length(state.position[3] - (from + share * (to - from))), tolerance);
            EXPECT_LE(length(state.velocity[3] - v), tolerance);
            if (i > n) {
                EXPECT_EQ(length(state.velocity[3]), 0);
            }
            EXPECT_LE(length(state.position[5] - still), 1e-6 * (i == 1));  // loaded as double
            EXPECT_EQ(length(state.velocity[5]), 0);
        }
    }
}

TEST(Hold, PathOfAFrameIsFeltInEverySubstep)
{
    // A mass on a damped spring whose other end is led by 0.1 m in a frame of 6 steps, then stands:
    // v' = v + h (k s + b s_t)/m with stretch and rate at the beginning of the step, x' = x + h v'.
    const double k = 30, b = 0.4, m = 0.2, rest = 1, h = 0.01;
    const int n = 6;
    Simulation simulation(
        chain_cloth(2, rest, m, k, b),
        {.dt = n * h, .environment = kEmptySpace, .device = Device::reference, .substeps = n});
    const HandleId end = simulation.hold(0);
    const Vec3d start = simulation.center(end);
    const double from = start.x;
    double x = simulation.state().position[1].x, v = 0, led = from, led_v = 0;
    for (int frame = 0; frame < 2; ++frame) {
        const double to = from + 0.1;
        simulation.move(end, {to, start.y, start.z});
        ASSERT_FALSE(simulation.advance());
        for (int i = 1; i <= n; ++i) {
            v += h * (k * (rest - (x - led)) - b * (v - led_v)) / m;
            x += h * v;
            led = frame == 0 ? from + 0.1 * i / n : to;
            led_v = frame == 0 ? 0.1 / (n * h) : 0;
        }
        EXPECT_NEAR(simulation.state().position[0].x, to, 1e-15);
        EXPECT_NEAR(simulation.state().position[1].x, x, 1e-14);
        EXPECT_NEAR(simulation.state().velocity[1].x, v, 1e-13);
    }
}

TEST(Hold, ReleasedParticlesFlyOnAndCanBeHeldAgain)
{
    // Loose particles fall: after n steps from velocity u, y = y_0 + n h u + g h^2 n (n + 1)/2.
    const double g = -10, h = 1.0 / 512;
    const int n = 8;
    for (const Device device : {Device::reference, Device::cpu}) {
        Simulation simulation(
            chain_cloth(2, 1, 0.1, 0, 0),
            {.dt = n * h, .environment = {{0, g, 0}, 0, {}}, .device = device, .substeps = n});
        const auto y = [&] { return simulation.state().position[1].y; };
        const double tolerance = device == Device::cpu ? 1e-6 : 1e-15;
        ASSERT_FALSE(simulation.advance());
        double expected = g * h * h * n * (n + 1) / 2;
        EXPECT_NEAR(y(), expected, tolerance);

        const HandleId first = simulation.hold(1);
        ASSERT_FALSE(simulation.advance(3));
        EXPECT_NEAR(y(), expected, tolerance);
        EXPECT_EQ(simulation.state().velocity[1].y, 0);

        const double rise = 0.25;  // up in one frame, so at rise / (n h) per second
        simulation.move(first, simulation.center(first) + Vec3d{0, rise, 0});
        ASSERT_FALSE(simulation.advance());
        simulation.release(first);
        expected += rise;
        EXPECT_NEAR(y(), expected, tolerance);
        ASSERT_FALSE(simulation.advance());
        expected += rise + g * h * h * n * (n + 1) / 2;
        EXPECT_NEAR(y(), expected, tolerance);

        const HandleId second = simulation.hold(1);
        EXPECT_NE(first, second);
        ASSERT_FALSE(simulation.advance());
        EXPECT_NEAR(y(), expected, tolerance);
        EXPECT_EQ(field_of([&] { simulation.move(first, {}); }), "handle");
        // The other one was never touched: five frames and two of fall.
        const int all = 7 * n;
        EXPECT_NEAR(simulation.state().position[0].y, g * h * h * all * (all + 1) / 2,
                    10 * tolerance);
    }
}

TEST_P(GameLoop, PatchMovesLikeASolid)
{
    // A quarter turn about y takes z to x and x to -z.
    Simulation simulation(cloth(), options());
    const std::array patch{0, 1, 2, 9};
    const HandleId handle = simulation.hold(patch);
    const Vec3d center = simulation.center(handle), target = center + Vec3d{0.1, 0.2, -0.1};
    const State before = simulation.state();
    simulation.move(handle, target, {0, M_PI / 2, 0});
    ASSERT_FALSE(simulation.advance());
    for (const int p : patch) {
        const Vec3d o = before.position[p] - center;
        const Vec3d expected = target + Vec3d{o.z, o.y, -o.x};
        EXPECT_LE(length(simulation.state().position[p] - expected), 1e-6);
    }
    EXPECT_LE(length(simulation.center(handle) - target), 1e-12);
}

TEST(Hold, TargetWaitsForTheNextFrame)
{
    // No frame, no motion; then one frame at the speed of the target, and rest in the second.
    Simulation simulation(chain_cloth(1, 1, 1, 0, 0),
                          {.dt = 0.5, .device = Device::reference, .substeps = 4});
    const HandleId held = simulation.hold(0);
    const Vec3d start = simulation.center(held), target = start + Vec3d{1, 0, 0};
    simulation.move(held, target);
    ASSERT_FALSE(simulation.advance(0));
    EXPECT_EQ(length(simulation.center(held) - start), 0);
    ASSERT_FALSE(simulation.advance());
    EXPECT_EQ(length(simulation.state().position[0] - target), 0);
    EXPECT_EQ(length(simulation.state().velocity[0] - Vec3d{2, 0, 0}), 0);
    ASSERT_FALSE(simulation.advance());
    EXPECT_EQ(length(simulation.state().position[0] - target), 0);
    EXPECT_EQ(length(simulation.state().velocity[0]), 0);
}

TEST(Hold, NamesParticlesAsTheClothDoes)
{
    const Cloth cloth = uneven_grid({4, 5});
    Simulation simulation(cloth, {.dt = 1e-3});
    simulation.hold("edge-north");
    EXPECT_EQ(simulation.handles().particles, particles_named(cloth, "edge-north"));
    EXPECT_FALSE(simulation.handles().moving());
}

TEST(Hold, StandsBesideHandlesWithKeys)
{
    const Cloth cloth = uneven_grid({3, 3});
    const State start = flat_state(cloth);
    const Handles keyed{{0}, {0, 1}, {start.position[0], start.position[0] + Vec3d{0, 1, 0}}};
    Simulation simulation(cloth, start, keyed, {.dt = 1e-3});
    const HandleId held = simulation.hold(2);
    ASSERT_FALSE(simulation.advance(500));
    EXPECT_NEAR(simulation.state().position[0].y, 0.5, 1e-6);
    EXPECT_LE(length(simulation.state().position[2] - start.position[2]), 1e-6);
    const Handles all = simulation.handles();
    EXPECT_EQ(all.particles, (std::vector{0, 2}));
    EXPECT_NEAR(length(all.position(1, 0.3) - start.position[2]), 0, 1e-6);
    simulation.release(held);
    EXPECT_EQ(simulation.handles().particles, keyed.particles);
}

// ---- Air and obstacles ----

TEST_P(GameLoop, NewAirIsThatOfAFreshSimulation)
{
    // Sub-steps are automatic, so a drag of 2000/s needs more of them.
    Simulation running(cloth(), options());
    ASSERT_FALSE(running.advance(3));
    const int before = running.substeps();
    SimulationOptions fresh = options();
    fresh.environment = {{1, -5, 2}, 2000, {3, 0, -1}};
    Simulation anew(cloth(), running.state(), {}, fresh);
    running.set_gravity(fresh.environment.gravity);
    running.set_wind(fresh.environment.wind);
    running.set_drag(fresh.environment.drag);
    EXPECT_GT(running.substeps(), before);
    EXPECT_EQ(running.substeps(), anew.substeps());
    for (int frame = 0; frame < 5; ++frame) {
        ASSERT_FALSE(running.advance());
        ASSERT_FALSE(anew.advance());
        EXPECT_TRUE(same({0, running.state().position, running.state().velocity},
                         {0, anew.state().position, anew.state().velocity}));
    }
    EXPECT_EQ(largest_distance(running.acceleration(), anew.acceleration()), 0);
}

TEST_P(GameLoop, PoseIsReachedAlongTheFrame)
{
    // The same way with keys at the ends of the frames. One ball lifts the sheet and turns; its
    // friction feels both.
    SimulationOptions by_keys = with_contact(options());
    Obstacle& ball = by_keys.obstacles[0];
    const auto pose = [](int frame) {
        return Pose{{0.02 * frame, 0.06 * frame, 0}, {0, 0.05 * frame, 0}};
    };
    constexpr int kFrames = 12;
    ball.key_time.clear();
    ball.key_pose.clear();
    for (int frame = 0; frame <= kFrames; ++frame) {
        ball.key_time.push_back(frame * kFrame);
        ball.key_pose.push_back(pose(frame));
    }
    Simulation keyed(cloth(), by_keys), guided(cloth(), with_contact(options()));
    Simulation still(cloth(), with_contact(options()));
    for (int frame = 1; frame <= kFrames; ++frame) {
        guided.set_pose(0, pose(frame));
        ASSERT_FALSE(guided.advance());
    }
    ASSERT_FALSE(guided.advance(6));
    ASSERT_FALSE(keyed.advance(kFrames + 6));
    ASSERT_FALSE(still.advance(kFrames + 6));
    // Rounding of poses, which contact passes on. Seen: 2e-15 in double, nothing in float.
    const double tolerance = GetParam().device == Device::reference ? 1e-13 : 1e-6;
    EXPECT_LE(largest_distance(guided.state().position, keyed.state().position), tolerance);
    EXPECT_GE(largest_distance(guided.state().position, still.state().position), 0.1);
    EXPECT_EQ(length(guided.options().obstacles[0].pose(0).position - pose(kFrames).position), 0);
}

TEST(PoseBetween, TurnsTheShorterWay)
{
    // From 3 rad about y to -3 rad about y it is 2 pi - 6 through pi, not 6 through zero.
    const Pose from{{1, 2, 3}, {0, 3, 0}}, to{{3, 2, 1}, {0, -3, 0}};
    const Pose middle = pose_between(from, to, 0.5);
    EXPECT_NEAR(std::abs(middle.turn.y), M_PI, 1e-12);
    EXPECT_NEAR(length(middle.position - Vec3d{2, 2, 2}), 0, 1e-15);
    const double quarter = 3 + (2 * M_PI - 6) / 4;
    EXPECT_NEAR(pose_between(from, to, 0.25).turn.y, quarter, 1e-12);
    EXPECT_EQ(length(pose_between(from, to, 1).turn - to.turn), 0);
    EXPECT_EQ(length(pose_between(from, to, 0).turn - from.turn), 0);
}

TEST(PoseBetween, GoesAtAnEvenRateAboutOneAxis)
{
    // R(s)^-1 R(s + 1/8) is the same rotation for every s: its trace is 1 + 2 cos(angle / 8).
    const Pose from{{}, {0.4, -1.1, 0.3}}, to{{}, {-0.7, 0.2, 1.9}};
    double first = 0;
    for (int i = 0; i < 8; ++i) {
        const auto a = turned_axes(pose_between(from, to, i / 8.0).turn);
        const auto b = turned_axes(pose_between(from, to, (i + 1) / 8.0).turn);
        const double trace = dot(a[0], b[0]) + dot(a[1], b[1]) + dot(a[2], b[2]);
        if (i == 0) first = trace;
        EXPECT_NEAR(trace, first, 1e-14);
    }
    EXPECT_LT(first, 3 - 1e-3);
}

// ---- Several, and failures ----

// A few frames of a game; `phase` makes the games differ.
struct Game {
    Simulation simulation;
    HandleId corner;
    Vec3d start;
    double phase;

    Game(const Cloth& cloth, const SimulationOptions& options, double phase_)
        : simulation(cloth, options),
          corner(simulation.hold(0)),
          start(simulation.center(corner)),
          phase(phase_)
    {
    }
    bool play(int frame)
    {
        const double t = phase + 0.1 * frame;
        simulation.move(corner, start + Vec3d{0.2 * std::sin(t), 0.1 * std::cos(t), 0});
        simulation.set_wind({std::cos(t), 0, 0});
        simulation.set_pose(0, {{0, 0.1 * std::sin(t), 0}, {}});
        return !simulation.advance();
    }
};

TEST_P(GameLoop, SimulationsSideBySideAreThoseAlone)
{
    const SimulationOptions options = with_contact(this->options());
    Game first(cloth(), options, 0), second(cloth(), options, 1);
    for (int frame = 0; frame < 20; ++frame) {
        ASSERT_TRUE(first.play(frame));
        ASSERT_TRUE(second.play(frame));
    }
    for (Game* game : {&first, &second}) {
        Game alone(cloth(), options, game->phase);
        for (int frame = 0; frame < 20; ++frame) ASSERT_TRUE(alone.play(frame));
        EXPECT_TRUE(same(alone.simulation.state(), game->simulation.state()));
    }
    EXPECT_FALSE(same(first.simulation.state(), second.simulation.state()));
}

TEST_P(GameLoop, BlowUpLeavesTheStateAsItWas)
{
    const SimulationOptions options = with_contact(this->options());
    Game calm(cloth(), options, 0), pulled(cloth(), options, 0);
    for (int frame = 0; frame < 5; ++frame) {
        ASSERT_TRUE(calm.play(frame));
        ASSERT_TRUE(pulled.play(frame));
    }
    const State before = pulled.simulation.state();
    const Vec3f shown = pulled.simulation.positions()[1];
    // Faster than a diagonal of the sheet in a step, from the first on.
    pulled.simulation.move(pulled.corner, {1e6, 0, 0});
    const auto report = pulled.simulation.advance();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->particle, 0);
    EXPECT_EQ(report->step, 5L * pulled.simulation.substeps() + 1);
    EXPECT_NEAR(report->time, before.time + kFrame / pulled.simulation.substeps(), 1e-12);
    EXPECT_TRUE(same(pulled.simulation.state(), before));
    EXPECT_EQ(pulled.simulation.positions()[1].x, shown.x);
    for (int frame = 5; frame < 10; ++frame) {
        ASSERT_TRUE(calm.play(frame));
        ASSERT_TRUE(pulled.play(frame));
    }
    // Time begins anew where it went back to, so it may differ by its rounding.
    EXPECT_NEAR(pulled.simulation.state().time, calm.simulation.state().time, 1e-15);
    EXPECT_EQ(
        largest_distance(pulled.simulation.state().position, calm.simulation.state().position), 0);
}

// ---- What it shows ----

TEST_P(GameLoop, SpansShowTheStateWithoutMoving)
{
    Simulation simulation(cloth(), options());
    const Vec3f *x = simulation.positions().data(), *v = simulation.velocities().data(),
                *n = simulation.normals().data();
    for (const Vec3f& normal : simulation.normals()) {
        EXPECT_NEAR(normal.x, 0, 1e-6);
        EXPECT_NEAR(normal.y, 1, 1e-6);
        EXPECT_NEAR(normal.z, 0, 1e-6);
    }
    ASSERT_FALSE(simulation.advance(4));
    EXPECT_EQ(simulation.positions().data(), x);
    EXPECT_EQ(simulation.velocities().data(), v);
    EXPECT_EQ(simulation.normals().data(), n);
    for (std::size_t p = 0; p < cloth().particle_count(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            EXPECT_EQ(x[p][axis], float(simulation.state().position[p][axis]));
            EXPECT_EQ(v[p][axis], float(simulation.state().velocity[p][axis]));
        }
        EXPECT_NEAR(length(n[p]), 1, 1e-6);
    }
}

TEST(Normals, TurnWithTheSheet)
{
    // Tilted about x by 30 degrees: (0, cos, sin).
    const Cloth cloth = uneven_grid({4, 5});
    State state = flat_state(cloth);
    const double c = std::cos(M_PI / 6), s = std::sin(M_PI / 6);
    for (Vec3d& x : state.position) x = {x.x, -s * x.z, c * x.z};
    Simulation simulation(cloth, state, {}, {.dt = 1e-3});
    for (const Vec3f& normal : simulation.normals()) {
        EXPECT_NEAR(normal.x, 0, 1e-6);
        EXPECT_NEAR(normal.y, c, 1e-6);
        EXPECT_NEAR(normal.z, s, 1e-6);
    }
    Simulation chain(chain_cloth(3, 1, 1, 1, 0), {.dt = 1e-3});
    EXPECT_THROW(chain.normals(), Error);
}

// ---- Options and wrong arguments ----

TEST_P(GameLoop, AutomaticSubstepsAreTheStableOnes)
{
    const Simulation simulation(cloth(), options());
    EXPECT_EQ(simulation.substeps(), stable_substeps(cloth(), {}, kFrame));
    EXPECT_GT(simulation.substeps(), 1);
    EXPECT_TRUE(same({0, simulation.state().position, simulation.state().velocity},
                     Simulation(cloth(), flat_state(cloth()), {}, options()).state()));
}

TEST_P(GameLoop, FrameIsItsSubsteps)
{
    SimulationOptions steps = options();
    Simulation frames(cloth(), steps);
    steps.dt = kFrame / frames.substeps();
    steps.substeps = 1;
    Simulation single(cloth(), steps);
    ASSERT_FALSE(frames.advance(3));
    ASSERT_FALSE(single.advance(3 * frames.substeps()));
    EXPECT_TRUE(same(frames.state(), single.state()));
}

TEST(WrongArguments, NameTheirFieldAndChangeNothing)
{
    const Cloth cloth = uneven_grid({3, 3});
    Simulation simulation(cloth, {.dt = 1e-3});
    const HandleId held = simulation.hold(4);
    const double nan = std::nan("");
    EXPECT_THROW(simulation.hold(4), Error);
    EXPECT_THROW(simulation.hold(9), Error);
    EXPECT_THROW(simulation.hold("corner-up"), Error);
    EXPECT_EQ(field_of([&] { simulation.hold(std::span<const int>{}); }), "particles");
    EXPECT_EQ(field_of([&] { simulation.move(HandleId{77}, {}); }), "handle");
    EXPECT_EQ(field_of([&] { simulation.move(held, {0, nan, 0}); }), "target");
    EXPECT_EQ(field_of([&] { simulation.set_pose(0, {}); }), "obstacle");
    EXPECT_EQ(field_of([&] { simulation.obstacle_named("ball"); }), "obstacle");
    EXPECT_THROW(simulation.set_wind({nan, 0, 0}), Error);
    EXPECT_THROW(simulation.set_drag(-1), Error);
    EXPECT_EQ(field_of([&] { (void)simulation.advance(-1); }), "frames");
    EXPECT_EQ(simulation.options().environment.drag, Environment{}.drag);
    EXPECT_EQ(simulation.handles().particles, std::vector{4});
    EXPECT_EQ(field_of([&] { Simulation(cloth, {.dt = 0}); }), "dt");
    EXPECT_EQ(field_of([&] { Simulation(cloth, {.dt = 1, .substeps = 0}); }), "substeps");
    EXPECT_EQ(field_of([&] { Simulation(cloth, {.dt = 1e9}); }), "dt");
    Cloth stiff = cloth;
    for (double& stiffness : stiff.springs.stiffness) stiffness *= 1e12;
    EXPECT_EQ(field_of([&] { Simulation(stiff, {.dt = 100, .substeps = kAutomatic}); }),
              "substeps");
}

}  // namespace

}  // namespace springtime
