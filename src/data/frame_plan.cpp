#include "data/frame_plan.h"

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr std::size_t kLeastFrames = 3;  // a quadratic, from which velocities are estimated

// Where a run of frames that all repeat the one before them ends.
std::size_t end_of_run(const FrameStamps& stamps, std::size_t first)
{
    std::size_t end = first;
    while (end < stamps.repeated.size() && stamps.repeated[end]) ++end;
    return end;
}

void keep_frames(const FrameStamps& stamps, FramePlan& plan)
{
    constexpr double kRest = 0.5;  // [s]
    const std::vector<double>& time = stamps.time;
    plan.kept.assign(time.size(), true);
    double last = -HUGE_VAL;
    for (std::size_t i = 0; i < time.size(); ++i) {
        if (stamps.repeated[i] && (i == 0 || !stamps.repeated[i - 1])) {
            const std::size_t end = end_of_run(stamps, i);
            const bool rests = time[end - 1] - time[i > 0 ? i - 1 : 0] >= kRest;
            for (std::size_t f = i; f < end && !rests; ++f) plan.kept[f] = false;
        }
        const bool backward = !(time[i] > last);
        plan.duplicates += !plan.kept[i];
        plan.backward += plan.kept[i] && backward;
        if (backward) plan.kept[i] = false;
        if (plan.kept[i]) last = time[i];
    }
}

// Frames at both ends that show nothing.
void trim(const FrameStamps& stamps, FramePlan& plan)
{
    const auto strike = [&](std::size_t i) {
        plan.trimmed += plan.kept[i];
        plan.kept[i] = false;
    };
    std::size_t first = 0, end = stamps.empty.size();
    while (first < end && stamps.empty[first]) strike(first++);
    while (end > first && stamps.empty[end - 1]) strike(--end);
}

// What time stamps cannot be.
void check_times(const FrameStamps& stamps, const FramePlan& plan, const std::vector<double>& kept,
                 bool prescribed, std::string_view source)
{
    if (plan.backward > 2 && 20 * plan.backward > stamps.time.size()) {
        std::size_t at = 1;
        while (at + 1 < stamps.time.size() && stamps.time[at] > stamps.time[at - 1]) ++at;
        throw Error(
            "{}: time does not go on in {} of {} frames, first from {} s to {} s in frame {}; mend "
            "the "
            "stamps, or cut the file there into takes",
            source, plan.backward, stamps.time.size(), stamps.time[at - 1], stamps.time[at], at);
    }
    const double frames = (kept.back() - kept.front()) / plan.interval + 1;
    if (frames > 3 * double(kept.size()) + 100 && !prescribed) {
        std::size_t at = 1;
        for (std::size_t i = 1; i < kept.size(); ++i) {
            if (kept[i] - kept[i - 1] > kept[at] - kept[at - 1]) at = i;
        }
        throw Error(
            "{}: {:.0f} of {:.0f} frames would be absent: the time goes from {} s to {} s between "
            "two of them; mend that stamp, or cut the file there into takes",
            source, frames - double(kept.size()), frames, kept[at - 1], kept[at]);
    }
    const double rate = 1 / plan.interval;
    if ((rate < 1 || rate > 20000) && !prescribed) {
        throw Error(
            "{}: {:.3g} frames per second by its times, which no camera has; are they in "
            "milliseconds? Name the unit in the header (time [ms]), or give --fps",
            source, rate);
    }
}

// Usual time between frames, then the mean with lost frames counted.
double mean_interval(const std::vector<double>& time)
{
    std::vector<double> steps;
    for (std::size_t i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
    const double usual = quantile(steps, 0.5);
    double count = 0;
    for (const double step : steps) count += std::max(1.0, std::round(step / usual));
    return (time.back() - time.front()) / count;
}

// What stamps are multiples of, when they were rounded to decimals. [s]
double rounding_of(const std::vector<double>& time)
{
    for (const double unit : {1e-2, 1e-3, 1e-4, 1e-5}) {
        const bool all = std::all_of(time.begin(), time.end(), [&](double t) {
            return std::abs(t / unit - std::round(t / unit)) < 1e-6;
        });
        if (all) return unit;
    }
    return 0;
}

}  // namespace

std::vector<double> kept_times(const FrameStamps& stamps, const FramePlan& plan)
{
    std::vector<double> time;
    for (std::size_t i = 0; i < stamps.time.size(); ++i) {
        if (plan.kept[i]) time.push_back(stamps.time[i]);
    }
    return time;
}

FramePlan plan_frames(const FrameStamps& stamps, double interval, std::string_view source)
{
    constexpr double kEven = 0.02, kMostFrames = 1e9;
    FramePlan plan;
    keep_frames(stamps, plan);
    trim(stamps, plan);
    const std::vector<double> time = kept_times(stamps, plan);
    if (stamps.time.size() < kLeastFrames) {
        throw Error("{}: {} frame{}; motion needs at least {}", source, stamps.time.size(),
                    stamps.time.size() == 1 ? " only" : "s", kLeastFrames);
    }
    if (time.size() < kLeastFrames) {
        throw Error(
            "{}: {} of {} frames repeat the one before, {} come no later than it and {} show "
            "nothing; at least {} others are needed",
            source, plan.duplicates, stamps.time.size(), plan.backward, plan.trimmed, kLeastFrames);
    }
    plan.interval = interval > 0 ? interval : mean_interval(time);
    plan.start = time.front();
    check_times(stamps, plan, time, interval > 0, source);
    const double frames = std::floor((time.back() - plan.start) / plan.interval + 0.5) + 1;
    if (!(frames < kMostFrames)) {
        throw Error("{}: {} s at frames of {} s are {} frames; check the time stamps", source,
                    time.back() - plan.start, plan.interval, frames);
    }
    double before = -1;
    for (const double t : time) {
        const double number = (t - plan.start) / plan.interval, nearest = std::round(number);
        plan.jitter = std::max(plan.jitter, std::abs(number - nearest));
        plan.resampled = plan.resampled || nearest <= before;  // two for one
        before = nearest;
    }
    const double allowed = std::max(kEven, 0.51 * rounding_of(time) / plan.interval);
    plan.resampled = plan.resampled || plan.jitter > std::min(allowed, 0.2);
    plan.frame_count = std::size_t(frames);
    if (plan.resampled) {  // the last one must not lie beyond the last of the file
        plan.frame_count =
            std::size_t(std::floor((time.back() - plan.start) / plan.interval + 1e-6)) + 1;
    } else {
        plan.lost = plan.frame_count - time.size();
    }
    return plan;
}

}  // namespace springtime
