#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace springtime {

// A triangle at an edge. The edge leads from this corner of it to the next.
struct EdgeSide {
    int triangle;
    int corner;
};

// The edges of a mesh by their ends in ascending order, each with all triangles that have it.
using MeshEdges = std::map<std::pair<int, int>, std::vector<EdgeSide>>;

inline MeshEdges edges_of(const std::vector<std::array<int, 3>>& triangles)
{
    MeshEdges edges;
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        for (int i = 0; i < 3; ++i) {
            const auto [low, high] = std::minmax(triangles[t][i], triangles[t][(i + 1) % 3]);
            edges[{low, high}].push_back({static_cast<int>(t), i});
        }
    }
    return edges;
}

}  // namespace springtime
