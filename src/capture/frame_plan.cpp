#include "capture/frame_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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
    const auto drop = [&](std::size_t i) {
        plan.trimmed += plan.kept[i];
        plan.kept[i] = false;
    };
    std::size_t first = 0, end = stamps.empty.size();
    while (first < end && stamps.empty[first]) drop(first++);
    while (end > first && stamps.empty[end - 1]) drop(--end);
}

// Time may stand still or go back now and then, not more.
void check_order(const FrameStamps& stamps, const FramePlan& plan, std::string_view source)
{
    if (plan.backward <= 2 || 20 * plan.backward <= stamps.time.size()) return;
    const auto same = [&](double time) { return time == stamps.time.front(); };
    if (std::all_of(stamps.time.begin(), stamps.time.end(), same)) {
        throw Error(
            "{}: time stands still at {} s; remove that column and give `frame_rate`, or correct "
            "the "
            "stamps",
            source, stamps.time.front());
    }
    if (std::is_sorted(stamps.time.rbegin(), stamps.time.rend())) {
        throw Error(
            "{}: time runs backwards throughout, from {} s to {} s; sort the frames by time",
            source, stamps.time.front(), stamps.time.back());
    }
    std::size_t at = 1;
    while (at + 1 < stamps.time.size() && stamps.time[at] > stamps.time[at - 1]) ++at;
    throw Error(
        "{}: time does not go on in {} of {} frames, first from {} s to {} s in frame {}; correct "
        "the "
        "stamps, or cut the file there into takes",
        source, plan.backward, stamps.time.size(), stamps.time[at - 1], stamps.time[at], at);
}

// The two frames that are furthest apart, when most would be absent.
void check_absent(const FrameStamps& stamps, const FramePlan& plan, const std::vector<double>& kept,
                  std::string_view source)
{
    const double frames = (kept.back() - kept.front()) / plan.file_interval + 1;
    if (frames <= 3 * double(kept.size()) + 100) return;
    std::size_t at = 1;
    for (std::size_t i = 1; i < kept.size(); ++i) {
        if (kept[i] - kept[i - 1] > kept[at] - kept[at - 1]) at = i;
    }
    const std::string absent = fmt::format("{}: {:.0f} of {:.0f} frames would be absent", source,
                                           frames - double(kept.size()), frames);
    if (stamps.interval > 0) {
        throw Error(
            "{}: the number goes from {:.0f} to {:.0f} (from the first) between two of them; "
            "number frames one by one, or cut them there into takes",
            absent, kept[at - 1] / plan.file_interval, kept[at] / plan.file_interval);
    }
    throw Error(
        "{}: the time goes from {} s to {} s between two of them; correct that stamp, or cut the "
        "file "
        "there into takes",
        absent, kept[at - 1], kept[at]);
}

// Rates that no camera has. A simulation may have a higher one, and is thinned out then; one frame
// in seconds is no source of many.
void check_rate(const FramePlan& plan, bool prescribed, std::string_view source)
{
    const double rate = 1 / plan.file_interval;
    const bool slow = rate < 1 && (!prescribed || plan.interval < plan.file_interval / 2);
    if (!slow && (rate <= 20000 || prescribed)) return;
    throw Error(
        "{}: {:.3g} frames per second by its times, which no camera has; are they in milliseconds? "
        "Name the unit in the header (time [ms]), or leave the times out and give `frame_rate`",
        source, rate);
}

// The interval that fits best when lost frames are counted (least squares). Rounded stamps are all
// off, so what counts frames is the mean of the usual steps, not any one of them.
double fitted_interval(const std::vector<double>& time)
{
    std::vector<double> steps;
    for (std::size_t i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
    const double median = quantile(steps, 0.5);
    double sum = 0, few = 0;
    for (const double step : steps) {
        if (step > 1.5 * median) continue;
        sum += step;
        ++few;
    }
    const double usual = sum / few;  // half of all steps are no longer than the median
    std::vector<double> number = {0};
    for (const double step : steps) {
        number.push_back(number.back() + std::max(1.0, std::round(step / usual)));
    }
    const double count = double(time.size());
    const double mean_number = std::accumulate(number.begin(), number.end(), 0.0) / count;
    const double mean_time = std::accumulate(time.begin(), time.end(), 0.0) / count;
    double both = 0, square = 0;
    for (std::size_t i = 0; i < time.size(); ++i) {
        both += (number[i] - mean_number) * (time[i] - mean_time);
        square += (number[i] - mean_number) * (number[i] - mean_number);
    }
    return both / square;
}

// The interval of frames that come so unevenly that lost ones cannot be counted: the mean step,
// without those during which several were lost.
double mean_interval(const std::vector<double>& time)
{
    constexpr double kLost = 3;  // medians
    std::vector<double> steps;
    for (std::size_t i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
    const double most = kLost * quantile(steps, 0.5);
    double sum = 0, count = 0;
    for (const double step : steps) {
        if (step > most) continue;
        sum += step;
        ++count;
    }
    return sum / count;
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

// How far frames are from multiples of `interval` at most when the file counts them by its own one,
// in intervals of the file. Infinite when two count as one.
double most_off(const std::vector<double>& time, double own, double interval)
{
    double most = 0, before = -1;
    for (const double t : time) {
        const double since = t - time.front(), number = std::round(since / own);
        if (number <= before) return HUGE_VAL;
        before = number;
        most = std::max(most, std::abs(since - number * interval) / own);
    }
    return most;
}

// What counts as even, in intervals: a fiftieth, or what rounding of the first and of another stamp
// explains.
double even_limit(const std::vector<double>& time, double interval)
{
    constexpr double kEven = 0.02, kMost = 0.2;
    return std::min(kMost, std::max(kEven, 1.02 * rounding_of(time) / interval));
}

// Whether frames stay as they are, and if not, why.
void compare_times(const std::vector<double>& time, FramePlan& plan)
{
    const double span = time.back() - time.front(), even = even_limit(time, plan.file_interval);
    // In frames at the end. Below one half both intervals count frames alike, and what is
    // prescribed is known better than what is fitted.
    const double drift = std::abs(plan.interval - plan.file_interval) * span /
                         (plan.file_interval * plan.file_interval);
    if (drift < 0.5 && most_off(time, plan.interval, plan.interval) <= even) {
        plan.file_interval = plan.interval;
    }
    const double own = plan.file_interval, off = most_off(time, own, own);
    plan.jitter = std::min(off, 0.5);
    plan.uneven = off > even;
    plan.another_rate =
        plan.uneven ? drift > 2 * plan.jitter : most_off(time, own, plan.interval) > even;
    plan.resampled = plan.uneven || plan.another_rate;
    // Uneven frames that follow each other may be nearly two intervals apart.
    plan.longest_step = (plan.uneven ? 2 : 1.5) * own;
}

void count_frames(const std::vector<double>& time, FramePlan& plan, std::string_view source)
{
    constexpr double kMostFrames = 1e9;
    const double span = time.back() - plan.start;
    // The last one must not lie beyond the last of the file when it lies between frames.
    const double slack = plan.resampled ? kOnTime * plan.file_interval : 0.5 * plan.interval;
    const double frames = std::floor((span + slack) / plan.interval) + 1;
    if (!(frames < kMostFrames)) {
        throw Error("{}: {} s at frames of {} s are {} frames; check the time stamps", source, span,
                    plan.interval, frames);
    }
    if (frames < double(kLeastFrames)) {
        throw Error("{}: {} s at {:.6g} frames per second are {:.0f}; motion needs at least {}",
                    source, span, 1 / plan.interval, frames, kLeastFrames);
    }
    plan.frame_count = std::size_t(frames);
}

// How many frames to be made lie where the file lost some.
void count_lost(const std::vector<double>& time, FramePlan& plan)
{
    if (!plan.resampled) {
        plan.lost = plan.frame_count - time.size();
        return;
    }
    const double slack = kOnTime * plan.file_interval;
    for (std::size_t i = 1; i < time.size(); ++i) {
        if (time[i] - time[i - 1] <= plan.longest_step) continue;
        const double until = std::ceil((time[i] - slack - plan.start) / plan.interval);
        plan.lost +=
            std::size_t(until - std::floor((time[i - 1] + slack - plan.start) / plan.interval) - 1);
    }
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
    FramePlan plan;
    keep_frames(stamps, plan);
    trim(stamps, plan);
    const std::vector<double> time = kept_times(stamps, plan);
    if (stamps.time.size() < kLeastFrames) {
        throw Error("{}: {} frame{}; motion needs at least {}", source, stamps.time.size(),
                    stamps.time.size() == 1 ? " only" : "s", kLeastFrames);
    }
    check_order(stamps, plan, source);
    if (time.size() < kLeastFrames) {
        throw Error(
            "{}: {} of {} frames repeat the one before, {} come no later than it and {} show "
            "nothing; at least {} others are needed",
            source, plan.duplicates, stamps.time.size(), plan.backward, plan.trimmed, kLeastFrames);
    }
    constexpr double kUncounted = 0.25;  // intervals; half of one could be the next frame
    plan.file_interval = stamps.interval > 0 ? stamps.interval : fitted_interval(time);
    if (!(stamps.interval > 0) &&
        most_off(time, plan.file_interval, plan.file_interval) > kUncounted) {
        plan.file_interval = mean_interval(time);
    }
    plan.interval = interval > 0 ? interval : plan.file_interval;
    plan.start = time.front();
    check_absent(stamps, plan, time, source);
    check_rate(plan, interval > 0, source);
    compare_times(time, plan);
    count_frames(time, plan, source);
    count_lost(time, plan);
    return plan;
}

}  // namespace springtime
