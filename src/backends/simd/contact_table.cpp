#include "backends/simd/contact_table.h"

#include <algorithm>
#include <limits>

#include "core/assert.h"
#include "sim/obstacle_placement.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A box along the axes.
struct Bounds {
    Vec3d low{kInfinity, kInfinity, kInfinity}, high{-kInfinity, -kInfinity, -kInfinity};

    void add(const Vec3d& point, double margin)
    {
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], point[axis] - margin);
            high[axis] = std::max(high[axis], point[axis] + margin);
        }
    }
};

ContactShape shape_of(ContactKind kind, std::initializer_list<Vec3d> vectors,
                      std::initializer_list<double> numbers)
{
    ContactShape shape{kind, {}, nullptr, 0, 0};
    float* to = shape.numbers;
    for (const Vec3d& v : vectors) {
        for (int axis = 0; axis < 3; ++axis) *to++ = float(v[axis]);
    }
    for (const double number : numbers) *to++ = float(number);
    return shape;
}

ContactShape table_shape(const PlaneShape& plane)
{
    const Vec3d normal = direction(plane.normal, Vec3d{0, 1, 0});
    return shape_of(ContactKind::plane, {normal}, {dot(normal, plane.point)});
}

ContactShape table_shape(const CapsuleShape& capsule)
{
    const Vec3d axis = capsule.b - capsule.a;
    const double square = dot(axis, axis);
    ContactShape shape =
        shape_of(ContactKind::capsule, {capsule.a, axis}, {square > 0 ? 1 / square : 0});
    const Vec3d spare = unit_across(axis);
    for (int i = 0; i < 3; ++i) shape.numbers[7 + i] = float(spare[i]);
    shape.numbers[10] = float(capsule.radius);
    return shape;
}

ContactShape table_shape(const BoxShape& box)
{
    const Vec3d core = box.half - Vec3d{box.rounding, box.rounding, box.rounding};
    return shape_of(ContactKind::box, {box.center, core}, {box.rounding});
}

ContactShape table_shape(const GridShape& shape)
{
    const DistanceGrid& grid = *shape.grid;
    const auto [nx, ny, nz] = grid.size;
    ContactShape result =
        shape_of(ContactKind::grid, {grid.origin, {double(nx - 1), double(ny - 1), double(nz - 1)}},
                 {grid.spacing, 1 / grid.spacing});
    result.distance = grid.distance.data();
    result.row = nx;
    result.layer = nx * ny;
    return result;
}

// ---- Where something may be closer than the thickness ----

void add_bounds(Bounds& bounds, const PlaneShape&, double)
{
    bounds.add({}, kInfinity);
}

void add_bounds(Bounds& bounds, const CapsuleShape& capsule, double thickness)
{
    bounds.add(capsule.a, capsule.radius + thickness);
    bounds.add(capsule.b, capsule.radius + thickness);
}

void add_bounds(Bounds& bounds, const BoxShape& box, double thickness)
{
    bounds.add(box.center - box.half, thickness);
    bounds.add(box.center + box.half, thickness);
}

// A cell is closer than the thickness somewhere only if one of its corners is. Beyond the grid
// that ends where the way to its box has used up what the border lacks.
void add_bounds(Bounds& bounds, const GridShape& shape, double thickness)
{
    const DistanceGrid& grid = *shape.grid;
    const auto [nx, ny, nz] = grid.size;
    std::size_t i = 0;
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x, ++i) {
                if (grid.distance[i] >= thickness) continue;
                const bool border =
                    x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
                const double beyond = border ? thickness - grid.distance[i] : 0;
                bounds.add(grid.origin + grid.spacing * Vec3d{double(x), double(y), double(z)},
                           grid.spacing + beyond);
            }
        }
    }
}

ContactObstacle contact_obstacle(const Obstacle& obstacle, double thickness)
{
    Bounds bounds;
    for (const Shape& shape : obstacle.shapes) {
        std::visit([&](const auto& s) { add_bounds(bounds, s, thickness); }, shape);
    }
    ContactObstacle result{};
    result.friction = float(obstacle.friction);
    for (int axis = 0; axis < 3; ++axis) {
        // Wider by what float may round.
        const double slack = 1e-5 * (1 + std::abs(bounds.low[axis]) + std::abs(bounds.high[axis]));
        result.low[axis] = float(bounds.low[axis] - slack);
        result.high[axis] = float(bounds.high[axis] + slack);
    }
    return result;
}

}  // namespace

ContactTable::ContactTable(const SimulationOptions& options, int width)
    : obstacles_(options.obstacles), thickness_(options.thickness), dt_(options.dt), width_(width)
{
    for (const Obstacle& obstacle : obstacles_) {
        std::vector<ContactShape> shapes;
        for (const Shape& shape : obstacle.shapes) {
            shapes.push_back(std::visit([](const auto& s) { return table_shape(s); }, shape));
        }
        shapes_.push_back(std::move(shapes));
        placements_.emplace_back(std::size_t(kPlacementNumbers) * width, 0.0f);
        ContactObstacle view = contact_obstacle(obstacle, thickness_);
        view.shape_count = static_cast<int>(shapes_.back().size());
        view.shapes = shapes_.back().data();
        view.placement = placements_.back().data();
        views_.push_back(view);
    }
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        write_placement(o, 0, placement_of(obstacles_[o], 0, dt_));
        for (int lane = 1; lane < width; ++lane) copy_placement(o, lane);
    }
}

void ContactTable::write_placement(std::size_t obstacle, int lane,
                                   const ObstaclePlacement& placement)
{
    float* to = placements_[obstacle].data() + lane;
    for (const Vec3d& v :
         {placement.axes[0], placement.axes[1], placement.axes[2], placement.position,
          placement.spin[0], placement.spin[1], placement.spin[2], placement.drift}) {
        for (int axis = 0; axis < 3; ++axis, to += width_) *to = float(v[axis]);
    }
}

// From the lane before.
void ContactTable::copy_placement(std::size_t obstacle, int lane)
{
    float* number = placements_[obstacle].data() + lane;
    for (int i = 0; i < kPlacementNumbers; ++i, number += width_) *number = number[-1];
}

void ContactTable::place(std::span<const double> lane_time, const FrameWalk& walk)
{
    SPRINGTIME_ASSERT(lane_time.size() == std::size_t(width_));
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        const FrameMotion::Solid* solid = walk.solid(o);
        if (solid ? !walk.changes(*solid) : !obstacles_[o].moving()) continue;
        for (int lane = 0; lane < width_; ++lane) {
            if (lane > 0 && (solid || lane_time[lane] == lane_time[lane - 1])) {
                copy_placement(o, lane);
            } else {
                write_placement(o, lane,
                                solid ? walk.placement(*solid, dt_)
                                      : placement_of(obstacles_[o], lane_time[lane], dt_));
            }
        }
    }
}

ContactScene ContactTable::view() const
{
    return {static_cast<int>(views_.size()), views_.data(), float(thickness_), float(dt_)};
}

}  // namespace springtime
