// Motion that lies in memory.
#include <algorithm>
#include <cmath>
#include <memory>

#include "motion/bridge_gaps.h"
#include "motion/point_frame.h"
#include "motion/rollouts_in_memory.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

void check_landmarks(const std::vector<int>& held, std::size_t count, const char* field)
{
    for (const int landmark : held) {
        if (landmark >= 0 && std::size_t(landmark) < count) continue;
        throw Error(Field{field}, "motion: landmark {} of {} is {}; count from 0", landmark, count,
                    field);
    }
}

MotionHeader header_of(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                       double frames_per_second, const CaptureOptions& options)
{
    constexpr double kMostSteps = 1e6;
    check_sheet(sheet);
    check_environment(options.environment);
    check_landmarks(options.pinned, rest.size(), "pinned");
    check_landmarks(options.driven, rest.size(), "driven");
    if (!std::isfinite(frames_per_second) || !(frames_per_second > 0)) {
        throw Error(Field{"frames_per_second"}, "motion: {} frames a second; give a positive rate",
                    frames_per_second);
    }
    const double interval = 1 / frames_per_second;
    const double steps = std::max(1.0, std::ceil(interval / options.longest_step - 1e-9));
    if (!(options.longest_step > 0) || !(steps < kMostSteps)) {
        throw Error(Field{"longest_step"}, "motion: steps of {} s for frames of {} s; raise them",
                    options.longest_step, interval);
    }
    MotionHeader header;
    header.sheet = sheet;
    header.rest = rest;
    header.stride = int(steps);
    header.dt = interval / steps;
    header.environment = options.environment;
    header.velocities = false;
    header.captured = true;
    return header;
}

// Where a landmark was seen, frame by frame, on straight lines through gaps.
std::vector<Vec3d> bridged_path(const Rollout& rollout, int landmark)
{
    std::vector<Vec3d> path;
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        const float* x =
            &rollout.position[3 * (f * rollout.landmark_count() + std::size_t(landmark))];
        path.push_back({x[0], x[1], x[2]});
    }
    if (bridge_gaps(path)) return path;
    throw Error(Field{"driven"}, "motion: landmark {} is driven, but no frame shows it", landmark);
}

// A pin among moving handles stands at the mean of where it was seen.
Vec3d mean_place(const Rollout& rollout, int landmark)
{
    Rollout alone = rollout;
    alone.handles = {{landmark}, {}, {}};
    return alone.state(0, 1).position[std::size_t(landmark)];
}

Handles handles_of(const Rollout& rollout, double interval, const CaptureOptions& options)
{
    Handles handles;
    handles.particles = options.pinned;
    handles.particles.insert(handles.particles.end(), options.driven.begin(), options.driven.end());
    check_handles(handles, rollout.landmark_count(), "motion");
    if (options.driven.empty()) return handles;
    std::vector<std::vector<Vec3d>> paths;
    for (const int landmark : options.pinned) {
        paths.emplace_back(rollout.frame_count, mean_place(rollout, landmark));
    }
    for (const int landmark : options.driven) paths.push_back(bridged_path(rollout, landmark));
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        handles.key_time.push_back(double(f) * interval);
        for (const auto& path : paths) handles.key_position.push_back(path[f]);
    }
    return handles;
}

// A landmark that is missing is NaN in all three coordinates.
void mark_missing(std::vector<float>& position, bool& gaps)
{
    for (std::size_t i = 0; i + 2 < position.size(); i += 3) {
        const auto first = position.begin() + std::ptrdiff_t(i);
        if (std::all_of(first, first + 3, [](float x) { return std::isfinite(x); })) continue;
        std::fill(first, first + 3, float(kMissingPoint.x));
        gaps = true;
    }
}

template <class Real>
Motion motion_of(const Sheet& sheet, const std::vector<SheetPoint>& rest, double frames_per_second,
                 const std::vector<std::span<const Real>>& recordings,
                 const CaptureOptions& options)
{
    MotionHeader header = header_of(sheet, rest, frames_per_second, options);
    header.rollouts_planned = int(recordings.size());
    const std::size_t row = 3 * rest.size();
    std::vector<Rollout> rollouts;
    for (const std::span<const Real>& positions : recordings) {
        if (row == 0 || positions.empty() || positions.size() % row != 0) {
            throw Error(Field{"positions"},
                        "motion: {} numbers, but frames of {} landmarks have {} each; give whole "
                        "frames",
                        positions.size(), rest.size(), row);
        }
        Rollout& rollout = rollouts.emplace_back();
        rollout.frame_count = positions.size() / row;
        rollout.position.assign(positions.begin(), positions.end());
        mark_missing(rollout.position, header.gaps);
        rollout.handles = handles_of(rollout, header.frame_interval(), options);
    }
    return Motion::from_rollouts(header, std::move(rollouts));
}

}  // namespace

Motion Motion::from_rollouts(const MotionHeader& header, std::vector<Rollout> rollouts)
{
    Motion motion;
    motion.header = header;
    for (const Rollout& rollout : rollouts) motion.frame_counts.push_back(rollout.frame_count);
    motion.read = RolloutsInMemory{
        std::make_shared<const std::vector<Rollout>>(std::move(rollouts)), header.frame_interval()};
    return motion;
}

Motion Motion::from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                           double frames_per_second, std::span<const float> positions,
                           const CaptureOptions& options)
{
    return motion_of<float>(sheet, rest, frames_per_second, {positions}, options);
}

Motion Motion::from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                           double frames_per_second, std::span<const double> positions,
                           const CaptureOptions& options)
{
    return motion_of<double>(sheet, rest, frames_per_second, {positions}, options);
}

Motion Motion::from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                           double frames_per_second,
                           const std::vector<std::span<const float>>& recordings,
                           const CaptureOptions& options)
{
    return motion_of<float>(sheet, rest, frames_per_second, recordings, options);
}

Motion Motion::from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                           double frames_per_second,
                           const std::vector<std::span<const double>>& recordings,
                           const CaptureOptions& options)
{
    return motion_of<double>(sheet, rest, frames_per_second, recordings, options);
}

}  // namespace springtime
