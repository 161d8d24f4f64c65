// The interior point: what makes a point the best one (Karush, Kuhn and Tucker), answers that are
// known beforehand, and the active set.
#include "learn/interior_point.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>

#include "core/random.h"
#include "learn/bounded_system.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The smallest x.Sx/2 - r.x under x >= 0 where there is a bound.
struct Problem {
    MatrixXd matrix;  // S, with a unit diagonal
    VectorXd right;   // r
    std::vector<char> bounded;
    VectorXd best, force;  // the answer, and what the bounds exert there
};

double either_sign(Random& random)
{
    return random.uniform() - 0.5;
}

// Sums of squares and a tenth of the unit matrix: eigenvalues between 0.05 and some ten.
MatrixXd random_matrix(int count, Random& random)
{
    const MatrixXd rows = MatrixXd::NullaryExpr(count, count, [&] { return either_sign(random); });
    const MatrixXd square =
        rows * rows.transpose() / count + 0.1 * MatrixXd::Identity(count, count);
    const VectorXd scale = square.diagonal().cwiseSqrt().cwiseInverse();
    return scale.asDiagonal() * square * scale.asDiagonal();
}

// The answer comes first: a third of the bounded unknowns is held by a force of at least `clear`,
// the others lie at least `clear` above zero. Then r = S x - z has that answer.
Problem with_known_answer(int count, double share_bounded, double clear, Random& random)
{
    Problem problem{random_matrix(count, random),
                    {},
                    std::vector<char>(std::size_t(count)),
                    VectorXd::Zero(count),
                    VectorXd::Zero(count)};
    for (int i = 0; i < count; ++i) {
        problem.bounded[std::size_t(i)] = random.uniform() < share_bounded;
        if (!problem.bounded[std::size_t(i)]) {
            problem.best[i] = either_sign(random);
        } else if (random.uniform() < 1.0 / 3) {
            problem.force[i] = clear + random.uniform();
        } else {
            problem.best[i] = clear + random.uniform();
        }
    }
    problem.right = problem.matrix * problem.best - problem.force;
    return problem;
}

InteriorPoint solved(const Problem& problem, const VectorXd& start)
{
    return interior_point(problem.matrix.sparseView(), problem.right, problem.bounded, start,
                          [&](const VectorXd& added) -> RightSideSolver {
                              MatrixXd matrix = problem.matrix;
                              matrix.diagonal() += added;
                              const auto factor = std::make_shared<Eigen::LLT<MatrixXd>>(matrix);
                              return [factor](const VectorXd& right) -> VectorXd {
                                  return factor->solve(right);
                              };
                          });
}

InteriorPoint solved(const Problem& problem)
{
    return solved(problem, VectorXd::Zero(problem.right.size()));
}

double worst(const VectorXd& difference)
{
    return difference.lpNorm<Eigen::Infinity>();
}

// The sums x.z and |S x - r - z| may be left at 1e-12 of the terms they are made of.
void expect_best(const Problem& problem, const InteriorPoint& point)
{
    ASSERT_TRUE(point.converged);
    EXPECT_LE(worst(problem.matrix * point.x - problem.right - point.force),
              1e-12 * worst(problem.right));
    double gap = 0;
    for (Eigen::Index i = 0; i < point.x.size(); ++i) {
        if (problem.bounded[std::size_t(i)]) {
            EXPECT_GT(point.x[i], 0);
            EXPECT_GT(point.force[i], 0);
            gap += point.x[i] * point.force[i];
        } else {
            EXPECT_EQ(point.force[i], 0);
        }
    }
    const double size =
        std::abs(point.x.dot(problem.right)) + std::abs(point.x.dot(problem.matrix * point.x));
    // Where all are held, the sizes vanish like the gap.
    EXPECT_TRUE(gap <= 1e-12 * size || worst(point.x) <= 1e-12 * worst(problem.right));
}

TEST(InteriorPoint, MeetsTheConditionsOfTheBestPointAndFindsKnownAnswers)
{
    Random random(1);
    for (int trial = 0; trial < 40; ++trial) {
        const int count = 1 + 3 * (trial % 20);
        const double share_bounded = trial % 3 == 0 ? 0.5 : 1;
        const Problem problem = with_known_answer(count, share_bounded, 0.1, random);
        const InteriorPoint point = solved(problem);
        expect_best(problem, point);
        // Where x is free, z is below gap / 0.1, and where it is held, x is. With a gap of 1e-12
        // of some hundred and an inverse below 20 that leaves 1e-8 at most.
        EXPECT_LE(worst(point.x - problem.best), 1e-8) << trial;
        EXPECT_LE(worst(point.force - problem.force), 1e-8) << trial;
    }
}

TEST(InteriorPoint, DoesNotDependOnWhereItStarts)
{
    Random random(2);
    const Problem problem = with_known_answer(40, 1, 0.1, random);
    for (const double size : {1e-3, 1.0, 1e3}) {
        const VectorXd start =
            VectorXd::NullaryExpr(40, [&] { return size * either_sign(random); });
        const InteriorPoint point = solved(problem, start);
        expect_best(problem, point);
        EXPECT_LE(worst(point.x - problem.best), 1e-8) << size;
    }
}

// Where x and its force are both zero, the product x z falls as the square of x does: x is known to
// the root of the gap only. S is convex, so a (x - best)^2 <= gap with its least eigenvalue a.
TEST(InteriorPoint, SettlesWhereNothingPushesAtABound)
{
    Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        Problem problem = with_known_answer(30, 1, 0.1, random);
        for (int i = 0; i < 30; i += 3) problem.best[i] = problem.force[i] = 0;
        problem.right = problem.matrix * problem.best - problem.force;
        const InteriorPoint point = solved(problem);
        expect_best(problem, point);
        const double least =
            Eigen::SelfAdjointEigenSolver<MatrixXd>(problem.matrix).eigenvalues()[0];
        const double gap = point.x.dot(point.force);
        // Beside the gap, what the residual moves.
        EXPECT_LE((point.x - problem.best).norm(), 2 * std::sqrt(gap / least) + 1e-10) << trial;
    }
}

TEST(InteriorPoint, HoldsAllWhereEveryForcePullsDown)
{
    Random random(7);
    for (const int count : {1, 20}) {
        Problem problem = with_known_answer(count, 1, 0.1, random);
        problem.best.setZero();
        problem.force = VectorXd::NullaryExpr(count, [&] { return 0.1 + random.uniform(); });
        problem.right = -problem.force;
        const InteriorPoint point = solved(problem);
        expect_best(problem, point);
        EXPECT_LE(worst(point.x), 1e-8);
    }
}

TEST(InteriorPoint, SolvesAtOnceWithoutBounds)
{
    Random random(4);
    const Problem problem = with_known_answer(30, 0, 0.1, random);
    int solves = 0;
    const InteriorPoint point =
        interior_point(problem.matrix.sparseView(), problem.right, problem.bounded,
                       VectorXd::Zero(30), [&](const VectorXd& added) -> RightSideSolver {
                           ++solves;
                           EXPECT_EQ(added, VectorXd::Zero(30));
                           return [&](const VectorXd& right) -> VectorXd {
                               return problem.matrix.llt().solve(right);
                           };
                       });
    EXPECT_TRUE(point.converged);
    // One step goes the share of the way that keeps off bounds, 0.995; six of those leave 1e-14.
    EXPECT_LE(solves, 6);
    EXPECT_LE(worst(point.x - problem.best), 1e-10);
}

TEST(InteriorPoint, AgreesWithTheActiveSet)
{
    Random random(5);
    for (int trial = 0; trial < 20; ++trial) {
        Problem problem = with_known_answer(50, trial % 2 ? 1 : 0.7, 0, random);
        // Any right side: the answer is not known.
        problem.right = VectorXd::NullaryExpr(50, [&] { return either_sign(random); });
        const InteriorPoint point = solved(problem);
        expect_best(problem, point);
        const BoundedSolution active =
            solve_bounded({problem.matrix.sparseView(), problem.right, problem.bounded});
        const double gap = point.x.dot(point.force);
        // As above, with eigenvalues of 0.05 and more.
        EXPECT_LE((point.x - active.value).norm(), 2 * std::sqrt(gap / 0.05) + 1e-10) << trial;
        EXPECT_GT(active.held_count, 0);
        for (int i = 0; i < 50; ++i) {
            // What clearly pushes is held.
            const bool held = active.held[std::size_t(i)];
            EXPECT_TRUE(held || !(point.force[i] > 1e-4));
            EXPECT_TRUE(!held || !(point.x[i] > 1e-4));
        }
    }
}

TEST(InteriorPoint, SaysWhenItGetsNowhere)
{
    Random random(6);
    const Problem problem = with_known_answer(10, 1, 0.1, random);
    const InteriorPoint point =
        interior_point(problem.matrix.sparseView(), problem.right, problem.bounded,
                       VectorXd::Zero(10), [](const VectorXd&) -> RightSideSolver {
                           return [](const VectorXd& right) -> VectorXd {
                               return VectorXd::Zero(right.size());  // no solution of anything
                           };
                       });
    EXPECT_FALSE(point.converged);
}

}  // namespace

}  // namespace springtime
