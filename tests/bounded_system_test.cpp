// Sparse systems under bounds, and selected entries of an inverse.
#include "learn/bounded_system.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"
#include "error_of.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;
using Blocks = std::vector<std::vector<int>>;  // unknowns that are coupled with each other

VectorXd inverse_diagonal(const Matrix& matrix)
{
    return FactoredSystem(matrix).inverse_diagonal();
}

double log_determinant(const Matrix& matrix)
{
    return FactoredSystem(matrix).log_determinant();
}

VectorXd normals(int count, Random& random)
{
    return VectorXd::NullaryExpr(count, [&] { return random.normal(); });
}

// A random block of rank one for each member, on a prior on the diagonal. With a prior of a tenth
// the condition number is below some thousands, and solutions are good to 1e-12.
Matrix from_blocks(int count, const Blocks& blocks, double prior, Random& random)
{
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < count; ++i) entries.emplace_back(i, i, prior * (1 + random.uniform()));
    for (const auto& block : blocks) {
        const VectorXd row = normals(int(block.size()), random);
        for (std::size_t i = 0; i < block.size(); ++i) {
            for (std::size_t j = 0; j < block.size(); ++j) {
                const double product = row[Eigen::Index(i)] * row[Eigen::Index(j)];
                entries.emplace_back(block[i], block[j], product);
            }
        }
    }
    Matrix matrix(count, count);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

Blocks chain(int count, int reach)
{
    Blocks blocks;
    for (int first = 0; first + reach < count; ++first) {
        auto& block = blocks.emplace_back();
        for (int i = 0; i <= reach; ++i) block.push_back(first + i);
    }
    return blocks;
}

Blocks separate_blocks(int count, int size)
{
    Blocks blocks;
    for (int first = 0; first + size <= count; first += size) {
        auto& block = blocks.emplace_back();
        for (int i = 0; i < size; ++i) block.push_back(first + i);
    }
    return blocks;
}

Blocks arrow(int count, int head)
{
    Blocks blocks;
    for (int i = 0; i < count; ++i) {
        if (i != head) blocks.push_back({head, i});
    }
    return blocks;
}

Blocks random_pairs(int count, int pairs, Random& random)
{
    Blocks blocks;
    for (int i = 0; i < pairs; ++i) {
        const int first = random.below(count), second = random.below(count);
        if (first != second) blocks.push_back({first, second});
    }
    return blocks;
}

// Edges of a square grid; those that share a corner are coupled, as springs that share a particle.
Blocks grid_edges(int side)
{
    Blocks blocks(std::size_t(side * side));
    int edge = 0;
    const auto join = [&](int from, int to) {
        blocks[std::size_t(from)].push_back(edge);
        blocks[std::size_t(to)].push_back(edge++);
    };
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const int corner = row * side + column;
            if (column + 1 < side) join(corner, corner + 1);
            if (row + 1 < side) join(corner, corner + side);
        }
    }
    return blocks;
}

constexpr int grid_edge_count(int side)
{
    return 2 * side * (side - 1);
}

struct Case {
    std::string name;
    Matrix matrix;
};

std::vector<Case> many_patterns()
{
    Random random(7);
    std::vector<Case> cases;
    const auto add = [&](const char* name, int count, const Blocks& blocks) {
        cases.push_back({name, from_blocks(count, blocks, 0.1, random)});
    };
    add("one unknown", 1, {});
    add("diagonal", 9, {});
    add("blocks", 24, separate_blocks(24, 4));
    add("dense", 20, separate_blocks(20, 20));
    add("arrow from the first", 30, arrow(30, 0));
    add("arrow from the last", 30, arrow(30, 29));
    add("chain", 40, chain(40, 1));
    add("band", 60, chain(60, 5));
    add("pairs", 80, random_pairs(80, 200, random));
    add("grid", grid_edge_count(11), grid_edges(11));
    return cases;
}

double worst(const VectorXd& difference)
{
    return difference.lpNorm<Eigen::Infinity>();
}

// Rounding of the right side (below 30), which the inverse (norm below 10, from the prior) and sums
// of some hundred entries bring to some 1e-12.
constexpr double kTolerance = 1e-10;

// ---- Inverse and determinant ----

TEST(InverseDiagonal, IsThatOfTheDenseInverse)
{
    for (const auto& [name, matrix] : many_patterns()) {
        const VectorXd expected = MatrixXd(matrix).inverse().diagonal();
        const VectorXd found = inverse_diagonal(matrix);
        ASSERT_EQ(found.size(), expected.size());
        // Condition number times rounding; seen: 1e-14.
        EXPECT_LE(worst(found.cwiseQuotient(expected) - VectorXd::Ones(found.size())), 1e-12)
            << name;
    }
}

TEST(InverseDiagonal, OfAChainIsItsClosedForm)
{
    // Second differences with fixed ends: Z_ii = i (n + 1 - i) / (n + 1), i from one.
    const int n = 200;
    Matrix matrix(n, n);
    for (int i = 0; i < n; ++i) {
        matrix.insert(i, i) = 2;
        if (i > 0) matrix.insert(i, i - 1) = matrix.insert(i - 1, i) = -1;
    }
    const VectorXd found = inverse_diagonal(matrix);
    for (int i = 1; i <= n; ++i) {
        // A condition number of 1.6e4.
        EXPECT_NEAR(found[i - 1], double(i) * (n + 1 - i) / (n + 1), 1e-10);
    }
    EXPECT_NEAR(log_determinant(matrix), std::log(n + 1), 1e-11);
}

TEST(InverseDiagonal, GoesWithTheInverseSquareOfUnits)
{
    Random random(3);
    const Matrix matrix = from_blocks(40, chain(40, 3), 0.1, random);
    VectorXd unit(40);
    for (double& c : unit) c = std::pow(10.0, random.below(13) - 6);
    const Matrix other = unit.asDiagonal() * matrix * unit.asDiagonal();
    const VectorXd expected = inverse_diagonal(matrix).cwiseQuotient(unit.cwiseAbs2());
    const VectorXd ratio = inverse_diagonal(other).cwiseQuotient(expected);
    EXPECT_LE(worst(ratio - VectorXd::Ones(40)), 1e-12);
    EXPECT_NEAR(log_determinant(other), log_determinant(matrix) + 2 * unit.array().log().sum(),
                1e-10);  // a sum of 40 logarithms of up to 28
}

TEST(LogDeterminant, IsThatOfTheDenseFactor)
{
    for (const auto& [name, matrix] : many_patterns()) {
        const Eigen::PartialPivLU<MatrixXd> dense{MatrixXd(matrix)};
        const double expected = dense.matrixLU().diagonal().array().abs().log().sum();
        EXPECT_NEAR(log_determinant(matrix), expected, 1e-11) << name;  // sums of up to 220
    }
}

// ---- Bounds ----

// The best of all choices of what is held, each solved densely.
VectorXd best_by_enumeration(const MatrixXd& matrix, const VectorXd& right)
{
    const int count = int(right.size());
    VectorXd best = VectorXd::Zero(count);
    double least = 0;
    for (int free = 1; free < 1 << count; ++free) {
        std::vector<int> members;
        for (int i = 0; i < count; ++i) {
            if (free >> i & 1) members.push_back(i);
        }
        const VectorXd part = MatrixXd(matrix(members, members)).ldlt().solve(right(members));
        if (part.minCoeff() < 0) continue;
        VectorXd x = VectorXd::Zero(count);
        for (std::size_t i = 0; i < members.size(); ++i) x[members[i]] = part[Eigen::Index(i)];
        const double energy = 0.5 * x.dot(matrix * x) - right.dot(x);
        if (energy >= least) continue;
        least = energy;
        best = x;
    }
    return best;
}

TEST(SolveBounded, IsTheBestOfAllChoicesOfWhatIsHeld)
{
    Random random(11);
    int held = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const int count = 1 + trial % 10;
        const Blocks blocks = random_pairs(count, 3 * count, random);
        const BoundedSystem system{from_blocks(count, blocks, 0.1, random), normals(count, random)};
        const VectorXd expected = best_by_enumeration(system.matrix, system.right);
        const BoundedSolution found = solve_bounded(system);
        EXPECT_LE(worst(found.value - expected), kTolerance) << trial;
        for (int i = 0; i < count; ++i) {
            if (!found.held[std::size_t(i)]) continue;
            EXPECT_EQ(expected[i], 0);
        }
        held += found.held_count;
    }
    EXPECT_GT(held, 50);  // the trials did try the bounds
}

// What makes a point of a convex problem the best one: Karush, Kuhn and Tucker.
void expect_optimal(const BoundedSystem& system, const BoundedSolution& solution,
                    const std::string& name)
{
    const VectorXd force = system.matrix * solution.value - system.right;
    EXPECT_LE(worst(force - solution.multiplier), 0) << name;
    int held = 0;
    for (Eigen::Index i = 0; i < force.size(); ++i) {
        if (solution.held[std::size_t(i)]) {
            ++held;
            EXPECT_EQ(solution.value[i], 0) << name;
            EXPECT_GE(force[i], -kTolerance) << name;
        } else {
            EXPECT_GE(solution.value[i], 0) << name;
            EXPECT_NEAR(force[i], 0, kTolerance) << name;
        }
    }
    EXPECT_EQ(solution.held_count, held) << name;
}

TEST(SolveBounded, IsOptimalForHundredsOfUnknowns)
{
    Random random(5);
    const int side = 16, count = grid_edge_count(side);
    const std::vector<Case> cases{
        {"grid", from_blocks(count, grid_edges(side), 0.1, random)},
        {"band", from_blocks(300, chain(300, 8), 0.1, random)},
        {"arrow", from_blocks(300, arrow(300, 0), 0.1, random)},
        {"pairs", from_blocks(300, random_pairs(300, 900, random), 0.1, random)}};
    for (const auto& [name, matrix] : cases) {
        const int size = int(matrix.rows());
        // Half of the unbounded solution is below zero, then a sixth.
        for (const double middle : {0.0, 1.0}) {
            const VectorXd wanted = VectorXd::Constant(size, middle) + normals(size, random);
            const BoundedSystem system{matrix, matrix * wanted};
            const BoundedSolution found = solve_bounded(system);
            expect_optimal(system, found, name);
            EXPECT_GT(found.held_count, size / 20) << name;
            EXPECT_LT(found.held_count, size * 19 / 20) << name;
        }
    }
}

TEST(SolveBounded, IsTheUnboundedSolutionWhereNothingIsAtABound)
{
    Random random(13);
    for (const auto& [name, matrix] : many_patterns()) {
        const VectorXd wanted =
            VectorXd::NullaryExpr(matrix.rows(), [&] { return 0.1 + random.uniform(); });
        const BoundedSolution found = solve_bounded({matrix, matrix * wanted});
        EXPECT_LE(worst(found.value - wanted), kTolerance) << name;
        EXPECT_EQ(found.held_count, 0) << name;
        EXPECT_EQ(found.solves, 1) << name;
    }
}

TEST(SolveBounded, ComesToAnEndWhereManyExchangesGoRound)
{
    // Found by a search over small whole numbers: exchanging all that are wrong comes back to an
    // earlier choice in each.
    MatrixXd first(3, 3), second(4, 4);
    first << 132, 152, -91, 152, 195, -125, -91, -125, 90;
    second << 186, -40, 135, -24, -40, 54, -69, -12, 135, -69, 136, -6, -24, -12, -6, 85;
    const std::vector<BoundedSystem> systems{{first.sparseView(), Eigen::Vector3d(-1, -4, 3)},
                                             {second.sparseView(), Eigen::Vector4d(1, -5, 5, 6)}};
    for (const BoundedSystem& system : systems) {
        const VectorXd expected = best_by_enumeration(system.matrix, system.right);
        const BoundedSolution found = solve_bounded(system);
        EXPECT_LE(worst(found.value - expected), kTolerance);
        EXPECT_GT(found.solves, 4);  // three that do not help, and single ones after them
    }
}

TEST(SolveBounded, HoldsAllWhereEveryForcePullsDown)
{
    Random random(17);
    // Couplings above zero, small beside the diagonal: no unknown helps another up.
    const Matrix matrix = from_blocks(50, chain(50, 4), 100, random).cwiseAbs();
    const BoundedSolution found = solve_bounded({matrix, VectorXd::Constant(50, -1)});
    EXPECT_EQ(found.held_count, 50);
    EXPECT_EQ(found.value, VectorXd::Zero(50));
    EXPECT_EQ(found.multiplier, VectorXd::Ones(50));
}

TEST(SolveBounded, SettlesWhereUnknownsAreAtTheirBoundWithoutForce)
{
    // r = H x with zeros in x: free or held, they are zero, and rounding must not toss them about.
    Random random(19);
    const int count = grid_edge_count(12);
    const Matrix matrix = from_blocks(count, grid_edges(12), 0.1, random);
    VectorXd wanted = VectorXd::Ones(count);
    for (int i = 0; i < count; i += 3) wanted[i] = 0;
    const BoundedSolution found = solve_bounded({matrix, matrix * wanted});
    EXPECT_LE(worst(found.value - wanted), kTolerance);
    EXPECT_LE(found.solves, 6);  // seen: 5; every round settles most of what rounding threw
}

TEST(SolveBounded, DoesNotDependOnUnits)
{
    // With x = C y, y solves C H C y = C r. Powers of two make no rounding: the same bits.
    Random random(23);
    const int count = grid_edge_count(8);
    const BoundedSystem system{from_blocks(count, grid_edges(8), 0.1, random),
                               normals(count, random)};
    VectorXd unit(count);
    for (double& c : unit) c = std::ldexp(1.0, random.below(41) - 20);
    const BoundedSystem other{unit.asDiagonal() * system.matrix * unit.asDiagonal(),
                              unit.cwiseProduct(system.right)};
    const BoundedSolution found = solve_bounded(system);
    const BoundedSolution in_units = solve_bounded(other);
    EXPECT_EQ(unit.cwiseProduct(in_units.value), found.value);
    EXPECT_EQ(in_units.held, found.held);
    EXPECT_EQ(in_units.solves, found.solves);
}

TEST(SolveBounded, OfNothingIsNothing)
{
    EXPECT_EQ(solve_bounded({Matrix(0, 0), VectorXd(0)}).value.size(), 0);
    EXPECT_EQ(inverse_diagonal(Matrix(0, 0)).size(), 0);
    EXPECT_EQ(log_determinant(Matrix(0, 0)), 0);
}

// ---- What cannot be solved ----

Matrix two_by_two(double diagonal, double other, double coupling)
{
    Matrix matrix(2, 2);
    matrix.insert(0, 0) = diagonal;
    matrix.insert(1, 1) = other;
    matrix.insert(0, 1) = matrix.insert(1, 0) = coupling;
    return matrix;
}

void expect_everywhere(const Matrix& matrix, const std::string& message)
{
    const VectorXd right = VectorXd::LinSpaced(matrix.rows(), 1, 2);
    const auto has_it = [&](const std::string& found) {
        EXPECT_NE(found.find(message), std::string::npos) << found;
    };
    has_it(failure_of([&] { solve_bounded({matrix, right}); }));
    has_it(failure_of([&] { inverse_diagonal(matrix); }));
    has_it(failure_of([&] { log_determinant(matrix); }));
}

TEST(BoundedSystem, RefusesAnIndefiniteMatrix)
{
    expect_everywhere(two_by_two(1, 1, 1.001), "positive definite matrix; raise the prior");
    expect_everywhere(two_by_two(1e-8, 1e8, -3), "positive definite matrix; raise the prior");
    // Indefinite in one direction out of many.
    Random random(29);
    const int count = grid_edge_count(6);
    Matrix matrix = from_blocks(count, grid_edges(6), 0.1, random);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen{MatrixXd(matrix)};
    for (int i = 0; i < count; ++i) matrix.coeffRef(i, i) -= 1.01 * eigen.eigenvalues()[0];
    expect_everywhere(matrix, "positive definite matrix; raise the prior");
}

TEST(BoundedSystem, RefusesASingularMatrix)
{
    // Of rank one: the second pivot is zero, or what rounding makes of it.
    Random random(31);
    for (int trial = 0; trial < 20; ++trial) {
        const VectorXd row = normals(2, random);
        const Matrix matrix = two_by_two(row[0] * row[0], row[1] * row[1], row[0] * row[1]);
        expect_everywhere(matrix, "positive definite matrix; raise the prior");
    }
}

TEST(BoundedSystem, NamesTheUnknownThatNothingSees)
{
    expect_everywhere(two_by_two(1, 0, 0),
                      "bounded system: the diagonal at unknown 1 is 0; needed above zero; leave "
                      "out the unknown, which no data see, or raise its prior");
    Matrix absent(3, 3);
    absent.insert(0, 0) = absent.insert(1, 1) = 1;
    expect_everywhere(absent, "the diagonal at unknown 2 is 0");
    expect_everywhere(two_by_two(-4, 1, 0), "the diagonal at unknown 0 is -4");
}

TEST(BoundedSystem, RefusesWhatIsNotANumber)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto solve = [](const Matrix& matrix, const VectorXd& right) {
        return error_of([&] { solve_bounded({matrix, right}); });
    };
    const VectorXd right = VectorXd::Ones(2);
    EXPECT_EQ(solve(two_by_two(1, nan, 0), right),
              "bounded system: entry (1, 1) is nan; needed finite numbers; look for the data that "
              "made it");
    EXPECT_EQ(solve(two_by_two(1, 1, HUGE_VAL), right),
              "bounded system: entry (1, 0) is inf; needed finite numbers; look for the data that "
              "made it");
    EXPECT_EQ(solve(two_by_two(1, 1, 0), nan * right),
              "bounded system: entry 0 of the right side is nan; needed finite numbers; look for "
              "the data that made it");
    EXPECT_NE(error_of([&] { inverse_diagonal(two_by_two(1, nan, 0)); }), "(no error)");
    EXPECT_NE(error_of([&] { log_determinant(two_by_two(1, nan, 0)); }), "(no error)");
}

TEST(BoundedSystem, RefusesSizesThatDisagreeAndHalfAMatrix)
{
    const auto solve = [](const Matrix& matrix, int size) {
        return error_of([&] { solve_bounded({matrix, VectorXd::Ones(size)}); });
    };
    EXPECT_EQ(solve(two_by_two(1, 1, 0), 3),
              "bounded system: a right side of 3 for a matrix of 2 rows; needed as many; mend its "
              "assembly");
    EXPECT_EQ(solve(Matrix(2, 3), 2),
              "bounded system: a matrix of 2 x 3; needed a square one; mend its assembly");
    Matrix half(2, 2);
    half.insert(0, 0) = half.insert(1, 1) = 1;
    half.insert(1, 0) = 0.5;
    EXPECT_EQ(solve(half, 2),
              "bounded system: entries (1, 0) and (0, 1) differ; needed a symmetric matrix; store "
              "both triangles");
}

}  // namespace

}  // namespace springtime
