#pragma once

#include <optional>
#include <vector>

#include "geometry/flatten.h"
#include "motion/point_frame.h"
#include "springtime/cloth.h"

// Whether points can be those of a sheet, judged by a few frames.
namespace springtime {

// Every landmark with its nearest ones in the flat sheet.
std::vector<Link> neighbours_on_sheet(const std::vector<SheetPoint>& rest);

// Distances between linked points, of those in the flat sheet: the median over links and frames.
// NaN when no link is seen. A cloth bends, but hardly stretches: about 1, less when crumpled.
double median_stretch(const std::vector<PointFrame>& frames, const std::vector<SheetPoint>& rest,
                      const std::vector<Link>& links);

// The share of links that are more than twice as long as they should be: as in the flat sheet,
// times what the nearest points in space are apart, of the nearest on the sheet (the median, which
// needs no links to be right). On a sheet hardly any; where points are taken for neighbours that
// are not, many.
double torn_share(const std::vector<PointFrame>& frames, const std::vector<SheetPoint>& rest,
                  const std::vector<Link>& links);

// A grid, and the order its points are listed in.
struct ListedGrid {
    Grid grid;
    bool column_order = false;

    // The number in the list of row r, column c.
    int listed(int row, int col) const
    {
        return column_order ? col * grid.rows + row : row * grid.cols + col;
    }
};
std::vector<SheetPoint> listed_points(const Sheet& sheet, const ListedGrid& listed);

// Neighbours along its rows and columns, of the points that are kept: numbers in the list.
std::vector<Link> grid_links(const ListedGrid& listed, const std::vector<int>& points);

// Of all grids over the sheet with as many points, in both orders, and hardly torn, the one whose
// links are stretched most alike. `points` are those that frames show, numbers in the list.
std::optional<ListedGrid> listed_grid(const std::vector<PointFrame>& frames, const Sheet& sheet,
                                      std::size_t count, const std::vector<int>& points);

// From the mean place of some points to that of all others, the mean over frames in which both are
// seen; zero where there is none.
Vec3d hanging(const std::vector<PointFrame>& frames, const std::vector<int>& held);

}  // namespace springtime
