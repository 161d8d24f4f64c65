#include "learn/meaning.h"

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "springtime/error.h"

namespace springtime {

void check_some_free(const Motion& motion, std::string_view purpose)
{
    const std::size_t landmarks = motion.header.landmark_count();
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        if (motion.read(r, 0, 1).handles.particles.size() < landmarks) return;
    }
    throw Error(
        "{}: all {} landmarks are held in all rollouts, so nothing moves freely; record motion in "
        "which most of the cloth is free",
        purpose, landmarks);
}

// A few frames of a few rollouts tell. Noise of standard deviation s takes two points √6 s apart.
void check_holds_together(const Motion& motion)
{
    constexpr std::size_t kMostRollouts = 8;
    constexpr double kTooFar = 2;  // diagonals of the sheet
    const Sheet& sheet = motion.header.sheet;
    const double diagonal = std::hypot(sheet.length, sheet.width);
    const std::size_t landmarks = motion.header.landmark_count();
    std::vector<double> distances;
    for (std::size_t r = 0; r < std::min(kMostRollouts, motion.rollout_count()); ++r) {
        const std::size_t frames = motion.frame_counts[r];
        for (const std::size_t frame : {std::size_t(0), frames / 2, frames - 1}) {
            const std::vector<float> x = motion.read(r, frame, 1).position;
            for (std::size_t p = 1; p < landmarks; ++p) {
                const double distance =
                    std::hypot(x[3 * p] - x[3 * p - 3], x[3 * p + 1] - x[3 * p - 2],
                               x[3 * p + 2] - x[3 * p - 1]);
                if (std::isfinite(distance)) distances.push_back(distance);  // else not seen
            }
        }
    }
    if (distances.empty()) return;
    const double median = quantile(distances, 0.5);
    if (median <= kTooFar * diagonal) return;
    throw Error(
        "learn: landmarks are {:.3g} m apart (median), but the sheet has a diagonal of {:.3g} m; "
        "this is noise, or the positions are not in metres",
        median, diagonal);
}

std::vector<std::string> doubts_of(const MotionHeader& header)
{
    constexpr double kLongForASimulation = 0.01;  // [s]
    std::vector<std::string> doubts;
    if (const auto doubt = doubt_about_mass(header.sheet)) doubts.push_back(*doubt);
    if (!header.captured && header.stride == 1 && header.dt >= kLongForASimulation) {
        doubts.push_back(fmt::format(
            "a frame at every time step of {:.4g} s looks like a capture, but the attribute "
            "captured is not 1, so {:.4g} s is taken for the time step of a simulation; set "
            "captured = 1 in the motion file if a camera saw it (docs/formats.md)",
            header.dt, header.dt));
    }
    return doubts;
}

}  // namespace springtime
