#include "learn/bounded_system.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "learn/interior_point.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

// All of these are for systems with a unit diagonal. A pivot is one less the sum of some hundred
// updates; what is left below this is their rounding.
constexpr double kSmallestPivot = 1e-13;
constexpr double kForceError = 1e-11;  // that a solve leaves, relative to the right side
constexpr double kUsualRounds = 25;    // of an interior point
constexpr int kPatience = 3;           // rounds of many exchanges without fewer on the wrong side

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

// Solves for the free unknowns while the held ones are zero.
class FreeSolver {
  public:
    FreeSolver(const Matrix& scaled, const SolveAids& aids, Work& work)
        : scaled_(scaled), work_(work)
    {
        if (!aids.elimination) own_elimination_.emplace(scaled);
        factor_.emplace(aids.elimination ? *aids.elimination : *own_elimination_, aids.threads);
    }

    VectorXd solve(const VectorXd& right, const std::vector<bool>& held)
    {
        factor_->factorize(scaled_, held, kSmallestPivot, work_);
        VectorXd free = right;
        for (Eigen::Index i = 0; i < free.size(); ++i) {
            if (held[std::size_t(i)]) free[i] = 0;
        }
        return factor_->solve(free, work_);
    }

    // Of the matrix with more on its diagonal, as long as nothing else is solved.
    RightSideSolver with_added(const VectorXd& added)
    {
        Matrix matrix = scaled_;
        for (Eigen::Index i = 0; i < added.size(); ++i) matrix.coeffRef(i, i) += added[i];
        factor_->factorize(matrix, {}, kSmallestPivot, work_);
        return [this](const VectorXd& right) -> VectorXd { return factor_->solve(right, work_); };
    }

  private:
    const Matrix& scaled_;
    Work& work_;
    std::optional<Elimination> own_elimination_;
    std::optional<SparseCholesky> factor_;
};

// Block principal pivoting (Portugal, Júdice and Vicente 1994): all that are on the wrong side
// change it at once. Returns false when that has not made them fewer for some rounds.
class Exchange {
  public:
    explicit Exchange(std::size_t count) : fewest_(count + 1) {}

    bool operator()(const std::vector<std::size_t>& wrong, std::vector<bool>& held)
    {
        if (wrong.size() < fewest_) {
            fewest_ = wrong.size();
            patience_ = kPatience;
        } else if (patience_-- == 0) {
            return false;
        }
        for (const std::size_t i : wrong) held[i] = !held[i];
        return true;
    }

  private:
    std::size_t fewest_;
    int patience_ = kPatience;
};

// Ascending: what is free below zero, and what is held by a force that pulls it up. The latter has
// a tolerance above what a solve leaves, so that an unknown that is zero with no force at all
// does not go to and fro.
std::vector<std::size_t> on_the_wrong_side(const Scaled& scaled, const VectorXd& right,
                                           const VectorXd& x, const std::vector<bool>& held,
                                           const std::vector<char>& bounded)
{
    const VectorXd force = scaled.matrix * x - right;
    const double tolerance = kForceError * right.lpNorm<Eigen::Infinity>() +
                             kSmallestPivot * x.lpNorm<Eigen::Infinity>();
    std::vector<std::size_t> wrong;
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (!bounded.empty() && !bounded[i]) continue;
        const auto at = static_cast<Eigen::Index>(i);
        if (held[i] ? force[at] < -tolerance : x[at] < 0) wrong.push_back(i);
    }
    return wrong;
}

// Finds what is at its bound. Exchanges come first, since a few of them usually suffice. Where they
// go round in circles, an interior point says what is at its bound, and exchanges settle the rest.
class BoundSearch {
  public:
    BoundSearch(const Scaled& scaled, const BoundedSystem& system, FreeSolver& solver, Work& work)
        : scaled_(scaled),
          bounded_(system.bounded),
          right_(scaled.scale.cwiseProduct(system.right)),
          solver_(solver),
          work_(work),
          x_(VectorXd::Zero(right_.size()))
    {
    }

    // Fills in what is held, from a guess, and how many solves that took. Returns x.
    VectorXd run(BoundedSolution& solution)
    {
        if (exchange_all(solution)) return x_;
        work_.expect_more(kUsualRounds * of_solve_);
        const InteriorPoint point =
            interior_point(scaled_.matrix, right_, bounded_, x_, [&](const VectorXd& added) {
                ++solution.solves;
                return solver_.with_added(added);
            });
        if (!point.converged) {
            throw Failure(
                "bounded system: {} of {} unknowns on the wrong side of their bounds after {} "
                "solves; needed none; raise the prior",
                wrong_.size(), solution.held.size(), solution.solves);
        }
        hold_where_pushed(point, solution);
        if (exchange_all(solution)) return x_;
        // Rounding tosses some about. The point itself is good to its tolerance.
        hold_where_pushed(point, solution);
        x_ = point.x;
        for (std::size_t i = 0; i < solution.held.size(); ++i) {
            if (solution.held[i]) x_[static_cast<Eigen::Index>(i)] = 0;
        }
        return x_;
    }

  private:
    void hold_where_pushed(const InteriorPoint& point, BoundedSolution& solution) const
    {
        for (std::size_t i = 0; i < solution.held.size(); ++i) {
            const auto at = static_cast<Eigen::Index>(i);
            const bool has_bound = bounded_.empty() || bounded_[i];
            solution.held[i] = has_bound && point.force[at] > point.x[at];
        }
    }

    // False when that goes round in circles.
    bool exchange_all(BoundedSolution& solution)
    {
        Exchange exchange(solution.held.size());
        do {
            const double before = work_.done();
            x_ = solver_.solve(right_, solution.held);
            ++solution.solves;
            wrong_ = on_the_wrong_side(scaled_, right_, x_, solution.held, bounded_);
            if (wrong_.empty()) return true;
            of_solve_ = work_.done() - before;
            work_.expect_more(of_solve_);
        } while (exchange(wrong_, solution.held));
        return false;
    }

    const Scaled& scaled_;
    const std::vector<char>& bounded_;
    VectorXd right_;
    FreeSolver& solver_;
    Work& work_;
    VectorXd x_;
    std::vector<std::size_t> wrong_;
    double of_solve_ = 0;  // the work of the last one
};

}  // namespace

BoundedSolution solve_bounded(const BoundedSystem& system, const SolveAids& aids)
{
    const Scaled scaled = unit_diagonal(system.matrix);
    check_right_side(system);
    Work own;
    Work& work = aids.work ? *aids.work : own;
    FreeSolver free_solver(scaled.matrix, aids, work);
    BoundedSolution solution;
    solution.held.assign(static_cast<std::size_t>(system.right.size()), false);
    if (aids.held) solution.held = *aids.held;
    const VectorXd x = BoundSearch(scaled, system, free_solver, work).run(solution);
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
