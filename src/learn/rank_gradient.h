#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "crew/crew.h"
#include "learn/gradient.h"

namespace springtime {

inline constexpr const char* kGradientTask = "gradient";

// Shares the clips of a BatchGradient out to all ranks. Every rank keeps the gradients of its clips
// and sends their norms; the first one answers with what each counts, and gets one sum of every
// rank. Sums are taken in one tree over the clips (core/tree_sum.h), so the result is that of one
// process.
class RankGradient {
  public:
    RankGradient(Crew& crew, const Cloth& surrogate, const SimulationOptions& options, int stride,
                 int threads, const Substeps& substeps, bool zeros_stay,
                 std::function<void()> heartbeat, const GradientBackends& backends);

    // As those of BatchGradient; `own` does the part of this rank.
    BatchGradient::Result run(BatchGradient& own, const std::vector<Rollout>& clips,
                              const ParameterValues& parameters, const LossWeights& weights,
                              bool with_gradient);
    std::vector<TrajectoryResult> follow(BatchGradient& own,
                                         std::span<const Trajectory> trajectories,
                                         const LandmarkMap& map, const ParameterValues& parameters,
                                         const FrameLoss& loss);
    BatchGradient::Mean limited_mean(BatchGradient& own, std::span<const Trajectory> trajectories,
                                     const LandmarkMap& map, const ParameterValues& parameters,
                                     const FrameLoss& loss, const ParameterValues& slopes,
                                     double limit);
    std::pair<std::size_t, std::size_t> clips_to_read(const BatchGradient& own,
                                                      std::size_t count) const;

  private:
    struct Part {
        int rank;
        std::size_t begin, end;  // of the clips
    };
    std::vector<Part> parts_of(const BatchGradient& own, std::size_t clips, bool whole) const;
    std::vector<std::byte> answer(int rank) { return task_.answer(rank, heartbeat_); }

    std::function<void()> heartbeat_;
    Crew::Task task_;
    bool all_read_ = true;  // whether all other ranks can read clips by themselves
};

// The side of a rank that serves.
std::unique_ptr<RankTask> make_gradient_task(WireReader& setup, const RankTools& tools);

}  // namespace springtime
