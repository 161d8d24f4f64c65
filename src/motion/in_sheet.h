#pragma once

#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// Landmarks of `sheet` in the sheet of a cloth, which may have another size: each keeps its share
// of length and width. On a grid of one row or column they lie on its line, because the size across
// it is nominal.
inline std::vector<SheetPoint> in_sheet_of(const Cloth& cloth, const Sheet& sheet,
                                           std::vector<SheetPoint> landmarks)
{
    const auto scaled = [](double x, double from, double to) {
        return from == to ? x : x / from * to;
    };
    for (SheetPoint& x : landmarks) {
        x = {scaled(x.u, sheet.length, cloth.sheet.length),
             scaled(x.v, sheet.width, cloth.sheet.width)};
        if (cloth.grid && cloth.grid->rows == 1) x.v = cloth.rest[0].v;
        if (cloth.grid && cloth.grid->cols == 1) x.u = cloth.rest[0].u;
    }
    return landmarks;
}

}  // namespace springtime
