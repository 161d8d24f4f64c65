#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <vector>

#include "learn/sparse_cholesky.h"
#include "learn/work.h"

namespace springtime {

// A sparse quadratic program: the x that makes x.Hx/2 - r.x smallest while x >= 0. H is symmetric,
// both triangles stored. Instruments can leave it slightly indefinite; whoever builds it adds a
// prior.
struct BoundedSystem {
    Eigen::SparseMatrix<double> matrix;  // H
    Eigen::VectorXd right;               // r
    std::vector<char> bounded{};         // which unknowns x >= 0 holds for; empty: all
};

struct BoundedSolution {
    Eigen::VectorXd value;       // x
    Eigen::VectorXd multiplier;  // Hx - r: not negative where x is held at zero, zero elsewhere; to
                                 // rounding, or 1e-11 of the right side of a unit diagonal
    std::vector<bool> held;      // at its bound
    int held_count = 0;
    int solves = 0;  // of unbounded systems
};

// What makes a solution faster, or lets it be watched.
struct SolveAids {
    const Elimination* elimination = nullptr;  // of the pattern of H
    const std::vector<bool>* held = nullptr;   // a guess of what is at its bound
    int threads = 1;
    Work* work = nullptr;
};

// Throws Failure when H is not positive definite or the bounds do not settle. This and those below
// throw Error when sizes disagree, a number is not finite or H is not symmetric, and Cancelled when
// the listener of the work says so.
BoundedSolution solve_bounded(const BoundedSystem& system, const SolveAids& aids = {});

// A factor of H. Throws Failure unless H is positive definite.
class FactoredSystem {
  public:
    explicit FactoredSystem(const Eigen::SparseMatrix<double>& matrix, const SolveAids& aids = {});
    ~FactoredSystem();

    Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;  // for every column
    // Diagonal of the inverse. Where rounding leaves nothing of an entry, or less, it is infinite.
    Eigen::VectorXd inverse_diagonal() const;
    double log_determinant() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace springtime
