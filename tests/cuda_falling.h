#pragma once

#include "backends/cuda/contact.h"

namespace springtime::cuda {

// Free particles of several lanes that nothing joins: [lane][x y z vx vy vz][particle] on the
// device. They fall for so many steps and meet obstacles after each.
struct FallingView {
    int lanes = 0, particles = 0;
    float* state = nullptr;
    Vec3<float> gravity{};
    float dt = 0;
};
void fall(const FallingView& falling, const ContactView& contact, int steps);

}  // namespace springtime::cuda
