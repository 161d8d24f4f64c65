#pragma once

#include <array>
#include <optional>
#include <span>

#include "springtime/cloth.h"

namespace springtime {

// A direction of lines in a grid: from (row, col) to (row + down, col + right). All lead to higher
// particle numbers.
struct GridLine {
    int down, right;
};

// The lines that bends of a family lie along.
inline std::span<const GridLine> grid_lines(BendFamily family)
{
    static constexpr std::array<GridLine, 2> kStraight{{{0, 1}, {1, 0}}};
    static constexpr std::array<GridLine, 1> kDiagonal{{{1, 1}}}, kAntidiagonal{{{1, -1}}};
    switch (family) {
        case BendFamily::straight:
            return kStraight;
        case BendFamily::diagonal:
            return kDiagonal;
        case BendFamily::antidiagonal:
            return kAntidiagonal;
    }
    return {};
}

// The next particle along a line, within the grid.
inline std::optional<int> next_on(const Grid& grid, const GridLine& line, int particle)
{
    const int row = particle / grid.cols + line.down, col = particle % grid.cols + line.right;
    if (row >= grid.rows || col < 0 || col >= grid.cols) return std::nullopt;
    return row * grid.cols + col;
}

}  // namespace springtime
