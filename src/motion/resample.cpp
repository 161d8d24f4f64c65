#include "springtime/motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

#include "geometry/triangle_search.h"
#include "motion/bridge_gaps.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kNegligible = 1e-9;  // weights this small are rounding, as kSamePlace is

// Brings points of the sheet to units of the extent of the landmarks, with the origin amid them.
struct Frame {
    SheetPoint center;
    double extent = 0;  // diagonal of the rectangle around the landmarks [m]

    explicit Frame(const std::vector<SheetPoint>& landmarks)
    {
        if (landmarks.empty()) return;
        SheetPoint low = landmarks[0], high = landmarks[0];
        for (const SheetPoint& x : landmarks) {
            low = {std::min(low.u, x.u), std::min(low.v, x.v)};
            high = {std::max(high.u, x.u), std::max(high.v, x.v)};
        }
        center = {low.u + (high.u - low.u) / 2, low.v + (high.v - low.v) / 2};
        extent = length(high - low);
    }

    SheetPoint operator()(const SheetPoint& x) const
    {
        const SheetPoint from_center = x - center;
        return {from_center.u / extent, from_center.v / extent};
    }
};

// Landmarks at different places, each the first in the order of the input.
struct Places {
    std::vector<SheetPoint> point;
    std::vector<int> landmark;
};

// The places are kept sorted along a direction in which no two places of a grid are level, so that
// only few have to be compared.
Places distinct_places(const std::vector<SheetPoint>& landmarks, const Frame& frame)
{
    Places places;
    std::multimap<double, std::size_t> sorted;
    for (std::size_t i = 0; i < landmarks.size(); ++i) {
        const SheetPoint x = frame.extent > 0 ? frame(landmarks[i]) : SheetPoint{};
        const double along = 0.6180339887 * x.u + x.v;
        const auto begin = sorted.lower_bound(along - 1.2 * kSamePlace);  // 1.2 > |(0.618, 1)|
        const auto end = sorted.upper_bound(along + 1.2 * kSamePlace);
        const bool known = std::any_of(begin, end, [&](const auto& place) {
            return length(places.point[place.second] - x) <= kSamePlace;
        });
        if (known) continue;
        sorted.emplace(along, places.point.size());
        places.point.push_back(x);
        places.landmark.push_back(static_cast<int>(i));
    }
    return places;
}

// Negligible weights become zero, and the largest takes what is left of one.
void tidy(std::array<double, 3>& weight)
{
    for (double& w : weight)
        if (std::abs(w) <= kNegligible) w = 0;
    const auto largest = std::max_element(weight.begin(), weight.end());
    *largest = 0;
    *largest = 1 - std::accumulate(weight.begin(), weight.end(), 0.0);
}

void check_finite(const std::vector<SheetPoint>& points, const char* what)
{
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (std::isfinite(points[i].u) && std::isfinite(points[i].v)) continue;
        throw Error("resample: {} {} rests at ({}, {}) m, which is not finite; mend or drop it",
                    what, i, points[i].u, points[i].v);
    }
}

}  // namespace

Resampler::Resampler(const std::vector<SheetPoint>& landmarks,
                     const std::vector<SheetPoint>& particles)
    : landmark_count_(landmarks.size())
{
    check_finite(landmarks, "landmark");
    check_finite(particles, "particle");
    const Frame frame(landmarks);
    const Places places = distinct_places(landmarks, frame);
    if (places.point.size() < 3) {
        throw Error(
            "resample: {} landmarks at {} different places, but 3 places are needed; track more "
            "points of the sheet",
            landmarks.size(), places.landmark.size());
    }
    TriangleSearch search(places.point);
    if (!search.spans_plane()) {
        throw Error(
            "resample: all {} landmarks lie on one line of the flat sheet, but they must span it; "
            "track points beside that line",
            landmarks.size());
    }
    for (const SheetPoint& rest : particles) {
        const SheetPoint particle = frame(rest);
        Weights weights;
        if (const int place = search.point_at(particle); place >= 0) {
            weights.landmark.fill(places.landmark[place]);
            weights.weight = {1, 0, 0};
        } else {
            const Corners corner = search.corners_for(particle);
            weights.weight = barycentric(places.point, corner, particle);
            for (int j = 0; j < 3; ++j) weights.landmark[j] = places.landmark[corner[j]];
            tidy(weights.weight);
        }
        weights_.push_back(weights);
    }
}

bool Resampler::exact() const
{
    return std::all_of(weights_.begin(), weights_.end(), [](const Weights& particle) {
        return std::count(particle.weight.begin(), particle.weight.end(), 0.0) == 2;
    });
}

std::vector<float> Resampler::apply(std::span<const float> field) const
{
    const std::size_t frame_size = 3 * landmark_count_;
    if (field.size() % frame_size != 0) {
        throw Error(
            "resample: a field of {} numbers, but {} landmarks have {} in every frame; give three "
            "for each landmark",
            field.size(), landmark_count_, frame_size);
    }
    std::vector<float> result;
    result.reserve(field.size() / frame_size * 3 * particle_count());
    for (std::size_t first = 0; first < field.size(); first += frame_size) {
        for (const Weights& weights : weights_) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                double sum = -0.0;  // so that a landmark alone keeps the sign of its zeros
                for (int j = 0; j < 3; ++j) {
                    if (weights.weight[j] == 0) continue;  // it may be lost, that is, NaN
                    sum += weights.weight[j] * field[first + 3 * weights.landmark[j] + axis];
                }
                result.push_back(static_cast<float>(sum));
            }
        }
    }
    return result;
}

namespace {

void check_rollout(const Rollout& rollout, std::size_t landmarks, double frame_interval)
{
    const std::size_t needed = rollout.frame_count * landmarks * 3;
    const auto check = [&](const std::vector<float>& values, const char* what) {
        if (values.size() == needed) return;
        throw Error(
            "resample: {} {} numbers, but {} frames of {} landmarks need {}; use the motion these "
            "landmarks belong to",
            values.size(), what, rollout.frame_count, landmarks, needed);
    };
    check(rollout.position, "position");
    if (!rollout.velocity.empty()) check(rollout.velocity, "velocity");
    if (!rollout.acceleration.empty()) check(rollout.acceleration, "acceleration");
    check_handles(rollout.handles, landmarks, "resample");
    if (!std::isfinite(frame_interval) || !(frame_interval > 0)) {
        throw Error("resample: frames {} s apart; the interval must be finite and positive",
                    frame_interval);
    }
}

// The particles with a share in any of the landmarks.
std::vector<int> particles_on(const std::vector<int>& landmarks, std::size_t landmark_count,
                              const std::vector<Resampler::Weights>& weights)
{
    std::vector<bool> wanted(landmark_count, false);
    for (const int landmark : landmarks) wanted[landmark] = true;
    std::vector<int> particles;
    for (std::size_t p = 0; p < weights.size(); ++p) {
        bool any = false;
        for (int j = 0; j < 3; ++j)
            any = any || (weights[p].weight[j] != 0 && wanted[weights[p].landmark[j]]);
        if (any) particles.push_back(static_cast<int>(p));
    }
    return particles;
}

// Whether any of the particles has a share in a landmark that is no handle.
bool any_hangs_free(const std::vector<int>& particles, const std::vector<int>& handles,
                    std::size_t landmark_count, const std::vector<Resampler::Weights>& weights)
{
    std::vector<bool> held(landmark_count, false);
    for (const int landmark : handles) held[landmark] = true;
    return std::any_of(particles.begin(), particles.end(), [&](int p) {
        for (int j = 0; j < 3; ++j) {
            if (weights[p].weight[j] != 0 && !held[weights[p].landmark[j]]) return true;
        }
        return false;
    });
}

void bridge_landmark(Rollout& rollout, std::size_t landmark)
{
    const auto at = [&](std::size_t frame) {
        return &rollout.position[3 * (frame * rollout.landmark_count() + landmark)];
    };
    std::vector<Vec3d> path;
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        path.push_back({at(f)[0], at(f)[1], at(f)[2]});
    }
    if (!bridge_gaps(path)) {
        throw Error(
            "resample: a handle hangs on landmark {}, which is missing in all {} frames; leave "
            "that landmark out of the motion",
            landmark, rollout.frame_count);
    }
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        for (int axis = 0; axis < 3; ++axis) at(f)[axis] = float(path[f][axis]);
    }
}

// The rollout with moving handles on their prescribed paths instead of where they were seen.
Rollout on_paths(Rollout rollout, double frame_interval)
{
    const Handles& handles = rollout.handles;
    const std::size_t landmarks = rollout.landmark_count();
    for (std::size_t f = 0; handles.moving() && f < rollout.frame_count; ++f) {
        for (std::size_t h = 0; h < handles.particles.size(); ++h) {
            const Vec3d x = handles.position(h, double(f) * frame_interval);
            float* to = &rollout.position[3 * (f * landmarks + std::size_t(handles.particles[h]))];
            for (int axis = 0; axis < 3; ++axis) to[axis] = float(x[axis]);
        }
    }
    return rollout;
}

// The rollout without gaps in the paths that the particles follow.
Rollout bridged(const Rollout& rollout, const std::vector<int>& particles,
                const std::vector<Resampler::Weights>& weights)
{
    Rollout result = rollout;
    for (const int p : particles) {
        for (int j = 0; j < 3; ++j) {
            if (weights[p].weight[j] != 0) bridge_landmark(result, weights[p].landmark[j]);
        }
    }
    return result;
}

// One key per frame.
void follow_frames(Handles& handles, const std::vector<float>& position, std::size_t frame_count,
                   std::size_t particle_count, double frame_interval)
{
    for (std::size_t frame = 0; frame < frame_count; ++frame) {
        handles.key_time.push_back(double(frame) * frame_interval);
        for (const int particle : handles.particles) {
            const float* x = &position[3 * (frame * particle_count + particle)];
            handles.key_position.push_back({x[0], x[1], x[2]});
        }
    }
}

}  // namespace

Rollout Resampler::apply(const Rollout& rollout, double frame_interval) const
{
    check_rollout(rollout, landmark_count_, frame_interval);
    Rollout result;
    result.frame_count = rollout.frame_count;
    result.position = apply(rollout.position);
    result.velocity = apply(rollout.velocity);
    result.acceleration = apply(rollout.acceleration);
    result.handles.particles = particles_on(rollout.handles.particles, landmark_count_, weights_);
    // Half on a pin and half on a free landmark, a target moves: the handle moves with it.
    const bool moves = rollout.handles.moving() ||
                       any_hangs_free(result.handles.particles, rollout.handles.particles,
                                      landmark_count_, weights_);
    if (!moves || result.handles.particles.empty()) return result;
    Rollout paths = on_paths(rollout, frame_interval);
    const bool gaps = std::any_of(paths.position.begin(), paths.position.end(),
                                  [](float x) { return std::isnan(x); });
    if (gaps) paths = bridged(paths, result.handles.particles, weights_);
    follow_frames(result.handles, apply(paths.position), result.frame_count, particle_count(),
                  frame_interval);
    return result;
}

State Resampler::apply(const State& state) const
{
    const auto carried = [&](const std::vector<Vec3d>& field) {
        std::vector<float> numbers;
        for (const Vec3d& a : field) {
            for (int axis = 0; axis < 3; ++axis) numbers.push_back(float(a[axis]));
        }
        const std::vector<float> values = apply(numbers);
        std::vector<Vec3d> result;
        for (std::size_t i = 0; i < values.size(); i += 3) {
            result.push_back({values[i], values[i + 1], values[i + 2]});
        }
        return result;
    };
    return {state.time, carried(state.position), carried(state.velocity)};
}

double sheet_rmse(const Cloth& cloth, const State& state, const Cloth& other,
                  const State& other_state)
{
    const Resampler resampler(other.rest, cloth.rest);
    double sum = 0;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const auto& [landmark, weight] = resampler.weights()[p];
        Vec3d away = state.position[p];
        for (int i = 0; i < 3; ++i) away -= weight[i] * other_state.position[landmark[i]];
        sum += dot(away, away);
    }
    return std::sqrt(sum / double(cloth.particle_count()));
}

}  // namespace springtime
