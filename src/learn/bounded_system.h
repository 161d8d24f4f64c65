#pragma once

#include <Eigen/SparseCore>
#include <vector>

namespace springtime {

// A sparse quadratic program: the x that makes x.Hx/2 - r.x smallest while x >= 0. H is symmetric,
// both triangles stored. Instruments can leave it slightly indefinite; whoever builds it adds a
// prior.
struct BoundedSystem {
    Eigen::SparseMatrix<double> matrix;  // H
    Eigen::VectorXd right;               // r
    std::vector<char> bounded{};         // which unknowns x >= 0 holds for; empty: all
};

enum class LinearSolver {
    direct,    // sparse LDL^T
    iterative  // conjugate gradients, preconditioned by the diagonal
};

struct BoundedSolution {
    Eigen::VectorXd value;       // x
    Eigen::VectorXd multiplier;  // Hx - r: not negative where x is held at zero, zero elsewhere; to
                                 // rounding, or 1e-11 of the right side of a unit diagonal
    std::vector<bool> held;      // at its bound
    int held_count = 0;
    int solves = 0;  // of unbounded systems
};

// Throws Failure when H is not positive definite or the bounds do not settle. This and those below
// throw Error when sizes disagree, a number is not finite or H is not symmetric.
BoundedSolution solve_bounded(const BoundedSystem& system, LinearSolver solver);

// Diagonal of the inverse of H, by selected inversion: only entries where the factor has any are
// ever computed. Where rounding leaves nothing of an entry, or less, it is infinite. Throws Failure
// unless H is positive definite.
Eigen::VectorXd inverse_diagonal(const Eigen::SparseMatrix<double>& matrix);

// Logarithm of the determinant of H. Throws Failure unless H is positive definite.
double log_determinant(const Eigen::SparseMatrix<double>& matrix);

}  // namespace springtime
