#include "formats/exports/map_picture.h"

#include <algorithm>
#include <cmath>

#include "draw/triangle_samples.h"

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
    add_points(scene);
    spread();
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

// Points without a face count by themselves; so do all when faces are too small to hold the centre
// of any pixel.
void MapPainter::add_points(const ExportScene& scene)
{
    std::vector<bool> has_face(scene.point_count(), false);
    for (const auto& triangle : scene.surface.triangles) {
        for (const int corner : triangle) has_face[corner] = true;
    }
    const bool bare = std::all_of(pixels_.begin(), pixels_.end(),
                                  [](const Mix& mix) { return mix.point[0] < 0; });
    for (std::size_t p = 0; p < scene.point_count(); ++p) {
        if (has_face[p] && !bare) continue;
        const Point at = pixel_point(scene, size_, p);
        const auto place = [&](double x) { return std::clamp(int(x), 0, size_ - 1); };
        Mix& mix = pixels_[std::size_t(place(at.y)) * size_ + place(at.x)];
        if (mix.point[0] < 0) mix = {{int(p), int(p), int(p), int(p)}, {1, 0, 0, 0}};
    }
}

// The nearest painted pixel of every pixel is handed on from neighbour to neighbour, down the image
// and up again (Danielsson 1980); a few come out a little farther than the nearest.
void MapPainter::spread()
{
    std::vector<int> nearest(pixels_.size(), -1);
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
        if (pixels_[i].point[0] >= 0) nearest[i] = int(i);
    }
    const auto distance = [&](int x, int y, int seed) {
        return std::hypot(seed % size_ - x, seed / size_ - y);
    };
    const auto take = [&](int x, int y, int dx, int dy) {
        if (x + dx < 0 || x + dx >= size_ || y + dy < 0 || y + dy >= size_) return;
        int& mine = nearest[std::size_t(y) * size_ + x];
        const int other = nearest[std::size_t(y + dy) * size_ + x + dx];
        if (other < 0) return;
        if (mine < 0 || distance(x, y, other) < distance(x, y, mine)) mine = other;
    };
    const auto sweep = [&](int y, int from) {
        for (int x = 0; x < size_; ++x) take(x, y, 0, from);
        for (int x = 0; x < size_; ++x) take(x, y, -1, 0);
        for (int x = size_ - 1; x >= 0; --x) take(x, y, 1, 0);
    };
    for (int y = 0; y < size_; ++y) sweep(y, -1);
    for (int y = size_ - 1; y >= 0; --y) sweep(y, 1);
    for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = pixels_[nearest[i]];
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
