#include "geometry/zero_surface.h"

#include <array>
#include <utility>
#include <vector>

namespace springtime {

namespace {

// Where the surface cuts the edges of a cell: the corners with the numbers `a` and `b`, of which
// bits 0, 1 and 2 are x, y and z.
struct CellEdge {
    int a, b;
};
constexpr std::array<CellEdge, 12> kCellEdges{{{0, 1},
                                               {2, 3},
                                               {4, 5},
                                               {6, 7},
                                               {0, 2},
                                               {1, 3},
                                               {4, 6},
                                               {5, 7},
                                               {0, 4},
                                               {1, 5},
                                               {2, 6},
                                               {3, 7}}};

Vec3d corner_place(int corner)
{
    return {double(corner & 1), double(corner >> 1 & 1), double(corner >> 2 & 1)};
}

// A point on the surface is outside, even if rounding says otherwise: no square shrinks to nothing.
bool is_inside(const DistanceGrid& grid, std::size_t at)
{
    return grid.distance[at] < -1e-6 * grid.spacing;
}

// One point for each cell that the surface cuts: the mean of the places where it cuts the edges.
class SurfacePoints {
  public:
    SurfacePoints(const DistanceGrid& grid) : grid_(grid), number_(grid.distance.size(), -1)
    {
        for (int z = 0; z + 1 < grid.size[2]; ++z) {
            for (int y = 0; y + 1 < grid.size[1]; ++y) {
                for (int x = 0; x + 1 < grid.size[0]; ++x) add_cell(x, y, z);
            }
        }
    }
    std::vector<Vec3d> points;

    std::size_t index(int x, int y, int z) const
    {
        return (std::size_t(z) * grid_.size[1] + y) * grid_.size[0] + x;
    }
    // Of the cell whose lowest corner is the point with this index.
    int number(std::size_t cell) const { return number_[cell]; }

  private:
    void add_cell(int x, int y, int z)
    {
        std::array<std::size_t, 8> corner;
        for (int i = 0; i < 8; ++i) {
            corner[i] = index(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2 & 1));
        }
        Vec3d sum;
        int cuts = 0;
        for (const auto& [a, b] : kCellEdges) {
            if (is_inside(grid_, corner[a]) == is_inside(grid_, corner[b])) continue;
            const double at_a = grid_.distance[corner[a]], at_b = grid_.distance[corner[b]];
            const Vec3d from = corner_place(a), along = corner_place(b) - from;
            sum += from + (at_a / (at_a - at_b)) * along;
            ++cuts;
        }
        if (cuts == 0) return;
        number_[index(x, y, z)] = static_cast<int>(points.size());
        const Vec3d place = Vec3d{double(x), double(y), double(z)} + (1.0 / cuts) * sum;
        points.push_back(grid_.origin + grid_.spacing * place);
    }

    const DistanceGrid& grid_;
    std::vector<int> number_;
};

}  // namespace

// Surface nets (Gibson 1998): the four cells around an edge that the surface cuts make a square.
TriangleMesh zero_surface(const DistanceGrid& grid)
{
    SurfacePoints cells(grid);
    TriangleMesh mesh;
    const std::array<std::size_t, 3> step{cells.index(1, 0, 0), cells.index(0, 1, 0),
                                          cells.index(0, 0, 1)};
    const auto [nx, ny, nz] = grid.size;
    for (std::size_t at = 0; at < grid.distance.size(); ++at) {
        const std::array<int, 3> place{int(at % nx), int(at / nx % ny), int(at / nx / ny)};
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            if (place[axis] + 1 == grid.size[axis] || place[u] == 0 || place[v] == 0) continue;
            const bool from_inside = is_inside(grid, at);
            if (from_inside == is_inside(grid, at + step[axis])) continue;
            // The cells around the edge, turning left as seen from its far end.
            std::array<int, 4> square{cells.number(at - step[u] - step[v]),
                                      cells.number(at - step[v]), cells.number(at),
                                      cells.number(at - step[u])};
            if (!from_inside) std::swap(square[1], square[3]);
            mesh.triangles.push_back({square[0], square[1], square[2]});
            mesh.triangles.push_back({square[0], square[2], square[3]});
        }
    }
    mesh.points = std::move(cells.points);
    return mesh;
}

}  // namespace springtime
