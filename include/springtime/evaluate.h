#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

// Distance between a motion and its target. At a frame it is the root of the mean over particles of
// the squared distance; mean and standard deviation are over all frames of all rollouts. Particles
// whose target is missing do not count, nor do frames in which no target is seen. [m]
struct MotionError {
    double mean = 0, std = 0;
    std::vector<double> per_rollout;  // mean over the frames of each; NaN when none counts
    std::vector<double> over_time;    // mean over the rollouts that reach each frame, likewise
};

// The surrogate runs by itself from the start of every rollout, which is estimated where it is not
// stored (Rollout::state), with its handles, and is compared with the landmarks resampled to its
// particles. A rollout in which it blows up is a Failure that names it. The environment, step and
// stride are those of the motion; each step may be cut into sub-steps, for a cloth that needs
// shorter ones than the source.
MotionError surrogate_error(const Cloth& surrogate, const Motion& motion, Device device,
                            int threads, const Progress& progress = {}, int substeps = 1);

// What needs no model, compared at the surrogate's particles: nothing moves; and the first shape
// moves along with the mean displacement of its handles.
MotionError static_error(const Cloth& surrogate, const Motion& motion);
MotionError handles_error(const Cloth& surrogate, const Motion& motion);

// Root mean squared difference of one parameter of two cloths, over all elements and by family.
struct ParameterError {
    const ParameterKind* kind;
    std::string label;  // for people, as label_of() gives it
    double all = 0;
    std::map<std::string, double> by_family;
};

// Compares the learned parameters that both cloths have. Throws Error when their springs differ.
std::vector<ParameterError> parameter_errors(const Cloth& cloth, const Cloth& truth);

// All that is known of a cloth when it has been compared with a motion.
struct Evaluation {
    MotionError surrogate, nothing_moves, with_handles;
    std::optional<MotionError> homogeneous;
    std::vector<ParameterError> parameters;  // empty without a truth
    std::size_t rollouts = 0, frames = 0;
    double frame_interval = 0;         // [s]
    std::vector<std::string> remarks;  // sentences for people
};

// A sentence for everything that needs no learning and does as well.
std::vector<std::string> warnings_of(const Evaluation& evaluation);

}  // namespace springtime
