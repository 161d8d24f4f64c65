#pragma once

#include <optional>
#include <string>

#include "springtime/learn.h"

namespace springtime {

// What LearnOptions mean for one motion: where they leave something open, it is decided here.

// The motion to learn from. A single rollout, and few captured ones, are cut into segments, so that
// some can be left out for validation. It reads through `motion`.
Motion learning_motion(const Motion& motion);

// Throws Error where options ask for what their method does not do or are out of range, or the
// motion is not one to learn from.
void check_learn(const LearnOptions& options, const Motion& motion);

// Of the motion to learn from: clips of the default length become as short as its rollouts where
// the method allows.
TrainOptions train_options(const LearnOptions& options, const Motion& motion);
IdentifyOptions identify_options(const LearnOptions& options, const TrainOptions& train);

// A grid that may follow the motion better than the one of the landmarks; none where there is no
// choice to make.
std::optional<Grid> finer_grid(const LearnOptions& options, const MotionHeader& header);

// Whether the cloth is one of a mesh: of triangles, or of springs along given edges.
bool learns_on_mesh(const LearnOptions& options);

// Whether no loss needs forces, which are second differences without stored velocities.
bool compares_positions_only(const TrainOptions& options);

}  // namespace springtime
