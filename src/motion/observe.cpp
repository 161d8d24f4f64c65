#include "springtime/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Streams of their own: one seed also makes the starts of the rollouts, and noise must not change
// with the gaps.
constexpr std::uint64_t kNoiseStreams = 0x6E6F697365, kGapStreams = 0x67617073;

// Losing and finding a landmark is a chain of two states, frame by frame. The mean length of a gap
// is 1 / found frames, and the share of gaps lost / (lost + found) at every frame, the first
// included.
struct GapChain {
    double share, lost, found;  // the chances, from one frame to the next

    GapChain(const ObserveOptions& options, double frame_interval)
        : share(options.gaps), found(1 / std::max(1.0, options.gap_seconds / frame_interval))
    {
        lost = found * share / (1 - share);
    }
};

void lose(Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    const std::size_t first = 3 * (frame * rollout.landmark_count() + landmark);
    for (auto* values : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
        if (values->empty()) continue;
        std::fill_n(values->begin() + std::ptrdiff_t(first), 3,
                    std::numeric_limits<float>::quiet_NaN());
    }
}

void add_noise(Rollout& rollout, double noise, Random random)
{
    for (float& x : rollout.position) x = float(double(x) + noise * random.normal());
}

void add_gaps(Rollout& rollout, const GapChain& chain, Random random)
{
    for (std::size_t landmark = 0; landmark < rollout.landmark_count(); ++landmark) {
        bool missing = random.uniform() < chain.share;
        for (std::size_t frame = 0; frame < rollout.frame_count; ++frame) {
            if (missing) lose(rollout, frame, landmark);
            const double draw = random.uniform();
            missing = missing ? draw >= chain.found : draw < chain.lost;
        }
    }
}

}  // namespace

void set_frame_rate(double fps, double& dt, int& stride)
{
    constexpr double kMostSteps = 1e9, kRounding = 1e-9;  // 1/50 s is 20 ms, whatever 1/fps/dt says
    if (!(fps > 0) || !std::isfinite(fps)) {
        throw Error(Field{"fps"}, "{} frames a second; the rate must be positive", fps);
    }
    const double steps = std::max(1.0, std::ceil((1 - kRounding) / (fps * dt)));
    if (!(steps <= kMostSteps)) {
        throw Error(Field{"fps"},
                    "{} frames a second: a frame would be {} steps of {} s; raise "
                    "one of them",
                    fps, steps, dt);
    }
    stride = int(steps);
    dt = 1 / (fps * steps);
}

void check_observe(const ObserveOptions& options, const MotionHeader& header)
{
    const double most = std::hypot(header.sheet.length, header.sheet.width);
    if (!(options.noise >= 0 && options.noise <= most)) {
        throw Error(Field{"noise"},
                    "observe: noise of {} m on a sheet with a diagonal of {:.4g} m; 0 to that is "
                    "needed",
                    options.noise, most);
    }
    if (!(options.gaps >= 0 && options.gaps < 1)) {
        throw Error("observe: a share of gaps of {}; it must lie between 0 and 1", options.gaps);
    }
    if (!std::isfinite(options.gap_seconds) || !(options.gap_seconds > 0)) {
        throw Error("observe: gaps of {} s; their mean length must be positive",
                    options.gap_seconds);
    }
    if (options.noise > 0 && !options.positions_only) {
        throw Error(
            "observe: noise beside velocities that have none; ask for positions only, which is "
            "all a camera sees");
    }
    if (GapChain(options, header.frame_interval()).lost > 1) {
        throw Error(
            "observe: a share of gaps of {} needs gaps of {:.3g} s at least; lower the share or "
            "make them longer",
            options.gaps, header.frame_interval() * options.gaps / (1 - options.gaps));
    }
}

void observe_header(MotionHeader& header, const ObserveOptions& options)
{
    check_observe(options, header);
    if (options.positions_only) header.velocities = false;
    if (options.gaps > 0) header.gaps = true;
}

Rollout observe(const Rollout& rollout, const MotionHeader& header, const ObserveOptions& options,
                std::uint64_t seed, std::size_t rollout_number)
{
    check_observe(options, header);
    Rollout seen = rollout;
    if (options.positions_only) {
        seen.velocity.clear();
        seen.acceleration.clear();
    }
    if (options.noise > 0) {
        add_noise(seen, options.noise, Random::stream(seed ^ kNoiseStreams, rollout_number));
    }
    if (options.gaps > 0) {
        add_gaps(seen, GapChain(options, header.frame_interval()),
                 Random::stream(seed ^ kGapStreams, rollout_number));
    }
    return seen;
}

}  // namespace springtime
