#include "springtime/motion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

Vec3d vector_at(const std::vector<float>& values, std::size_t index)
{
    return {values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

bool is_whole(const Vec3d& a)
{
    return !std::isnan(a.x) && !std::isnan(a.y) && !std::isnan(a.z);
}

// The frames around one moment that show a landmark. Times count in frames from that moment.
struct NearFrames {
    std::size_t count = 0;
    std::array<double, Rollout::kStateFrames> time{};
    std::array<Vec3d, Rollout::kStateFrames> position{};
};

// The nearest ones, of two as near the earlier one first.
NearFrames near_frames(const Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    const std::size_t landmarks = rollout.landmark_count(), last = rollout.frame_count - 1;
    NearFrames near;
    const auto take = [&](std::size_t f) {
        if (near.count == Rollout::kStateFrames || !rollout.seen(f, landmark)) return;
        near.time[near.count] = double(f) - double(frame);
        near.position[near.count++] = vector_at(rollout.position, f * landmarks + landmark);
    };
    take(frame);
    for (std::size_t away = 1; away <= std::max(frame, last - frame); ++away) {
        if (near.count == Rollout::kStateFrames) break;
        if (away <= frame) take(frame - away);
        if (away <= last - frame) take(frame + away);
    }
    return near;
}

struct Moment {
    Vec3d position, velocity;
};

// Least squares with the polynomials p0 = 1, p1 = t - m, p2 = p1^2 - a p1 - b that are orthogonal
// over the given times, as many as these can tell: x(t) = sum over k of <pk, x> / <pk, pk> pk(t).
// The position at time 0 and the velocity, per frame, at time `velocity_time`. Where all times lie
// more than two frames to one side a parabola would run away: a line counts, two frames beyond
// them.
Moment fitted(const NearFrames& near, double velocity_time)
{
    constexpr double kReach = 2;  // frames
    const std::size_t n = near.count;
    const auto [first, last] = std::minmax_element(near.time.begin(), near.time.begin() + n);
    const double reached = std::clamp(0.0, *first - kReach, *last + kReach);
    const std::size_t terms = std::min<std::size_t>(reached == 0 ? 3 : 2, n);
    double m = 0, square = 0, cube = 0;
    for (std::size_t i = 0; i < n; ++i) m += near.time[i] / double(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double t = near.time[i] - m;
        square += t * t;
        cube += t * t * t;
    }
    const double a = n > 1 ? cube / square : 0, b = square / double(n);
    const auto values = [&](double t) -> std::array<double, 3> {
        const double p1 = t - m;
        return {1, p1, p1 * p1 - a * p1 - b};
    };
    const std::array<double, 3> here = values(reached), slope{0, 1, 2 * (velocity_time - m) - a};
    Moment moment;
    for (std::size_t k = 0; k < terms; ++k) {
        Vec3d with_x{};
        double with_itself = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double p = values(near.time[i])[k];
            with_x += p * near.position[i];
            with_itself += p * p;
        }
        moment.position += here[k] / with_itself * with_x;
        moment.velocity += slope[k] / with_itself * with_x;
    }
    return moment;
}

[[noreturn]] void refuse_unseen(const Rollout& rollout, std::size_t landmark)
{
    throw Error(
        "rollout: landmark {} is missing in all {} frames, so that its place is unknown; leave "
        "that landmark out of the motion",
        landmark, rollout.frame_count);
}

// A pin stands still: all frames that show it tell its place, which five would tell less well.
Moment estimate_pin(const Rollout& rollout, std::size_t landmark)
{
    const std::size_t landmarks = rollout.landmark_count();
    Vec3d sum{};
    double count = 0;
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        if (!rollout.seen(f, landmark)) continue;
        sum += vector_at(rollout.position, f * landmarks + landmark);
        ++count;
    }
    if (count == 0) refuse_unseen(rollout, landmark);
    return {(1 / count) * sum, {}};
}

// Where a prescribed path is, and how it came there from the frame before.
Moment on_path(const Handles& handles, std::size_t handle, double time, double frame_interval)
{
    const Vec3d now = handles.position(handle, time);
    const Vec3d before = handles.position(handle, time - frame_interval);
    return {now, (1 / frame_interval) * (now - before)};
}

Moment estimate(const Rollout& rollout, std::size_t frame, std::size_t landmark,
                double frame_interval, double dt)
{
    const NearFrames near = near_frames(rollout, frame, landmark);
    if (near.count == 0) refuse_unseen(rollout, landmark);
    Moment moment = fitted(near, -0.5 * dt / frame_interval);
    moment.velocity = (1 / frame_interval) * moment.velocity;
    return moment;
}

}  // namespace

std::size_t Rollout::landmark_count() const
{
    return frame_count == 0 ? 0 : position.size() / (3 * frame_count);
}

bool Rollout::seen(std::size_t frame, std::size_t landmark) const
{
    return !std::isnan(position[3 * (frame * landmark_count() + landmark)]);
}

State Rollout::state(std::size_t frame, double frame_interval, double dt) const
{
    const std::size_t landmarks = landmark_count();
    if (frame >= frame_count) {
        throw Error("rollout: frame {} asked for, but it has {}; count from 0", frame, frame_count);
    }
    const bool stored = !velocity.empty();
    if (position.size() != 3 * frame_count * landmarks ||
        (stored && velocity.size() != position.size())) {
        throw Error(
            "rollout: {} position and {} velocity numbers for {} frames; give three per landmark "
            "and frame, and as many velocities or none",
            position.size(), velocity.size(), frame_count);
    }
    std::vector<int> handle_at(landmarks, -1);
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        handle_at[std::size_t(handles.particles[h])] = int(h);
    }
    State state;
    state.time = double(frame) * frame_interval;
    for (std::size_t l = 0; l < landmarks; ++l) {
        Moment moment;
        if (stored) {
            moment = {vector_at(position, frame * landmarks + l),
                      vector_at(velocity, frame * landmarks + l)};
        }
        if (!stored || !is_whole(moment.position) || !is_whole(moment.velocity)) {
            moment = handle_at[l] < 0 ? estimate(*this, frame, l, frame_interval, dt)
                     : handles.moving()
                         ? on_path(handles, std::size_t(handle_at[l]), state.time, frame_interval)
                         : estimate_pin(*this, l);
        }
        state.position.push_back(moment.position);
        state.velocity.push_back(moment.velocity);
    }
    return state;
}

State Rollout::state(std::size_t frame, const MotionHeader& header) const
{
    return state(frame, header.frame_interval(), header.source_step());
}

Rollout Rollout::frames(std::size_t first, std::size_t count, double frame_interval) const
{
    if (first > frame_count || count > frame_count - first) {
        throw Error("rollout: frames {} to {} asked for, but it has {}; count from 0", first,
                    first + count, frame_count);
    }
    const std::size_t row = 3 * landmark_count();
    const auto part = [&](const std::vector<float>& values) {
        if (values.empty()) return values;
        const auto begin = values.begin() + std::ptrdiff_t(first * row);
        return std::vector<float>(begin, begin + std::ptrdiff_t(count * row));
    };
    Rollout result{count, part(position), part(velocity), part(acceleration), handles};
    for (double& time : result.handles.key_time) time -= double(first) * frame_interval;
    return result;
}

}  // namespace springtime
