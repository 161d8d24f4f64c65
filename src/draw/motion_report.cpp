#include <algorithm>
#include <cmath>

#include "draw/value_range.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/report.h"

namespace springtime {

namespace {

// What the numbers of a motion span, over some or all of its rollouts.
struct MotionRanges {
    std::size_t rollouts_read = 0;
    ValueRange frames, handles, x, y, z, speed, acceleration;
    std::size_t places = 0, missing = 0;                          // landmarks in all frames
    std::vector<std::pair<std::size_t, std::size_t>> never_seen;  // rollout and landmark

    double gap_share() const { return places == 0 ? 0 : double(missing) / double(places); }
};

void count_gaps(MotionRanges& ranges, const Rollout& rollout, std::size_t number)
{
    for (std::size_t l = 0; l < rollout.landmark_count(); ++l) {
        std::size_t missing = 0;
        for (std::size_t f = 0; f < rollout.frame_count; ++f) missing += !rollout.seen(f, l);
        ranges.places += rollout.frame_count;
        ranges.missing += missing;
        if (missing == rollout.frame_count) ranges.never_seen.push_back({number, l});
    }
}

void add_rollout(MotionRanges& ranges, const Rollout& rollout, std::size_t number)
{
    ++ranges.rollouts_read;
    ranges.handles.add(double(rollout.handles.particles.size()));
    count_gaps(ranges, rollout, number);
    for (std::size_t i = 0; i < rollout.position.size(); i += 3) {
        if (std::isnan(rollout.position[i])) continue;
        ranges.x.add(rollout.position[i]);
        ranges.y.add(rollout.position[i + 1]);
        ranges.z.add(rollout.position[i + 2]);
    }
    const auto norms = [](const std::vector<float>& values, ValueRange& range) {
        for (std::size_t i = 0; i < values.size(); i += 3) {
            if (std::isnan(values[i])) continue;
            range.add(std::hypot(values[i], values[i + 1], values[i + 2]));
        }
    };
    norms(rollout.velocity, ranges.speed);
    norms(rollout.acceleration, ranges.acceleration);
}

// Of at most so many rollouts, evenly chosen.
MotionRanges ranges_of(const Motion& motion, std::size_t most, const Progress& progress)
{
    MotionRanges ranges;
    const std::size_t count = motion.rollout_count(), reads = std::min(count, most);
    for (const std::size_t frames : motion.frame_counts) ranges.frames.add(double(frames));
    for (std::size_t i = 0; i < reads; ++i) {
        const std::size_t number = i * count / reads;
        add_rollout(ranges, motion.read(number, 0, motion.frame_counts[number]), number);
        progress.report({"inspect", double(i + 1), double(reads), "rollouts", {}});
    }
    return ranges;
}

Result report_of(const Vec3d& v)
{
    return std::vector<double>{v.x, v.y, v.z};
}

Result report_never_seen(const MotionRanges& ranges)
{
    Result all = Result::list();
    for (const auto& [rollout, landmark] : ranges.never_seen) {
        all.push(std::vector<std::size_t>{rollout, landmark});
    }
    return all.first(8).unless_zero();
}

void add_ranges(Result& result, const MotionRanges& ranges)
{
    result.add("handles", report_of(ranges.handles, ""));
    result.add("x", report_of(ranges.x, "m"));
    result.add("y", report_of(ranges.y, "m")).label("y, up");
    result.add("z", report_of(ranges.z, "m"));
    result.add("speed", report_of(ranges.speed, "m/s"));
    result.add("acceleration", report_of(ranges.acceleration, "m/s^2"));
}

}  // namespace

Result report_of(const Motion& motion, std::size_t most, const Progress& progress)
{
    const MotionHeader& header = motion.header;
    const Environment& e = header.environment;
    const MotionRanges ranges = ranges_of(motion, most, progress);
    Result result = Result::tree();
    result.add("rollouts", motion.rollout_count());
    result.add("rollouts_planned", header.rollouts_planned).data_only();
    if (header.rollouts_planned > int(motion.rollout_count())) {
        result.say(fmt::format("of {} planned: it was interrupted and can be resumed",
                               header.rollouts_planned));
    }
    result.add("frames", std::size_t(ranges.frames.low)).label("frames of the shortest");
    result.add("frames_longest", std::size_t(ranges.frames.high)).label("frames of the longest");
    result.add("dt", header.dt, "s").label("time step");
    result.add("stride", header.stride).label("time steps per frame");
    result.add("landmarks", header.landmark_count());
    result.add("seed", header.seed);
    result.add("contact", header.contact);
    result.add("velocities", header.velocities).label("velocities stored");
    result.add("gaps", ranges.gap_share()).label("landmarks missing").percent();
    result.add("never_seen", report_never_seen(ranges)).label("never seen: rollout, landmark");
    result.add("gravity", report_of(e.gravity), "m/s^2");
    result.add("drag", e.drag, "1/s");
    result.add("wind", report_of(e.wind), "m/s");
    result.add("rollouts_read", ranges.rollouts_read).label("rollouts read for the ranges below");
    result.add("sheet", report_of(header.sheet));
    add_ranges(result, ranges);
    return result;
}

}  // namespace springtime
