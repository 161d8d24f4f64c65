#include "springtime/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "draw/camera.h"
#include "draw/color_scale.h"
#include "draw/film.h"
#include "draw/layout.h"
#include "draw/obstacle_surface.h"
#include "draw/surface.h"
#include "geometry/mesh_geometry.h"
#include "sim/obstacle_placement.h"
#include "springtime/cloth.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr std::size_t kMaxFrames = 60;  // a taller page would be unreadable
constexpr double kMaxCoordinate = 1e9;  // [m]; far beyond any cloth, far below overflow
constexpr double kPlaneSide = 12;       // of planes over the size of the scene
constexpr Color kSolidColor{0.66, 0.67, 0.69}, kPlaneColor{0.93, 0.94, 0.95};

void check_positions(const Cloth& cloth, const std::vector<State>& frames)
{
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

void check_frames(const Cloth& cloth, const std::vector<State>& frames)
{
    if (frames.empty() || frames.size() > kMaxFrames) {
        throw Error("picture: {} frames; choose 1 to {} of them", frames.size(), kMaxFrames);
    }
    check_positions(cloth, frames);
}

// Mean stiffness of the elements at each particle [N/m]: of its triangles against shear, or of the
// springs of a cloth without triangles.
std::vector<double> particle_stiffness(const Cloth& cloth)
{
    std::vector<double> sum(cloth.particle_count(), 0), count(cloth.particle_count(), 0);
    const auto add = [&](const auto& elements, const std::vector<double>& stiffness) {
        for (std::size_t e = 0; e < elements.size(); ++e) {
            for (const int particle : elements[e]) {
                sum[particle] += stiffness[e];
                count[particle] += 1;
            }
        }
    };
    if (cloth.triangles.triangle_count() > 0) {
        add(cloth.triangles.corners, cloth.triangles.shear_stiffness);
    } else {
        add(cloth.springs.ends, cloth.springs.stiffness);
    }
    for (std::size_t p = 0; p < sum.size(); ++p) {
        sum[p] /= std::max(count[p], 1.0);
    }
    return sum;
}

// Of an obstacle that holds a level plane which stays where it is.
std::optional<double> floor_height(const Obstacle& obstacle)
{
    if (obstacle.moving()) return {};
    const ObstaclePlacement placement = placement_of(obstacle, 0, 1);
    for (const Shape& shape : obstacle.shapes) {
        const auto* plane = std::get_if<PlaneShape>(&shape);
        if (plane == nullptr) continue;
        const Vec3d normal = placement.to_world(plane->normal);
        if (normal.y < 0.9999 * length(normal)) continue;
        return (placement.position + placement.to_world(plane->point)).y;
    }
    return {};
}

// An obstacle, its shapes turned into triangles once for all frames.
struct Solid {
    const Obstacle& obstacle;
    TriangleMesh own;  // in its own frame; without planes

    explicit Solid(const Obstacle& drawn) : obstacle(drawn), own(solid_surface(drawn)) {}

    // Corners of a box around it at a time.
    std::vector<Vec3d> corners(double time) const
    {
        if (own.points.empty()) return {};
        const Bounds bounds = bounds_of(own.points);
        TriangleMesh box;
        for (int i = 0; i < 8; ++i) {
            box.points.push_back({i & 1 ? bounds.high.x : bounds.low.x,
                                  i & 2 ? bounds.high.y : bounds.low.y,
                                  i & 4 ? bounds.high.z : bounds.low.z});
        }
        return posed(box, obstacle, time).points;
    }
};

// A cloth on the page, with what its frames share.
struct Actor {
    const Cloth& cloth;
    std::vector<double> stiffness;  // one per particle [N/m]
    std::vector<std::array<int, 3>> triangles;

    explicit Actor(const Cloth& drawn)
        : cloth(drawn), stiffness(particle_stiffness(drawn)), triangles(surface_triangles(drawn))
    {
    }
};

// What all panels of one page have in common.
struct Scene {
    ColorScale scale;
    std::vector<Solid> solids;
    std::vector<Vec3d> points;  // of all frames, obstacles included
    PlaneCut cut;               // the part of planes that is seen
    double ground = 0;          // height of the ground [m]
    double size = 0;            // largest extent of the points [m]

    Scene(const std::vector<double>& stiffness, const std::vector<const State*>& frames,
          const std::vector<Obstacle>& obstacles)
        : scale(stiffness), solids(obstacles.begin(), obstacles.end())
    {
        for (const State* frame : frames) {
            points.insert(points.end(), frame->position.begin(), frame->position.end());
            for (const Solid& solid : solids) {
                const auto corners = solid.corners(frame->time);
                points.insert(points.end(), corners.begin(), corners.end());
            }
        }
        const Bounds bounds = bounds_of(points);
        const Vec3d extent = bounds.high - bounds.low;
        size = std::max({extent.x, extent.y, extent.z});
        cut = {0.5 * (bounds.low + bounds.high), kPlaneSide * size};
        ground = bounds.low.y - 0.04 * size;
        for (const Obstacle& obstacle : obstacles) {
            if (const auto height = floor_height(obstacle)) ground = *height;
        }
    }
};

void draw_surface(SurfacePainter& painter, const Actor& actor, const State& frame)
{
    const std::vector<Vec3d> normals = vertex_normals(frame.position, actor.triangles);
    const auto vertex = [&](int p) {
        return SurfaceVertex{frame.position[p], normals[p], actor.stiffness[p]};
    };
    for (const auto& [a, b, c] : actor.triangles) {
        painter.triangle({vertex(a), vertex(b), vertex(c)});
    }
}

void draw_mesh(SurfacePainter& painter, const TriangleMesh& mesh, const Color& color)
{
    const std::vector<Vec3d> normals = vertex_normals(mesh.points, mesh.triangles);
    const auto vertex = [&](int p) { return SurfaceVertex{mesh.points[p], normals[p]}; };
    for (const auto& [a, b, c] : mesh.triangles) {
        painter.triangle({vertex(a), vertex(b), vertex(c)}, color);
    }
}

// Of a cloth without faces. A rope is a curve: springs that skip a particle would hide its bends.
void draw_springs(SurfacePainter& painter, const Cloth& cloth, const State& frame)
{
    const SpringSet& springs = cloth.springs;
    const auto is_bending = [](SpringFamily family) { return family == SpringFamily::bending; };
    const bool only_bending = std::all_of(springs.family.begin(), springs.family.end(), is_bending);
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        if (is_bending(springs.family[s]) && !only_bending) continue;
        const auto [a, b] = springs.ends[s];
        const double value = springs.stiffness[s];
        painter.line({frame.position[a], {}, value}, {frame.position[b], {}, value}, 2.5);
    }
}

// Straight down on the ground, all that has triangles throws one.
void draw_shadows(SurfacePainter& painter, const Scene& scene, const Actor& actor,
                  const State& frame, const std::vector<TriangleMesh>& solids)
{
    std::vector<std::array<Vec3d, 3>> above;
    const auto add = [&](const std::vector<Vec3d>& points, const auto& triangles) {
        for (const auto& [a, b, c] : triangles) {
            above.push_back({points[a], points[b], points[c]});
        }
    };
    add(frame.position, actor.triangles);
    for (const TriangleMesh& solid : solids) add(solid.points, solid.triangles);
    painter.shadows(above, scene.ground);
}

void draw_panel(Canvas& canvas, const Box& panel, const Camera& camera, const Scene& scene,
                const Actor& actor, const State& frame)
{
    canvas.fill(panel, kPanelTop, kPanelBottom);
    SurfacePainter painter(canvas, panel, camera, scene.scale);
    std::vector<TriangleMesh> solids;
    for (const Solid& solid : scene.solids) {
        // Below the grid and the shadows, which take no part in hiding.
        draw_mesh(painter, plane_surfaces(solid.obstacle, frame.time, scene.cut), kPlaneColor);
        solids.push_back(posed(solid.own, solid.obstacle, frame.time));
    }
    painter.ground(scene.ground, scene.size);
    draw_shadows(painter, scene, actor, frame, solids);
    for (const TriangleMesh& solid : solids) draw_mesh(painter, solid, kSolidColor);
    if (actor.triangles.empty()) {
        draw_springs(painter, actor.cloth, frame);
    } else {
        draw_surface(painter, actor, frame);
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

// The shape of the motion, within what looks tidy on a page. [pixel]
int panel_height(const Scene& scene, int width, double tallest)
{
    return int(std::lround(std::clamp(seen_aspect(scene.points), 0.6, tallest) * width));
}

void draw_page_scale(Canvas& canvas, int top, const ColorScale& scale, const std::string& caption)
{
    draw_scale(canvas, {canvas.width() / 2 - kScaleWidth / 2, top, kScaleWidth, kScaleHeight},
               scale, caption);
}

}  // namespace

Picture draw_frames(const Cloth& cloth, const std::vector<State>& frames,
                    const std::vector<Obstacle>& obstacles)
{
    check_cloth(cloth, "picture: cloth");
    check_frames(cloth, frames);
    for (const Obstacle& obstacle : obstacles) check_obstacle(obstacle, "picture: obstacle");
    const Actor actor(cloth);
    std::vector<const State*> shown;
    for (const State& frame : frames) shown.push_back(&frame);
    const Scene scene(actor.stiffness, shown, obstacles);
    const int count = static_cast<int>(frames.size()), columns = columns_for(count);
    const int rows = (count + columns - 1) / columns;
    const int width = (kPageWidth - kMargin * (columns + 1)) / columns;
    const int height = panel_height(scene, width, count == 1 ? 0.75 : 1.25);
    const Camera camera(scene.points, width, height);

    const int pitch = kTitleHeight + height + kMargin, below = kMargin + rows * pitch;
    Canvas canvas(kPageWidth, below + kScaleHeight + kMargin / 2, kPaper);
    for (int f = 0; f < count; ++f) {
        const int left = kMargin + f % columns * (width + kMargin);
        const int top = kMargin + f / columns * pitch;
        canvas.text({double(left), double(top)}, time_label(frames, frames[f].time), kTextDot,
                    kInk);
        draw_panel(canvas, {left, top + kTitleHeight, width, height}, camera, scene, actor,
                   frames[f]);
    }
    draw_page_scale(canvas, below, scene.scale, stiffness_caption(cloth));
    return canvas.finished();
}

Picture draw_frames(const std::vector<DrawnCloth>& cloths)
{
    const std::size_t columns = cloths.empty() ? 0 : cloths.front().frames.size();
    std::vector<Actor> actors;
    std::vector<const State*> shown;
    std::vector<double> stiffness;
    for (const DrawnCloth& drawn : cloths) {
        check_cloth(drawn.cloth, "picture: " + drawn.title);
        check_frames(drawn.cloth, drawn.frames);
        actors.emplace_back(drawn.cloth);
        const std::vector<double>& own = actors.back().stiffness;
        stiffness.insert(stiffness.end(), own.begin(), own.end());
        for (const State& frame : drawn.frames) shown.push_back(&frame);
        if (drawn.frames.size() == columns) continue;
        throw Error("picture: {} has {} frames, but {} has {}; draw the same times of all",
                    drawn.title, drawn.frames.size(), cloths.front().title, columns);
    }
    if (columns < 1 || columns > 8) {
        throw Error("picture: {} cloths with {} frames each; give at least one, with 1 to 8 frames",
                    cloths.size(), columns);
    }
    const Scene scene(stiffness, shown, {});
    const int width = (kPageWidth - kMargin * int(columns + 1)) / int(columns);
    const int height = panel_height(scene, width, 1.25);
    const Camera camera(scene.points, width, height);
    const int pitch = kTitleHeight + height + kMargin;
    const int below = kMargin + int(cloths.size()) * pitch;
    Canvas canvas(kPageWidth, below + kScaleHeight + kMargin / 2, kPaper);
    for (std::size_t r = 0; r < cloths.size(); ++r) {
        const std::vector<State>& frames = cloths[r].frames;
        for (std::size_t f = 0; f < columns; ++f) {
            const int left = kMargin + int(f) * (width + kMargin);
            const int top = kMargin + int(r) * pitch;
            const std::string time = time_label(frames, frames[f].time);
            canvas.text({double(left), double(top)}, f == 0 ? cloths[r].title + ", " + time : time,
                        kTextDot, kInk);
            draw_panel(canvas, {left, top + kTitleHeight, width, height}, camera, scene, actors[r],
                       frames[f]);
        }
    }
    draw_page_scale(canvas, below, scene.scale, stiffness_caption(cloths.front().cloth));
    return canvas.finished();
}

// ---- Frames of a film

struct FilmPainter::Impl {
    Cloth cloth;
    std::vector<Obstacle> obstacles;
    Actor actor;
    Scene scene;
    Box panel;
    Camera camera;
    bool scale;

    Impl(const Cloth& shown, const std::vector<const State*>& frames,
         const std::vector<Obstacle>& solids, int width, int height, bool with_scale)
        : cloth(shown),
          obstacles(solids),
          actor(cloth),
          scene(actor.stiffness, frames, obstacles),
          panel{0, 0, width, height},
          camera(scene.points, width, height),
          scale(with_scale && width >= kScaleWidth + 2 * kMargin)
    {
    }
};

FilmPainter::FilmPainter(const Cloth& cloth, const std::vector<State>& frames,
                         const std::vector<Obstacle>& obstacles, int width, int height, bool scale)
{
    check_cloth(cloth, "picture: cloth");
    check_positions(cloth, frames);
    for (const Obstacle& obstacle : obstacles) check_obstacle(obstacle, "picture: obstacle");
    std::vector<const State*> shown;
    for (const State& frame : frames) shown.push_back(&frame);
    impl_ = std::make_unique<Impl>(cloth, shown, obstacles, width, height, scale);
}

FilmPainter::~FilmPainter() = default;

Picture FilmPainter::picture(const State& frame) const
{
    const Impl& film = *impl_;
    Canvas canvas(film.panel.width, film.panel.height, kPaper);
    draw_panel(canvas, film.panel, film.camera, film.scene, film.actor, frame);
    canvas.text({kMargin, kMargin}, fmt::format("t = {:.2f} s", frame.time), kTextDot, kInk);
    if (film.scale) {
        draw_page_scale(canvas, film.panel.height - kScaleHeight, film.scene.scale,
                        stiffness_caption(film.cloth));
    }
    return canvas.finished();
}

}  // namespace springtime
