#include "geometry/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace springtime {

namespace {

// Jacobi's rotation that makes entry (p, q) zero: cosine and sine.
struct Rotation {
    double c, s;

    Rotation(double pp, double qq, double pq)
    {
        const double theta = (qq - pp) / (2 * pq);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
        c = 1 / std::hypot(t, 1);
        s = t * c;
    }
    void turn(double& p, double& q) const
    {
        const double old = p;
        p = c * old - s * q;
        q = s * old + c * q;
    }
};

// Of the entries above the diagonal.
double largest_entry(const std::vector<double>& matrix, std::size_t n)
{
    double largest = 0;
    for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t q = p + 1; q < n; ++q)
            largest = std::max(largest, std::abs(matrix[p * n + q]));
    }
    return largest;
}

Eigenpairs sorted(const std::vector<double>& matrix, const std::vector<double>& vectors,
                  std::size_t n)
{
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return matrix[a * n + a] > matrix[b * n + b];
    });
    Eigenpairs pairs;
    for (const std::size_t k : order) {
        pairs.value.push_back(matrix[k * n + k]);
        pairs.vector.emplace_back(vectors.begin() + k * n, vectors.begin() + (k + 1) * n);
    }
    return pairs;
}

}  // namespace

Eigenpairs symmetric_eigenpairs(std::vector<double> matrix)
{
    const auto n = static_cast<std::size_t>(std::llround(std::sqrt(double(matrix.size()))));
    std::vector<double> vectors(n * n);  // rows
    for (std::size_t k = 0; k < n; ++k) vectors[k * n + k] = 1;
    double size = 0;
    for (const double entry : matrix) size = std::max(size, std::abs(entry));
    constexpr int kMostSweeps = 60;  // converges quadratically; ten are many
    for (int sweep = 0; sweep < kMostSweeps && largest_entry(matrix, n) > 1e-17 * size; ++sweep) {
        for (std::size_t p = 0; p < n; ++p) {
            for (std::size_t q = p + 1; q < n; ++q) {
                if (matrix[p * n + q] == 0) continue;
                const Rotation rotation(matrix[p * n + p], matrix[q * n + q], matrix[p * n + q]);
                for (std::size_t k = 0; k < n; ++k) {
                    rotation.turn(matrix[p * n + k], matrix[q * n + k]);
                    rotation.turn(vectors[p * n + k], vectors[q * n + k]);
                }
                for (std::size_t k = 0; k < n; ++k) {
                    rotation.turn(matrix[k * n + p], matrix[k * n + q]);
                }
                matrix[p * n + q] = matrix[q * n + p] = 0;
            }
        }
    }
    return sorted(matrix, vectors, n);
}

// ---- Sparse systems ----

namespace {

using Links = std::vector<std::vector<int>>;  // of every point

// Appends `points` to the order. `part` says which half a point is in while its neighbours look.
void dissect(std::vector<int> points, const std::vector<SheetPoint>& places, const Links& links,
             std::vector<int>& part, std::vector<int>& order)
{
    constexpr std::size_t kFew = 8;
    if (points.size() <= kFew) {
        order.insert(order.end(), points.begin(), points.end());
        return;
    }
    const auto by_u = [&](int a, int b) { return places[a].u < places[b].u; };
    const auto by_v = [&](int a, int b) { return places[a].v < places[b].v; };
    const auto [west, east] = std::minmax_element(points.begin(), points.end(), by_u);
    const auto [north, south] = std::minmax_element(points.begin(), points.end(), by_v);
    const bool wide = places[*east].u - places[*west].u > places[*south].v - places[*north].v;
    const auto middle = points.begin() + points.size() / 2;
    if (wide)
        std::nth_element(points.begin(), middle, points.end(), by_u);
    else
        std::nth_element(points.begin(), middle, points.end(), by_v);
    std::vector<int> near, between;
    const std::vector<int> far(middle, points.end());
    const int mark = part[far.front()] + 1;
    for (const int p : far) part[p] = mark;
    std::for_each(points.begin(), middle, [&](int p) {
        const bool linked = std::any_of(links[p].begin(), links[p].end(),
                                        [&](int other) { return part[other] == mark; });
        (linked ? between : near).push_back(p);
    });
    for (const int p : far) part[p] = mark - 1;
    dissect(near, places, links, part, order);
    dissect(far, places, links, part, order);
    order.insert(order.end(), between.begin(), between.end());
}

}  // namespace

std::vector<int> dissection_order(const std::vector<SheetPoint>& places,
                                  const std::vector<std::array<int, 2>>& links)
{
    Links next(places.size());
    for (const auto& [a, b] : links) {
        next[a].push_back(b);
        next[b].push_back(a);
    }
    std::vector<int> all(places.size()), part(places.size()), order;
    std::iota(all.begin(), all.end(), 0);
    dissect(all, places, next, part, order);
    return order;
}

// Row by row: row k of L solves a triangular system with the rows above, and it can differ from
// zero only in the columns that the elimination tree leads to (Davis 2005).
SparseFactors::SparseFactors(const std::vector<Entry>& entries, const std::vector<int>& order)
    : order_(order), lower_(order.size()), diagonal_(order.size())
{
    const int n = static_cast<int>(order.size());
    std::vector<int> rank(n), parent(n, -1), visited(n, -1);
    for (int k = 0; k < n; ++k) rank[order[k]] = k;
    std::vector<std::vector<Below>> rows(n);
    for (const Entry& e : entries) {
        const auto [low, high] = std::minmax(rank[e.row], rank[e.column]);
        rows[high].push_back({low, e.value});
    }
    std::vector<double> y(n);
    for (int k = 0; k < n; ++k) {
        std::vector<int> pattern;
        visited[k] = k;
        for (const auto& [column, value] : rows[k]) {
            y[column] += value;
            for (int i = column; visited[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                visited[i] = k;
                pattern.push_back(i);
            }
        }
        std::sort(pattern.begin(), pattern.end());
        diagonal_[k] = std::exchange(y[k], 0);
        for (const int i : pattern) {
            const double at = std::exchange(y[i], 0), factor = at / diagonal_[i];
            for (const auto& [row, value] : lower_[i]) y[row] -= value * at;
            diagonal_[k] -= factor * at;
            lower_[i].push_back({k, factor});
        }
    }
}

std::vector<double> SparseFactors::solve(const std::vector<double>& right) const
{
    const std::size_t n = order_.size();
    std::vector<double> x(n), result(n);
    for (std::size_t k = 0; k < n; ++k) x[k] = right[order_[k]];
    for (std::size_t k = 0; k < n; ++k) {
        for (const auto& [row, value] : lower_[k]) x[row] -= value * x[k];
    }
    for (std::size_t k = n; k-- > 0;) {
        x[k] /= diagonal_[k];
        for (const auto& [row, value] : lower_[k]) x[k] -= value * x[row];
        result[order_[k]] = x[k];
    }
    return result;
}

}  // namespace springtime
