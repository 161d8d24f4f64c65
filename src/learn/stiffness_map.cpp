#include <algorithm>
#include <cmath>
#include <numeric>

#include "springtime/error.h"
#include "springtime/evaluate.h"

namespace springtime {

namespace {

// The stiffness of an element, and where it lies on the unit square.
struct StiffnessSample {
    double u, v, stiffness;
};

// Springs that span two cells say nothing about either, so they are left out.
std::vector<StiffnessSample> stiffness_samples(const Cloth& cloth)
{
    const Sheet& sheet = cloth.sheet;
    std::vector<StiffnessSample> samples;
    const auto add = [&](const auto& particles, double stiffness) {
        SheetPoint sum{0, 0};
        for (const int p : particles) sum = {sum.u + cloth.rest[p].u, sum.v + cloth.rest[p].v};
        const double count = double(particles.size());
        samples.push_back(
            {sum.u / (count * sheet.length), sum.v / (count * sheet.width), stiffness});
    };
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::bending) continue;
        add(cloth.springs.ends[s], cloth.springs.stiffness[s]);
    }
    for (std::size_t t = 0; t < cloth.triangles.triangle_count(); ++t) {
        add(cloth.triangles.corners[t], cloth.triangles.shear_stiffness[t]);
    }
    return samples;
}

double nearest_stiffness(const std::vector<StiffnessSample>& samples, double u, double v)
{
    const auto distance = [&](const StiffnessSample& s) { return std::hypot(s.u - u, s.v - v); };
    return std::min_element(samples.begin(), samples.end(),
                            [&](const StiffnessSample& a, const StiffnessSample& b) {
                                return distance(a) < distance(b);
                            })
        ->stiffness;
}

}  // namespace

ValueMap stiffness_map(const Cloth& cloth, const Grid& cells)
{
    const std::vector<StiffnessSample> samples = stiffness_samples(cloth);
    if (samples.empty()) {
        throw Error(
            "a map of stiffness: the cloth has neither triangles nor springs within a cell; "
            "make it with structural springs or diagonals");
    }
    constexpr double kOnBorder = 1e-6;  // of a cell; an edge belongs to the cells on both sides
    const std::size_t count = std::size_t(cells.rows) * cells.cols;
    std::vector<double> sum(count, 0), members(count, 0);
    for (const StiffnessSample& s : samples) {
        const double col = s.u * cells.cols, row = s.v * cells.rows;
        const int left = std::max(0, int(std::ceil(col - 1 - kOnBorder)));
        const int right = std::min(cells.cols - 1, int(std::floor(col + kOnBorder)));
        const int top = std::max(0, int(std::ceil(row - 1 - kOnBorder)));
        const int bottom = std::min(cells.rows - 1, int(std::floor(row + kOnBorder)));
        for (int r = top; r <= bottom; ++r) {
            for (int c = left; c <= right; ++c) {
                sum[std::size_t(r) * cells.cols + c] += s.stiffness;
                members[std::size_t(r) * cells.cols + c] += 1;
            }
        }
    }
    ValueMap map{cells.rows, cells.cols, std::vector<double>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        const double u = (double(i % cells.cols) + 0.5) / cells.cols;
        const double v = (double(i / cells.cols) + 0.5) / cells.rows;
        map.values[i] = members[i] > 0 ? sum[i] / members[i] : nearest_stiffness(samples, u, v);
    }
    return map;
}

double map_correlation(const Cloth& cloth, const Cloth& truth)
{
    if (!cloth.grid || cloth.grid->rows < 2 || cloth.grid->cols < 2) {
        throw Error("maps of stiffness are compared cell by cell, so the cloth must be a grid");
    }
    const Grid cells{cloth.grid->rows - 1, cloth.grid->cols - 1};
    const std::vector<double> ours = stiffness_map(cloth, cells).values;
    const std::vector<double> theirs = stiffness_map(truth, cells).values;
    const auto mean = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    };
    const double our_mean = mean(ours), their_mean = mean(theirs);
    const double rounding = 1e-9 * std::sqrt(double(ours.size()));
    double both = 0, our_square = 0, their_square = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const double a = ours[i] - our_mean, b = theirs[i] - their_mean;
        both += a * b;
        our_square += a * a;
        their_square += b * b;
    }
    const bool constant = std::sqrt(our_square) <= rounding * std::abs(our_mean) ||
                          std::sqrt(their_square) <= rounding * std::abs(their_mean);
    return constant ? std::nan("") : both / std::sqrt(our_square * their_square);
}

}  // namespace springtime
