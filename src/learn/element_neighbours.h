#pragma once

#include <array>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

std::vector<int> particles_of(const Cloth& cloth, Element element, std::size_t index);

// Pairs of neighbours on a mesh: triangles that share an edge, hinges that share a triangle.
// Springs, bends and couplings have none here.
std::vector<std::array<std::size_t, 2>> neighbouring_elements(const Cloth& cloth, Element element);

// What smoothing averages over. On a grid: equal elements one cell away, along the rows, then along
// the columns; an element at an edge is its own neighbour there. On other meshes: springs that
// share a particle, and pairs as above.
struct ElementNeighbours {
    std::vector<std::array<std::size_t, 2>> along_rows, along_columns;  // empty without a grid
    std::vector<std::vector<std::size_t>> around;                       // empty on a grid
};
ElementNeighbours neighbours_of(const Cloth& cloth, Element element);
// The same of particles: one cell away, or joined by a spring or a triangle.
ElementNeighbours particle_neighbours(const Cloth& cloth);

// One pass: [1 2 1]/4 along the rows and along the columns; without a grid half of an element and
// half of the mean of those around it.
void smooth(std::vector<double>& values, const ElementNeighbours& neighbours);

}  // namespace springtime
