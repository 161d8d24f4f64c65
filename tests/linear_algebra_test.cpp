#include "geometry/linear_algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace springtime {
namespace {

// A v = lambda v, and the vectors are orthonormal.
TEST(SymmetricEigenpairs, SolveTheirEquation)
{
    constexpr std::size_t n = 40;
    Random random(3);
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
            matrix[i * n + j] = matrix[j * n + i] = random.uniform();
    }
    const Eigenpairs pairs = symmetric_eigenpairs(matrix);
    EXPECT_TRUE(std::is_sorted(pairs.value.rbegin(), pairs.value.rend()));
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0, product = 0;
            for (std::size_t j = 0; j < n; ++j) {
                sum += matrix[i * n + j] * pairs.vector[k][j];
                product += pairs.vector[i][j] * pairs.vector[k][j];
            }
            // The largest eigenvalue is about n / 2; rounding of n terms of it.
            EXPECT_NEAR(sum, pairs.value[k] * pairs.vector[k][i], 1e-12);
            EXPECT_NEAR(product, i == k ? 1 : 0, 1e-13);
        }
    }
}

// A chain of n springs between two walls: lambda_k = 2 - 2 cos(k pi / (n + 1)).
TEST(SymmetricEigenpairs, OfAChainAreKnown)
{
    constexpr std::size_t n = 12;
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        matrix[i * n + i] = 2;
        if (i > 0) matrix[i * n + i - 1] = matrix[(i - 1) * n + i] = -1;
    }
    const Eigenpairs pairs = symmetric_eigenpairs(matrix);
    for (std::size_t k = 0; k < n; ++k) {
        EXPECT_NEAR(pairs.value[k], 2 - 2 * std::cos(double(n - k) * M_PI / (n + 1)), 1e-14);
    }
}

TEST(SparseFactors, SolveTheirEquation)
{
    // The Laplacian of a grid, tied to a place at one corner.
    constexpr int kSide = 30, n = kSide * kSide;
    std::vector<SheetPoint> places;
    std::vector<std::array<int, 2>> links;
    for (int i = 0; i < n; ++i) {
        places.push_back({double(i % kSide), double(i / kSide)});
        if (i % kSide > 0) links.push_back({i - 1, i});
        if (i >= kSide) links.push_back({i - kSide, i});
    }
    std::vector<SparseFactors::Entry> entries{{0, 0, 1}};
    Random random(4);
    for (const auto& [a, b] : links) {
        const double weight = 0.5 + random.uniform();
        entries.insert(entries.end(), {{a, a, weight}, {b, b, weight}, {b, a, -weight}});
    }
    std::vector<double> expected, right(n);
    for (int i = 0; i < n; ++i) expected.push_back(random.uniform());
    for (const auto& [row, column, value] : entries) {
        right[row] += value * expected[column];
        if (row != column) right[column] += value * expected[row];
    }
    const std::vector<int> order = dissection_order(places, links);
    std::vector<int> all = order;
    std::sort(all.begin(), all.end());
    for (int i = 0; i < n; ++i) ASSERT_EQ(all[i], i);
    const std::vector<double> found = SparseFactors(entries, order).solve(right);
    // The condition is about n^2 of one link, 1e6.
    for (int i = 0; i < n; ++i) EXPECT_NEAR(found[i], expected[i], 1e-10);
}

}  // namespace
}  // namespace springtime
