#pragma once

#include <filesystem>

#include "springtime/cloth.h"
#include "springtime/motion.h"

namespace springtime::app {

// Writes what the baselines are told of a motion, unless it is there: positions, velocities and
// accelerations of all frames, which particles are held, the mesh of the source, mass, gravity and
// drag (docs/baselines.md).
void dump_motion(const std::filesystem::path& path, const Motion& motion, const Cloth& source);

}  // namespace springtime::app
