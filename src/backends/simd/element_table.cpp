#include "backends/simd/element_table.h"

#include <algorithm>
#include <numeric>

#include "backends/simd/sweep_table.h"
#include "sim/forces.h"

namespace springtime {

namespace {

// The numbers of elements, by their lowest corner.
template <class Corners>
std::vector<int> ordered_by_lowest(const std::vector<Corners>& corners)
{
    std::vector<int> order(corners.size());
    std::iota(order.begin(), order.end(), 0);
    const auto lowest = [&](int i) {
        return *std::min_element(corners[i].begin(), corners[i].end());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return lowest(a) < lowest(b); });
    return order;
}

}  // namespace

ElementTable::ElementTable(const Cloth& cloth)
    : parameters_(learned_parameters(cloth)),
      damps_strain_(cloth.triangles.damping_kind == TriangleDamping::strain),
      woven_(is_woven(cloth.triangles))
{
    const auto order = [&](Element element, const auto& set) -> const std::vector<int>& {
        return order_[std::size_t(element)] = ordered_by_lowest(set.corners);
    };
    for (const int i : order(Element::triangle, cloth.triangles)) {
        const auto [a, b, c] = cloth.triangles.corners[i];
        const auto shape = shape_of_triangle<float>(cloth, cloth.triangles.corners[i]);
        const auto& m = shape.inverse;
        triangles_.push_back({{a, b, c}, shape.area, {{m[0][0], m[0][1]}, {m[1][0], m[1][1]}}, {}});
    }
    for (const int i : order(Element::hinge, cloth.hinges)) {
        const auto [a, b, c, d] = cloth.hinges.corners[i];
        const auto shape = shape_of_hinge<float>(cloth, cloth.hinges.corners[i]);
        hinges_.push_back({{a, b, c, d}, {shape.least_square1, shape.least_square2}, {}});
    }
    for (const int i : order(Element::coupling, cloth.couplings)) {
        const auto [a, b, c] = cloth.couplings.corners[i];
        const auto [rest1, rest2] = cloth.couplings.rest_length[i];
        couplings_.push_back({{a, b, c}, {float(rest1), float(rest2)}, {}});
    }
    set_parameters(parameters_of(cloth));
}

std::size_t ElementTable::slot_count(Element element) const
{
    switch (element) {
        case Element::triangle:
            return woven_ ? kWovenSlots : kTriangleSlots;
        case Element::hinge:
            return kHingeSlots;
        case Element::coupling:
            return kCouplingSlots;
        case Element::spring:
        case Element::bend:
            break;
    }
    return 0;
}

float* ElementTable::material_of(Element element, std::size_t place)
{
    if (element == Element::triangle) return triangles_[place].material;
    return element == Element::hinge ? hinges_[place].material : couplings_[place].material;
}

void ElementTable::set_parameters(const ParameterValues& values)
{
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        const Element element = parameters_[k].kind->element;
        if (is_swept(element)) continue;
        const std::vector<int>& order = this->order(element);
        for (std::size_t i = 0; i < order.size(); ++i) {
            material_of(element, i)[parameters_[k].slot] = float(values[k][order[i]]);
        }
    }
}

}  // namespace springtime
