#include "sim/contact_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/obstacle_placement.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A box along the axes.
struct Reach {
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

ContactShape shape_numbers(const PlaneShape& plane)
{
    const Vec3d normal = direction(plane.normal, Vec3d{0, 1, 0});
    return shape_of(ContactKind::plane, {normal}, {dot(normal, plane.point)});
}

ContactShape shape_numbers(const CapsuleShape& capsule)
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

ContactShape shape_numbers(const BoxShape& box)
{
    const Vec3d core = box.half - Vec3d{box.rounding, box.rounding, box.rounding};
    return shape_of(ContactKind::box, {box.center, core}, {box.rounding});
}

ContactShape shape_numbers(const GridShape& shape)
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

void add_reach(Reach& reach, const PlaneShape&, double)
{
    reach.add({}, kInfinity);
}

void add_reach(Reach& reach, const CapsuleShape& capsule, double thickness)
{
    reach.add(capsule.a, capsule.radius + thickness);
    reach.add(capsule.b, capsule.radius + thickness);
}

void add_reach(Reach& reach, const BoxShape& box, double thickness)
{
    reach.add(box.center - box.half, thickness);
    reach.add(box.center + box.half, thickness);
}

// A cell is closer than the thickness somewhere only if one of its corners is. Beyond the grid
// that ends where the way to its box has used up what the border lacks.
void add_reach(Reach& reach, const GridShape& shape, double thickness)
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
                reach.add(grid.origin + grid.spacing * Vec3d{double(x), double(y), double(z)},
                          grid.spacing + beyond);
            }
        }
    }
}

}  // namespace

std::vector<ContactShape> contact_shapes(const Obstacle& obstacle)
{
    std::vector<ContactShape> shapes;
    for (const Shape& shape : obstacle.shapes) {
        shapes.push_back(std::visit([](const auto& s) { return shape_numbers(s); }, shape));
    }
    return shapes;
}

ContactBounds contact_bounds(const Obstacle& obstacle, double thickness)
{
    Reach reach;
    for (const Shape& shape : obstacle.shapes) {
        std::visit([&](const auto& s) { add_reach(reach, s, thickness); }, shape);
    }
    ContactBounds result{};
    for (int axis = 0; axis < 3; ++axis) {
        // Wider by what float may round.
        const double slack = 1e-5 * (1 + std::abs(reach.low[axis]) + std::abs(reach.high[axis]));
        result.low[axis] = float(reach.low[axis] - slack);
        result.high[axis] = float(reach.high[axis] + slack);
    }
    return result;
}

}  // namespace springtime
