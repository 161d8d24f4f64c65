#include "learn/sparse_cholesky.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/parallel.h"
#include "learn/dense_blocks.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

// Less work than this is not worth waking other threads for.
constexpr double kWorthThreads = 1e7;
// Right sides that are solved for together.
constexpr Index kColumns = 8;

}  // namespace

// ---- Symbolic

double Elimination::Block::multiplications() const
{
    const double w = width(), h = height();
    return w * w * w / 6 + w * w * h / 2 + w * h * h / 2;
}

Elimination::Elimination(const Matrix& pattern, const std::vector<Extent>& extents)
{
    Dissection dissection = dissect(extents);
    order_ = std::move(dissection.order);
    place_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<int>(i);
    for (const Dissection::Node& node : dissection.nodes) {
        blocks_.push_back({node.begin, node.end, {}, node.parent, {}, {}});
        parents_.push_back(node.parent);
    }
    std::vector<int> position(order_.size(), -1);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        find_rows(pattern, blocks_[b], position);
        if (parents_[b] >= 0) blocks_[parents_[b]].children.push_back(static_cast<int>(b));
    }
}

// Those of the matrix and of the children.
void Elimination::find_rows(const Matrix& pattern, Block& block, std::vector<int>& position)
{
    const auto add = [&](int place) {
        if (place < block.end || position[place] >= 0) return;
        position[place] = 0;
        block.rows.push_back(place);
    };
    for (int place = block.begin; place < block.end; ++place) {
        for (Matrix::InnerIterator entry(pattern, order_[place]); entry; ++entry) {
            add(place_[entry.row()]);
        }
    }
    for (const int child : block.children) {
        for (const int row : blocks_[child].rows) add(row);
    }
    std::sort(block.rows.begin(), block.rows.end());
    for (int i = 0; i < block.height(); ++i) position[block.rows[i]] = block.width() + i;
    for (const int child : block.children) {
        for (const int row : blocks_[child].rows) {
            if (row < block.begin) refuse_coupling(blocks_[child], row);
            blocks_[child].into_parent.push_back(row < block.end ? row - block.begin
                                                                 : position[row]);
        }
    }
    for (const int row : block.rows) position[row] = -1;
    if (block.parent < 0 && !block.rows.empty()) refuse_coupling(block, block.rows[0]);
}

void Elimination::refuse_coupling(const Block& block, int row) const
{
    throw Error(
        "elimination: unknown {} is coupled with one of unknowns {} ..., but their extents do not "
        "touch; needed extents that cover all points of an unknown; mend them",
        order_[row], order_[block.begin]);
}

double Elimination::multiplications() const
{
    double sum = 0;
    for (const Block& block : blocks_) sum += block.multiplications();
    return sum;
}

double Elimination::entry_count() const
{
    double sum = 0;
    for (const Block& block : blocks_) {
        sum += double(block.width()) * (block.width() + block.height());
    }
    return sum;
}

// ---- Numeric

namespace {

// Adds what a child leaves to the block of its parent.
void extend_add(const Elimination::Block& child, const MatrixXd& left_over, int width,
                MatrixXd& columns, MatrixXd& update)
{
    const std::vector<int>& to = child.into_parent;
    for (int c = 0; c < child.height(); ++c) {
        const int column = to[c];
        double* target = column < width
                             ? columns.data() + Index(column) * columns.rows()
                             : update.data() + Index(column - width) * update.rows() - Index(width);
        const double* source = left_over.data() + Index(c) * left_over.rows();
        for (int r = c; r < child.height(); ++r) target[to[r]] += source[r];
    }
}

// Adds the columns of a matrix that a block eliminates.
void add_matrix(const Elimination& elimination, const Elimination::Block& block,
                const Matrix& matrix, const std::vector<bool>& held, MatrixXd& columns)
{
    const auto is_held = [&](Index unknown) {
        return !held.empty() && held[static_cast<std::size_t>(unknown)];
    };
    for (int place = block.begin; place < block.end; ++place) {
        const int unknown = elimination.unknown_at(place), column = place - block.begin;
        if (is_held(unknown)) {
            columns(column, column) = 1;
            continue;
        }
        for (Matrix::InnerIterator entry(matrix, unknown); entry; ++entry) {
            const int row = elimination.place_of(static_cast<int>(entry.row()));
            if (row < place || is_held(entry.row())) continue;
            if (row < block.end) {
                columns(row - block.begin, column) += entry.value();
                continue;
            }
            const auto at = std::lower_bound(block.rows.begin(), block.rows.end(), row);
            columns(block.width() + (at - block.rows.begin()), column) += entry.value();
        }
    }
}

}  // namespace

void SparseCholesky::factorize(const Matrix& matrix, const std::vector<bool>& held,
                               double smallest_pivot, Work& work)
{
    const std::vector<Elimination::Block>& blocks = elimination_.blocks();
    columns_.resize(blocks.size());
    std::vector<MatrixXd> left_over(blocks.size());
    parallel_tree(elimination_.parents(), threads(), [&](int b) {
        const Elimination::Block& block = blocks[b];
        const int width = block.width(), height = block.height();
        MatrixXd &columns = columns_[b], &update = left_over[b];
        columns.setZero(width + height, width);
        update.setZero(height, height);
        add_matrix(elimination_, block, matrix, held, columns);
        for (const int child : block.children) {
            extend_add(blocks[child], left_over[child], width, columns, update);
            left_over[child].resize(0, 0);
        }
        if (const auto bad = factor_columns(columns, smallest_pivot, work)) {
            throw Failure(
                "bounded system: pivot {:.2g} of a unit diagonal at unknown {}; needed above "
                "{:g}, that is a positive definite matrix; raise the prior",
                bad->value, elimination_.unknown_at(block.begin + bad->column), smallest_pivot);
        }
        subtract_square(update, columns.bottomRows(height), work);
    });
}

int SparseCholesky::threads() const
{
    return elimination_.multiplications() < kWorthThreads ? 1 : threads_;
}

// L y = b from the leaves to the roots, L^T x = y on the way back.
void SparseCholesky::solve_columns(Eigen::Ref<MatrixXd> x, Work& work) const
{
    const std::vector<Elimination::Block>& blocks = elimination_.blocks();
    MatrixXd below;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const int width = blocks[b].width(), height = blocks[b].height();
        auto own = x.middleRows(blocks[b].begin, width);
        columns_[b].topRows(width).triangularView<Eigen::Lower>().solveInPlace(own);
        if (height == 0) continue;
        below.noalias() = columns_[b].bottomRows(height) * own;
        x(blocks[b].rows, Eigen::all) -= below;
        work.add(double(columns_[b].size()) * double(x.cols()));
    }
    for (std::size_t b = blocks.size(); b-- > 0;) {
        const int width = blocks[b].width(), height = blocks[b].height();
        auto own = x.middleRows(blocks[b].begin, width);
        if (height > 0) {
            below = x(blocks[b].rows, Eigen::all);
            own.noalias() -= columns_[b].bottomRows(height).transpose() * below;
        }
        columns_[b].topRows(width).triangularView<Eigen::Lower>().transpose().solveInPlace(own);
        work.add(double(columns_[b].size()) * double(x.cols()));
    }
}

MatrixXd SparseCholesky::solve(const MatrixXd& right, Work& work) const
{
    MatrixXd solution(right.rows(), right.cols());
    const auto groups = static_cast<int>((right.cols() + kColumns - 1) / kColumns);
    parallel_for(groups, threads(), [&](int group) {
        const Index first = group * kColumns;
        const Index count = std::min(kColumns, right.cols() - first);
        MatrixXd x(right.rows(), count);
        for (int place = 0; place < elimination_.unknown_count(); ++place) {
            x.row(place) = right.row(elimination_.unknown_at(place)).middleCols(first, count);
        }
        solve_columns(x, work);
        for (int place = 0; place < elimination_.unknown_count(); ++place) {
            solution.row(elimination_.unknown_at(place)).middleCols(first, count) = x.row(place);
        }
    });
    return solution;
}

double SparseCholesky::log_determinant() const
{
    double sum = 0;
    for (std::size_t b = 0; b < columns_.size(); ++b) {
        sum += 2 * columns_[b].diagonal().array().log().sum();
    }
    return sum;
}

// With Z the inverse, J the columns of a block, R its rows and X = L_RJ L_JJ^-1:
// Z_RJ = -Z_RR X, Z_JJ = (L_JJ L_JJ^T)^-1 - X^T Z_RJ, and Z_RR is part of what the parent has.
VectorXd SparseCholesky::inverse_diagonal(Work& work) const
{
    const std::vector<Elimination::Block>& blocks = elimination_.blocks();
    VectorXd diagonal(elimination_.unknown_count());
    std::vector<MatrixXd> inverse(blocks.size());  // lower triangle, of columns and rows
    std::vector<std::atomic<int>> waiting(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) waiting[b] = int(blocks[b].children.size());
    parallel_tree_down(elimination_.parents(), threads(), [&](int b) {
        const Elimination::Block& block = blocks[b];
        const int width = block.width(), height = block.height();
        const auto triangle = columns_[b].topRows(width).triangularView<Eigen::Lower>();
        MatrixXd own = MatrixXd::Identity(width, width);
        triangle.solveInPlace(own);
        work.add(double(width) * width * width / 6);
        own = MatrixXd(own.transpose() * own);
        work.add(double(width) * width * width);
        MatrixXd& all = inverse[b];
        all.setZero(width + height, width + height);
        if (height > 0) {
            const std::vector<int>& to = block.into_parent;
            const MatrixXd& outer = inverse[block.parent];
            MatrixXd corner(height, height);
            for (int c = 0; c < height; ++c) {
                const double* source = outer.data() + Index(to[c]) * outer.rows();
                for (int r = c; r < height; ++r) corner(r, c) = source[to[r]];
            }
            MatrixXd x = columns_[b].bottomRows(height);
            triangle.solveInPlace<Eigen::OnTheRight>(x);
            work.add(0.5 * double(height) * width * width);
            const MatrixXd down = -symmetric_product(corner, x, work);
            own.noalias() -= x.transpose() * down;
            work.add(double(height) * width * width);
            all.bottomLeftCorner(height, width) = down;
            all.bottomRightCorner(height, height) = corner;
        }
        all.topLeftCorner(width, width) = own;
        for (int i = 0; i < width; ++i) {
            diagonal[elimination_.unknown_at(block.begin + i)] = own(i, i);
        }
        if (block.children.empty()) all.resize(0, 0);
        if (block.parent >= 0 && --waiting[block.parent] == 0) inverse[block.parent].resize(0, 0);
    });
    return diagonal;
}

}  // namespace springtime
