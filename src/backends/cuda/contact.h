#pragma once

#include "physics/contact.h"
#include "springtime/vec3.h"

namespace springtime::cuda {

// The obstacles of a run as kernels see them.
struct ContactView {
    int obstacles = 0;
    float thickness = 0;  // [m]
};

// Puts a free particle out of all obstacles after its step; `step` counts from the start of the
// launch.
SPRINGTIME_HD inline void meet_obstacles(const ContactView&, int /*lane*/, int /*step*/,
                                         Vec3<float>& /*position*/, Vec3<float>& /*velocity*/,
                                         float /*dt*/)
{
}

}  // namespace springtime::cuda
