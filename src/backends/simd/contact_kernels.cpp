// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/contact_kernels.h"

#include "backends/simd/pack.h"
#include "physics/contact.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

using Vec = Vec3<Pack>;

Vec spread(const float* numbers)
{
    return {Pack(numbers[0]), Pack(numbers[1]), Pack(numbers[2])};
}

Vec load_group(float* const (&arrays)[3], long index)
{
    return {Pack::load(arrays[0] + index), Pack::load(arrays[1] + index),
            Pack::load(arrays[2] + index)};
}

void add_to_group(float* const (&arrays)[3], long index, const Vec& change)
{
    for (int axis = 0; axis < 3; ++axis) {
        (Pack::load(arrays[axis] + index) + change[axis]).store(arrays[axis] + index);
    }
}

// ObstaclePlacement, for each lane.
struct Placement {
    Vec axes[3], position, spin[3], drift;

    explicit Placement(const float* numbers)
        : axes{take(numbers, 0), take(numbers, 1), take(numbers, 2)},
          position(take(numbers, 3)),
          spin{take(numbers, 4), take(numbers, 5), take(numbers, 6)},
          drift(take(numbers, 7))
    {
    }
    static Vec take(const float* numbers, int vector)
    {
        const float* from = numbers + 3 * vector * kWidth;
        return {Pack::load(from), Pack::load(from + kWidth), Pack::load(from + 2 * kWidth)};
    }
    Vec to_own(const Vec& a) const { return {dot(axes[0], a), dot(axes[1], a), dot(axes[2], a)}; }
    Vec to_world(const Vec& a) const { return a.x * axes[0] + a.y * axes[1] + a.z * axes[2]; }
    Vec velocity(const Vec& y) const
    {
        return drift + Vec{dot(spin[0], y), dot(spin[1], y), dot(spin[2], y)};
    }
};

// The eight values around a cell of each lane, as grid_surface asks for them.
struct CornerGather {
    const ContactShape& shape;

    CellCorners<Pack> operator()(const Vec& cell) const
    {
        const auto whole = [](Pack a) { return __builtin_convertvector(a.lanes, Mask::Lanes); };
        const Mask::Lanes first =
            whole(cell.x) + shape.row * whole(cell.y) + shape.layer * whole(cell.z);
        CellCorners<Pack> corners;
        for (int i = 0; i < 8; ++i) {
            const int offset = (i & 1) + (i & 2 ? shape.row : 0) + (i & 4 ? shape.layer : 0);
            corners.value[i] = gather(shape.distance + offset, first);
        }
        return corners;
    }
};

Surface<Pack> surface_at(const ContactShape& shape, const Vec& y)
{
    const float* n = shape.numbers;
    switch (shape.kind) {
        case ContactKind::plane:
            return plane_surface(y, spread(n), Pack(n[3]));
        case ContactKind::capsule:
            return capsule_surface(y, spread(n), spread(n + 3), Pack(n[6]), spread(n + 7),
                                   Pack(n[10]));
        case ContactKind::box:
            return box_surface(y, spread(n), spread(n + 3), Pack(n[6]));
        case ContactKind::grid:
            return grid_surface(y, {spread(n), spread(n + 3), Pack(n[6]), Pack(n[7])},
                                CornerGather{shape});
    }
    return {};
}

Mask within(const Vec& y, const Vec& low, const Vec& high)
{
    return (y.x > low.x) & (y.x < high.x) & (y.y > low.y) & (y.y < high.y) & (y.z > low.z) &
           (y.z < high.z);
}

// The nearest shape, or `thickness` away where none is closer than that.
Surface<Pack> nearest_surface(const ContactObstacle& obstacle, const Vec& y, Pack thickness)
{
    Surface<Pack> nearest{thickness, {}};
    for (int s = 0; s < obstacle.shape_count; ++s) {
        const Surface<Pack> surface = surface_at(obstacle.shapes[s], y);
        const Mask closer = surface.distance < nearest.distance;
        if (!closer.any()) continue;
        nearest.distance = choose(closer, surface.distance, nearest.distance);
        nearest.normal = choose(closer, surface.normal, nearest.normal);
    }
    return nearest;
}

void meet_obstacle(const ContactObstacle& obstacle, Pack thickness, Pack dt,
                   const ContactParticles& particles)
{
    const Placement placement(obstacle.placement);
    const Vec low = spread(obstacle.low), high = spread(obstacle.high);
    const Pack friction(obstacle.friction);
    for (long group = 0; group < particles.group_count; ++group) {
        const long here = group * particles.stride;
        const Vec y = placement.to_own(load_group(particles.position, here) - placement.position);
        const Mask free =
            Pack::load(particles.mobility + group * particles.mobility_stride) > Pack(0.0f);
        const Mask near = within(y, low, high) & free;
        if (!near.any()) continue;
        const Surface<Pack> surface = nearest_surface(obstacle, y, thickness);
        const Mask touches = (surface.distance < thickness) & near;
        if (!touches.any()) continue;
        const Vec u =
            placement.to_own(load_group(particles.velocity, here)) - placement.velocity(y);
        const auto change = contact_change(surface, u, thickness, friction, dt);
        const Vec none{};
        add_to_group(particles.position, here,
                     choose(touches, placement.to_world(change.position), none));
        add_to_group(particles.velocity, here,
                     choose(touches, placement.to_world(change.velocity), none));
    }
}

}  // namespace

void meet_obstacles(const ContactScene& scene, const ContactParticles& particles)
{
    for (int o = 0; o < scene.obstacle_count; ++o) {
        meet_obstacle(scene.obstacles[o], Pack(scene.thickness), Pack(scene.dt), particles);
    }
}

}  // namespace springtime::SPRINGTIME_ISA
