#pragma once

#include <vector>

#include "springtime/cloth.h"
#include "springtime/vec3.h"

namespace springtime {

// Positions and velocities of one cloth at one time. The y axis points up.
struct State {
    double time = 0;              // [s]
    std::vector<Vec3d> position;  // [m]
    std::vector<Vec3d> velocity;  // [m/s]
};

// The sheet at rest, level, centred on the origin: u along x, v along z.
State flat_state(const Cloth& cloth);

}  // namespace springtime
