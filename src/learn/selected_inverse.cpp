#include "learn/selected_inverse.h"

#include <Eigen/Dense>
#include <span>
#include <vector>

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Takahashi, Fagan and Chin 1973; Erisman and Tinney 1975. With Z the inverse, Z = D^-1 L^-1 +
// (1 - L^T) Z, whose lower triangle needs entries of Z where L has some, and no others. Columns go
// from the last to the first. Neighbours with the same rows below them go together: they share one
// dense block of Z, and the work becomes products of dense matrices.
class SelectedInverse {
  public:
    SelectedInverse(const Eigen::SparseMatrix<double>& lower, const VectorXd& pivot)
        : lower_(lower),
          pivot_(pivot),
          below_(static_cast<std::size_t>(lower.nonZeros())),
          diagonal_(lower.cols()),
          place_(static_cast<std::size_t>(lower.cols()), -1)
    {
        for (int end = static_cast<int>(lower.cols()); end > 0;) {
            int begin = end - 1;
            while (begin > 0 && continues(begin - 1)) --begin;
            invert(begin, end);
            end = begin;
        }
    }

    const VectorXd& diagonal() const { return diagonal_; }

  private:
    int first(int column) const { return lower_.outerIndexPtr()[column]; }
    int row_count(int column) const { return first(column + 1) - first(column); }
    int row(int entry) const { return lower_.innerIndexPtr()[entry]; }

    // The column has the rows of the next one and the next one itself.
    bool continues(int column) const
    {
        return row_count(column) == row_count(column + 1) + 1 && row(first(column)) == column + 1;
    }

    // Columns J = [begin, end) and the rows R below them. With X = L_RJ L_JJ^-1:
    // Z_RJ = -Z_RR X, Z_JJ = (L_JJ D_J L_JJ^T)^-1 - X^T Z_RJ.
    void invert(int begin, int end)
    {
        const int width = end - begin;
        const std::span<const int> rows(lower_.innerIndexPtr() + first(end - 1),
                                        static_cast<std::size_t>(row_count(end - 1)));
        MatrixXd top = MatrixXd::Identity(width, width);
        MatrixXd product(static_cast<Eigen::Index>(rows.size()), width);  // L_RJ, then X
        for (int c = 0; c < width; ++c) {
            const int inside = width - 1 - c;
            const double* value = lower_.valuePtr() + first(begin + c);
            for (int i = 0; i < inside; ++i) top(c + 1 + i, c) = value[i];
            for (Eigen::Index i = 0; i < product.rows(); ++i) product(i, c) = value[inside + i];
        }
        const auto unit_lower = top.triangularView<Eigen::UnitLower>();
        MatrixXd own = MatrixXd::Identity(width, width);  // Z_JJ
        unit_lower.solveInPlace(own);
        own = own.transpose() * pivot_.segment(begin, width).cwiseInverse().asDiagonal() * own;
        MatrixXd down = MatrixXd::Zero(product.rows(), width);  // Z_RJ
        if (!rows.empty()) {  // Eigen's product divides by their number
            unit_lower.solveInPlace<Eigen::OnTheRight>(product);
            down.noalias() -= gathered(rows).selfadjointView<Eigen::Lower>() * product;
            own.noalias() -= product.transpose() * down;
        }
        store(begin, own, down);
    }

    // Lower triangle of Z among the rows, all of which lie in columns that are done.
    const MatrixXd& gathered(std::span<const int> rows)
    {
        const int count = static_cast<int>(rows.size());
        block_.setZero(count, count);
        for (int i = 0; i < count; ++i) place_[static_cast<std::size_t>(rows[i])] = i;
        for (int c = 0; c < count; ++c) {
            block_(c, c) = diagonal_[rows[c]];
            for (int entry = first(rows[c]); entry < first(rows[c] + 1); ++entry) {
                const int place = place_[static_cast<std::size_t>(row(entry))];
                if (place >= 0) block_(place, c) = below_[static_cast<std::size_t>(entry)];
            }
        }
        for (const int r : rows) place_[static_cast<std::size_t>(r)] = -1;
        return block_;
    }

    void store(int begin, const MatrixXd& own, const MatrixXd& down)
    {
        for (Eigen::Index c = 0; c < own.cols(); ++c) {
            const int column = begin + static_cast<int>(c);
            diagonal_[column] = own(c, c);
            double* value = below_.data() + first(column);
            for (Eigen::Index i = c + 1; i < own.rows(); ++i) *value++ = own(i, c);
            for (Eigen::Index i = 0; i < down.rows(); ++i) *value++ = down(i, c);
        }
    }

    const Eigen::SparseMatrix<double>& lower_;
    const VectorXd& pivot_;
    std::vector<double> below_;  // Z where L has an entry, in the order of its entries
    VectorXd diagonal_;          // of Z
    std::vector<int> place_;     // of a row in the block at work, -1 outside
    MatrixXd block_;             // Z_RR
};

}  // namespace

VectorXd selected_inverse_diagonal(const Eigen::SparseMatrix<double>& lower, const VectorXd& pivot)
{
    return SelectedInverse(lower, pivot).diagonal();
}

}  // namespace springtime
