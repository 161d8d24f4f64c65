#include "learn/element_neighbours.h"

#include <algorithm>
#include <map>
#include <set>

#include "geometry/mesh_edges.h"
#include "learn/element_formula.h"

namespace springtime {

std::vector<int> particles_of(const Cloth& cloth, Element element, std::size_t index)
{
    std::vector<int> particles;
    for (const ParticleShare& share : particle_shares(cloth, element, index)) {
        particles.push_back(share.particle);
    }
    return particles;
}

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

namespace {

ElementNeighbours grid_neighbours(const Cloth& cloth, Element element)
{
    ElementNeighbours result;
    const std::size_t count = element_count(cloth, element);
    const int cols = cloth.grid->cols;
    std::map<std::array<int, 3>, std::size_t> by_place;  // first particle, way to the others
    const auto place_of = [&](std::size_t e) {
        const std::vector<int> p = particles_of(cloth, element, e);
        return std::array{p[0], p[1] - p[0], p.back() - p[0]};
    };
    for (std::size_t e = 0; e < count; ++e) by_place[place_of(e)] = e;
    const auto neighbour = [&](std::size_t e, int step, bool same_row) {
        std::array<int, 3> place = place_of(e);
        const int row = place[0] / cols;
        place[0] += step;
        const auto found = by_place.find(place);
        const bool there = found != by_place.end() && (!same_row || place[0] / cols == row);
        return there ? found->second : e;
    };
    for (std::size_t e = 0; e < count; ++e) {
        result.along_rows.push_back({neighbour(e, -1, true), neighbour(e, 1, true)});
        result.along_columns.push_back({neighbour(e, -cols, false), neighbour(e, cols, false)});
    }
    return result;
}

// Couplings of one triangle are not alike, so they have no neighbours.
ElementNeighbours mesh_neighbours(const Cloth& cloth, Element element)
{
    ElementNeighbours result;
    result.around.resize(element_count(cloth, element));
    std::vector<std::vector<std::size_t>> of_particle(cloth.particle_count());
    for (std::size_t s = 0; element == Element::spring && s < result.around.size(); ++s) {
        for (const int p : cloth.springs.ends[s]) {
            for (const std::size_t other : of_particle[std::size_t(p)]) {
                result.around[s].push_back(other);
                result.around[other].push_back(s);
            }
            of_particle[std::size_t(p)].push_back(s);
        }
    }
    for (const auto& [a, b] : neighbouring_elements(cloth, element)) {
        result.around[a].push_back(b);
        result.around[b].push_back(a);
    }
    return result;
}

}  // namespace

ElementNeighbours neighbours_of(const Cloth& cloth, Element element)
{
    return cloth.grid ? grid_neighbours(cloth, element) : mesh_neighbours(cloth, element);
}

ElementNeighbours particle_neighbours(const Cloth& cloth)
{
    ElementNeighbours result;
    const std::size_t count = cloth.particle_count();
    if (!cloth.grid) {
        std::vector<std::set<std::size_t>> joined(count);
        for (const Element element : {Element::spring, Element::triangle}) {
            for (std::size_t e = 0; e < element_count(cloth, element); ++e) {
                const std::vector<int> particles = particles_of(cloth, element, e);
                for (const int p : particles)
                    joined[std::size_t(p)].insert(particles.begin(), particles.end());
            }
        }
        for (std::size_t p = 0; p < count; ++p) {
            joined[p].erase(p);
            result.around.emplace_back(joined[p].begin(), joined[p].end());
        }
        return result;
    }
    const std::size_t cols = std::size_t(cloth.grid->cols);
    for (std::size_t p = 0; p < count; ++p) {
        const std::size_t col = p % cols;
        result.along_rows.push_back({col > 0 ? p - 1 : p, col + 1 < cols ? p + 1 : p});
        result.along_columns.push_back({p >= cols ? p - cols : p, p + cols < count ? p + cols : p});
    }
    return result;
}

void smooth(std::vector<double>& values, const ElementNeighbours& neighbours)
{
    for (const auto* along : {&neighbours.along_rows, &neighbours.along_columns}) {
        if (along->empty()) continue;
        const std::vector<double> before = values;
        for (std::size_t e = 0; e < values.size(); ++e) {
            const auto& [a, b] = (*along)[e];
            values[e] = 0.25 * (before[a] + before[b]) + 0.5 * before[e];
        }
    }
    if (neighbours.around.empty()) return;
    const std::vector<double> before = values;
    for (std::size_t e = 0; e < values.size(); ++e) {
        const std::vector<std::size_t>& around = neighbours.around[e];
        if (around.empty()) continue;
        double sum = 0;
        for (const std::size_t other : around) sum += before[other];
        values[e] = 0.5 * before[e] + 0.5 * sum / double(around.size());
    }
}

}  // namespace springtime
