#pragma once

#include <vector>

#include "springtime/cloth.h"
#include "springtime/learn.h"

namespace springtime {

// Neighbours of equal elements, one cell away: along the rows, then along the columns. An element
// at an edge is its own neighbour there.
struct ElementNeighbours {
    std::vector<std::array<std::size_t, 2>> along_rows, along_columns;
};

// The learned parameters of a cloth as logarithms, which keeps them positive. Every logarithm is
// the level of its family plus a deviation of its own element, and both descend: the level quickly,
// because its gradient is the sum of all, and the deviations each at its own pace. The sum is what
// is stored. Explicit steps bound it from above.
//
// The masses of the particles may be learned as well; they are one more array. They have no level,
// because a factor on all masses, stiffnesses and dampings changes no motion.
class LogParameters {
  public:
    // Bounds hold for steps of `dt` and the lighter end of every element.
    LogParameters(const Cloth& cloth, double dt, bool masses);

    // The first state of a descent. Parameters that are zero stay zero.
    TrainState start_from(const Cloth& cloth) const;

    // One step of Adam along the gradient by the logarithms; `step` counts from 1. Without
    // deviations all elements of a family move together.
    void descend(TrainState& state, ParameterValues gradient, const DescentOptions& options,
                 double rate, int step) const;

  private:
    bool deviates(std::size_t parameter, const DescentOptions& options) const;
    void cut_off(std::size_t parameter, std::vector<double>& logs) const;
    void tie(ParameterValues& gradient) const;
    void follow_ties(ParameterValues& logs) const;

    std::vector<Parameter> parameters_;
    std::vector<std::vector<ElementFamily>> families_;  // by parameter
    std::vector<ElementNeighbours> neighbours_;         // by parameter
    ParameterValues lowest_, bounds_;                   // of the logarithms
    bool masses_;
    std::vector<std::size_t>
        straight_;  // structural springs, whose ranges are tied where it is lean
};

// What stands for the logarithm of zero: e^-100 is less than any parameter.
inline constexpr double kLogOfZero = -100;

// The values of logarithms, zero again where these were of zero.
ParameterValues exponentials(ParameterValues logs);

// Gives a cloth the values of its learned parameters and, if there is one more array, of its
// masses. A factor on everything then restores the mass of the sheet, which changes no motion.
void set_values(Cloth& cloth, ParameterValues values);
// The values in that order.
ParameterValues values_with_masses(const Cloth& cloth);

// Turns the gradient by parameters into that by their logarithms, d/d(log k) = k d/dk.
void to_logarithms(ParameterValues& gradient, const ParameterValues& values);
double norm_of(const ParameterValues& gradient);

}  // namespace springtime
