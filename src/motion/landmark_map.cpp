#include <algorithm>
#include <cmath>

#include "geometry/lagrange.h"
#include "motion/in_sheet.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

constexpr double kOnParticle = 1e-7;  // of a cell: below the rounding of stored positions

// Points of a line with equal spacing, and their weights for a place on it.
struct LineShares {
    int first = 0;               // of consecutive points
    std::vector<double> weight;  // one for each point
};

// The polynomial through `order` of `count` points at 0, 1, 2, ..., those around
// `place` as far as there are any. It goes on beyond the ends.
LineShares shares_along(double place, int count, int order)
{
    const double nearest = std::clamp(std::round(place), 0.0, double(count - 1));
    if (std::abs(place - nearest) <= kOnParticle) return {int(nearest), {1}};
    const int points = std::min(order, count);
    const int first = std::clamp(int(std::floor(place)) - (points - 2) / 2, 0, count - points);
    std::vector<double> nodes;
    for (int i = 0; i < points; ++i) nodes.push_back(first + i);
    return {first, lagrange_weights(nodes, place)};
}

LandmarkMap::Weights on_grid(const Grid& grid, const SheetPoint& share)
{
    const bool line = grid.rows == 1 || grid.cols == 1;
    const int order = line ? 4 : 2;
    const LineShares down =
        shares_along(grid.rows == 1 ? 0 : share.v * (grid.rows - 1), grid.rows, order);
    const LineShares right =
        shares_along(grid.cols == 1 ? 0 : share.u * (grid.cols - 1), grid.cols, order);
    LandmarkMap::Weights weights;
    std::size_t next = 0;
    for (std::size_t r = 0; r < down.weight.size(); ++r) {
        for (std::size_t c = 0; c < right.weight.size(); ++c) {
            weights.particle[next] = (down.first + int(r)) * grid.cols + right.first + int(c);
            weights.weight[next++] = down.weight[r] * right.weight[c];
        }
    }
    return weights;
}

LandmarkMap::Weights in_triangle(const Resampler::Weights& from)
{
    LandmarkMap::Weights weights;
    std::copy(from.landmark.begin(), from.landmark.end(), weights.particle.begin());
    std::copy(from.weight.begin(), from.weight.end(), weights.weight.begin());
    return weights;
}

}  // namespace

LandmarkMap::LandmarkMap(const Cloth& cloth, const Sheet& sheet,
                         const std::vector<SheetPoint>& landmarks)
    : particle_count_(cloth.particle_count())
{
    check_sheet(sheet);
    if (cloth.grid) {
        for (const SheetPoint& x : landmarks) {
            weights_.push_back(on_grid(*cloth.grid, {x.u / sheet.length, x.v / sheet.width}));
        }
        return;
    }
    const std::vector<SheetPoint> places = in_sheet_of(cloth, sheet, landmarks);
    const Resampler triangles(cloth.rest, places);
    for (const Resampler::Weights& from : triangles.weights()) {
        weights_.push_back(in_triangle(from));
    }
}

LandmarkMap::LandmarkMap(const Cloth& cloth, const MotionHeader& header)
    : LandmarkMap(cloth, header.sheet, header.rest)
{
}

bool LandmarkMap::exact() const
{
    return std::all_of(weights_.begin(), weights_.end(), [](const Weights& landmark) {
        return std::count(landmark.weight.begin(), landmark.weight.end(), 0.0) == 3;
    });
}

std::vector<Vec3d> LandmarkMap::apply(std::span<const Vec3d> particles) const
{
    if (particles.size() != particle_count_) {
        throw Error("landmarks: a field of {} particles, but the cloth has {}", particles.size(),
                    particle_count_);
    }
    std::vector<Vec3d> landmarks(weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        for_each_share(i, [&](std::size_t particle, double weight) {
            landmarks[i] += weight * particles[particle];
        });
    }
    return landmarks;
}

}  // namespace springtime
