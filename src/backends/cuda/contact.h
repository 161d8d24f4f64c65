#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "physics/contact.h"
#include "sim/contact_shape.h"
#include "springtime/vec3.h"

namespace springtime::cuda {

// All threads of a launch read the same numbers of an obstacle: in pieces of sixteen bytes, or
// these loads would take a good part of a step.
template <class T>
struct alignas(16) InPieces {
    T value;

    SPRINGTIME_HD T load() const
    {
#if defined(__CUDA_ARCH__)
        constexpr int kPieces = sizeof(InPieces) / sizeof(int4);
        int4 pieces[kPieces];
        for (int i = 0; i < kPieces; ++i) pieces[i] = reinterpret_cast<const int4*>(this)[i];
        T loaded;
        std::memcpy(&loaded, pieces, sizeof(T));
        return loaded;
#else
        return value;
#endif
    }
};

// Where an obstacle is after a step.
struct PlacementView {
    InPieces<ContactBounds> around;  // a box in the world, outside of which nothing is in contact
    InPieces<SolidPlacement<float>> solid;
};

struct ObstacleView {
    // After a step it is at the placement first + per_group * group of the lane + per_step * step.
    int first_placement, per_group, per_step;
    int first_shape, shape_count;
    float friction;

    friend bool operator==(const ObstacleView&, const ObstacleView&) = default;
};

// The obstacles of a run as kernels see them: pointers into the memory of the device.
struct ContactView {
    int obstacles = 0;
    float thickness = 0;  // [m]
    const InPieces<ObstacleView>* obstacle = nullptr;
    const InPieces<ContactBounds>* bounds = nullptr;  // of each obstacle, in its axes
    const InPieces<ContactShape>* shapes = nullptr;
    const PlacementView* placements = nullptr;
    const int* group = nullptr;  // by lane: those of one group began at the same time
};

// The eight values around a cell, as grid_surface() asks for them.
struct GridCorners {
    const ContactShape& shape;

    SPRINGTIME_HD CellCorners<float> operator()(const Vec3<float>& cell) const
    {
        const float* first =
            shape.distance + int(cell.x) + shape.row * int(cell.y) + shape.layer * int(cell.z);
        CellCorners<float> corners;
        for (int i = 0; i < 8; ++i) {
            corners.value[i] = first[(i & 1) + (i & 2 ? shape.row : 0) + (i & 4 ? shape.layer : 0)];
        }
        return corners;
    }
};

// The nearest shape, or `thickness` away where none is closer than that.
SPRINGTIME_HD inline Surface<float> nearest_surface(const ContactView& view,
                                                    const ObstacleView& obstacle,
                                                    const Vec3<float>& y)
{
    Surface<float> nearest{view.thickness, {}};
    for (int s = 0; s < obstacle.shape_count; ++s) {
        const ContactShape shape = view.shapes[obstacle.first_shape + s].load();
        const Surface<float> surface = contact_surface(shape, y, GridCorners{shape});
        if (surface.distance < nearest.distance) nearest = surface;
    }
    return nearest;
}

SPRINGTIME_HD inline void meet_obstacle(const ContactView& view, int index,
                                        const ObstacleView& obstacle, const PlacementView& placed,
                                        Vec3<float>& position, Vec3<float>& velocity, float dt)
{
    if (!within(placed.around.load(), position)) return;
    const SolidPlacement<float> solid = placed.solid.load();
    const Vec3<float> y = solid.to_own(position - solid.position);
    if (!within(view.bounds[index].load(), y)) return;
    const Surface<float> surface = nearest_surface(view, obstacle, y);
    if (!(surface.distance < view.thickness)) return;
    const Vec3<float> u = solid.to_own(velocity) - solid.velocity(y);
    const auto change = contact_change(surface, u, view.thickness, obstacle.friction, dt);
    position += solid.to_world(change.position);
    velocity += solid.to_world(change.velocity);
}

// Puts a free particle out of all obstacles after its step, one after the other. `step` counts from
// zero, the first step that the view was made for.
SPRINGTIME_HD inline void meet_obstacles(const ContactView& view, int lane, int step,
                                         Vec3<float>& position, Vec3<float>& velocity, float dt)
{
    for (int o = 0; o < view.obstacles; ++o) {
        const ObstacleView obstacle = view.obstacle[o].load();
        const int group = obstacle.per_group > 0 ? obstacle.per_group * view.group[lane] : 0;
        const PlacementView& placed =
            view.placements[obstacle.first_placement + group + obstacle.per_step * step];
        meet_obstacle(view, o, obstacle, placed, position, velocity, dt);
    }
}

}  // namespace springtime::cuda
