#pragma once

#include "springtime/vec3.h"

namespace springtime {

// Acts on mass, not on particle count, so it means the same at every resolution.
struct Environment {
    Vec3d gravity{0, -9.81, 0};  // [m/s^2]
    double drag = 1.0;           // [1/s]: acceleration drag (wind - v)
    Vec3d wind{};                // velocity of the air [m/s]
};

// Throws Error unless all is finite and the drag not negative.
void check_environment(const Environment& environment);

}  // namespace springtime
