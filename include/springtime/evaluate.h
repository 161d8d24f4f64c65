#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"

// How well a surrogate follows a motion, and how far its parameters are from the truth.
namespace springtime {

// The distance between a motion and its target. The error of a frame is the root mean square of the
// distance over the free landmarks: those that nobody holds. Mean and standard deviation are over
// all frames of all rollouts. Landmarks that are missing in a frame do not count, nor do frames
// without any free landmark. [m]
struct MotionError {
    double mean = 0, std = 0;
    std::vector<double> per_rollout;  // mean over the frames of each; NaN if no frame counts
    std::vector<double> over_time;    // for each frame, the mean over the rollouts that reach it
};

// Runs the surrogate freely from the start of every rollout, with the handles of the rollout, and
// compares it with the motion at the landmarks (LandmarkMap), whatever grid the surrogate has. All
// that the surrogate is told of a rollout are its first state and the paths of held landmarks. A
// start that is not stored is estimated (Rollout::state): from the first Rollout::kStateFrames
// frames, or for each landmark from as many frames that show it. The environment, step and stride
// are those of the motion. Each step may be cut into sub-steps, for a cloth that needs shorter
// steps than the source. Throws Failure that names the rollout in which the surrogate blows up.
MotionError surrogate_error(const Cloth& surrogate, const Motion& motion, Device device,
                            int threads, const Progress& progress = {}, int substeps = 1,
                            Crew* crew = nullptr);

// Baselines that need no model, compared at the same landmarks: nothing moves; and the first shape
// moves with the mean displacement of its handles.
MotionError static_error(const Motion& motion);
MotionError handles_error(const Motion& motion);

// Their means. [m]
struct TrivialErrors {
    double nothing_moves = 0, with_handles = 0;

    double best() const;
};
TrivialErrors trivial_errors(const Motion& motion);

// A sentence if a cloth with this motion RMSE on the same motion is no better than one of them, or
// if the RMSE is not a number. Such an answer must not be accepted.
std::optional<std::string> loses_to_trivial(double motion_rmse, const TrivialErrors& trivial);

// Root mean square of the difference of one parameter of two cloths, over all elements and by
// family.
struct ParameterError {
    const ParameterKind* kind;
    std::string label;  // for people, as label_of() gives it
    double all = 0;
    std::map<std::string, double> by_family;
    // The same of (value - truth) / truth; absent where the truth is zero everywhere.
    std::optional<double> relative{};
};

// Compares the learned parameters that both cloths have. Triangles, hinges and couplings are those
// with the same corners, in any order. Throws Error when the cloths have no elements in common, or
// when elements of one type differ.
std::vector<ParameterError> parameter_errors(const Cloth& cloth, const Cloth& truth);

// The mean stiffness of the elements in every cell of the sheet: springs other than bending
// springs, just above rest, or shear stiffness of triangles. An element on a border belongs to both
// cells. A cell without elements has the stiffness of the nearest one. [N/m]
ValueMap stiffness_map(const Cloth& cloth, const Grid& cells);

// Correlation of the stiffness maps of two cloths over the cells of the grid of the first. NaN if
// either map is constant. Throws Error when the first cloth is not a grid.
double map_correlation(const Cloth& cloth, const Cloth& truth);

// All that is known of a cloth when it has been compared with a motion.
struct Evaluation {
    MotionError surrogate, nothing_moves, with_handles;
    std::optional<MotionError> homogeneous;
    std::vector<ParameterError> parameters;  // empty without a truth that has the same elements
    std::optional<double> map_correlation;   // with the truth
    std::size_t rollouts = 0, frames = 0;
    double frame_interval = 0;         // [s]
    std::vector<std::string> remarks;  // sentences for people
};

struct EvaluateOptions {
    Device device = Device::automatic;
    int threads = 0;
    // In a step of the motion. Absent: 1 where the motion's own step is known, as many as are safe
    // where it was captured.
    std::optional<int> substeps{};
    Crew* crew = nullptr;  // shares the rollouts
};

// Fills what an evaluation says of a motion: how the cloth follows it, beside the baselines that
// need no model.
void compare_with_motion(const Cloth& cloth, const Motion& motion, const EvaluateOptions& options,
                         Evaluation& evaluation, const Progress& progress = {});

// Fills how far the parameters of the cloth are from those of the source. A source of triangles
// need not be of the mesh that was learned: a remark then says why the two are not compared.
void compare_with_truth(const Cloth& cloth, const Cloth& truth, Evaluation& evaluation);

// A sentence for everything that needs no learning and does as well.
std::vector<std::string> warnings_of(const Evaluation& evaluation);

}  // namespace springtime
