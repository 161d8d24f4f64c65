#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "motions.h"
#include "springtime/generate.h"
#include "springtime/identify.h"

namespace springtime {

// All times are multiples of this, so that 30, 60 and 120 frames a second can be had. [s]
inline constexpr double kIdentifyStep = 1.0 / 480;

inline constexpr GridOptions kGrid5{5, 5, true, true, true, true};

// Cells of 0.5 m, particles of 0.1 kg, and no two springs alike.
inline Cloth varied_cloth(const GridOptions& grid, const SpringLaw& law = {})
{
    const Sheet sheet{0.5 * (grid.cols - 1), 0.5 * (grid.rows - 1), 0.1 * grid.rows * grid.cols};
    Cloth cloth =
        make_grid_cloth(sheet, grid, MaterialField::uniform(40), MaterialField::uniform(0.5));
    set_law(cloth, law);
    Random random(17);
    for (double& c : cloth.springs.isotropic_damping) c = 0.2;
    for (double& kappa : cloth.bends.stiffness) kappa = 2;
    for (double& eta : cloth.bends.damping) eta = 0.05;
    for (int kind = 0; kind < learned_count(cloth); ++kind) {
        for (double& value : learned(cloth, kind)) value *= 0.5 + random.uniform();
    }
    return cloth;
}

inline MotionHeader header_for(const Cloth& cloth, const Environment& environment, int stride)
{
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = kIdentifyStep;
    header.stride = stride;
    header.environment = environment;
    return header;
}

// Frames that have nothing to do with each other: the flat sheet, every particle shaken by
// its `shake` [m], with velocities about 1 m/s, and the accelerations that go with them. All but
// the accelerations is stored exactly.
inline Rollout random_frames(const Cloth& cloth, const Environment& environment,
                             const Handles& handles, std::size_t frames,
                             const std::vector<double>& shake, std::uint64_t seed)
{
    Random random(seed);
    Rollout rollout;
    rollout.handles = handles;
    for (; rollout.frame_count < frames; ++rollout.frame_count) {
        Scene scene{cloth, flat_state(cloth), handles, {kIdentifyStep, environment}, 0, {}};
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            for (int axis = 0; axis < 3; ++axis) {
                scene.start.position[p][axis] += shake[p] * random.normal();
                scene.start.velocity[p][axis] = random.normal();
            }
        }
        scene.start = rounded_for_floats(scene.start);
        append_vectors(rollout.position, scene.start.position);
        append_vectors(rollout.velocity, scene.start.velocity);
        append_vectors(rollout.acceleration, PlainRun<double>(scene).acceleration());
    }
    return rollout;
}

inline Rollout random_frames(const Cloth& cloth, const Environment& environment,
                             const Handles& handles, std::size_t frames, double shake,
                             std::uint64_t seed)
{
    const std::vector<double> all(cloth.particle_count(), shake);
    return random_frames(cloth, environment, handles, frames, all, seed);
}

// Falls as the generator makes them, stepped in double, stored in float.
inline Motion falls(const Cloth& cloth, int rollouts, double seconds, int frames_per_second,
                    std::uint64_t seed = 5)
{
    GenerateOptions options;
    options.anchor_size = 1;
    options.seed = seed;
    const int stride = static_cast<int>(std::lround(1 / (kIdentifyStep * frames_per_second)));
    const auto frames = static_cast<std::size_t>(std::lround(seconds * frames_per_second)) + 1;
    std::vector<Rollout> all;
    for (int i = 0; i < rollouts; ++i) {
        const RolloutStart start = random_start(cloth, options, i);
        const SimulationOptions step{kIdentifyStep, options.environment, Device::automatic};
        all.push_back(recorded({cloth, start.state, start.handles, step, 0, {}}, frames, stride));
    }
    return motion_of(header_for(cloth, options.environment, stride), std::move(all));
}

inline std::vector<Rollout> rollouts_of(const Motion& motion)
{
    std::vector<Rollout> all;
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        all.push_back(motion.read(r, 0, motion.frame_counts[r]));
    }
    return all;
}

// The motion as a camera sees it.
inline Motion observed(const Motion& motion, ObserveOptions options, std::uint64_t seed = 1)
{
    options.positions_only = true;
    std::vector<Rollout> seen = rollouts_of(motion);
    for (std::size_t r = 0; r < seen.size(); ++r) {
        seen[r] = observe(seen[r], motion.header, options, seed, r);
    }
    MotionHeader header = motion.header;
    observe_header(header, options);
    return motion_of(header, std::move(seen));
}

inline IdentifyOptions options_for(const Cloth& cloth, const SpringLaw& law = {})
{
    IdentifyOptions options;
    options.grid = {cloth.grid->rows, cloth.grid->cols, true, true, true, true};
    options.law = law;
    options.validation_share = 0.01;  // one rollout
    options.threads = 1;
    return options;
}

// Root of the mean squared error of one kind of parameter.
inline double parameter_rmse(const Cloth& found, const Cloth& truth, int kind)
{
    const std::vector<double>&a = learned(found, kind), &b = learned(truth, kind);
    double squares = 0;
    for (std::size_t s = 0; s < a.size(); ++s) squares += (a[s] - b[s]) * (a[s] - b[s]);
    return std::sqrt(squares / double(a.size()));
}

inline void expect_same_bits(const Identification& a, const Identification& b)
{
    EXPECT_EQ(parameters_of(a.cloth), parameters_of(b.cloth));
    EXPECT_EQ(a.cloth.errors->parameters, b.cloth.errors->parameters);
    EXPECT_EQ(a.cloth.errors->force, b.cloth.errors->force);
    EXPECT_EQ(a.window, b.window);
    EXPECT_EQ(a.prior, b.prior);
    EXPECT_EQ(a.noise.level, b.noise.level);
    EXPECT_EQ(a.unseen, b.unseen);
    EXPECT_EQ(a.held_count, b.held_count);
    EXPECT_EQ(a.equation_error, b.equation_error);
    EXPECT_EQ(a.equation_count, b.equation_count);
}

}  // namespace springtime
