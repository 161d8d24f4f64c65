#pragma once

#include <cstddef>

#include "springtime/vec3.h"

namespace springtime {

// Between which keys of moving handles a time lies: `part` of the way from `before` to the next, 0
// where no other key counts.
struct KeyShare {
    std::size_t before = 0;
    double part = 0;
};

// Where a handle is at a time, and the velocity that took it there in the last step.
struct HandlePose {
    Vec3d position, velocity;
};

// The keys of handles (springtime/simulation.h) as a loop sees them, on the CPU or on a device: at
// least one. Linear between keys, constant before the first and after the last.
struct KeyPath {
    std::size_t keys = 0, handles = 0;
    const double* time = nullptr;
    const Vec3d* position = nullptr;  // key by key

    SPRINGTIME_HD KeyShare share(double at) const
    {
        std::size_t low = 0, high = keys;  // keys before `low` are not after `at`
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (at < time[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (low == 0) return {0, 0};
        if (low == keys) return {keys - 1, 0};
        return {low - 1, (at - time[low - 1]) / (time[low] - time[low - 1])};
    }
    SPRINGTIME_HD Vec3d place(std::size_t handle, double at) const
    {
        const KeyShare s = share(at);
        const Vec3d from = position[s.before * handles + handle];
        if (s.part == 0) return from;
        return from + s.part * (position[(s.before + 1) * handles + handle] - from);
    }
    SPRINGTIME_HD HandlePose pose(std::size_t handle, double at, double dt) const
    {
        const Vec3d now = place(handle, at);
        return {now, (1 / dt) * (now - place(handle, at - dt))};
    }
};

}  // namespace springtime
