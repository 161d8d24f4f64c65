#include "draw/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "draw/layout.h"
#include "draw/triangle_samples.h"

namespace springtime {

namespace {

constexpr int kSide = Canvas::kSamples;
constexpr double kBehind = 1.002;  // depth of plain triangles: cloth that lies on them is seen

Vec3d unit(const Vec3d& v)
{
    const double size = length(v);
    return size > 0 ? (1 / size) * v : v;
}

}  // namespace

SurfacePainter::SurfacePainter(Canvas& canvas, const Box& panel, const Camera& camera,
                               const ColorScale& scale)
    : canvas_(canvas),
      panel_(panel),
      camera_(camera),
      scale_(scale),
      cols_(kSide * panel.width),
      rows_(kSide * panel.height),
      depth_(std::size_t(cols_) * rows_, std::numeric_limits<float>::infinity())
{
}

SurfacePainter::Corner SurfacePainter::corner(const SurfaceVertex& vertex) const
{
    const auto [point, depth] = camera_.project(vertex.position);
    return {{kSide * point.x, kSide * point.y}, depth, vertex.normal, vertex.value};
}

void SurfacePainter::triangle(const std::array<SurfaceVertex, 3>& corners,
                              const std::optional<Color>& plain)
{
    const auto& [a, b, c] = corners;
    // The flat triangle decides which side is seen: at the rim of a fold the smooth normals of its
    // corners disagree about that.
    const Vec3d smooth = a.normal + b.normal + c.normal;
    Vec3d flat = cross(b.position - a.position, c.position - a.position);
    if (dot(flat, smooth) < 0) flat = -flat;
    const bool far_side = dot(flat, camera_.eye() - a.position) < 0;
    std::array<Corner, 3> seen{corner(a), corner(b), corner(c)};
    for (Corner& corner : seen) {
        if (corner.depth <= 0) return;
        if (far_side) corner.normal = -corner.normal;
        if (plain) corner.depth *= kBehind;
    }
    fill(seen, {plain, far_side});
}

// A strip of even width on the screen, as two triangles.
void SurfacePainter::line(const SurfaceVertex& a, const SurfaceVertex& b, double thickness)
{
    const Corner from = corner(a), to = corner(b);
    const double dx = to.point.x - from.point.x, dy = to.point.y - from.point.y;
    const double size = std::hypot(dx, dy), half = kSide * thickness / 2;
    if (size == 0) return;
    const Point side{-dy / size * half, dx / size * half};
    const auto moved = [&](Corner corner, double factor) {
        corner.point.x += factor * side.x;
        corner.point.y += factor * side.y;
        return corner;
    };
    fill({moved(from, -1), moved(from, 1), moved(to, 1)}, {});
    fill({moved(from, -1), moved(to, 1), moved(to, -1)}, {});
}

void SurfacePainter::fill(const std::array<Corner, 3>& corners, const Look& look)
{
    const Corner &a = corners[0], &b = corners[1], &c = corners[2];
    const auto draw = [&](int x, int y, const std::array<double, 3>& weights) {
        // What is linear in space is linear on the screen only after division by depth.
        const double wa = weights[0] / a.depth, wb = weights[1] / b.depth,
                     wc = weights[2] / c.depth;
        const double depth = 1 / (wa + wb + wc);
        float& nearest = depth_[std::size_t(y) * cols_ + x];
        if (depth >= nearest) return;
        nearest = static_cast<float>(depth);
        const double value = depth * (wa * a.value + wb * b.value + wc * c.value);
        const Vec3d normal = wa * a.normal + wb * b.normal + wc * c.normal;
        canvas_.blend_sample(kSide * panel_.left + x, kSide * panel_.top + y,
                             shaded(value, normal, look), 1);
    };
    for_each_sample(a.point, b.point, c.point, cols_, rows_, draw);
}

// Lit from above and the left. The far side of the cloth is a little darker, which distinguishes
// the two sides of a fold apart.
Color SurfacePainter::shaded(double value, const Vec3d& normal, const Look& look) const
{
    const Color color = look.plain ? *look.plain : scale_.color(value);
    const Vec3d n = unit(normal);
    if (length(n) == 0) return color;
    const Vec3d light = unit(-0.5 * camera_.right() + 0.55 * camera_.up() + 0.75 * camera_.back());
    const double lit = std::max(0.0, dot(n, light));
    const double brightness = (0.52 + 0.54 * lit) * (look.far_side ? 0.86 : 1.0);
    return scaled(color, brightness);
}

void SurfacePainter::ground_line(const Vec3d& a, const Vec3d& b, double opacity)
{
    constexpr int kPieces = 24;
    constexpr Color kGround{0.42, 0.47, 0.54};
    const double nearest = 1e-3 * length(b - a);
    for (int i = 0; i < kPieces; ++i) {
        const auto at = [&](int piece) {
            return camera_.project(a + (double(piece) / kPieces) * (b - a));
        };
        const auto from = at(i), to = at(i + 1);
        if (from.depth < nearest || to.depth < nearest) continue;
        // Fades towards the ends, so that the ground has no edge.
        const double t = (i + 0.5) / kPieces, fade = 16 * t * t * (1 - t) * (1 - t);
        const Point offset{double(panel_.left), double(panel_.top)};
        canvas_.line_within(panel_, {offset.x + from.point.x, offset.y + from.point.y},
                            {offset.x + to.point.x, offset.y + to.point.y}, 1.0, kGround,
                            opacity * fade);
    }
}

void SurfacePainter::ground(double height, double size)
{
    constexpr int kLines = 12;  // to each side of the middle
    const Vec3d middle =
        camera_.eye() - (camera_.eye().y - height) / camera_.back().y * camera_.back();
    const double reach = 1.6 * size, step = reach / kLines;
    for (int i = -kLines; i <= kLines; ++i) {
        const double t = double(i) / kLines, fade = (1 - t * t) * (1 - t * t);
        const double x = middle.x + i * step, z = middle.z + i * step;
        ground_line({x, height, middle.z - reach}, {x, height, middle.z + reach}, 0.45 * fade);
        ground_line({middle.x - reach, height, z}, {middle.x + reach, height, z}, 0.45 * fade);
    }
}

// Gathered first and blended once: overlapping folds cast one shadow.
void SurfacePainter::shadows(const std::vector<std::array<Vec3d, 3>>& triangles, double height)
{
    constexpr Color kShadow{0.20, 0.25, 0.32};
    std::vector<bool> dark(depth_.size(), false);
    for (const auto& triangle : triangles) {
        std::array<Point, 3> points;
        for (int i = 0; i < 3; ++i) {
            const auto seen = camera_.project({triangle[i].x, height, triangle[i].z});
            points[i] = {kSide * seen.point.x, kSide * seen.point.y};
        }
        for_each_sample(
            points[0], points[1], points[2], cols_, rows_,
            [&](int x, int y, const auto&) { dark[std::size_t(y) * cols_ + x] = true; });
    }
    for (std::size_t i = 0; i < dark.size(); ++i) {
        if (!dark[i]) continue;
        canvas_.blend_sample(kSide * panel_.left + static_cast<int>(i % cols_),
                             kSide * panel_.top + static_cast<int>(i / cols_), kShadow, 0.13);
    }
}

}  // namespace springtime
