#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "learn/training_set.h"
#include "motions.h"
#include "springtime/learn.h"

namespace springtime {

inline ParameterValues random_values_like(ParameterValues values)
{
    Random random(3);
    for (auto& kind : values) {
        for (double& value : kind) value = random.normal();
    }
    return values;
}

// 6 x 6 particles of 0.1 kg, 0.5 m apart, stiff and soft squares, a tough band.
inline Cloth patchwork()
{
    const MaterialField stiffness =
        MaterialField::uniform(30).paint({MaterialField::Checker{3}, 60});
    const MaterialField damping =
        MaterialField::uniform(0.6).paint({MaterialField::ColumnStripes{{{0.3, 0.7}}}, 1.2});
    return make_grid_cloth({2.5, 2.5, 3.6}, {6, 6, true, true, true, true}, stiffness, damping);
}

inline GenerateOptions short_falls(int rollouts, double seconds)
{
    GenerateOptions options;
    options.rollouts = rollouts;
    options.seconds = seconds;
    options.dt = 2e-3;
    options.stride = 5;
    options.anchor_size = 1;
    options.seed = 3;
    options.threads = 1;
    return options;
}

// Twelve falls of 1.2 s.
inline const Motion& patchwork_motion()
{
    static const Motion motion = generated_motion(patchwork(), short_falls(12, 1.2));
    return motion;
}

// A gradient by parameters becomes one by coordinates.
inline void to_coordinates(ParameterValues& gradient, const ParameterValues& slopes)
{
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        for (std::size_t e = 0; e < gradient[k].size(); ++e) gradient[k][e] *= slopes[k][e];
    }
}

inline TrainOptions quick_options(int rows, int cols, std::vector<TrainPass> passes)
{
    TrainOptions options;
    options.grid = {rows, cols, true, true, true, true};
    options.passes = std::move(passes);
    options.rounds = 1;
    options.batch = 16;
    options.clip_steps = 100;
    options.slow_seconds = 0.6;
    options.validation_share = 0.1;
    options.threads = 2;
    return options;
}

// What the hooks saw.
struct Diary {
    std::vector<TrainLog> logs;
    std::vector<TrainState> states;  // after every iteration
};

inline TrainHooks write_to(Diary& diary)
{
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) { diary.logs.push_back(log); };
    hooks.on_state = [&](const TrainState& state) { diary.states.push_back(state); };
    return hooks;
}

inline Cloth start_of(const TrainingSet& set)
{
    const Progress none;
    return homogeneous_start(set, Stage(none, "start"));
}

// Says no when that many reports have come.
inline Progress cancelled_after(int reports)
{
    return Progress([reports](const ProgressUpdate&) mutable { return --reports > 0; });
}

inline void expect_same_bits(const TrainState& a, const TrainState& b)
{
    EXPECT_EQ(a.iteration, b.iteration);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.mean, b.mean);
    EXPECT_EQ(a.square, b.square);
    EXPECT_EQ(a.stiffness_scale, b.stiffness_scale);
    EXPECT_EQ(a.damping_scale, b.damping_scale);
    EXPECT_EQ(a.best_validation, b.best_validation);
    EXPECT_EQ(a.best_iteration, b.best_iteration);
    EXPECT_EQ(a.best, b.best);
}

inline void expect_same_bits(const TrainResult& a, const TrainResult& b)
{
    expect_same_bits(a.state, b.state);
    EXPECT_EQ(parameters_of(a.cloth), parameters_of(b.cloth));
    EXPECT_EQ(a.validation_rmse, b.validation_rmse);
}

}  // namespace springtime
