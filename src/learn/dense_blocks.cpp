#include "learn/dense_blocks.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index kPanel = 64;                             // columns that are eliminated together
constexpr Index kLeastColumns = 16, kMostColumns = 128;  // of a product

// As many columns as make a piece of work of the size that can be cancelled. It is a function of
// the sizes alone, so the bits are always the same.
Index columns_at_a_time(Index rows, Index depth)
{
    const double each = std::max(1.0, double(rows) * double(depth));
    return std::clamp(Index(Work::kLongestPiece / each), kLeastColumns, kMostColumns);
}

// In place, without blocks.
std::optional<BadPivot> factor_triangle(Eigen::Ref<MatrixXd> block, double smallest_pivot)
{
    for (Index k = 0; k < block.cols(); ++k) {
        const double pivot = block(k, k);
        if (!(pivot > smallest_pivot)) return BadPivot{int(k), pivot};
        const Index below = block.rows() - k - 1;
        block(k, k) = std::sqrt(pivot);
        block.col(k).tail(below) /= block(k, k);
        for (Index j = k + 1; j < block.cols(); ++j) {
            block.col(j).tail(block.rows() - j) -=
                block(j, k) * block.col(k).tail(block.rows() - j);
        }
    }
    return std::nullopt;
}

// Subtracts left * right^T from the lower trapezium of `from`; `right` has the first rows of
// `left`.
void subtract_lower(Eigen::Ref<MatrixXd> from, const Eigen::Ref<const MatrixXd>& left, Work& work)
{
    const Index step = columns_at_a_time(from.rows(), left.cols());
    for (Index c = 0; c < from.cols(); c += step) {
        const Index width = std::min(step, from.cols() - c), height = from.rows() - c;
        from.block(c, c, height, width).noalias() -=
            left.bottomRows(height) * left.middleRows(c, width).transpose();
        work.add(double(height) * double(width) * double(left.cols()));
    }
}

}  // namespace

std::optional<BadPivot> factor_columns(MatrixXd& columns, double smallest_pivot, Work& work)
{
    const Index width = columns.cols(), rows = columns.rows();
    for (Index c = 0; c < width; c += kPanel) {
        const Index panel = std::min(kPanel, width - c), below = rows - c - panel;
        if (auto bad = factor_triangle(columns.block(c, c, panel, panel), smallest_pivot)) {
            bad->column += int(c);
            return bad;
        }
        if (below == 0) break;
        auto under = columns.block(c + panel, c, below, panel);
        columns.block(c, c, panel, panel)
            .triangularView<Eigen::Lower>()
            .transpose()
            .solveInPlace<Eigen::OnTheRight>(under);
        work.add(0.5 * double(below) * double(panel) * double(panel));
        if (c + panel == width) break;
        subtract_lower(columns.bottomRightCorner(below, width - c - panel), under, work);
    }
    return std::nullopt;
}

void subtract_square(MatrixXd& from, const Eigen::Ref<const MatrixXd>& below, Work& work)
{
    if (below.cols() == 0 || from.size() == 0) return;
    subtract_lower(from, below, work);
}

MatrixXd symmetric_product(const MatrixXd& symmetric, const MatrixXd& right, Work& work)
{
    MatrixXd product(symmetric.rows(), right.cols());
    const Index step = columns_at_a_time(symmetric.rows(), symmetric.cols());
    for (Index c = 0; c < right.cols(); c += step) {
        const Index width = std::min(step, right.cols() - c);
        product.middleCols(c, width).noalias() =
            symmetric.selfadjointView<Eigen::Lower>() * right.middleCols(c, width);
        work.add(double(symmetric.rows()) * double(symmetric.cols()) * double(width));
    }
    return product;
}

}  // namespace springtime
