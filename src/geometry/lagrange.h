#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace springtime {

// The weights of values at the nodes, whose polynomial of Lagrange is evaluated at x:
// w_i = prod over j != i of (x - x_j) / (x_i - x_j). They sum to one.
inline std::vector<double> lagrange_weights(std::span<const double> nodes, double x)
{
    std::vector<double> weights(nodes.size(), 1.0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::size_t j = 0; j < nodes.size(); ++j) {
            if (j != i) weights[i] *= (x - nodes[j]) / (nodes[i] - nodes[j]);
        }
    }
    return weights;
}

}  // namespace springtime
