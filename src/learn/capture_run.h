#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "learn/global_model.h"
#include "learn/tracker_fit.h"
#include "springtime/learn.h"

namespace springtime {

// Whole recordings of a capture, in memory, and a network that follows them by itself from their
// first frames.
class CaptureRun {
  public:
    // Throws Error when no recording shows a free landmark.
    CaptureRun(const Motion& motion, Device device);

    const Motion& motion() const { return motion_; }
    // Only so much of each recording counts, from its first frame on. [s]
    void set_horizon(double seconds);
    double longest() const;  // recording [s]
    // For every recording, how many free landmarks are seen up to its end.
    std::vector<std::size_t> recording_ends() const;
    std::size_t seen_count() const { return seen_.size(); }  // free landmarks in frames that count
    // Residuals of landmarks and frames next to each other go together: what noise there is, a
    // tracker has in common over most of the cloth and some tenths of a second. How many do.
    double correlated() const;

    // Sub-steps of a step of the motion; none if the springs need too many.
    std::optional<int> substeps(const Cloth& cloth) const;

    // Predicted minus observed for all free landmarks that are seen, three numbers each; none if
    // the cloth blows up. The globals of the cloth are applied. [m]
    std::optional<Eigen::VectorXd> residuals(const Cloth& cloth, int substeps) const;

    // Gradient by the unknowns of a model of a function with these derivatives by the residuals, by
    // the adjoint of the simulation; differences are taken only of what goes into it.
    Eigen::VectorXd gradient(const GlobalModel& model, const std::vector<double>& values,
                             int substeps, const Eigen::VectorXd& by_residual) const;

    // Median over the frames of observed minus predicted, by recording and landmark; NaN for those
    // that are held or not seen.
    LandmarkShifts medians(const Eigen::VectorXd& residuals) const;
    // Where landmarks are from the mean of held ones when the cloth hangs at rest, in the mean of
    // the recordings; none if the cloth blows up or nothing is held and moved. [m]
    std::optional<std::vector<Vec3d>> hanging(const Cloth& cloth, int substeps) const;
    // first_frame_beside() of every recording, with the tracker of the cloth.
    LandmarkShifts first_frames(const Cloth& cloth) const;

    // Mean over the frames of the root mean square over the landmarks. [m]
    double frame_error(const Eigen::VectorXd& residuals) const;

  private:
    struct Seen {
        std::size_t rollout, frame, landmark;
    };
    // What a run of some recordings is made of.
    struct Inputs {
        Cloth cloth;
        SimulationOptions options;
        std::vector<State> starts;
        std::vector<Handles> handles;
        std::vector<std::vector<float>> observed;  // without the bias of the tracker
    };
    Motion corrected_for(const Cloth& cloth) const;
    Inputs inputs(const Cloth& cloth, int substeps, std::size_t first, std::size_t count) const;
    std::size_t lane_count(const Cloth& cloth) const;
    bool run_batch(const Inputs& inputs, int substeps, std::size_t first,
                   std::vector<std::vector<double>>& predicted) const;
    bool let_hang(Inputs inputs, std::vector<Vec3d>& sum) const;
    template <class Real>
    void add_gradient(const GlobalModel& model, const std::vector<double>& values, int substeps,
                      const std::vector<std::vector<double>>& by_position, std::size_t first,
                      std::size_t count, Eigen::VectorXd& gradient) const;

    std::size_t number_count(std::size_t rollout) const
    {
        return 3 * motion_.frame_counts[rollout] * motion_.header.landmark_count();
    }
    std::size_t frames_of(std::size_t rollout) const
    {
        return std::min(motion_.frame_counts[rollout], horizon_);
    }

    Motion motion_;
    Device device_;
    std::size_t horizon_ = SIZE_MAX;  // frames of a recording that count
    std::vector<Seen> all_, seen_;    // of whole recordings, and those that count
    double free_count_ = 0;
};

}  // namespace springtime
