#pragma once

#include <vector>

#include "learn/coupling_bound.h"
#include "learn/element_neighbours.h"
#include "springtime/cloth.h"
#include "springtime/learn.h"

namespace springtime {

// The learned parameters of a cloth in coordinates that a descent can change freely. Most are
// logarithms, which keeps them positive. Couplings have either sign: their coordinates are
// multiples of the mean stiffness of the springs at the start. Every coordinate is the level of its
// family plus a deviation of its own element, and both descend: the level quickly, because its
// gradient is the sum of all, and the deviations each at its own pace. The sum is what is stored.
// Explicit steps bound it from above, and couplings are bounded by the springs that they couple
// (learn/coupling_bound.h).
//
// The masses of the particles may be learned as well; they are one more array. They have no level,
// because a factor on all masses, stiffnesses and dampings changes no motion.
class LogParameters {
  public:
    // Bounds hold for steps of `dt` and the lightest particle of every element.
    // Regions take the place of families.
    LogParameters(const Cloth& cloth, double dt, bool masses,
                  const std::optional<Regions>& regions = std::nullopt);

    // The first state of a descent. Parameters that are zero stay zero, but for couplings.
    TrainState start_from(const Cloth& cloth) const;

    // One step of Adam along the gradient by the coordinates; `step` counts from 1. Without
    // deviations all elements of a family move together.
    void descend(TrainState& state, ParameterValues gradient, const DescentOptions& options,
                 double rate, int step) const;

    // The values of coordinates: zero again where a logarithm was of zero, and with couplings
    // within their bounds.
    ParameterValues values(ParameterValues coordinates) const;

    // The derivative of every parameter by its coordinate: d k / d(log k) = k. Times these, a
    // gradient by parameters is one by coordinates.
    ParameterValues slopes(const ParameterValues& values) const;

  private:
    bool is_logarithm(std::size_t parameter) const;
    bool deviates(std::size_t parameter, const DescentOptions& options) const;
    void cut_off(std::size_t parameter, std::vector<double>& coordinates) const;
    void hold_couplings(ParameterValues& coordinates) const;
    void tie(ParameterValues& gradient) const;
    void follow_ties(ParameterValues& logs) const;

    std::vector<Parameter> parameters_;
    std::vector<std::vector<ElementFamily>> families_;  // by parameter
    std::vector<ElementNeighbours> neighbours_;         // by parameter
    ParameterValues lowest_, bounds_;                   // of the coordinates
    CouplingBound coupling_bound_;
    double unit_;  // of couplings [N/m]
    bool masses_;
    std::vector<std::size_t>
        straight_;  // structural springs, whose ranges are tied where it is lean
};

// Gives a cloth the values of its learned parameters and, if there is one more array, of its
// masses. A factor on everything then restores the mass of the sheet, which changes no motion.
void set_values(Cloth& cloth, ParameterValues values);
// The values in that order.
ParameterValues values_with_masses(const Cloth& cloth);

double norm_of(const ParameterValues& gradient);

}  // namespace springtime
