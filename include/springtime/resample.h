#pragma once

#include <array>
#include <span>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"
#include "springtime/sheet.h"
#include "springtime/state.h"

namespace springtime {

// Takes fields over the landmarks of a source to the particles of a surrogate. Every particle has
// three landmarks around it in the flat sheet, with barycentric weights: they sum to one, and an
// affine motion of the landmarks is reproduced to rounding.
class Resampler {
  public:
    struct Weights {
        std::array<int, 3> landmark{};
        std::array<double, 3> weight{};  // zero where a landmark does not count
    };

    // Throws Error when the landmarks do not span the plane.
    Resampler(const std::vector<SheetPoint>& landmarks, const std::vector<SheetPoint>& particles);

    const std::vector<Weights>& weights() const { return weights_; }
    // Whether every particle lies on a landmark, so that nothing is interpolated.
    bool exact() const;
    std::size_t landmark_count() const { return landmark_count_; }
    std::size_t particle_count() const { return weights_.size(); }

    // Any field of three components per landmark, one frame or several: positions, velocities,
    // accelerations, forces.
    std::vector<float> apply(std::span<const float> field) const;

    // A rollout of the landmarks as one of the particles. A particle is missing where any landmark
    // that counts for it is. A particle that hangs on a handle is a handle. When all of them hang
    // on standing handles alone they are pins; otherwise they follow the weighted paths of their
    // landmarks: those of moving handles by their keys, taken at every frame, all others as
    // observed, on straight lines through gaps. Throws Error naming a landmark on
    // such a path that no frame shows.
    Rollout apply(const Rollout& rollout, double frame_interval) const;
    State apply(const State& state) const;

  private:
    std::size_t landmark_count_ = 0;
    std::vector<Weights> weights_;
};

// Root of the mean squared distance between the particles of a cloth and the same points of the
// sheet on another cloth. [m]
double sheet_rmse(const Cloth& cloth, const State& state, const Cloth& other,
                  const State& other_state);

}  // namespace springtime
