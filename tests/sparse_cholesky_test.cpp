// Nested dissection, the factor of its blocks, and how its work is counted and cancelled.
#include "learn/sparse_cholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "error_of.h"
#include "learn/bounded_system.h"
#include "stubborn.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

// Springs of a grid, along rows, columns and diagonals: those that share a particle are coupled.
struct Sheet {
    Matrix matrix;
    std::vector<Extent> extents;
};

Sheet sheet_of(int side, Random& random)
{
    std::vector<std::vector<int>> at(std::size_t(side * side));  // the springs of each particle
    Sheet sheet;
    const auto join = [&](int row, int col, int to_row, int to_col) {
        if (to_row >= side || to_col >= side || to_col < 0) return;
        const int spring = int(sheet.extents.size());
        at[std::size_t(row * side + col)].push_back(spring);
        at[std::size_t(to_row * side + to_col)].push_back(spring);
        sheet.extents.push_back({{double(std::min(col, to_col)), double(row)},
                                 {double(std::max(col, to_col)), double(to_row)}});
    };
    for (int row = 0; row < side; ++row) {
        for (int col = 0; col < side; ++col) {
            join(row, col, row, col + 1);
            join(row, col, row + 1, col);
            join(row, col, row + 1, col + 1);
            join(row, col, row + 1, col - 1);
        }
    }
    std::vector<Eigen::Triplet<double>> entries;
    const int count = int(sheet.extents.size());
    for (int i = 0; i < count; ++i) entries.emplace_back(i, i, 0.1 * (1 + random.uniform()));
    for (const std::vector<int>& springs : at) {
        const VectorXd row =
            VectorXd::NullaryExpr(Eigen::Index(springs.size()), [&] { return random.normal(); });
        for (std::size_t i = 0; i < springs.size(); ++i) {
            for (std::size_t j = 0; j < springs.size(); ++j) {
                entries.emplace_back(springs[i], springs[j],
                                     row[Eigen::Index(i)] * row[Eigen::Index(j)]);
            }
        }
    }
    sheet.matrix.resize(count, count);
    sheet.matrix.setFromTriplets(entries.begin(), entries.end());
    return sheet;
}

VectorXd normals(Eigen::Index count, Random& random)
{
    return VectorXd::NullaryExpr(count, [&] { return random.normal(); });
}

TEST(Dissection, HasEveryUnknownOnceAndNoCouplingBesideItsTree)
{
    Random random(1);
    const Sheet sheet = sheet_of(24, random);
    const Dissection dissection = dissect(sheet.extents);
    std::vector<int> sorted = dissection.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sheet.extents.size(); ++i) ASSERT_EQ(sorted[i], int(i));
    std::vector<int> node_of(sorted.size());
    for (std::size_t n = 0; n < dissection.nodes.size(); ++n) {
        const Dissection::Node& node = dissection.nodes[n];
        EXPECT_TRUE(node.parent < 0 || node.parent > int(n));
        for (int place = node.begin; place < node.end; ++place) {
            node_of[std::size_t(dissection.order[std::size_t(place)])] = int(n);
        }
    }
    const auto leads_to = [&](int from, int to) {
        while (from >= 0 && from < to) from = dissection.nodes[std::size_t(from)].parent;
        return from == to;
    };
    for (int column = 0; column < sheet.matrix.cols(); ++column) {
        for (Matrix::InnerIterator entry(sheet.matrix, column); entry; ++entry) {
            const auto [low, high] =
                std::minmax(node_of[std::size_t(entry.row())], node_of[std::size_t(column)]);
            ASSERT_TRUE(leads_to(low, high)) << entry.row() << " and " << column;
        }
    }
}

// George 1973: on a grid of n x n the work of a dissection grows with n^3 and the factor with
// n^2 log n, so that work per side^3 and entries per side^2 stay within small factors. An order by
// rows would double entries per side^2 with every doubling of the side, and the work per side^3.
TEST(Dissection, GrowsGentlyWithTheSheet)
{
    Random random(2);
    std::vector<double> work, entries;
    for (const int side : {16, 32, 64}) {
        const Sheet sheet = sheet_of(side, random);
        const Elimination elimination(sheet.matrix, sheet.extents);
        work.push_back(elimination.multiplications() / std::pow(side, 3));
        entries.push_back(elimination.entry_count() / std::pow(side, 2));
    }
    EXPECT_LT(work[2] / work[1], 1.5);
    EXPECT_LT(entries[2] / entries[1], 1.5);
    EXPECT_LT(entries[1] / entries[0], 1.6);
}

TEST(Dissection, RefusesExtentsThatLeaveACouplingOut)
{
    Random random(3);
    Sheet sheet = sheet_of(16, random);
    const int last = int(sheet.matrix.cols()) - 1;
    sheet.matrix.coeffRef(0, last) = sheet.matrix.coeffRef(last, 0) = 1e-3;
    EXPECT_NE(error_of([&] { Elimination(sheet.matrix, sheet.extents); }).find("do not touch"),
              std::string::npos);
    EXPECT_EQ(error_of([&] { Elimination{sheet.matrix}; }),
              "(no error)");  // found from the pattern
}

TEST(SparseCholesky, SolvesInvertsAndHasTheDeterminantOfTheDenseOne)
{
    Random random(4);
    const Sheet sheet = sheet_of(9, random);
    const Elimination elimination(sheet.matrix, sheet.extents);
    ASSERT_GT(elimination.blocks().size(), 4U);
    SparseCholesky factor(elimination, 1);
    Work work;
    factor.factorize(sheet.matrix, {}, 0, work);
    const MatrixXd dense(sheet.matrix);
    const Eigen::LLT<MatrixXd> expected(dense);
    const MatrixXd right = MatrixXd::NullaryExpr(dense.rows(), 11, [&] { return random.normal(); });
    // Condition numbers of some hundreds.
    EXPECT_LE((factor.solve(right, work) - expected.solve(right)).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((factor.inverse_diagonal(work) - dense.inverse().diagonal()).cwiseAbs().maxCoeff(),
              1e-11);
    EXPECT_NEAR(factor.log_determinant(), 2 * expected.matrixLLT().diagonal().array().log().sum(),
                1e-10);
}

TEST(SparseCholesky, OfHeldUnknownsIsThatOfTheOthers)
{
    Random random(5);
    const Sheet sheet = sheet_of(8, random);
    const Elimination elimination(sheet.matrix, sheet.extents);
    std::vector<bool> held(sheet.extents.size());
    std::vector<int> free;
    for (std::size_t i = 0; i < held.size(); ++i) {
        held[i] = random.uniform() < 0.3;
        if (!held[i]) free.push_back(int(i));
    }
    VectorXd right = normals(sheet.matrix.rows(), random);
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (held[i]) right[Eigen::Index(i)] = 0;
    }
    SparseCholesky factor(elimination, 1);
    Work work;
    factor.factorize(sheet.matrix, held, 0, work);
    const VectorXd x = factor.solve(right, work);
    const MatrixXd dense(sheet.matrix);
    const VectorXd expected = MatrixXd(dense(free, free)).llt().solve(VectorXd(right(free)));
    EXPECT_LE((VectorXd(x(free)) - expected).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_EQ(x.cwiseAbs().sum(), VectorXd(x(free)).cwiseAbs().sum());  // held ones are zero
}

TEST(ThreadsSparseCholesky, HasTheSameBitsForAnyNumberOfThreads)
{
    Random random(6);
    const Sheet sheet = sheet_of(40, random);
    const Elimination elimination(sheet.matrix, sheet.extents);
    ASSERT_GT(elimination.multiplications(), 1e7);  // less runs on one thread whatever is asked for
    const MatrixXd right =
        MatrixXd::NullaryExpr(sheet.matrix.rows(), 20, [&] { return random.normal(); });
    MatrixXd solution;
    VectorXd inverse;
    for (const int threads : {1, 2, 5}) {
        SparseCholesky factor(elimination, threads);
        Work work;
        factor.factorize(sheet.matrix, {}, 0, work);
        const MatrixXd x = factor.solve(right, work);
        const VectorXd z = factor.inverse_diagonal(work);
        if (threads == 1) {
            solution = x;
            inverse = z;
        }
        EXPECT_EQ(x, solution) << threads;
        EXPECT_EQ(z, inverse) << threads;
    }
}

// ---- Work

TEST(Work, CountsTheMultiplicationsOfAFactorisation)
{
    Random random(7);
    const Sheet sheet = sheet_of(32, random);
    const Elimination elimination(sheet.matrix, sheet.extents);
    SparseCholesky factor(elimination, 1);
    Work work;
    factor.factorize(sheet.matrix, {}, 0, work);
    // Products of panels compute some of the upper triangle as well.
    EXPECT_GT(work.done(), 0.8 * elimination.multiplications());
    EXPECT_LT(work.done(), 1.6 * elimination.multiplications());
}

TEST(Work, NeverGoesBackAndNeverClaimsTheEnd)
{
    std::vector<double> shares;
    const Progress progress([&](const ProgressUpdate& update) {
        shares.push_back(update.done / update.total);
        return true;
    });
    Work work(progress, "work");
    work.expect(4 * Work::kReportEvery);
    for (int i = 0; i < 3; ++i) work.add(Work::kReportEvery);
    EXPECT_EQ(shares, (std::vector<double>{0.25, 0.5, 0.75}));
    work.expect(9 * Work::kReportEvery);  // much more than was thought
    work.add(Work::kReportEvery);
    EXPECT_EQ(shares.back(), 0.75);
    for (int i = 0; i < 8; ++i) work.add(Work::kReportEvery);
    EXPECT_GT(shares.back(), 0.9);
    EXPECT_LT(shares.back(), 1);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    work.expect_more(3 * Work::kReportEvery);
    for (int i = 0; i < 100; ++i) work.add(Work::kReportEvery);
    EXPECT_LT(shares.back(), 1);
}

// A listener that says no ends a factorisation at once: every thread may finish the piece that it
// is at, and long pieces are cut.
TEST(ThreadsWork, EndsAFactorisationAPieceAfterTheListenerSaidNo)
{
    Random random(8);
    const Sheet sheet = sheet_of(64, random);
    const Elimination elimination(sheet.matrix, sheet.extents);
    for (const int threads : {1, 3}) {
        for (const int no_at : {1, 2, 4}) {
            Stubborn stubborn{0, no_at};
            const Progress progress = stubborn.listener();
            Work work(progress, "work");
            SparseCholesky factor(elimination, threads);
            EXPECT_THROW(factor.factorize(sheet.matrix, {}, 0, work), Cancelled);
            EXPECT_EQ(stubborn.calls, no_at) << threads;  // and is not asked again
            EXPECT_LE(work.done(), no_at * Work::kReportEvery + (1 + threads) * Work::kLongestPiece)
                << threads;
        }
    }
}

TEST(Work, EndsTheSearchForBounds)
{
    Random random(9);
    const Sheet sheet = sheet_of(64, random);
    Stubborn stubborn{0, 2};
    const Progress progress = stubborn.listener();
    Work work(progress, "work");
    SolveAids aids;
    aids.work = &work;
    const BoundedSystem system{sheet.matrix, normals(sheet.matrix.rows(), random)};
    EXPECT_THROW(solve_bounded(system, aids), Cancelled);
    EXPECT_LE(work.done(), 2 * Work::kReportEvery + 2 * Work::kLongestPiece);
}

}  // namespace

}  // namespace springtime
