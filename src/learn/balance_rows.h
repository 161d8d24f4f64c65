#pragma once

#include <vector>

#include "learn/balance.h"
#include "learn/test_function.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

// Particles over a stretch of frames, each for itself; NaN where one is missing.
struct Tracks {
    // Of a rollout of the particles. Standing pins stay at the mean of where they are seen.
    explicit Tracks(const Rollout& rollout);

    std::size_t frame_count = 0, particle_count = 0;
    std::vector<Vec3d> position;  // [particle][frame] [m]
    std::vector<char> held;       // [particle]: handles

    const Vec3d* of(std::size_t particle) const { return position.data() + particle * frame_count; }
};

// Force form: the balance at every frame of a rollout of the particles with stored velocities and
// accelerations.
BalanceRows force_rows(const Cloth& cloth, const Environment& environment, const Rollout& rollout,
                       int threads);

// How every `step`-th frame is looked at: all of them, or only the even or the odd ones.
struct FrameChoice {
    std::size_t step = 1, first = 0;
};

// Frames that a window needs on each side of its middle.
std::size_t window_margin(const TestFunction& test, std::size_t frame_step);

// Weak form: the balance multiplied by a test function and summed over the chosen frames of a
// window. Derivatives of the motion are moved onto the test function:
//   sum phi m a = m sum phi'' x,   sum phi v = -sum phi' x,
// and for a dashpot that resists the rate of a measure q (the length of a spring, the angle of a
// hinge) with the slope g = dq/dx, with m the mean of q within the window,
//   sum phi g q' = -sum phi' (q - m) g - sum phi (q - m) g',
// so that the only derivative taken of noisy data, g', is multiplied by the small q - m. Velocities
// are those of the half step before, as the integrator has them.
BalanceRows weak_rows(const Cloth& cloth, const Environment& environment, const Tracks& tracks,
                      const TestFunction& test, const std::vector<std::size_t>& middles,
                      const FrameChoice& frames, double frame_interval, double step, int threads);

}  // namespace springtime
