#include "springtime/cloth.h"
#include "springtime/geometry.h"
#include "springtime/simulation.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

double segment_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b)
{
    const Vec3d along = b - a, to = point - a;
    const double square = dot(along, along);
    const double t = square > 0 ? std::clamp(dot(to, along) / square, 0.0, 1.0) : 0.0;
    return length(to - t * along);
}

// A ball that holds a triangle: whatever is farther from the ball is farther from the triangle.
struct Ball {
    Vec3d center;
    double radius;
};

Ball ball_around(const Vec3d& a, const Vec3d& b, const Vec3d& c)
{
    const Vec3d center = (1.0 / 3) * (a + b + c);
    return {center, std::max({length(a - center), length(b - center), length(c - center)})};
}

}  // namespace

TriangleMesh surface_of(const Cloth& cloth, const State& state)
{
    TriangleMesh surface{state.position, surface_triangles(cloth)};
    if (surface.triangles.empty()) {
        throw Error("surface: this cloth has neither triangles nor a grid; give it one of them");
    }
    return surface;
}

// Inside the prism over the triangle the plane is nearest, elsewhere one of the edges.
double triangle_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c)
{
    const Vec3d normal = cross(b - a, c - a);
    const double size = length(normal);
    const auto inside = [&](const Vec3d& from, const Vec3d& to) {
        return dot(cross(to - from, point - from), normal) >= 0;
    };
    if (size > 0 && inside(a, b) && inside(b, c) && inside(c, a)) {
        return std::abs(dot(point - a, normal)) / size;
    }
    return std::min({segment_distance(point, a, b), segment_distance(point, b, c),
                     segment_distance(point, c, a)});
}

SurfaceDistance surface_distance(const std::vector<Vec3d>& points, const TriangleMesh& surface)
{
    if (points.empty() || surface.triangles.empty()) {
        throw Error("surface distance: {} points and {} triangles; at least one of each is needed",
                    points.size(), surface.triangles.size());
    }
    const auto corner = [&](std::size_t t, int i) {
        return surface.points[surface.triangles[t][i]];
    };
    std::vector<Ball> balls;
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
        balls.push_back(ball_around(corner(t, 0), corner(t, 1), corner(t, 2)));
    }
    SurfaceDistance result;
    std::size_t last = 0;  // neighbouring points have neighbouring triangles: a good first guess
    for (const Vec3d& point : points) {
        double nearest =
            triangle_distance(point, corner(last, 0), corner(last, 1), corner(last, 2));
        for (std::size_t t = 0; t < balls.size(); ++t) {
            if (length(point - balls[t].center) - balls[t].radius >= nearest) continue;
            const double distance =
                triangle_distance(point, corner(t, 0), corner(t, 1), corner(t, 2));
            if (distance >= nearest) continue;
            nearest = distance;
            last = t;
        }
        result.mean += nearest / double(points.size());
        result.rms += nearest * nearest / double(points.size());
        result.largest = std::max(result.largest, nearest);
    }
    result.rms = std::sqrt(result.rms);
    return result;
}

}  // namespace springtime
