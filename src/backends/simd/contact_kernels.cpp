// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/contact_kernels.h"

#include "backends/simd/pack.h"
#include "sim/contact_shape.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

using Vec = Vec3<Pack>;

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

// Vectors of ContactObstacle::placement for each lane.
SolidPlacement<Pack> load_placement(const float* numbers)
{
    const auto take = [numbers](int vector) {
        const float* from = numbers + 3 * vector * kWidth;
        return Vec{Pack::load(from), Pack::load(from + kWidth), Pack::load(from + 2 * kWidth)};
    };
    return {{take(0), take(1), take(2)}, take(3), {take(4), take(5), take(6)}, take(7)};
}

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

// The nearest shape, or `thickness` away where none is closer than that.
Surface<Pack> nearest_surface(const ContactObstacle& obstacle, const Vec& y, Pack thickness)
{
    Surface<Pack> nearest{thickness, {}};
    for (int s = 0; s < obstacle.shape_count; ++s) {
        const ContactShape& shape = obstacle.shapes[s];
        const Surface<Pack> surface = contact_surface(shape, y, CornerGather{shape});
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
    const SolidPlacement<Pack> placement = load_placement(obstacle.placement);
    const ContactBounds bounds = obstacle.bounds;
    const Pack friction(obstacle.friction);
    for (long group = 0; group < particles.group_count; ++group) {
        const long here = group * particles.stride;
        const Vec y = placement.to_own(load_group(particles.position, here) - placement.position);
        const Mask free =
            Pack::load(particles.mobility + group * particles.mobility_stride) > Pack(0.0f);
        const Mask near = within(bounds, y) & free;
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
