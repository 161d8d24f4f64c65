#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "learn/loss.h"
#include "learn/trajectory.h"
#include "motion/rank_motion.h"
#include "sim/clip_gradient.h"
#include "sim/tape.h"
#include "sim/trajectory_gradient.h"

namespace springtime {

// Into how many parts a step of the motion is cut so that a cloth runs soundly: the least number
// that is safe, rounded up to 1, 2, 3, 4, 6, 8, 12, 16 and so on, so that a descent rarely needs
// another. None when the parts would be shorter than kShortestStep.
std::optional<int> laddered_substeps(const Cloth& cloth, const Environment& environment, double dt);

// Cloths that need shorter steps are not considered: a second of motion takes 10^5 of these. [s]
inline constexpr double kShortestStep = 1e-5;

// Who makes a backend that takes whole clips: the registry, or a test in its place.
struct GradientBackends {
    std::function<std::unique_ptr<ClipGradient>(const Cloth&, const SimulationOptions&, int stride)>
        clips = make_clip_gradient;
    std::function<std::unique_ptr<TrajectoryGradient>(const Cloth&, const SimulationOptions&,
                                                      int stride, const LandmarkShares&,
                                                      std::function<void()> heartbeat)>
        trajectories = make_trajectory_gradient;
    Crew* crew = nullptr;  // shares the clips
    // From what, and as which particles, other ranks can read their clips by themselves.
    std::optional<SharedMotion> motion{};
    std::shared_ptr<const Cloth> read_for{};
};

class RankGradient;

// Loss and gradient of a batch of clips: by the backend itself where it has a ClipGradient or a
// TrajectoryGradient, otherwise by its tapes, spread over threads and ranks. Sums are taken in one
// tree over the clips, or over groups of them that run side by side, so the result does not depend
// on the number of threads and ranks.
class BatchGradient {
  public:
    // As TapeOptions has them: `zeros_stay` and `heartbeat`.
    BatchGradient(const Cloth& surrogate, const SimulationOptions& options, int stride, int threads,
                  const Substeps& substeps = {1}, bool zeros_stay = false,
                  std::function<void()> heartbeat = {}, const GradientBackends& backends = {});
    ~BatchGradient();
    BatchGradient(BatchGradient&&) noexcept;

    struct Result {
        LossTerms loss;  // mean over the clips; NaN where the steps would be too short
        ParameterGradient gradient;
    };
    // `prepared` spares work if it was made of the same clips. It is left alone where it does not
    // fit the weights, or the sub-steps that the parameters need.
    Result run(const std::vector<Rollout>& clips, const ParameterValues& parameters,
               const LossWeights& weights, bool with_gradient, PreparedClips* prepared = nullptr);
    // What can be done for run() before the parameters are known. Another thread may call it while
    // run() is at work. The clips must outlive it. Null where there is nothing to do, and before
    // the first run() unless sub-steps are fixed: afterwards those of the last run() are expected.
    std::unique_ptr<PreparedClips> prepare(const std::vector<Rollout>& clips,
                                           const LossWeights& weights) const;

    // How far the cloth is from each trajectory, with the gradient of each if it is asked for.
    struct Followed {
        TrajectoryResult result;
        ParameterValues gradient;
    };
    std::vector<Followed> follow(std::span<const Trajectory> trajectories, const LandmarkMap& map,
                                 const ParameterValues& parameters, const FrameLoss& loss,
                                 bool with_gradient);

    // The same with the mean of the gradients by other coordinates, each limited as limited_mean()
    // says; `slopes` are the derivatives of the parameters by these coordinates.
    struct Mean {
        std::vector<TrajectoryResult> trajectories;
        std::optional<ParameterValues> gradient;  // nothing if half or more blow up
    };
    Mean limited_mean(std::span<const Trajectory> trajectories, const LandmarkMap& map,
                      const ParameterValues& parameters, const FrameLoss& loss,
                      const ParameterValues& slopes, double limit);

    // ---- What one rank does of it (learn/rank_gradient.h)

    // Of groups of clips that run side by side, each as a part of the mean over `whole` clips; and
    // the mean that they make.
    std::vector<Result> run_groups(std::span<const Rollout> clips,
                                   const ParameterValues& parameters, const LossWeights& weights,
                                   bool with_gradient, std::size_t whole);
    Result sum_of(std::vector<Result> groups) const;
    std::vector<Followed> follow_here(std::span<const Trajectory> trajectories,
                                      const LandmarkMap& map, const ParameterValues& parameters,
                                      const FrameLoss& loss, bool with_gradient);
    // Gradients by other coordinates, with their norms. What is not finite has a norm that is none.
    struct Scaled {
        std::vector<TrajectoryResult> results;
        std::vector<ParameterValues> gradients;
        std::vector<double> norms;
    };
    Scaled scaled(std::span<const Trajectory> trajectories, const LandmarkMap& map,
                  const ParameterValues& parameters, const FrameLoss& loss,
                  const ParameterValues& slopes);
    // How many clips a thread runs side by side.
    std::size_t lane_count() const { return lane_count_; }
    // Of so many clips, those that this process has to read for limited_mean(), first and end. The
    // others may be without all but their part and their number of frames.
    std::pair<std::size_t, std::size_t> clips_to_read(std::size_t count) const;

    // Whether landmarks can be kept on the backend's side at all. Once a rollout is kept, its
    // trajectories need no landmarks of their own.
    bool can_keep(const LandmarkMap& map);
    bool keeps(std::size_t rollout) const { return kept_.contains(rollout); }
    // Landmarks of a whole rollout, frames x landmarks x 3. False where there is no room for them.
    bool keep(std::size_t rollout, std::span<const float> position, const LandmarkMap& map);

    // Root of the mean squared distance to the targets, over all frames and particles. [m]
    double motion_rmse(const std::vector<Rollout>& clips, const ParameterValues& parameters);

    // What run() cuts a step into, a function of the parameters alone; none when these need steps
    // that are too short.
    std::optional<int> substeps_for(const ParameterValues& parameters) const;

  private:
    template <class Real>
    std::vector<Result> run_on(std::vector<std::unique_ptr<Tape<Real>>>& tapes,
                               std::span<const Rollout> clips, const ParameterValues& parameters,
                               const LossWeights& weights, bool with_gradient, std::size_t whole);
    template <class Real>
    void follow_groups(std::vector<std::unique_ptr<Tape<Real>>>& tapes,
                       std::span<const Trajectory> trajectories, const LandmarkMap& map,
                       const ParameterValues& parameters, const FrameLoss& loss, bool with_gradient,
                       std::vector<Followed>& results);
    std::unique_ptr<PreparedClips> prepare_for(const std::vector<Rollout>& clips,
                                               const ClipTerms& weights, int substeps) const;
    Result run_backend(const std::vector<Rollout>& clips, const ParameterValues& parameters,
                       const ClipTerms& weights, int substeps, bool with_gradient,
                       PreparedClips* prepared);
    void make_tapes(int substeps);
    TrajectoryGradient* trajectory_backend(const LandmarkMap& map);
    TrajectoryGradient::Result follow_backend(std::span<const Trajectory> trajectories,
                                              const ParameterValues& parameters,
                                              const FrameLoss& loss, int substeps,
                                              const TrajectoryGradient::Wish& wish);

    Cloth surrogate_;
    SimulationOptions options_;  // with the step of the motion
    int stride_, threads_;
    Substeps substeps_;
    bool zeros_stay_;
    std::function<void()> heartbeat_;
    GradientBackends backends_;
    std::size_t lane_count_;  // of a tape; fixed, since clips are read ahead by another thread
    std::unique_ptr<ClipGradient> clip_backend_;  // null: tapes
    // Of the last run() of clips; 0 before. Read by other threads.
    std::unique_ptr<std::atomic<int>> last_substeps_ = std::make_unique<std::atomic<int>>(0);
    std::unique_ptr<TrajectoryGradient> trajectory_backend_;
    bool asked_for_trajectories_ = false;
    std::unordered_set<std::size_t> kept_;                  // rollouts
    int taped_substeps_ = 0;                                // of the tapes; 0 before there are any
    std::vector<std::unique_ptr<Tape<float>>> fast_;        // one per thread
    std::vector<std::unique_ptr<Tape<double>>> reference_;  // one per thread
    std::unique_ptr<RankGradient> ranks_;                   // null: this process is alone
};

}  // namespace springtime
