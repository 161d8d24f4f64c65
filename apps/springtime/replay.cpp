#include "replay.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/generate.h"

namespace springtime::app {

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
    const bool same = same_places(header.rest, like.rest);
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
    MotionStart start = start_of(motion, rollout, cloth, source);
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
