// Where a run of a cloth begins that follows a motion.
#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

bool same_places(const std::vector<SheetPoint>& a, const std::vector<SheetPoint>& b)
{
    const auto near = [](double one, double other) {
        return std::abs(one - other) <= 1e-6 * std::max(1.0, std::abs(other));
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const SheetPoint& one, const SheetPoint& other) {
                          return near(one.u, other.u) && near(one.v, other.v);
                      });
}

namespace {

void check_same_sheet(const Sheet& theirs, const Sheet& ours, const std::string& source)
{
    const auto differ = [](double a, double b) { return !(std::abs(a - b) <= 0.01 * b); };
    if (!differ(ours.length, theirs.length) && !differ(ours.width, theirs.width)) return;
    throw Error(
        "{}: the motion of a sheet of {:.6g} m x {:.6g} m, but the cloth has {:.6g} m x {:.6g} m; "
        "a start needs the same sheet",
        source, theirs.length, theirs.width, ours.length, ours.width);
}

}  // namespace

MotionStart start_of(const Motion& motion, std::size_t rollout, const Cloth& cloth,
                     const std::string& source)
{
    const MotionHeader& header = motion.header;
    const std::size_t count = motion.frame_counts[rollout];
    const bool observed = header.captured && !header.velocities;
    if (!same_places(header.rest, cloth.rest)) {
        check_same_sheet(header.sheet, cloth.sheet, source);
        const Resampler resampler(cloth, header);
        const Rollout whole = motion.read(rollout, 0, count);
        return {resampler.apply(whole.state(0, header)),
                resampler.apply(whole, header.frame_interval()).handles, header.environment,
                header.dt, observed};
    }
    // A state that is not stored is estimated from the frames after it, and gaps may be long.
    const bool stored = header.velocities && !header.gaps;
    const Rollout first = motion.read(rollout, 0, stored ? 1 : count);
    return {first.state(0, header), first.handles, header.environment, header.dt, observed};
}

}  // namespace springtime
