#include "springtime/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/camera.h"
#include "io/color_scale.h"
#include "io/layout.h"
#include "io/surface.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr std::size_t kMaxFrames = 60;  // a taller page would be unreadable
constexpr double kMaxCoordinate = 1e9;  // [m]; far beyond any cloth, far below overflow

void check_frames(const Cloth& cloth, const std::vector<State>& frames)
{
    if (frames.empty() || frames.size() > kMaxFrames) {
        throw Error("picture: {} frames; choose 1 to {} of them", frames.size(), kMaxFrames);
    }
    for (std::size_t f = 0; f < frames.size(); ++f) {
        const auto& position = frames[f].position;
        if (position.size() != cloth.particle_count()) {
            throw Error(
                "picture: frame {} has {} positions, but the cloth has {} particles; give "
                "frames of this cloth",
                f, position.size(), cloth.particle_count());
        }
        for (std::size_t p = 0; p < position.size(); ++p) {
            const Vec3d& x = position[p];
            // Written so that a NaN fails.
            if (std::abs(x.x) <= kMaxCoordinate && std::abs(x.y) <= kMaxCoordinate &&
                std::abs(x.z) <= kMaxCoordinate) {
                continue;
            }
            throw Error(
                "picture: frame {} at {} s has particle {} at ({}, {}, {}) m; draw frames "
                "from before the cloth blew up",
                f, frames[f].time, p, x.x, x.y, x.z);
        }
    }
}

// Mean stiffness of the springs that end at each particle [N/m].
std::vector<double> particle_stiffness(const Cloth& cloth)
{
    std::vector<double> sum(cloth.particle_count(), 0), count(cloth.particle_count(), 0);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        for (const int end : cloth.springs.ends[s]) {
            sum[end] += cloth.springs.stiffness[s];
            count[end] += 1;
        }
    }
    for (std::size_t p = 0; p < sum.size(); ++p) {
        sum[p] /= std::max(count[p], 1.0);
    }
    return sum;
}

bool has_surface(const Cloth& cloth)
{
    return cloth.grid && cloth.grid->rows > 1 && cloth.grid->cols > 1;
}

// Two triangles for each cell of the grid.
std::vector<std::array<int, 3>> grid_triangles(const Grid& grid)
{
    std::vector<std::array<int, 3>> triangles;
    for (int r = 0; r + 1 < grid.rows; ++r) {
        for (int c = 0; c + 1 < grid.cols; ++c) {
            const int nw = r * grid.cols + c, sw = nw + grid.cols;
            triangles.push_back({nw, sw, nw + 1});
            triangles.push_back({nw + 1, sw, sw + 1});
        }
    }
    return triangles;
}

// From the neighbours to the east and west, north and south.
Vec3d grid_normal(const Grid& grid, const std::vector<Vec3d>& position, int row, int col)
{
    const auto at = [&](int r, int c) {
        const int inner_row = std::clamp(r, 0, grid.rows - 1);
        const int inner_col = std::clamp(c, 0, grid.cols - 1);
        return position[std::size_t(inner_row) * grid.cols + inner_col];
    };
    const Vec3d east = at(row, col + 1) - at(row, col - 1);
    const Vec3d south = at(row + 1, col) - at(row - 1, col);
    const Vec3d normal = cross(south, east);
    const double size = length(normal);
    return size > 0 ? (1 / size) * normal : Vec3d{};
}

// What all panels of one page have in common.
struct Scene {
    const Cloth& cloth;
    std::vector<double> stiffness;  // one per particle [N/m]
    ColorScale scale;
    std::vector<std::array<int, 3>> triangles;
    std::vector<Vec3d> points;  // of all frames
    double ground = 0;          // height of the ground [m]
    double size = 0;            // largest extent of the points [m]

    Scene(const Cloth& drawn, const std::vector<State>& frames)
        : cloth(drawn), stiffness(particle_stiffness(drawn)), scale(stiffness)
    {
        if (has_surface(cloth)) triangles = grid_triangles(*cloth.grid);
        for (const State& frame : frames) {
            points.insert(points.end(), frame.position.begin(), frame.position.end());
        }
        Vec3d low = points.front(), high = low;
        for (const Vec3d& p : points) {
            low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
            high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
        }
        const Vec3d extent = high - low;
        size = std::max({extent.x, extent.y, extent.z});
        ground = low.y - 0.04 * size;
    }
};

void draw_surface(SurfacePainter& painter, const Scene& scene, const State& frame)
{
    std::vector<SurfaceVertex> vertices(frame.position.size());
    const int cols = scene.cloth.grid->cols;
    for (std::size_t p = 0; p < vertices.size(); ++p) {
        const int index = static_cast<int>(p);
        vertices[p] = {frame.position[p],
                       grid_normal(*scene.cloth.grid, frame.position, index / cols, index % cols),
                       scene.stiffness[p]};
    }
    for (const auto& [a, b, c] : scene.triangles) {
        painter.triangle({vertices[a], vertices[b], vertices[c]});
    }
}

void draw_springs(SurfacePainter& painter, const Scene& scene, const State& frame)
{
    const SpringSet& springs = scene.cloth.springs;
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        const auto [a, b] = springs.ends[s];
        const double value = springs.stiffness[s];
        painter.line({frame.position[a], {}, value}, {frame.position[b], {}, value}, 1.5);
    }
}

void draw_panel(Canvas& canvas, const Box& panel, const Camera& camera, const Scene& scene,
                const State& frame)
{
    canvas.fill(panel, kPanelTop, kPanelBottom);
    SurfacePainter painter(canvas, panel, camera, scene.scale);
    painter.ground(scene.ground, scene.size);
    std::vector<std::array<Vec3d, 3>> above;
    for (const auto& [a, b, c] : scene.triangles) {
        above.push_back({frame.position[a], frame.position[b], frame.position[c]});
    }
    painter.shadows(above, scene.ground);
    if (has_surface(scene.cloth)) {
        draw_surface(painter, scene, frame);
    } else {
        draw_springs(painter, scene, frame);
    }
}

int columns_for(int frame_count)
{
    if (frame_count <= 3) return frame_count;
    if (frame_count == 4) return 2;
    return frame_count <= 12 ? 3 : 4;
}

// As many digits as the times need to differ visibly.
std::string time_label(const std::vector<State>& frames, double time)
{
    const auto on_hundredths = [](const State& frame) {
        return std::abs(100 * frame.time - std::round(100 * frame.time)) < 1e-6;
    };
    const int digits = std::all_of(frames.begin(), frames.end(), on_hundredths) ? 2 : 3;
    return fmt::format("t = {:.{}f} s", time, digits);
}

}  // namespace

Picture draw_frames(const Cloth& cloth, const std::vector<State>& frames)
{
    check_cloth(cloth, "picture: cloth");
    check_frames(cloth, frames);
    const Scene scene(cloth, frames);
    const int count = static_cast<int>(frames.size()), columns = columns_for(count);
    const int rows = (count + columns - 1) / columns;
    const int width = (kPageWidth - kMargin * (columns + 1)) / columns;
    // The shape of the motion, within what looks tidy on a page.
    const double aspect = std::clamp(seen_aspect(scene.points), 0.6, count == 1 ? 0.75 : 1.25);
    const int height = static_cast<int>(std::lround(aspect * width));
    const Camera camera(scene.points, width, height);

    const int pitch = kTitleHeight + height + kMargin, below = kMargin + rows * pitch;
    Canvas canvas(kPageWidth, below + kScaleHeight + kMargin / 2, kPaper);
    for (int f = 0; f < count; ++f) {
        const int left = kMargin + f % columns * (width + kMargin);
        const int top = kMargin + f / columns * pitch;
        canvas.text({double(left), double(top)}, time_label(frames, frames[f].time), kTextDot,
                    kInk);
        draw_panel(canvas, {left, top + kTitleHeight, width, height}, camera, scene, frames[f]);
    }
    const Box bar{kPageWidth / 2 - kScaleWidth / 2, below, kScaleWidth, kScaleHeight};
    draw_scale(canvas, bar, scene.scale, "stiffness [N/m]");
    return canvas.finished();
}

}  // namespace springtime
