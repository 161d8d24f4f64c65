#include "backends/simd/element_table.h"

#include <algorithm>
#include <iterator>

#include "sim/forces.h"

namespace springtime {

namespace {

template <class Element>
void sort_by_lowest_corner(std::vector<Element>& elements)
{
    const auto lowest = [](const Element& element) {
        return *std::min_element(std::begin(element.corners), std::end(element.corners));
    };
    std::stable_sort(elements.begin(), elements.end(),
                     [&](const Element& a, const Element& b) { return lowest(a) < lowest(b); });
}

}  // namespace

ElementTable::ElementTable(const Cloth& cloth)
    : damps_strain_(cloth.triangles.damping_kind == TriangleDamping::strain)
{
    const TriangleSet& t = cloth.triangles;
    for (std::size_t i = 0; i < t.triangle_count(); ++i) {
        const auto [a, b, c] = t.corners[i];
        const auto shape = shape_of_triangle<float>(cloth, t.corners[i]);
        const auto& m = shape.inverse;
        triangles_.push_back({{a, b, c},
                              shape.area,
                              {{m[0][0], m[0][1]}, {m[1][0], m[1][1]}},
                              float(t.shear_stiffness[i]),
                              float(t.area_stiffness[i]),
                              float(t.damping[i])});
    }
    const HingeSet& h = cloth.hinges;
    for (std::size_t i = 0; i < h.hinge_count(); ++i) {
        const auto [a, b, c, d] = h.corners[i];
        const auto shape = shape_of_hinge<float>(cloth, h.corners[i]);
        hinges_.push_back({{a, b, c, d},
                           {shape.least_square1, shape.least_square2},
                           float(h.stiffness[i]),
                           float(h.damping[i])});
    }
    sort_by_lowest_corner(triangles_);
    sort_by_lowest_corner(hinges_);
}

}  // namespace springtime
