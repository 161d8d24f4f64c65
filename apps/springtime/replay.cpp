#include "replay.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/generate.h"

namespace springtime::app {

namespace {

// To a thousandth of a millimetre, as files may round them.
bool same_points(const std::vector<SheetPoint>& a, const std::vector<SheetPoint>& b)
{
    const auto near = [](double one, double other) {
        return std::abs(one - other) <= 1e-6 * std::max(1.0, std::abs(other));
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const SheetPoint& one, const SheetPoint& other) {
                          return near(one.u, other.u) && near(one.v, other.v);
                      });
}

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

Start start_of(const Motion& motion, std::size_t rollout, const Cloth& cloth,
               const std::string& source)
{
    const MotionHeader& header = motion.header;
    const std::size_t count = motion.frame_counts[rollout];
    const bool observed = header.captured && !header.velocities;
    if (!same_points(header.rest, cloth.rest)) {
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

std::vector<std::size_t> picture_frames(std::size_t frame_count, std::size_t moments)
{
    std::vector<std::size_t> frames;
    for (std::size_t i = 0; i < moments; ++i) {
        const double part = double(i) / double(moments - 1);
        frames.push_back(std::size_t(std::round(part * part * double(frame_count - 1))));
    }
    return frames;
}

std::vector<std::size_t> Replay::frames() const
{
    return picture_frames(motion.frame_counts[rollout], moments);
}

DrawnCloth Replay::of_motion(const std::string& title, const Cloth& like) const
{
    const MotionHeader& header = motion.header;
    const Rollout whole = motion.read(rollout, 0, motion.frame_counts[rollout]);
    const bool same = same_points(header.rest, like.rest);
    DrawnCloth drawn{title, like, {}};
    for (const std::size_t frame : frames()) {
        const State seen = whole.state(frame, header);
        drawn.frames.push_back(same ? seen : Resampler(like, header).apply(seen));
        drawn.frames.back().time = double(frame) * header.frame_interval();
    }
    return drawn;
}

DrawnCloth Replay::of_cloth(const std::string& title, const Cloth& cloth, int substeps) const
{
    Start start = start_of(motion, rollout, cloth, source);
    if (start.observed) {
        project_onto_rest_lengths(start.state, cloth, start.handles.particles);
    }
    start.state.time = 0;
    Simulation simulation(cloth, start.state, start.handles,
                          {start.dt / substeps, start.environment, device});
    const Recording recording =
        record(simulation, motion.frame_counts[rollout], motion.header.stride * substeps);
    if (recording.blow_up) {
        throw Failure("{}", describe(*recording.blow_up, cloth, simulation.options()));
    }
    DrawnCloth drawn{title, cloth, {}};
    for (const std::size_t frame : frames()) {
        drawn.frames.push_back(recording.rollout.state(frame, motion.header.frame_interval()));
    }
    return drawn;
}

}  // namespace springtime::app
