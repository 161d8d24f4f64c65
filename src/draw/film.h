#pragma once

#include <memory>
#include <string>
#include <vector>

#include "springtime/report.h"

namespace springtime {

// Draws single frames of one motion: one camera, one scale, one size.
class FilmPainter {
  public:
    // All `frames` stay in view. The colours stand for stiffness; without `scale` there is no scale
    // of them, because the stiffness is not known.
    FilmPainter(const Cloth& cloth, const std::vector<State>& frames,
                const std::vector<Obstacle>& obstacles, int width, int height, bool scale);
    ~FilmPainter();

    // Several threads may draw at once. The time is that of the state.
    Picture picture(const State& frame) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace springtime
