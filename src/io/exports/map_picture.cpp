#include "io/exports/map_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/triangle_samples.h"

namespace springtime {

namespace {

// Of the flat sheet in the image [pixel].
Point pixel_point(const ExportScene& scene, int size, std::size_t point)
{
    const SheetPoint p = scene.rest[point];
    return {size * p.u / scene.sheet.length, size * p.v / scene.sheet.width};
}

}  // namespace

MapPainter::MapPainter(const ExportScene& scene, int size)
    : size_(size), pixels_(std::size_t(size) * size)
{
    if (scene.surface.quads.empty()) {
        add_triangles(scene);
    } else {
        add_cells(scene);
    }
    add_nearest(scene);
}

// Cells of a grid are rectangles with the corners nw, sw, se, ne.
void MapPainter::add_cells(const ExportScene& scene)
{
    for (const auto& cell : scene.surface.quads) {
        const Point nw = pixel_point(scene, size_, cell[0]),
                    se = pixel_point(scene, size_, cell[2]);
        const auto first = [&](double x) { return std::max(0, int(std::ceil(x - 0.5))); };
        const auto last = [&](double x) { return std::min(size_ - 1, int(std::floor(x - 0.5))); };
        for (int y = first(nw.y); y <= last(se.y); ++y) {
            for (int x = first(nw.x); x <= last(se.x); ++x) {
                const double a = (x + 0.5 - nw.x) / (se.x - nw.x);
                const double b = (y + 0.5 - nw.y) / (se.y - nw.y);
                pixels_[std::size_t(y) * size_ + x] = {
                    cell,
                    {float((1 - a) * (1 - b)), float((1 - a) * b), float(a * b),
                     float(a * (1 - b))}};
            }
        }
    }
}

void MapPainter::add_triangles(const ExportScene& scene)
{
    for (const auto& [a, b, c] : scene.surface.triangles) {
        for_each_sample(pixel_point(scene, size_, a), pixel_point(scene, size_, b),
                        pixel_point(scene, size_, c), size_, size_,
                        [&, a = a, b = b, c = c](int x, int y, const std::array<double, 3>& w) {
                            pixels_[std::size_t(y) * size_ + x] = {
                                {a, b, c, c}, {float(w[0]), float(w[1]), float(w[2]), 0}};
                        });
    }
}

void MapPainter::add_nearest(const ExportScene& scene)
{
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
        if (pixels_[i].point[0] >= 0) continue;
        const double x = double(i % size_) + 0.5, y = double(i / size_) + 0.5;
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t p = 0; p < scene.point_count(); ++p) {
            const Point at = pixel_point(scene, size_, p);
            const double distance = std::hypot(at.x - x, at.y - y);
            if (distance >= nearest) continue;
            nearest = distance;
            pixels_[i] = {{int(p), int(p), int(p), int(p)}, {1, 0, 0, 0}};
        }
    }
}

std::vector<std::uint16_t> MapPainter::paint(const std::vector<float>& weights) const
{
    std::vector<std::uint16_t> image;
    image.reserve(pixels_.size());
    for (const Mix& mix : pixels_) {
        double value = 0;
        for (int i = 0; i < 4; ++i) value += double(mix.share[i]) * weights[mix.point[i]];
        image.push_back(
            static_cast<std::uint16_t>(std::lround(65535 * std::clamp(value, 0.0, 1.0))));
    }
    return image;
}

}  // namespace springtime
