#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// The faces between points of a sheet. Seen from above a level sheet they turn left, so that their
// front is up.
struct ExportSurface {
    std::vector<std::array<int, 3>> triangles;
    std::vector<std::array<int, 4>> quads;  // the same surface where the points form a grid
    std::vector<int> curve;                 // points on one line have a curve instead, in its order
    std::string made_of;                    // a few words to show

    bool empty() const { return triangles.empty() && curve.empty(); }
    std::size_t face_count() const { return quads.empty() ? triangles.size() : quads.size(); }
};

// The surface of a cloth with these very points, if there is one: its triangles, or the cells of
// its grid; otherwise the cells of the grid that the points form; otherwise a Delaunay
// triangulation. If all points lie on one line, there is a curve through them instead.
ExportSurface make_surface(const std::vector<SheetPoint>& rest, const std::optional<Cloth>& cloth);

// Whether a cloth has its particles at these points of the sheet.
bool same_points(const Cloth& cloth, const Sheet& sheet, const std::vector<SheetPoint>& rest);

// The grid that points form, row by row; empty unless every place of it has exactly one point. Rows
// and columns may be unevenly spaced.
struct PointGrid {
    int rows = 0, cols = 0;
    std::vector<int> point;  // rows x cols
};
std::optional<PointGrid> find_grid(const std::vector<SheetPoint>& rest);

}  // namespace springtime
