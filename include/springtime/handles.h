#pragma once

#include <string_view>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Particles whose path is prescribed. Without keys they stand still where the state has them.
struct Handles {
    std::vector<int> particles;
    std::vector<double> key_time;     // [s], ascending; empty for pins
    std::vector<Vec3d> key_position;  // [m], key_time.size() x particles.size(), key by key

    bool moving() const { return !key_time.empty(); }
    // Linear between keys, constant before the first and after the last. Needs moving().
    Vec3d position(std::size_t handle, double time) const;
};

// Throws Error naming `source` unless indices are distinct and in range and keys are complete.
void check_handles(const Handles& handles, std::size_t particle_count, std::string_view source);

}  // namespace springtime
