#pragma once

#include "backends/simd/kernels.h"

// Compiled once per instruction set, like pack.h.
namespace springtime::SPRINGTIME_ISA {

void meet_obstacles(const ContactScene& scene, const ContactParticles& particles);

}  // namespace springtime::SPRINGTIME_ISA
