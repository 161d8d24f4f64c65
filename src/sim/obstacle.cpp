#include "springtime/obstacle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/finite.h"
#include "sim/obstacle_placement.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

// ---- Distances ----

// The eight values around a cell, as grid_surface asks for them.
struct CornerReader {
    const DistanceGrid& grid;

    CellCorners<double> operator()(const Vec3d& cell) const
    {
        const std::size_t row = grid.size[0], layer = row * grid.size[1];
        const std::size_t first =
            std::size_t(cell.x) + row * std::size_t(cell.y) + layer * std::size_t(cell.z);
        CellCorners<double> corners;
        for (int i = 0; i < 8; ++i) {
            corners.value[i] =
                grid.distance[first + (i & 1) + (i & 2 ? row : 0) + (i & 4 ? layer : 0)];
        }
        return corners;
    }
};

Surface<double> surface_at(const PlaneShape& plane, const Vec3d& y)
{
    const Vec3d normal = direction(plane.normal, Vec3d{0, 1, 0});
    return plane_surface(y, normal, dot(normal, plane.point));
}

Surface<double> surface_at(const CapsuleShape& capsule, const Vec3d& y)
{
    const Vec3d axis = capsule.b - capsule.a;
    const double square = dot(axis, axis);
    return capsule_surface(y, capsule.a, axis, square > 0 ? 1 / square : 0, unit_across(axis),
                           capsule.radius);
}

Surface<double> surface_at(const BoxShape& box, const Vec3d& y)
{
    const Vec3d core = box.half - Vec3d{box.rounding, box.rounding, box.rounding};
    return box_surface(y, box.center, core, box.rounding);
}

Surface<double> surface_at(const GridShape& shape, const Vec3d& y)
{
    const DistanceGrid& grid = *shape.grid;
    const GridBox<double> box{
        grid.origin,
        {double(grid.size[0] - 1), double(grid.size[1] - 1), double(grid.size[2] - 1)},
        grid.spacing,
        1 / grid.spacing};
    return grid_surface(y, box, CornerReader{grid});
}

// ---- Turning ----

// A rotation as a quaternion of length one.
struct Rotation {
    double w;
    Vec3d v;

    explicit Rotation(const Vec3d& turn)
        : w(std::cos(length(turn) / 2)),
          v(std::sin(length(turn) / 2) * direction(turn, Vec3d{1, 0, 0}))
    {
    }
    Rotation(double real, const Vec3d& vector) : w(real), v(vector) {}

    Rotation inverse() const { return {w, -v}; }
    // First the other one, then this.
    Rotation operator*(const Rotation& o) const
    {
        return {w * o.w - dot(v, o.v), w * o.v + o.w * v + cross(v, o.v)};
    }
    // The shorter of the two rotation vectors. [rad]
    Vec3d turn() const
    {
        const double sign = w < 0 ? -1 : 1;
        const double angle = 2 * std::atan2(length(v), sign * w);
        return (sign * angle) * direction(v, Vec3d{});
    }
};

ObstaclePlacement standing_at(const Pose& pose)
{
    const auto [x, y, z] = turned_axes(pose.turn);
    return {{x, y, z}, pose.position, {}, {}};
}

// ---- Checks ----

// Steps run in float, which would overflow when squared.
void check_size(std::initializer_list<double> lengths, std::string_view source)
{
    constexpr double kLargest = 1e9;  // [m]
    for (const double length : lengths) {
        if (std::abs(length) <= kLargest) continue;
        throw Error("{}: a place or size of {} m; stay below {} m", source, length, kLargest);
    }
}

void check_shape(const PlaneShape& plane, std::string_view source)
{
    if (!is_finite(plane.point) || !is_finite(plane.normal)) {
        throw Error("{}: plane with a point or normal that is not finite; give numbers", source);
    }
    if (length(plane.normal) < 1e-9) {
        throw Error("{}: plane with a normal of length {}; it must point somewhere", source,
                    length(plane.normal));
    }
}

void check_shape(const CapsuleShape& capsule, std::string_view source)
{
    if (!is_finite(capsule.a) || !is_finite(capsule.b)) {
        throw Error("{}: capsule with an end that is not finite; give numbers", source);
    }
    if (!std::isfinite(capsule.radius) || capsule.radius <= 0) {
        throw Error("{}: capsule of radius {} m; it must be finite and positive", source,
                    capsule.radius);
    }
    const auto& [a, b, radius] = capsule;
    check_size({a.x, a.y, a.z, b.x, b.y, b.z, radius}, source);
}

void check_shape(const BoxShape& box, std::string_view source)
{
    if (!is_finite(box.center)) {
        throw Error("{}: box with a centre that is not finite; give numbers", source);
    }
    const double least = std::min({box.half.x, box.half.y, box.half.z});
    if (!is_finite(box.half) || least <= 0) {
        throw Error("{}: box with half sides {}, {}, {} m; they must be finite and positive",
                    source, box.half.x, box.half.y, box.half.z);
    }
    const auto& [c, h, rounding] = box;
    check_size({c.x, c.y, c.z, h.x, h.y, h.z}, source);
    if (!(box.rounding >= 0 && box.rounding <= least)) {
        throw Error("{}: box with edges rounded by {} m; give 0 to {} m, the least half side",
                    source, box.rounding, least);
    }
}

void check_shape(const GridShape& shape, std::string_view source)
{
    if (!shape.grid) throw Error("{}: a distance grid is missing; give one", source);
    const DistanceGrid& grid = *shape.grid;
    const auto [nx, ny, nz] = grid.size;
    if (std::min({nx, ny, nz}) < 2) {
        throw Error("{}: distance grid of {} x {} x {} points; it needs two along each axis",
                    source, nx, ny, nz);
    }
    if (double(nx) * ny * nz > std::numeric_limits<int>::max()) {
        throw Error("{}: distance grid of {} x {} x {} points; use at most {} in all", source, nx,
                    ny, nz, std::numeric_limits<int>::max());
    }
    if (grid.distance.size() != std::size_t(nx) * ny * nz) {
        throw Error("{}: distance grid with {} values for {} x {} x {} points; give one each",
                    source, grid.distance.size(), nx, ny, nz);
    }
    if (!is_finite(grid.origin) || !std::isfinite(grid.spacing) || grid.spacing <= 0) {
        throw Error(
            "{}: distance grid with spacing {} m; origin and spacing must be finite, the "
            "spacing positive",
            source, grid.spacing);
    }
    const auto bad = std::find_if(grid.distance.begin(), grid.distance.end(),
                                  [](float value) { return !std::isfinite(value); });
    if (bad != grid.distance.end()) {
        throw Error("{}: distance {} of the grid is not finite; every one must be", source,
                    bad - grid.distance.begin());
    }
}

void check_keys(const Obstacle& obstacle, std::string_view source)
{
    if (obstacle.key_time.empty() || obstacle.key_time.size() != obstacle.key_pose.size()) {
        throw Error("{}: {} key times and {} key poses; give one pose for each time, at least one",
                    source, obstacle.key_time.size(), obstacle.key_pose.size());
    }
    for (std::size_t k = 0; k < obstacle.key_time.size(); ++k) {
        const double time = obstacle.key_time[k];
        if (!std::isfinite(time) || (k > 0 && time <= obstacle.key_time[k - 1])) {
            throw Error("{}: key {} is at {} s; times must be finite and ascend", source, k, time);
        }
        check_pose(obstacle.key_pose[k], fmt::format("{}: key {}", source, k));
    }
}

}  // namespace

Vec3d unit_across(const Vec3d& axis)
{
    const Vec3d size{std::abs(axis.x), std::abs(axis.y), std::abs(axis.z)};
    // Across the axis and the coordinate it has least of, so the product is never short.
    const Vec3d other = size.y <= size.x && size.y <= size.z ? Vec3d{0, 1, 0}
                        : size.x <= size.z                   ? Vec3d{1, 0, 0}
                                                             : Vec3d{0, 0, 1};
    return direction(cross(axis, other), Vec3d{0, 1, 0});
}

Surface<double> nearest_surface(const Obstacle& obstacle, const Vec3d& y)
{
    Surface<double> nearest{std::numeric_limits<double>::infinity(), {0, 1, 0}};
    for (const Shape& shape : obstacle.shapes) {
        const auto surface = std::visit([&](const auto& s) { return surface_at(s, y); }, shape);
        if (surface.distance < nearest.distance) nearest = surface;
    }
    return nearest;
}

Pose Obstacle::pose(double time) const
{
    const auto after = std::upper_bound(key_time.begin(), key_time.end(), time);
    if (after == key_time.begin()) return key_pose.front();
    if (after == key_time.end()) return key_pose.back();
    const std::size_t k = after - key_time.begin() - 1;
    const double part = (time - key_time[k]) / (key_time[k + 1] - key_time[k]);
    const Pose &from = key_pose[k], &to = key_pose[k + 1];
    return {from.position + part * (to.position - from.position),
            from.turn + part * (to.turn - from.turn)};
}

// Rodrigues.
std::array<Vec3d, 3> turned_axes(const Vec3d& turn)
{
    const double angle = length(turn);
    const Vec3d axis = direction(turn, Vec3d{1, 0, 0});
    std::array<Vec3d, 3> axes;
    for (int i = 0; i < 3; ++i) {
        Vec3d unit;
        unit[i] = 1;
        axes[i] = std::cos(angle) * unit + std::sin(angle) * cross(axis, unit) +
                  ((1 - std::cos(angle)) * axis[i]) * axis;
    }
    return axes;
}

Pose pose_between(const Pose& from, const Pose& to, double part)
{
    if (part <= 0) return from;
    if (part >= 1) return to;
    const Rotation first(from.turn);
    const Vec3d way = (first.inverse() * Rotation(to.turn)).turn();
    return {from.position + part * (to.position - from.position),
            (first * Rotation(part * way)).turn()};
}

ObstaclePlacement placement_of(const Obstacle& obstacle, double time, double dt)
{
    const Pose now = obstacle.pose(time);
    if (!obstacle.moving()) return standing_at(now);
    return placement_between(obstacle.pose(time - dt), now, dt);
}

// The point y of the solid was at position' + R' y one step ago. Seen in the axes of now, it has
// come (1 - R^T R') y + R^T (position - position').
ObstaclePlacement placement_between(const Pose& before, const Pose& now, double dt)
{
    ObstaclePlacement placement = standing_at(now);
    const std::array<Vec3d, 3> old_axes = turned_axes(before.turn);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            placement.spin[i][j] = ((i == j ? 1 : 0) - dot(placement.axes[i], old_axes[j])) / dt;
        }
    }
    placement.drift = (1 / dt) * placement.to_own(now.position - before.position);
    return placement;
}

Vec3d surface_velocity(const Obstacle& obstacle, const Vec3d& point, double time, double dt)
{
    const ObstaclePlacement placement = placement_of(obstacle, time, dt);
    return placement.to_world(placement.velocity(placement.to_own(point - placement.position)));
}

double signed_distance(const Obstacle& obstacle, const Vec3d& point, double time)
{
    const ObstaclePlacement placement = placement_of(obstacle, time, 1);
    return nearest_surface(obstacle, placement.to_own(point - placement.position)).distance;
}

void check_obstacle(const Obstacle& obstacle, std::string_view source)
{
    if (obstacle.shapes.empty()) throw Error("{}: no shapes; give at least one", source);
    for (const Shape& shape : obstacle.shapes) {
        std::visit([&](const auto& s) { check_shape(s, source); }, shape);
    }
    if (!std::isfinite(obstacle.friction) || obstacle.friction < 0) {
        throw Error("{}: friction {}; it must be finite and not negative", source,
                    obstacle.friction);
    }
    check_keys(obstacle, source);
}

void check_pose(const Pose& pose, std::string_view source)
{
    if (!is_finite(pose.position) || !is_finite(pose.turn)) {
        throw Error("{}: the pose is not finite; give numbers", source);
    }
    check_size({pose.position.x, pose.position.y, pose.position.z}, source);
}

void check_contact(const SimulationOptions& options)
{
    for (std::size_t i = 0; i < options.obstacles.size(); ++i) {
        const Obstacle& obstacle = options.obstacles[i];
        check_obstacle(obstacle, obstacle.name.empty() ? fmt::format("obstacle {}", i)
                                                       : "obstacle " + obstacle.name);
    }
    if (!std::isfinite(options.thickness) || options.thickness < 0) {
        throw Error("thickness {} m: it must be finite and not negative", options.thickness);
    }
    check_size({options.thickness, options.self_distance}, "thickness and distance to itself");
    if (!std::isfinite(options.self_distance) || options.self_distance < 0) {
        throw Error("distance of the cloth to itself {} m: it must be finite and not negative",
                    options.self_distance);
    }
}

Obstacle make_table(double side, double thickness, double rounding, double height)
{
    if (!(height > thickness)) {
        throw Error("table: {} m high with a top of {} m; it must be higher than its top", height,
                    thickness);
    }
    Obstacle table;
    table.name = "table";
    table.shapes = {
        BoxShape{{0, -thickness / 2, 0}, {side / 2, thickness / 2, side / 2}, rounding},
        BoxShape{{0, -(thickness + height) / 2, 0}, {side / 8, (height - thickness) / 2, side / 8}},
    };
    check_obstacle(table, "table");
    return table;
}

Obstacle make_animal(double length)
{
    if (!std::isfinite(length) || length <= 0) {
        throw Error("animal: {} m long; the length must be finite and positive", length);
    }
    Obstacle animal;
    animal.name = "animal";
    const auto at = [length](double x, double y, double z) { return length * Vec3d{x, y, z}; };
    const auto limb = [&](const Vec3d& a, const Vec3d& b, double radius) {
        animal.shapes.push_back(CapsuleShape{a, b, radius * length});
    };
    const auto block = [&](const Vec3d& center, const Vec3d& half, double rounding) {
        animal.shapes.push_back(BoxShape{center, half, rounding * length});
    };
    block(at(-0.04, -0.15, 0), at(0.30, 0.15, 0.13), 0.12);  // body
    limb(at(0.20, -0.14, 0), at(0.32, 0.06, 0), 0.09);       // neck
    limb(at(0.34, 0.10, 0), at(0.41, 0.08, 0), 0.07);        // head
    block(at(0.45, 0.06, 0), at(0.05, 0.045, 0.045), 0.03);  // muzzle
    limb(at(-0.32, -0.07, 0), at(-0.48, -0.28, 0), 0.02);    // tail
    for (const double side : {-1.0, 1.0}) {
        limb(at(0.33, 0.12, side * 0.06), at(0.30, 0.13, side * 0.13), 0.022);  // ear
        const double horn = 0.015;                                              // radius
        limb(at(0.36, 0.15, side * 0.035), at(0.38, kAnimalHornHeight - horn, side * 0.07), horn);
        limb(at(0.18, -0.2, side * 0.08), at(0.18, -0.56, side * 0.08), 0.04);      // foreleg
        limb(at(-0.26, -0.2, side * 0.08), at(-0.26, -0.555, side * 0.08), 0.045);  // hind leg
    }
    return animal;
}

// ---- Contact of a run ----

void check_clear(const State& start, const Handles& handles, const std::vector<Obstacle>& obstacles)
{
    std::vector<bool> held(start.position.size(), false);
    for (const int p : handles.particles) held[p] = true;
    for (const Obstacle& obstacle : obstacles) {
        int inside = 0;
        double deepest = 0;
        for (std::size_t p = 0; p < start.position.size(); ++p) {
            const double distance = signed_distance(obstacle, start.position[p], 0);
            if (held[p] || distance >= 0) continue;
            ++inside;
            deepest = std::max(deepest, -distance);
        }
        if (inside == 0) continue;
        throw Error(
            "obstacle {}: {} particles of the cloth start inside it, up to {:.3g} m deep; place it "
            "clear of the start (the flat sheet lies level at y = 0, its middle at the origin)",
            obstacle.name, inside, deepest);
    }
}

double usual_thickness(const Sheet& sheet)
{
    return std::max(sheet.length, sheet.width) / 500;
}

}  // namespace springtime
