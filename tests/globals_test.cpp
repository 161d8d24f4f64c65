// What the recordings of a capture share: size, drag, tilt, delay, paths.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "error_of.h"
#include "handkerchiefs.h"
#include "learn/capture_run.h"
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
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        Rollout rollout = motion.read(r, 0, motion.frame_counts[r]);
        for (std::size_t i = 0; i < rollout.position.size(); i += 3) {
            float* x = &rollout.position[i];
            const Vec3d turned = pitched({x[0], x[1], x[2]}, wrong.pitch);
            for (int axis = 0; axis < 3; ++axis) x[axis] = float(turned[axis]);
        }
        for (Vec3d& x : rollout.handles.key_position) x = pitched(x, wrong.pitch);
        for (double& time : rollout.handles.key_time) time -= wrong.delay;
        rollouts.push_back(rollout);
    }
    return Motion::from_rollouts(header, std::move(rollouts));
}

// A taut sheet that two corners of a bar swing: both move alike. Camera noise is 2 mm.
Motion swung(const Cloth& cloth, double seconds, const std::vector<int>& seeds)
{
    constexpr double kSettle = 1, kFrameRate = 30;
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.environment.drag = 2;
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
    const GlobalModel model(motion, options);
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
    set_law(cloth, {{}, false, true});
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
}

}  // namespace

}  // namespace springtime
