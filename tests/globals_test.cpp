// What the recordings of a capture share: size, drag, air, tilt, delay, paths, bias of the tracker.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "error_of.h"
#include "handkerchiefs.h"
#include "learn/capture_run.h"
#include "learn/tracker_fit.h"
#include "springtime/evaluate.h"
#include "springtime/files.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

constexpr double kDegree = M_PI / 180;

// Turned about the x axis.
Vec3d pitched(const Vec3d& x, double angle)
{
    const double c = std::cos(angle), s = std::sin(angle);
    return {x.x, c * x.y - s * x.z, s * x.y + c * x.z};
}

// What whoever recorded a motion states wrongly.
struct Misstatement {
    double length = 1, width = 1;  // factors
    double drag = 1;               // [1/s]
    double pitch = 0;              // of the camera about x [rad]
    double delay = 0;              // of the camera behind the held paths [s]
    double air = 0;                // that moves along and is not stated, over the mass
    std::vector<Vec3d> bias{};     // of the tracker, by landmark [m]
};

Motion misstated(const Motion& motion, const Misstatement& wrong)
{
    MotionHeader header = motion.header;
    header.sheet.length *= wrong.length;
    header.sheet.width *= wrong.width;
    for (SheetPoint& point : header.rest) {
        point = {wrong.length * point.u, wrong.width * point.v};
    }
    header.environment.drag = wrong.drag;
    header.environment.gravity = (1 + wrong.air) * header.environment.gravity;
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        Rollout rollout = motion.read(r, 0, motion.frame_counts[r]);
        for (std::size_t i = 0; i < rollout.position.size(); i += 3) {
            float* x = &rollout.position[i];
            const Vec3d turned = pitched({x[0], x[1], x[2]}, wrong.pitch);
            for (int axis = 0; axis < 3; ++axis) x[axis] = float(turned[axis]);
        }
        for (std::size_t i = 0; i < rollout.position.size() && !wrong.bias.empty(); ++i) {
            rollout.position[i] += float(wrong.bias[i / 3 % wrong.bias.size()][int(i % 3)]);
        }
        for (Vec3d& x : rollout.handles.key_position) x = pitched(x, wrong.pitch);
        for (double& time : rollout.handles.key_time) time -= wrong.delay;
        rollouts.push_back(rollout);
    }
    return Motion::from_rollouts(header, std::move(rollouts));
}

// A taut sheet that two corners of a bar swing: both move alike. Camera noise is 2 mm.
Motion swung(const Cloth& cloth, double seconds, const std::vector<int>& seeds,
             double gravity = 9.81)
{
    constexpr double kSettle = 1, kFrameRate = 30;
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.environment.drag = 2;
    header.environment.gravity = {0, -gravity, 0};
    header.stride = 34;
    header.dt = 1 / (kFrameRate * header.stride);
    header.captured = true;
    const ObserveOptions camera{.noise = 0.002, .positions_only = true};
    MotionHeader seen = header;
    observe_header(seen, camera);
    State start = flat_state(cloth);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        start.position[p] = {cloth.rest[p].u, -cloth.rest[p].v, 0};
    }
    const int substeps = stable_substeps(cloth, header.environment, header.dt);
    const auto skipped = std::size_t(kSettle * kFrameRate);
    const auto frames = std::size_t(seconds * kFrameRate);
    std::vector<Rollout> recordings;
    for (const int seed : seeds) {
        Handles handles = carried_corners(cloth, kSettle, seconds, seed);
        const std::vector<Vec3d> path = handles.key_position;
        for (std::size_t i = 0; i < path.size(); i += 2) {
            const Vec3d by = 0.5 * (path[i] + path[i + 1] - path[0] - path[1]);
            for (std::size_t h = 0; h < 2; ++h) {
                handles.key_position[i + h] =
                    start.position[std::size_t(handles.particles[h])] + by;
            }
        }
        Simulation simulation(cloth, start, handles,
                              {header.dt / substeps, header.environment, Device::automatic});
        const Recording whole = record(simulation, skipped + frames, header.stride * substeps);
        recordings.push_back(observe(whole.rollout.frames(skipped, frames, header.frame_interval()),
                                     header, camera, std::uint64_t(seed), 0));
    }
    return Motion::from_rollouts(seen, std::move(recordings));
}

GridOptions grid_of(const Motion& motion)
{
    const Grid grid = fitting_grid(motion.header);
    return {grid.rows, grid.cols, true, true, true, true};
}

TEST(Globals, AdjointIsTheDerivativeOfARun)
{
    const Motion motion =
        misstated(filmed(handkerchief(4, 50, 50, 0.02), 30, 0.3, {.positions_only = true}, {1, 2}),
                  {.length = 1.03, .delay = 0.013});
    const GlobalsOptions options{.grid = grid_of(motion), .device = Device::reference};
    const CaptureRun run(motion, Device::reference);
    GlobalModel model(motion, options);
    model.set_tracker(TrackerBias{std::vector<Vec3d>(motion.header.landmark_count(), {0.001, 0, 0}),
                                  std::vector<Vec3d>(motion.header.landmark_count()), 0.3});
    std::vector<double> values = model.start();
    Random random(3);
    for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] += 0.3 * model.unknowns()[j].spread * random.normal();
    }
    const int substeps = run.substeps(model.cloth(values)).value();
    // A linear functional of the residuals.
    Eigen::VectorXd weights(Eigen::Index(3 * run.seen_count()));
    for (double& weight : weights) weight = random.normal();
    const Eigen::VectorXd gradient = run.gradient(model, values, substeps, weights);
    for (std::size_t j = 0; j < values.size(); ++j) {
        const double h = 0.02 * model.unknowns()[j].step;
        const auto at = [&](double by) {
            std::vector<double> other = values;
            other[j] += by;
            return weights.dot(*run.residuals(model.cloth(other), substeps));
        };
        const double difference = (at(h) - at(-h)) / (2 * h);
        // Paths are straight between their keys: a delay has kinks. Seen: 2e-3 there.
        EXPECT_NEAR(gradient[Eigen::Index(j)], difference, 5e-3 * std::abs(difference) + 1e-5)
            << model.unknowns()[j].name;
    }
}

TEST(Globals, LanesGiveTheGradientOfTheReference)
{
    const Motion motion =
        filmed(handkerchief(4, 50, 50, 0.02), 30, 0.3, {.positions_only = true}, {1, 2, 3});
    const GlobalModel model(motion, {.grid = grid_of(motion)});
    const CaptureRun plain(motion, Device::reference), lanes(motion, Device::cpu);
    const std::vector<double> values = model.start();
    const int substeps = plain.substeps(model.cloth(values)).value();
    const Eigen::VectorXd weights = Eigen::VectorXd::Ones(Eigen::Index(3 * plain.seen_count()));
    const Eigen::VectorXd expected = plain.gradient(model, values, substeps, weights);
    const Eigen::VectorXd found = lanes.gradient(model, values, substeps, weights);
    for (Eigen::Index j = 0; j < found.size(); ++j) {
        EXPECT_NEAR(found[j], expected[j], 1e-2 * std::abs(expected[j]) + 1e-3)
            << model.unknowns()[std::size_t(j)].name;
    }
}

TEST(Globals, AreRecoveredFromNoisyRecordings)
{
    const double drag = 2, pitch = 3 * kDegree, delay = 0.04;
    Cloth cloth = make_grid_cloth({0.3, 0.3, 0.03}, {5, 5, true, true, true, false},
                                  MaterialField::uniform(60), MaterialField::uniform(0.02));
    set_law(cloth, {{}, true, true});  // without isotropic damping, drag would come out smaller
    std::fill(cloth.springs.isotropic_damping.begin(), cloth.springs.isotropic_damping.end(),
              0.005);
    std::fill(cloth.bends.stiffness.begin(), cloth.bends.stiffness.end(), 0.1);
    const Motion truth = swung(cloth, 3, {1, 2, 3});
    const Motion motion = misstated(
        truth, {.length = 1.05, .width = 0.95, .drag = 1, .pitch = pitch, .delay = delay});
    const GlobalsFit fit =
        fit_globals(motion, {.fixed = {GlobalKind::paths}, .grid = grid_of(motion), .threads = 2});
    const Globals& found = fit.globals;
    SCOPED_TRACE(describe(found));
    EXPECT_NEAR(found.length.value, 0.3, 0.003);
    EXPECT_NEAR(found.width.value, 0.3, 0.003);
    EXPECT_NEAR(found.drag.value, drag, 0.05 * drag);
    // Gravity is turned with the cloth. Its tilt along the bar hardly moves a taut sheet, and says
    // so.
    EXPECT_NEAR(std::asin(found.gravity.z / 9.81), -pitch, 0.5 * kDegree);
    EXPECT_LT(found.tilt_z.error.value(), 0.5 * kDegree);
    EXPECT_GT(found.tilt_x.error.value(), found.tilt_z.error.value());
    EXPECT_NEAR(found.delay.value, delay, 0.005);
    EXPECT_LT(fit.error, 0.5 * fit.stated_error);
    EXPECT_GT(found.length.error.value(), 0);
    EXPECT_FALSE(found.turn[0].error);  // fixed
}

TEST(Globals, AirAndBiasOfTheTrackerAreFound)
{
    const double air = 0.4;
    Cloth cloth = make_grid_cloth({0.3, 0.3, 0.03}, {4, 4, true, true, true, false},
                                  MaterialField::uniform(60), MaterialField::uniform(0.02));
    set_law(cloth, {{}, false, true});
    std::fill(cloth.bends.stiffness.begin(), cloth.bends.stiffness.end(), 0.1);
    const Motion truth = swung(cloth, 2, {1, 2, 3}, 9.81 / (1 + air));
    const Handles held = truth.read(0, 0, 1).handles;
    std::vector<Vec3d> bias(cloth.particle_count());
    Random random(5);
    for (std::size_t l = 0; l < bias.size(); ++l) {
        const bool free =
            std::find(held.particles.begin(), held.particles.end(), int(l)) == held.particles.end();
        if (free) bias[l] = 0.01 * Vec3d{random.normal(), random.normal(), random.normal()};
    }
    const Motion motion = misstated(truth, {.drag = 2, .air = air, .bias = bias});
    const GlobalsFit fit =
        fit_globals(motion, {.fixed = {GlobalKind::size, GlobalKind::drag, GlobalKind::tilt,
                                       GlobalKind::delay, GlobalKind::paths},
                             .grid = grid_of(motion),
                             .threads = 2});
    SCOPED_TRACE(describe(fit.globals));
    EXPECT_NEAR(fit.globals.air.value, air, 0.1 * air);
    EXPECT_NEAR(length(fit.globals.gravity), 9.81 / (1 + fit.globals.air.value), 1e-9);
    ASSERT_TRUE(fit.globals.tracker);
    double off = 0, all = 0;
    for (std::size_t l = 0; l < bias.size(); ++l) {
        const Vec3d difference = fit.globals.tracker->common[l] - bias[l];
        off += dot(difference, difference);
        all += dot(bias[l], bias[l]);
    }
    EXPECT_LT(std::sqrt(off / all), 0.25);
    EXPECT_LT(fit.error, 0.5 * fit.stated_error);
}

TEST(Globals, BiasOfTheTrackerIsWhatRecordingsHaveInCommon)
{
    const Vec3d a{0.01, 0, 0}, b{0, 0.02, -0.01}, unknown{NAN, NAN, NAN};
    const auto alike = common_bias({{a, b}, {a, b}});
    EXPECT_EQ(length(alike[0] - a), 0);
    EXPECT_EQ(length(alike[1] - b), 0);
    EXPECT_EQ(length(common_bias({{a, b}})[0]), 0);  // one recording tells nothing
    EXPECT_EQ(length(common_bias({{a, b}, {-1.0 * a, -1.0 * b}})[0]),
              0);  // opposite ones tell that
    // One landmark, two recordings of 3 and 1: the mean is 2 with V = 4, the variance between them
    // 2, so 1 - 2/(2*4) = 3/4 of the mean is left.
    const auto drawn = common_bias({{{3, 0, 0}, unknown}, {{1, 0, 0}, unknown}});
    EXPECT_NEAR(drawn[0].x, 1.5, 1e-12);
    EXPECT_EQ(length(drawn[1]), 0);
    // 0.3 of the first frames lasts.
    const std::vector<Vec3d> common{a, b};
    const LandmarkShifts first{{b, a}, {}};
    const LandmarkShifts beside{{a + 0.3 * b, b + 0.3 * a}, {b, b}};
    EXPECT_NEAR(lasting_share(beside, first, common), 0.3, 1e-12);
    EXPECT_EQ(lasting_share(beside, {{}, {}}, common), 0);
}

TEST(Globals, WhatIsFixedStaysAsStated)
{
    const Motion motion =
        misstated(filmed(handkerchief(4, 50, 50, 0.02), 30, 0.5, {.positions_only = true}, {1}),
                  {.length = 1.05});
    GlobalsOptions options{.fixed = {kGlobalKinds.begin(), kGlobalKinds.end()},
                           .grid = grid_of(motion)};
    const Globals found = fit_globals(motion, options).globals;
    EXPECT_EQ(found.length.value, motion.header.sheet.length);
    EXPECT_EQ(found.drag.value, 1);
    EXPECT_EQ(found.gravity.y, -9.81);
    EXPECT_EQ(found.delay.value, 0);
    EXPECT_EQ(found.air.value, 0);
    EXPECT_FALSE(found.tracker);
    EXPECT_FALSE(found.length.error || found.drag.error || found.delay.error);
}

Globals some_globals()
{
    Globals globals;
    globals.stated_length = globals.stated_width = 0.3;
    globals.length = {0.29, 0.002};
    globals.width = {0.28, std::nullopt};
    globals.drag = {2.5, 0.1};
    globals.steadied = 0.4;
    globals.gravity = {0.2, -9.8, 0.1};
    globals.delay = {0.02, 0.001};
    globals.turn[1] = {0.01, 0.002};
    globals.air = {0.3, 0.05};
    globals.stretch[4] = {0.02, 0.001};
    globals.tracker = TrackerBias{{{0.001, 0, 0}}, {{0, -0.1, 0}}, 0.25};
    globals.offsets = {{0, {0.01, 0.02, 0.03}, {0.001, 0.001, 0.001}}};
    return globals;
}

TEST(Globals, ACorrectedMotionHasTheFittedSheetAirAndPaths)
{
    const Motion motion =
        filmed(handkerchief(4, 50, 50, 0.02), 30, 0.5, {.positions_only = true}, {1});
    Globals globals = some_globals();
    globals.steadied.reset();
    const Motion corrected = with_globals(motion, globals);
    EXPECT_EQ(corrected.header.sheet.length, 0.29);
    EXPECT_NEAR(corrected.header.rest[3].u, 0.29, 1e-12);
    EXPECT_EQ(corrected.header.environment.drag, 2.5);
    EXPECT_EQ(corrected.header.environment.gravity.x, 0.2);
    const Handles before = motion.read(0, 0, 2).handles, after = corrected.read(0, 0, 2).handles;
    EXPECT_NEAR(after.key_time[3], before.key_time[3] + 0.02, 1e-12);
    // A turn keeps lengths, an offset keeps differences.
    const std::size_t later = 2 * before.particles.size();
    EXPECT_NEAR(length(after.key_position[later] - after.key_position[0]),
                length(before.key_position[later] - before.key_position[0]), 1e-12);
    // Applied once.
    EXPECT_EQ(with_globals(corrected, globals).header.sheet.length, 0.29);
    Motion other = motion;
    other.header.sheet.length = 0.4;
    EXPECT_THROW(with_globals(other, globals), Error);
}

// A sheet that hangs still, with one landmark that is seen 4 mm off in the first frame.
TEST(Globals, ACorrectedMotionIsWithoutTheBiasOfTheTracker)
{
    const Cloth cloth = handkerchief(3, 50, 50, 0.02);
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.captured = true;
    header.velocities = false;
    Rollout rollout;
    rollout.frame_count = 3;
    rollout.position.assign(3 * 3 * 9, 0);
    rollout.position[3 * 4] = 0.004F;
    rollout.handles = {{6, 8}, {0, 1}, std::vector<Vec3d>(4)};
    const Motion motion = Motion::from_rollouts(header, {rollout});
    Globals globals;
    globals.stated_length = cloth.sheet.length;
    globals.stated_width = cloth.sheet.width;
    globals.length.value = cloth.sheet.length;
    globals.width.value = cloth.sheet.width;
    TrackerBias tracker{std::vector<Vec3d>(9), std::vector<Vec3d>(9, {0, 0, 0.001}), 0.5};
    for (const int held : {6, 8}) tracker.hanging[std::size_t(held)] = {};
    tracker.common[0] = {0, 0.002, 0};
    globals.tracker = tracker;
    const Rollout seen = with_globals(motion, globals).read(0, 1, 2);
    const auto at = [&](std::size_t landmark) {
        const float* x = &seen.position[3 * landmark];
        return Vec3d{x[0], x[1], x[2]};
    };
    const auto expect = [&](std::size_t landmark, const Vec3d& expected) {
        EXPECT_LT(length(at(landmark) - expected), 1e-8) << landmark;
    };
    expect(1, {0, 0, 0.0005});       // half of what the first frame shows beside the hanging cloth
    expect(0, {0, -0.001, 0.0005});  // the common bias, and half of what is beside that
    expect(6, {});                   // held
    // Cut at three medians, which are 1 mm: half of 3 mm along (4, 0, -1).
    expect(4, (-0.0015 / std::hypot(4.0, 1.0)) * Vec3d{4, 0, -1});
    // Recordings that begin with a swing have the common bias alone.
    rollout.handles.key_position[2] = {1, 0, 0};
    const Rollout swings =
        with_globals(Motion::from_rollouts(header, {rollout}), globals).read(0, 1, 2);
    EXPECT_EQ(swings.position[3 * 1 + 2], 0);
    EXPECT_NEAR(swings.position[1], -0.002, 1e-8);
}

TEST(Globals, PathsAreStretchedAboutTheirMean)
{
    const Motion motion =
        filmed(handkerchief(4, 50, 50, 0.02), 30, 0.5, {.positions_only = true}, {1});
    Globals globals = some_globals();
    globals.steadied.reset();
    globals.turn = {};
    globals.offsets.clear();
    globals.stretch[1].value = 0.1;
    const Handles before = motion.read(0, 0, 2).handles;
    const Handles after = with_globals(motion, globals).read(0, 0, 2).handles;
    const std::size_t later = 2 * before.particles.size();
    const Vec3d moved = before.key_position[later] - before.key_position[0];
    const Vec3d expected{moved.x, 1.1 * moved.y, moved.z};
    EXPECT_LT(length(after.key_position[later] - after.key_position[0] - expected), 1e-12);
}

TEST(Globals, AreKeptInClothFiles)
{
    Cloth cloth = handkerchief(3, 50, 50, 0.02);
    cloth.globals = some_globals();
    const Cloth read = cloth_from_json(cloth_to_json(cloth), "test");
    ASSERT_TRUE(read.globals);
    EXPECT_EQ(read.globals->length.value, 0.29);
    EXPECT_EQ(read.globals->length.error, cloth.globals->length.error);
    EXPECT_FALSE(read.globals->width.error);
    EXPECT_EQ(read.globals->turn[1].value, 0.01);
    ASSERT_EQ(read.globals->offsets.size(), 1u);
    EXPECT_EQ(read.globals->offsets[0].offset.z, 0.03);
    EXPECT_EQ(read.globals->steadied, 0.4);
    EXPECT_EQ(read.globals->air.value, 0.3);
    EXPECT_EQ(read.globals->stretch[4].value, 0.02);
    ASSERT_TRUE(read.globals->tracker);
    EXPECT_EQ(read.globals->tracker->own, 0.25);
    ASSERT_EQ(read.globals->tracker->common.size(), 1u);
    EXPECT_EQ(read.globals->tracker->common[0].x, 0.001);
    ASSERT_EQ(read.globals->tracker->hanging.size(), 1u);
    EXPECT_EQ(read.globals->tracker->hanging[0].y, -0.1);
}

}  // namespace

}  // namespace springtime
