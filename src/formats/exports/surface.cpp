#include "formats/exports/surface.h"
#include "geometry/delaunay.h"
#include "geometry/point_line.h"
#include "geometry/polygon.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

constexpr double kSameLine = 1e-6;  // of the extent of the sheet

double extent_of(const std::vector<SheetPoint>& rest)
{
    const auto [west, east] = std::minmax_element(
        rest.begin(), rest.end(), [](SheetPoint a, SheetPoint b) { return a.u < b.u; });
    const auto [north, south] = std::minmax_element(
        rest.begin(), rest.end(), [](SheetPoint a, SheetPoint b) { return a.v < b.v; });
    return std::max(east->u - west->u, south->v - north->v);
}

// The distinct ones among coordinates, ascending.
std::vector<double> lines_of(std::vector<double> coordinates, double tolerance)
{
    std::sort(coordinates.begin(), coordinates.end());
    std::vector<double> lines;
    for (const double x : coordinates) {
        if (lines.empty() || x - lines.back() > tolerance) lines.push_back(x);
    }
    return lines;
}

std::size_t line_at(const std::vector<double>& lines, double x)
{
    return std::size_t(std::upper_bound(lines.begin(), lines.end(), x) - lines.begin()) - 1;
}

void add_cells(ExportSurface& surface, const PointGrid& grid)
{
    const auto at = [&](int r, int c) { return grid.point[std::size_t(r) * grid.cols + c]; };
    for (int r = 0; r + 1 < grid.rows; ++r) {
        for (int c = 0; c + 1 < grid.cols; ++c) {
            const int nw = at(r, c), ne = at(r, c + 1), sw = at(r + 1, c), se = at(r + 1, c + 1);
            surface.quads.push_back({nw, sw, se, ne});
            surface.triangles.push_back({nw, sw, ne});
            surface.triangles.push_back({sw, se, ne});
        }
    }
}

// Fronts up: a positive turn from u towards v looks down.
std::vector<std::array<int, 3>> turned_up(const Cloth& cloth)
{
    std::vector<std::array<int, 3>> triangles = cloth.triangles.corners;
    const auto [a, b, c] = triangles.front();
    if (turn(cloth.rest[a], cloth.rest[b], cloth.rest[c]) > 0) {
        for (auto& t : triangles) std::swap(t[1], t[2]);
    }
    return triangles;
}

PointGrid grid_of(const Cloth& cloth)
{
    PointGrid grid{cloth.grid->rows, cloth.grid->cols, {}};
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) grid.point.push_back(int(p));
    return grid;
}

}  // namespace

bool same_points(const Cloth& cloth, const Sheet& sheet, const std::vector<SheetPoint>& rest)
{
    const double tolerance = kSameLine * std::max(sheet.length, sheet.width);
    return std::equal(cloth.rest.begin(), cloth.rest.end(), rest.begin(), rest.end(),
                      [&](const SheetPoint& a, const SheetPoint& b) {
                          return std::hypot(a.u - b.u, a.v - b.v) <= tolerance;
                      });
}

std::optional<PointGrid> find_grid(const std::vector<SheetPoint>& rest)
{
    const double tolerance = kSameLine * extent_of(rest);
    std::vector<double> us, vs;
    for (const SheetPoint& p : rest) {
        us.push_back(p.u);
        vs.push_back(p.v);
    }
    us = lines_of(us, tolerance);
    vs = lines_of(vs, tolerance);
    if (us.size() < 2 || vs.size() < 2 || us.size() * vs.size() != rest.size()) return {};
    PointGrid grid{int(vs.size()), int(us.size()), std::vector<int>(rest.size(), -1)};
    for (std::size_t p = 0; p < rest.size(); ++p) {
        int& place = grid.point[line_at(vs, rest[p].v) * us.size() + line_at(us, rest[p].u)];
        if (place >= 0) return {};
        place = int(p);
    }
    return grid;
}

ExportSurface make_surface(const std::vector<SheetPoint>& rest, const std::optional<Cloth>& cloth)
{
    ExportSurface surface;
    if (const auto line = line_of(rest)) {
        surface.curve = order_along(*line, rest);
        surface.made_of = "curve through the points";
    } else if (cloth && cloth->triangles.triangle_count() > 0) {
        surface.triangles = turned_up(*cloth);
        surface.made_of = "triangles of the cloth";
    } else if (cloth && cloth->grid && cloth->grid->rows > 1 && cloth->grid->cols > 1) {
        add_cells(surface, grid_of(*cloth));
        surface.made_of = "cells of the grid of the cloth";
    } else if (const auto grid = find_grid(rest)) {
        add_cells(surface, *grid);
        surface.made_of = "cells of the grid that the points form";
    } else {
        surface.triangles = delaunay_triangles(rest);
        surface.made_of = "Delaunay triangles between the points";
    }
    return surface;
}

}  // namespace springtime
