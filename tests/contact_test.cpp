// Cloth on obstacles, on every backend: rest, friction, and what may never happen.
#include <cmath>
#include <limits>
#include <numbers>

#include "backends.h"
#include "cloths.h"
#include "error_of.h"
#include "obstacles.h"
#include "sim/obstacle_placement.h"
#include "sim/tape.h"
#include "springtime/generate.h"

namespace springtime {

namespace {

constexpr double kGravity = 9.81, kStep = 1e-3, kThickness = 0.02;
constexpr Environment kVacuum{{0, -kGravity, 0}, 0, {}};

SimulationOptions meeting(std::vector<Obstacle> obstacles, const Environment& air = kVacuum)
{
    return {kStep, air, Device::automatic, std::move(obstacles), kThickness, 0};
}

// ---- The formula ----

TEST(ContactChange, HoldsBelowTheFrictionAngleAndSlidesAbove)
{
    // One step of rest on a slope: u = dt g (sin a along it, -cos a out), d = -dt u_n.
    // The depth is a difference of numbers as large as the thickness: rounded by 3e-18 m, which is
    // 3e-15 m/s.
    const Vec3d normal{0, 1, 0};
    for (const double angle : {0.1, 0.3, 0.5, 0.9}) {
        const double along = kStep * kGravity * std::sin(angle);
        const double in = kStep * kGravity * std::cos(angle);
        const Surface<double> surface{kThickness - kStep * in, normal};
        for (const double mu : {0.0, 0.2, 0.4, 1.5}) {
            const auto change = contact_change(surface, {along, -in, 0}, kThickness, mu, kStep);
            const double left = std::max(along - mu * in, 0.0);
            EXPECT_NEAR(change.velocity.x + along, left, 5e-15);
            EXPECT_NEAR(change.velocity.y, in, 5e-15);
            EXPECT_NEAR(change.position.x + kStep * along, kStep * left, 5e-18);
            EXPECT_NEAR(change.position.y, kStep * in, 5e-18);
        }
    }
}

TEST(ContactChange, NeverAddsSpeedAndLeavesWhatIsOutsideAlone)
{
    Random random(1);
    for (int i = 0; i < 1000; ++i) {
        const auto any = [&] { return 2 * random.uniform() - 1; };
        const Vec3d n = direction(Vec3d{any(), any(), any()}, Vec3d{1, 0, 0});
        const Vec3d u{any(), any(), any()};
        const Surface<double> surface{0.1 * any(), n};
        const auto change = contact_change(surface, u, kThickness, random.uniform(), kStep);
        EXPECT_LE(length(u + change.velocity), length(u) * (1 + 1e-15));
        const double depth = kThickness - surface.distance;
        if (depth <= 0)
            EXPECT_EQ(length(change.position) + length(change.velocity), 0);
        else
            EXPECT_NEAR(dot(change.position, n), depth, 1e-15);
    }
}

// ---- On every backend ----

class ContactOn : public testing::TestWithParam<Backend> {
  protected:
    double epsilon() const { return GetParam().epsilon; }
    // Positions are kept to half an epsilon of their size, and a step rounds a handful of times.
    double rounding(double size) const { return 8 * epsilon() * size; }
    // What a velocity gets of that: it is a change of position over a step.
    double speed_rounding(double size) const { return rounding(size) / kStep; }

    // Calls look(state) every `stride` steps.
    template <class Look>
    State watch(const Cloth& cloth, const State& start, const Handles& handles,
                const SimulationOptions& options, int steps, int stride, Look look) const
    {
        const auto stepper = GetParam().make(cloth, options);
        const int lane = stepper->lane_count() - 1;
        State state = with_handles(start, handles, options.dt);
        stepper->load(lane, state, handles);
        for (int step = 0; step < steps; step += stride) {
            stepper->advance(stride);
            stepper->store(lane, state);
            look(state);
        }
        return state;
    }

    State run(const Cloth& cloth, const State& start, const SimulationOptions& options,
              int steps) const
    {
        return advanced(GetParam(), cloth, start, {}, options, steps);
    }
};

INSTANTIATE_TEST_SUITE_P(All, ContactOn, testing::ValuesIn(all_backends()), backend_name);

// Two particles that no spring joins.
Cloth loose_pair(std::optional<Grid> grid = Grid{1, 2})
{
    return chain_cloth(2, 1, 0.3, 0, 0, grid);
}

State pair_at(const Vec3d& a, const Vec3d& b)
{
    return {0, {a, b}, {{}, {}}};
}

Cloth even_grid(int rows, int cols, double spacing = 0.25)
{
    const Sheet sheet{spacing * (cols - 1), spacing * (rows - 1), 0.1 * rows * cols};
    return make_grid_cloth(sheet, {rows, cols, true, true, true, true}, MaterialField::uniform(50),
                           MaterialField::uniform(0.5));
}

TEST_P(ContactOn, WhatRestsStaysAtTheThickness)
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
    for (const auto& grid : chain_grids(2)) {
        for (const Case& c : cases) {
            const State end = run(loose_pair(grid), pair_at(c.at, c.at + Vec3d{0, 5, 0}),
                                  meeting({solid({c.shape})}), 1000);
            EXPECT_LE(length(end.position[0] - c.at), rounding(2) + 1e-6 * kStep);
            EXPECT_LE(length(end.velocity[0]), speed_rounding(1));
            // Nothing holds the other one: y = 5 - g dt^2 n (n + 1)/2.
            const double fall = kGravity * kStep * kStep * 1000 * 1001 / 2;
            EXPECT_NEAR(end.position[1].y, c.at.y + 5 - fall, 1e4 * epsilon());
        }
    }
}

// The flat sheet lying on a slope through the origin, which rises along -x.
State lying_on_slope(const Cloth& cloth, double angle)
{
    State state = flat_state(cloth);
    const double c = std::cos(angle), s = std::sin(angle);
    for (Vec3d& x : state.position) {
        x = {x.x * c + kThickness * s, -x.x * s + kThickness * c, x.z};
    }
    return state;
}

Obstacle slope(double angle, double friction)
{
    return solid({PlaneShape{{}, {std::sin(angle), std::cos(angle), 0}}}, friction);
}

TEST_P(ContactOn, SheetHoldsBelowTheFrictionAngle)
{
    const Cloth cloth = even_grid(6, 7);
    for (const double angle : {0.2, 0.6}) {
        const State start = lying_on_slope(cloth, angle);
        const State end = run(cloth, start, meeting({slope(angle, 1.05 * std::tan(angle))}), 2000);
        EXPECT_LE(largest_distance(end.position, start.position), rounding(1));
        EXPECT_LE(largest_length(end.velocity), speed_rounding(1));
    }
}

TEST_P(ContactOn, SheetSlidesAboveTheFrictionAngle)
{
    // v_n = n dt a, so the way is a dt^2 n (n + 1)/2 with a = g (sin - mu cos): only rounding is
    // left. An error of the position by e makes one of the push by e/dt, which the next step takes
    // back, but friction has used it by then: e mu n in all.
    const Cloth cloth = even_grid(6, 7);
    const int n = 500;
    for (const double angle : {0.3, 0.6}) {
        const double mu = 0.25;
        const double a = kGravity * (std::sin(angle) - mu * std::cos(angle));
        const double way = a * kStep * kStep * n * (n + 1) / 2;
        const State start = lying_on_slope(cloth, angle);
        const State end = run(cloth, start, meeting({slope(angle, mu)}), n);
        const Vec3d down{std::cos(angle), -std::sin(angle), 0};
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            const Vec3d moved = end.position[p] - start.position[p];
            EXPECT_LE(length(moved - way * down), rounding(1) * n);
            EXPECT_LE(length(end.velocity[p] - n * kStep * a * down), speed_rounding(1));
        }
    }
}

TEST_P(ContactOn, NothingEntersAConvexSolid)
{
    // In every step the particle ends at the thickness or farther, see contact_change.
    const Cloth cloth = even_grid(16, 17);
    const std::vector<Shape> shapes{sphere({0, -0.7, 0}, 0.6),
                                    CapsuleShape{{-1, -0.5, 0.2}, {1, -0.3, 0}, 0.3},
                                    BoxShape{{0.2, -0.5, 0}, {0.6, 0.3, 0.5}, 0},
                                    BoxShape{{0.2, -0.5, 0}, {0.6, 0.3, 0.5}, 0.1}};
    for (const Shape& shape : shapes) {
        const Obstacle obstacle = solid({shape});
        double least = 1;
        watch(cloth, flat_state(cloth), {}, meeting({obstacle}), 1500, 5, [&](const State& state) {
            for (const Vec3d& x : state.position) {
                least = std::min(least, signed_distance(obstacle, x, state.time));
            }
        });
        EXPECT_GE(least, kThickness - rounding(2)) << "shape " << shape.index();
        EXPECT_LE(least, kThickness + 1e-3) << "it must have come down, shape " << shape.index();
    }
}

TEST_P(ContactOn, NothingEntersAnAnimal)
{
    // In its notches the push out of one shape may lead into another, by no more than the way of
    // a step. It falls less than 1 m, so that no speed is above 4.5 m/s: 4.5 mm, of 20.
    const Cloth cloth = even_grid(16, 17);
    const Obstacle animal = make_animal(2);
    State start = flat_state(cloth);
    for (Vec3d& x : start.position) x.y += 0.55;
    double least = 1;
    watch(cloth, start, {}, meeting({animal}), 1000, 5, [&](const State& state) {
        for (const Vec3d& x : state.position) {
            least = std::min(least, signed_distance(animal, x, state.time));
        }
    });
    EXPECT_GE(least, kThickness - 4.5e-3);
    EXPECT_LE(least, kThickness + 1e-3);
}

TEST_P(ContactOn, DeepStartIsPutOutsideWithoutBeingThrown)
{
    const Obstacle ball = solid({sphere({0, 0, 0}, 0.5)});
    const SimulationOptions options = meeting({ball}, kEmptySpace);
    const Vec3d deep{0.1, 0.2, -0.2};  // 0.3 from the centre
    const State end = run(loose_pair(), pair_at(deep, {5, 5, 5}), options, 10);
    EXPECT_NEAR(length(end.position[0] - ((0.5 + kThickness) / 0.3) * deep), 0, rounding(1));
    EXPECT_LE(length(end.velocity[0]), rounding(1));
    // On its very centre it goes somewhere.
    const State from_center = run(loose_pair(), pair_at({}, {5, 5, 5}), options, 10);
    EXPECT_NEAR(length(from_center.position[0]), 0.5 + kThickness, rounding(1));
}

// ---- Obstacles that move ----

Obstacle moved(Obstacle obstacle, const Pose& from, const Pose& to, double duration)
{
    obstacle.key_time = {0, duration};
    obstacle.key_pose = {from, to};
    return obstacle;
}

TEST_P(ContactOn, MovingFloorDragsTheSheetAlong)
{
    // Friction adds mu g dt per step until the floor's speed is reached, and no more.
    const double mu = 0.4, speed = 0.8;
    const Cloth cloth = even_grid(5, 9);
    State start = flat_state(cloth);
    for (Vec3d& x : start.position) x.y = kThickness;
    const Obstacle floor =
        moved(solid({BoxShape{{0, -1, 0}, {50, 1, 50}, 0}}, mu), {}, {{10 * speed, 0, 0}, {}}, 10);
    for (const int n : {100, 500}) {
        double v = 0, way = 0;
        for (int i = 0; i < n; ++i) {
            v = std::min(v + mu * kGravity * kStep, speed);
            way += kStep * v;
        }
        const State end = run(cloth, start, meeting({floor}), n);
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            EXPECT_LE(length(end.velocity[p] - Vec3d{v, 0, 0}), 2 * speed_rounding(1));
            EXPECT_LE(length(end.position[p] - start.position[p] - Vec3d{way, 0, 0}),
                      rounding(1) * n);
        }
    }
}

TEST_P(ContactOn, RisingSphereLiftsWhatLiesOnIt)
{
    const double speed = 0.5, r = 0.5 + kThickness;
    const Obstacle ball =
        moved(solid({sphere({}, 0.5)}), {{1, 0, 0}, {}}, {{1, 10 * speed, 0}, {}}, 10);
    const State pair = run(loose_pair(), pair_at({1, r, 0}, {5, 5, 5}), meeting({ball}), 1000);
    EXPECT_LE(length(pair.position[0] - Vec3d{1, r + speed, 0}), rounding(2));
    EXPECT_LE(length(pair.velocity[0] - Vec3d{0, speed, 0}), speed_rounding(1));

    const Cloth cloth = even_grid(9, 9);
    State start = flat_state(cloth);
    for (Vec3d& x : start.position) x += Vec3d{1, r, 0};
    const State end = watch(cloth, start, {}, meeting({ball}), 1000, 10, [&](const State& state) {
        for (const Vec3d& x : state.position) {
            ASSERT_GE(signed_distance(ball, x, state.time), kThickness - rounding(4));
        }
    });
    EXPECT_NEAR(end.position[40].y, r + speed, 1e-3);  // the middle has gone up with it
}

TEST_P(ContactOn, TurntableTurnsWhatLiesOnIt)
{
    // w^2 r < mu g holds it. A step leads along the chord that ends where the particle would have
    // gone straight on, off by less than (w dt)^3 r: 1e-6 in 1000 steps.
    const double w = 1;
    const Obstacle table = moved(solid({PlaneShape{}}, 0.5), {}, {{}, {0, 10 * w, 0}}, 10);
    State start = pair_at({0.5, kThickness, 0}, {0, kThickness, 0});
    start.velocity[0] = {0, 0, -0.5 * w};
    const State end = run(loose_pair(), start, meeting({table}), 1000);
    const Vec3d expected{0.5 * std::cos(w), kThickness, -0.5 * std::sin(w)};
    EXPECT_LE(length(end.position[0] - expected), 2e-6 + 30 * rounding(1));
    EXPECT_LE(length(end.position[1] - start.position[1]), rounding(1));
}

TEST_P(ContactOn, HandlesAreNotMoved)
{
    const Cloth cloth = even_grid(5, 5);
    const Obstacle block = solid({BoxShape{{}, {2, 2, 2}, 0.1}});
    const State start = flat_state(cloth);
    const State pinned =
        advanced(GetParam(), cloth, start, {{7, 12}, {}, {}}, meeting({block}), 50);
    for (const int p : {7, 12}) {
        EXPECT_LE(length(pinned.position[p] - start.position[p]), epsilon());
        EXPECT_EQ(length(pinned.velocity[p]), 0);
    }
    EXPECT_GE(signed_distance(block, pinned.position[13], 0), kThickness - rounding(4));
    // Nor those on a path through it.
    const Handles path{{12}, {0, 1}, {{0, 0, 0}, {0, 1, 0}}};
    const State led = advanced(GetParam(), cloth, start, path, meeting({block}), 50);
    EXPECT_NEAR(led.position[12].y, 0.05, epsilon());
    EXPECT_NEAR(led.velocity[12].y, 1, 1e-12 + epsilon());
}

// ---- Between backends ----

TEST_P(ContactOn, AgreesWithTheReference)
{
    // Rounding now decides in which step a particle touches, and sliding keeps what it left behind:
    // a difference e of speed in a step is e dt for each of the steps after it.
    for (const Grid size : {Grid{3, 5}, Grid{9, 17}, Grid{12, 12}}) {
        const Cloth cloth = even_grid(size.rows, size.cols);
        const State start = shaken_state(cloth, 3);
        const SimulationOptions options = meeting(landscape(), {{0, -9.81, 0}, 1, {1, 0, 0.5}});
        const State expected = advanced(all_backends().front(), cloth, start, {}, options, 300);
        const State end = run(cloth, start, options, 300);
        EXPECT_LE(largest_distance(end.position, expected.position), 300 * rounding(1))
            << size.rows << "x" << size.cols;
    }
}

TEST_P(ContactOn, OfAMeshAgreesWithTheReference)
{
    const Cloth cloth = uneven_mesh({9, 11}, MeshCut::alternating, TriangleDamping::deformation);
    const State start = shaken_state(cloth, 3);
    SimulationOptions options = meeting(landscape(), {{0, -9.81, 0}, 1, {1, 0, 0.5}});
    options.self_distance = 0.2;
    const Handles corner{{0}, {}, {}};
    const State expected = advanced(all_backends().front(), cloth, start, corner, options, 100);
    const State end = advanced(GetParam(), cloth, start, corner, options, 100);
    EXPECT_LE(largest_distance(end.position, expected.position), 300 * rounding(1));
    const State free =
        advanced(GetParam(), cloth, start, corner, {options.dt, options.environment}, 100);
    EXPECT_GE(largest_distance(end.position, free.position), 0.02);  // they did meet
}

class ContactLanes : public testing::TestWithParam<KernelSet> {};

INSTANTIATE_TEST_SUITE_P(Simd, ContactLanes, testing::ValuesIn(instruction_sets()),
                         [](const testing::TestParamInfo<KernelSet>& test) {
                             return std::string(test.param.name);
                         });

TEST_P(ContactLanes, EachSeesObstaclesAtItsOwnTime)
{
    // The same bits as alone, though every lane began at another time.
    Cloth cloth = even_grid(6, 7);
    cloth.grid.reset();
    SimulationOptions options = meeting(landscape());
    options.self_distance = 0.1;
    const auto batch = make_simd_batch(cloth, options, GetParam());
    const auto start = [&](int lane) {
        State state = shaken_state(cloth, lane);
        state.time = 0.05 * (lane / 2);
        return state;
    };
    for (int lane = 0; lane < batch->lane_count(); ++lane) batch->load(lane, start(lane), {});
    batch->advance(200);
    for (int lane = 0; lane < batch->lane_count(); ++lane) {
        const auto single = make_simd_single(cloth, options, GetParam());
        single->load(0, start(lane), {});
        single->advance(200);
        State alone = start(lane), beside = start(lane);
        single->store(0, alone);
        batch->store(lane, beside);
        EXPECT_EQ(largest_distance(alone.position, beside.position), 0) << "lane " << lane;
        EXPECT_EQ(largest_distance(alone.velocity, beside.velocity), 0) << "lane " << lane;
    }
}

TEST_P(ContactLanes, BlowUpDoesNotCrashThem)
{
    const Cloth cloth = even_grid(6, 7);
    SimulationOptions options = meeting(landscape());
    options.self_distance = 0.1;
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 1e30}) {
        const auto single = make_simd_single(cloth, options, GetParam());
        State state = flat_state(cloth);
        state.position[20].x = bad;
        single->load(0, state, {});
        single->advance(50);
        single->store(0, state);
        EXPECT_FALSE(std::abs(state.position[20].x) < 1e6);
    }
}

// ---- What others see of it ----

TEST(ContactOptions, AreChecked)
{
    const Cloth cloth = even_grid(3, 3);
    const auto with = [&](auto change) {
        SimulationOptions options = meeting({solid({PlaneShape{}})});
        change(options);
        return error_of([&] { Simulation(cloth, flat_state(cloth), {}, options); });
    };
    EXPECT_EQ(with([](SimulationOptions&) {}), "(no error)");
    EXPECT_EQ(with([](SimulationOptions& o) { o.thickness = -1; }),
              "thickness -1 m: it must be finite and not negative");
    EXPECT_EQ(with([](SimulationOptions& o) { o.self_distance = -1; }),
              "distance of the cloth to itself -1 m: it must be finite and not negative");
    EXPECT_EQ(with([](SimulationOptions& o) { o.obstacles[0].friction = -1; }),
              "obstacle 0: friction -1; it must be finite and not negative");
    EXPECT_EQ(with([](SimulationOptions& o) {
                  o.obstacles[0].name = "hill";
                  o.obstacles[0].shapes.clear();
              }),
              "obstacle hill: no shapes; give at least one");
}

TEST(ContactOptions, AreRefusedByTapes)
{
    const Cloth cloth = even_grid(3, 3);
    SimulationOptions obstacle = meeting({solid({PlaneShape{}})}), self;
    self.self_distance = 0.5;
    EXPECT_EQ(error_of([&] { make_fast_tape(cloth, obstacle); }),
              "gradient: 1 obstacles and a self distance of 0 m; gradients do not lead through "
              "contact, so learn without obstacles and with a self distance of 0");
    EXPECT_EQ(error_of([&] { make_reference_tape(cloth, self); }),
              "gradient: 0 obstacles and a self distance of 0.5 m; gradients do not lead through "
              "contact, so learn without obstacles and with a self distance of 0");
    EXPECT_EQ(error_of([&] { make_fast_tape(cloth, {}); }), "(no error)");
}

TEST(ContactOptions, LeaveAccelerationsOutOfRecordings)
{
    const Cloth cloth = even_grid(3, 3);
    for (const bool contact : {false, true}) {
        const SimulationOptions options =
            contact ? meeting({solid({PlaneShape{{0, -1, 0}, {0, 1, 0}}})}) : meeting({});
        Simulation simulation(cloth, flat_state(cloth), {}, options);
        const Rollout rollout = record(simulation, 3, 2, {}).rollout;
        EXPECT_EQ(rollout.position.size(), 3u * 3 * 9);
        EXPECT_EQ(rollout.acceleration.size(), contact ? 0u : 3u * 3 * 9);
    }
}

}  // namespace

}  // namespace springtime
