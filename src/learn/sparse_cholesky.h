#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <vector>

#include "learn/dissection.h"
#include "learn/work.h"

namespace springtime {

// Which entries the factor of a symmetric matrix has, block by block of a dissection. It depends on
// the pattern alone, so one serves all matrices of a pattern.
class Elimination {
  public:
    // A block of columns that share the rows below them, and is eliminated densely.
    struct Block {
        int begin = 0, end = 0;        // places of the columns
        std::vector<int> rows;         // places below that are coupled with them, ascending
        int parent = -1;               // the block that takes what is left; -1: none
        std::vector<int> into_parent;  // where the rows are in the parent: columns first, then rows
        std::vector<int> children;

        int width() const { return end - begin; }
        int height() const { return static_cast<int>(rows.size()); }
        double multiplications() const;  // to eliminate it
    };

    // Throws Error where the matrix couples unknowns whose extents do not touch.
    Elimination(const Eigen::SparseMatrix<double>& pattern, const std::vector<Extent>& extents);
    explicit Elimination(const Eigen::SparseMatrix<double>& pattern)
        : Elimination(pattern, extents_of_pattern(pattern))
    {
    }

    const std::vector<Block>& blocks() const { return blocks_; }  // children before their parents
    int unknown_count() const { return static_cast<int>(order_.size()); }
    int unknown_at(int place) const { return order_[place]; }
    int place_of(int unknown) const { return place_[unknown]; }
    double multiplications() const;  // of one factorisation
    double entry_count() const;      // of the factor

    const std::vector<int>& parents() const { return parents_; }

  private:
    void find_rows(const Eigen::SparseMatrix<double>& pattern, Block& block,
                   std::vector<int>& position);
    [[noreturn]] void refuse_coupling(const Block& block, int row) const;

    std::vector<int> order_, place_;
    std::vector<Block> blocks_;
    std::vector<int> parents_;
};

// L L^T of a positive definite matrix, by the multifrontal method (Duff and Reid 1983): every block
// is a dense matrix, which receives what its children leave. The bits do not depend on the number
// of threads.
class SparseCholesky {
  public:
    // `elimination` must outlive it.
    SparseCholesky(const Elimination& elimination, int threads)
        : elimination_(elimination), threads_(threads)
    {
    }

    // A pivot that is not larger than `smallest_pivot` is a Failure. Rows and columns of unknowns
    // that are held are those of the identity; nobody is held if `held` is empty.
    void factorize(const Eigen::SparseMatrix<double>& matrix, const std::vector<bool>& held,
                   double smallest_pivot, Work& work);

    // For every column of the right side.
    Eigen::MatrixXd solve(const Eigen::MatrixXd& right, Work& work) const;
    double log_determinant() const;
    // Diagonal of the inverse, by selected inversion (Takahashi, Fagan and Chin 1973; Erisman and
    // Tinney 1975): the inverse is computed where the factor has entries, and nowhere else.
    Eigen::VectorXd inverse_diagonal(Work& work) const;

  private:
    int threads() const;
    void solve_columns(Eigen::Ref<Eigen::MatrixXd> x, Work& work) const;

    const Elimination& elimination_;
    int threads_;
    std::vector<Eigen::MatrixXd> columns_;  // of L: those of each block, and the rows below
};

}  // namespace springtime
