#include "learn/element_neighbours.h"

#include <algorithm>
#include <map>

#include "geometry/mesh_edges.h"

namespace springtime {

std::vector<std::array<std::size_t, 2>> neighbouring_elements(const Cloth& cloth, Element element)
{
    std::vector<std::array<std::size_t, 2>> pairs;
    const auto join_all = [&](const std::vector<std::size_t>& members) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) pairs.push_back({members[j], members[i]});
        }
    };
    const MeshEdges edges = edges_of(cloth.triangles.corners);
    if (element == Element::triangle) {
        for (const auto& [ends, sides] : edges) {
            std::vector<std::size_t> members;
            for (const EdgeSide& side : sides) members.push_back(std::size_t(side.triangle));
            join_all(members);
        }
    }
    if (element == Element::hinge) {
        std::vector<std::vector<std::size_t>> of_triangle(cloth.triangles.triangle_count());
        for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
            const auto [a, b, c, d] = cloth.hinges.corners[h];
            const auto found = edges.find(std::minmax(a, b));
            if (found == edges.end()) continue;
            for (const EdgeSide& side : found->second) of_triangle[side.triangle].push_back(h);
        }
        for (const auto& members : of_triangle) join_all(members);
    }
    return pairs;
}

}  // namespace springtime
