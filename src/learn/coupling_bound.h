#pragma once

#include <array>
#include <optional>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// How large couplings may be, so that no stretch of a sheet sets energy free. A spring that lies in
// several triangles lends each of them an equal share of its stiffness. A triangle is sound if its
// energy k_i s_i^2/2 + c_ij s_i s_j is nowhere negative; then the sheet is, as their sum. That
// holds if -1 is less than the smallest eigenvalue of c_ij / sqrt(k_i k_j). Of a spring with
// several stiffnesses the least counts.
class CouplingBound {
  public:
    explicit CouplingBound(const Cloth& cloth);

    // Makes the couplings of every triangle smaller by a common factor where they are too large.
    // `values` are those of the learned parameters.
    void apply(ParameterValues& values) const;

  private:
    struct Pair {
        std::size_t coupling, first, second;  // the coupling, and its edges of the triangle, 0 to 2
    };
    struct Triangle {
        std::array<std::optional<std::size_t>, 3> springs;  // none where an edge has none
        std::vector<Pair> pairs;
    };

    std::vector<Triangle> triangles_;
    std::vector<double> share_;            // of the stiffness of every spring
    std::vector<std::size_t> stiffness_;   // parameters that are stiffnesses of springs
    std::optional<std::size_t> coupling_;  // the parameter of couplings
};

}  // namespace springtime
