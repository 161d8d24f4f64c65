#include "draw/camera.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace springtime {

namespace {

constexpr double kDegree = 0.017453292519943295;
// High enough to see the ground, low enough to see folds in a hanging sheet.
constexpr double kAzimuth = 28 * kDegree, kElevation = 22 * kDegree;
constexpr double kFieldOfView = 32 * kDegree;  // of the longer side of a panel
constexpr double kUsed = 0.88;                 // share of a panel that the points may fill

// Where the camera stands along one axis to see x within -tangent to tangent of every depth:
//   |x_i - centre| <= tangent (distance - z_i)   for all i.
// The two planes x +- tangent z that touch the points from outside decide both unknowns.
struct Fit {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double tangent;

    explicit Fit(double half_tangent) : tangent(half_tangent) {}
    void add(double x, double z)
    {
        low = std::min(low, x - tangent * z);
        high = std::max(high, x + tangent * z);
    }
    double centre() const { return (low + high) / 2; }
    double distance() const { return (high - low) / (2 * tangent); }
};

// Where the axis with room to spare has its centre, so that what is seen lies in the middle. The
// tight axis is in balance already and stays.
double balanced(const std::vector<Vec3d>& points, const Vec3d& axis, const Vec3d& back,
                double distance, double centre)
{
    constexpr int kRounds = 5;  // each leaves a small part of the imbalance
    for (int round = 0; round < kRounds; ++round) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        double low_depth = 1, high_depth = 1;
        for (const Vec3d& p : points) {
            const double depth = distance - dot(p, back), seen = (dot(p, axis) - centre) / depth;
            if (seen < low) low_depth = depth;
            if (seen > high) high_depth = depth;
            low = std::min(low, seen);
            high = std::max(high, seen);
        }
        // A Newton step: moving the centre changes each end by one over its depth.
        centre += (low + high) / (1 / low_depth + 1 / high_depth);
    }
    return centre;
}

}  // namespace

Camera::Camera(const std::vector<Vec3d>& points, double width, double height)
    : width_(width),
      height_(height),
      focal_(std::max(width, height) / (2 * std::tan(kFieldOfView / 2)))
{
    back_ = {std::sin(kAzimuth) * std::cos(kElevation), std::sin(kElevation),
             std::cos(kAzimuth) * std::cos(kElevation)};
    right_ = {std::cos(kAzimuth), 0, -std::sin(kAzimuth)};
    up_ = cross(back_, right_);

    Fit across(kUsed * width / (2 * focal_)), along(kUsed * height / (2 * focal_));
    double nearest = -std::numeric_limits<double>::infinity(), largest = 0;
    for (const Vec3d& p : points) {
        const double z = dot(p, back_);
        across.add(dot(p, right_), z);
        along.add(dot(p, up_), z);
        nearest = std::max(nearest, z);
        largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    }
    // Points in one place fit at any distance; keep them in front of the eye, not in it.
    const double gap = 1e-3 * largest + 1e-3;
    const double distance = std::max({across.distance(), along.distance(), nearest + gap});
    eye_ = balanced(points, right_, back_, distance, across.centre()) * right_ +
           balanced(points, up_, back_, distance, along.centre()) * up_ + distance * back_;
}

Camera::Projected Camera::project(const Vec3d& position) const
{
    const Vec3d offset = position - eye_;
    const double depth = -dot(offset, back_);
    return {{width_ / 2 + focal_ * dot(offset, right_) / depth,
             height_ / 2 - focal_ * dot(offset, up_) / depth},
            depth};
}

double seen_aspect(const std::vector<Vec3d>& points)
{
    const Camera camera(points, 1, 1);
    Point low{1, 1}, high{0, 0};
    for (const Vec3d& p : points) {
        const Point seen = camera.project(p).point;
        low = {std::min(low.x, seen.x), std::min(low.y, seen.y)};
        high = {std::max(high.x, seen.x), std::max(high.y, seen.y)};
    }
    const double width = high.x - low.x, height = high.y - low.y;
    return width > 0 ? height / width : 1;
}

}  // namespace springtime
