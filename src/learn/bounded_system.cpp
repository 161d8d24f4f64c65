#include "learn/bounded_system.h"

#include <cmath>
#include <limits>
#include <optional>

#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

// All of these are for systems with a unit diagonal. A pivot is one less the sum of some hundred
// updates; what is left below this is their rounding.
constexpr double kSmallestPivot = 1e-13;
constexpr double kResidual = 1e-12;  // of conjugate gradients, relative to the right side
constexpr int kPatience = 3;         // rounds of many exchanges without fewer on the wrong side
constexpr int kMaxSolves = 500;      // some ten are usual

// S = C H C with a diagonal C, such that S has a unit diagonal: the units of the unknowns, which
// lie powers of ten apart, then change nothing.
struct Scaled {
    Matrix matrix;   // S
    VectorXd scale;  // diagonal of C
};

void check_numbers(const Matrix& matrix)
{
    if (matrix.rows() != matrix.cols()) {
        throw Error("bounded system: a matrix of {} x {}; needed a square one; mend its assembly",
                    matrix.rows(), matrix.cols());
    }
    for (int column = 0; column < matrix.outerSize(); ++column) {
        for (Matrix::InnerIterator entry(matrix, column); entry; ++entry) {
            if (std::isfinite(entry.value())) continue;
            throw Error(
                "bounded system: entry ({}, {}) is {}; needed finite numbers; look for "
                "the data that made it",
                entry.row(), column, entry.value());
        }
    }
}

void check_right_side(const BoundedSystem& system)
{
    if (system.right.size() != system.matrix.rows()) {
        throw Error(
            "bounded system: a right side of {} for a matrix of {} rows; needed as many; "
            "mend its assembly",
            system.right.size(), system.matrix.rows());
    }
    for (Eigen::Index i = 0; i < system.right.size(); ++i) {
        if (std::isfinite(system.right[i])) continue;
        throw Error(
            "bounded system: entry {} of the right side is {}; needed finite numbers; "
            "look for the data that made it",
            i, system.right[i]);
    }
}

// The factorisation reads one triangle only, products read both.
void check_symmetry(const Matrix& scaled)
{
    constexpr double kRounding = 1e-9;  // far above that of sums, far below what an entry is for
    const Matrix other = scaled.transpose();
    for (int column = 0; column < scaled.outerSize(); ++column) {
        Matrix::InnerIterator one(scaled, column), two(other, column);
        for (; one || two; one ? ++one : one, two ? ++two : two) {
            const bool same = one && two && one.row() == two.row();
            if (same && std::abs(one.value() - two.value()) <= kRounding) continue;
            throw Error(
                "bounded system: entries ({0}, {1}) and ({1}, {0}) differ; needed a "
                "symmetric matrix; store both triangles",
                one ? one.row() : two.row(), column);
        }
    }
}

Scaled unit_diagonal(const Matrix& matrix)
{
    check_numbers(matrix);
    Scaled scaled{matrix, matrix.diagonal()};
    for (Eigen::Index i = 0; i < scaled.scale.size(); ++i) {
        if (!(scaled.scale[i] > 0)) {
            throw Failure(
                "bounded system: the diagonal at unknown {} is {}; needed above zero; "
                "leave out the unknown, which no data see, or raise its prior",
                i, scaled.scale[i]);
        }
        scaled.scale[i] = 1 / std::sqrt(scaled.scale[i]);
    }
    for (int column = 0; column < matrix.outerSize(); ++column) {
        for (Matrix::InnerIterator entry(scaled.matrix, column); entry; ++entry) {
            entry.valueRef() *= scaled.scale[entry.row()] * scaled.scale[column];
        }
    }
    scaled.matrix.makeCompressed();
    check_symmetry(scaled.matrix);
    return scaled;
}

// Hestenes and Stiefel 1952, on the unknowns where `free` is one, from x. The unit diagonal is the
// preconditioning.
VectorXd conjugate_gradients(const Matrix& scaled, const VectorXd& right, const VectorXd& free,
                             VectorXd x, Work& work)
{
    const double enough = kResidual * right.lpNorm<Eigen::Infinity>();
    const Eigen::Index limit = 1000 + 10 * right.size();  // n without rounding
    x = free.cwiseProduct(x);
    VectorXd residual = free.cwiseProduct(right - scaled * x), direction = residual, image;
    for (Eigen::Index step = 0; step < limit; ++step) {
        if (residual.lpNorm<Eigen::Infinity>() <= enough) return x;
        image = free.cwiseProduct(scaled * direction);
        work.add(double(scaled.nonZeros()));
        const double curvature = direction.dot(image), square = residual.squaredNorm();
        if (!(curvature > kSmallestPivot * direction.squaredNorm())) {
            throw Failure(
                "bounded system: curvature {:.2g} along a direction of conjugate "
                "gradients; needed above zero, that is a positive definite matrix; "
                "raise the prior",
                curvature / direction.squaredNorm());
        }
        x += square / curvature * direction;
        residual -= square / curvature * image;
        direction = residual + residual.squaredNorm() / square * direction;
    }
    throw Failure(
        "bounded system: conjugate gradients left {:.2g} of the right side after {} "
        "steps; needed {:g}; raise the prior or take the direct solver",
        kResidual * residual.lpNorm<Eigen::Infinity>() / enough, limit, kResidual);
}

// Solves for the free unknowns while the held ones are zero.
class FreeSolver {
  public:
    FreeSolver(const Matrix& scaled, LinearSolver solver, const SolveAids& aids)
        : scaled_(scaled), solver_(solver), work_(aids.work ? *aids.work : own_work_)
    {
        if (solver == LinearSolver::iterative) return;
        if (!aids.elimination) own_elimination_.emplace(scaled);
        factor_.emplace(aids.elimination ? *aids.elimination : *own_elimination_, aids.threads);
    }

    VectorXd solve(const VectorXd& right, const std::vector<bool>& held, const VectorXd& guess)
    {
        VectorXd free(right.size());
        for (Eigen::Index i = 0; i < free.size(); ++i) free[i] = held[std::size_t(i)] ? 0 : 1;
        if (solver_ == LinearSolver::iterative) {
            return conjugate_gradients(scaled_, right, free, guess, work_);
        }
        factor_->factorize(scaled_, held, kSmallestPivot, work_);
        return factor_->solve(free.cwiseProduct(right), work_);
    }

  private:
    const Matrix& scaled_;
    LinearSolver solver_;
    Work own_work_;
    Work& work_;
    std::optional<Elimination> own_elimination_;
    std::optional<SparseCholesky> factor_;
};

// Block principal pivoting (Portugal, Júdice and Vicente 1994): all that are on the wrong side
// change it at once. When that has not made them fewer for some rounds, only the one of the largest
// index does, which alone would come to an end as well (Murty 1974), until they are fewer.
class Exchange {
  public:
    explicit Exchange(std::size_t count) : fewest_(count + 1) {}

    void operator()(const std::vector<std::size_t>& wrong, std::vector<bool>& held)
    {
        if (wrong.size() < fewest_) {
            fewest_ = wrong.size();
            patience_ = kPatience;
        } else if (patience_ > 0) {
            --patience_;
        } else {
            held[wrong.back()] = !held[wrong.back()];
            return;
        }
        for (const std::size_t i : wrong) held[i] = !held[i];
    }

  private:
    std::size_t fewest_;
    int patience_ = kPatience;
};

// Ascending: what is free below zero, and what is held by a force that pulls it up. The latter has
// a tolerance above what the solvers leave, so that an unknown that is zero with no force at all
// does not go to and fro.
std::vector<std::size_t> on_the_wrong_side(const Scaled& scaled, const VectorXd& right,
                                           const VectorXd& x, const std::vector<bool>& held,
                                           const std::vector<char>& bounded)
{
    const VectorXd force = scaled.matrix * x - right;
    const double tolerance = 10 * kResidual * right.lpNorm<Eigen::Infinity>() +
                             kSmallestPivot * x.lpNorm<Eigen::Infinity>();
    std::vector<std::size_t> wrong;
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (!bounded.empty() && !bounded[i]) continue;
        const auto at = static_cast<Eigen::Index>(i);
        if (held[i] ? force[at] < -tolerance : x[at] < 0) wrong.push_back(i);
    }
    return wrong;
}

}  // namespace

BoundedSolution solve_bounded(const BoundedSystem& system, LinearSolver solver,
                              const SolveAids& aids)
{
    const Scaled scaled = unit_diagonal(system.matrix);
    check_right_side(system);
    const VectorXd right = scaled.scale.cwiseProduct(system.right);
    const auto count = static_cast<std::size_t>(right.size());
    FreeSolver free_solver(scaled.matrix, solver, aids);
    Exchange exchange(count);
    BoundedSolution solution;
    solution.held.assign(count, false);
    if (aids.held) solution.held = *aids.held;
    VectorXd x = VectorXd::Zero(right.size());
    for (;;) {
        x = free_solver.solve(right, solution.held, x);
        ++solution.solves;
        const auto wrong = on_the_wrong_side(scaled, right, x, solution.held, system.bounded);
        if (wrong.empty()) break;
        if (solution.solves == kMaxSolves) {
            throw Failure(
                "bounded system: {} of {} unknowns on the wrong side of their bounds "
                "after {} solves; needed none; raise the prior",
                wrong.size(), count, solution.solves);
        }
        exchange(wrong, solution.held);
    }
    solution.value = scaled.scale.cwiseProduct(x);
    solution.multiplier = system.matrix * solution.value - system.right;
    for (const bool held : solution.held) solution.held_count += held;
    return solution;
}

struct FactoredSystem::Parts {
    Parts(const Matrix& matrix, const SolveAids& aids)
        : scaled(unit_diagonal(matrix)), work(aids.work ? *aids.work : own_work)
    {
        if (!aids.elimination) own_elimination.emplace(scaled.matrix);
        factor.emplace(aids.elimination ? *aids.elimination : *own_elimination, aids.threads);
        factor->factorize(scaled.matrix, {}, kSmallestPivot, work);
    }

    Scaled scaled;
    Work own_work;
    Work& work;
    std::optional<Elimination> own_elimination;
    std::optional<SparseCholesky> factor;
};

FactoredSystem::FactoredSystem(const Matrix& matrix, const SolveAids& aids)
    : parts_(std::make_unique<Parts>(matrix, aids))
{
}

FactoredSystem::~FactoredSystem() = default;

Eigen::MatrixXd FactoredSystem::solve(const Eigen::MatrixXd& right) const
{
    const auto scale = parts_->scaled.scale.asDiagonal();
    return scale * parts_->factor->solve(scale * right, parts_->work);
}

VectorXd FactoredSystem::inverse_diagonal() const
{
    VectorXd inverse = parts_->factor->inverse_diagonal(parts_->work)
                           .cwiseProduct(parts_->scaled.scale.cwiseAbs2());
    for (double& entry : inverse) {
        if (!(entry > 0)) entry = std::numeric_limits<double>::infinity();
    }
    return inverse;
}

double FactoredSystem::log_determinant() const
{
    return parts_->factor->log_determinant() - 2 * parts_->scaled.scale.array().log().sum();
}

}  // namespace springtime
