#pragma once

#include <string>
#include <vector>

#include "springtime/motion.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

namespace springtime::app {

// A motion and cloths that run from its start, a few moments each, ready to be drawn. The motion is
// shown at the particles of `like`.
struct Replay {
    const Motion& motion;
    std::size_t rollout = 0;
    std::size_t moments = 5;
    Device device = Device::automatic;
    std::string source;  // named in messages

    DrawnCloth of_motion(const std::string& title, const Cloth& like) const;
    DrawnCloth of_cloth(const std::string& title, const Cloth& cloth, int substeps) const;

  private:
    std::vector<std::size_t> frames() const;
};

// Frames of a rollout, closer together at the beginning, where most happens.
std::vector<std::size_t> picture_frames(std::size_t frame_count, std::size_t moments);

}  // namespace springtime::app
