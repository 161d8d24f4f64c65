#include "springtime/motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>

#include "geometry/lagrange.h"
#include "geometry/point_line.h"
#include "geometry/triangle_search.h"
#include "motion/held_particles.h"
#include "motion/in_sheet.h"
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
void tidy(std::array<double, 4>& weight)
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

Resampler::Weights single(int landmark)
{
    Resampler::Weights weights;
    weights.landmark.fill(landmark);
    weights.weight[0] = 1;
    return weights;
}

// ---- Landmarks and particles on a line ----

// Landmarks in their order along a line, without those at the place of another.
struct LineOrder {
    std::vector<double> place;  // in units of the extent, ascending
    std::vector<int> landmark;
};

LineOrder distinct_along(const PointLine& line, const std::vector<SheetPoint>& landmarks)
{
    LineOrder order;
    for (const int l : order_along(line, landmarks)) {
        const double place = line.along(landmarks[std::size_t(l)]) / line.extent;
        if (!order.place.empty() && place - order.place.back() <= kSamePlace) continue;
        order.place.push_back(place);
        order.landmark.push_back(l);
    }
    return order;
}

// The polynomial through the `order` landmarks around a place. Beyond the ends it is a line,
// because a cubic would run away.
Resampler::Weights weights_along(const LineOrder& landmarks, double place, std::size_t order)
{
    const std::size_t count = landmarks.place.size();
    const auto after = std::upper_bound(landmarks.place.begin(), landmarks.place.end(), place);
    const std::size_t next = std::size_t(after - landmarks.place.begin());
    for (const std::size_t i : {next - 1, next}) {
        if (i < count && std::abs(landmarks.place[i] - place) <= kSamePlace) {
            return single(landmarks.landmark[i]);
        }
    }
    const bool beyond = next == 0 || next == count;
    const std::size_t points = beyond ? 2 : std::min(order, count), before = points / 2;
    const std::size_t first = std::min(next > before ? next - before : 0, count - points);
    const std::vector<double> weight =
        lagrange_weights(std::span(landmarks.place).subspan(first, points), place);
    Resampler::Weights weights;
    weights.landmark.fill(landmarks.landmark[first]);
    for (std::size_t i = 0; i < points; ++i) {
        weights.landmark[i] = landmarks.landmark[first + i];
        weights.weight[i] = weight[i];
    }
    return weights;
}

}  // namespace

Resampler::Resampler(const std::vector<SheetPoint>& landmarks,
                     const std::vector<SheetPoint>& particles)
    : landmark_rest_(landmarks), particle_rest_(particles)
{
    check_finite(landmarks, "landmark");
    check_finite(particles, "particle");
    const std::optional<PointLine> line = line_of(landmarks);
    const auto on_line = [&](const SheetPoint& x) { return line->holds(x); };
    if (!line || !std::all_of(particles.begin(), particles.end(), on_line)) {
        weigh_in_plane();
        return;
    }
    const LineOrder order = distinct_along(*line, landmarks);
    for (const SheetPoint& x : particles) {
        const double place = line->along(x) / line->extent;
        weights_.push_back(weights_along(order, place, 4));
        linear_.push_back(weights_along(order, place, 2));
    }
}

Resampler::Resampler(const Cloth& cloth, const MotionHeader& header)
    : Resampler(in_sheet_of(cloth, header.sheet, header.rest), cloth.rest)
{
}

void Resampler::weigh_in_plane()
{
    const Frame frame(landmark_rest_);
    const Places places = distinct_places(landmark_rest_, frame);
    if (places.point.size() < 3) {
        throw Error(
            "resample: {} landmarks at {} different places, but 3 places are needed; track more "
            "points of the sheet",
            landmark_count(), places.landmark.size());
    }
    TriangleSearch search(places.point);
    if (!search.spans_plane()) {
        throw Error(
            "resample: all {} landmarks lie on one line of the flat sheet, but they must span it; "
            "track points beside that line, or take a grid of one row for a rope",
            landmark_count());
    }
    for (const SheetPoint& rest : particle_rest_) {
        const SheetPoint particle = frame(rest);
        if (const int place = search.point_at(particle); place >= 0) {
            weights_.push_back(single(places.landmark[place]));
            continue;
        }
        const Corners corner = search.corners_for(particle);
        const std::array<double, 3> weight = barycentric(places.point, corner, particle);
        Weights weights = single(places.landmark[corner[0]]);
        for (std::size_t j = 0; j < 3; ++j) {
            weights.landmark[j] = places.landmark[corner[j]];
            weights.weight[j] = weight[j];
        }
        tidy(weights.weight);
        weights_.push_back(weights);
    }
}

bool Resampler::exact() const
{
    return std::all_of(weights_.begin(), weights_.end(), [](const Weights& particle) {
        return std::count(particle.weight.begin(), particle.weight.end(), 0.0) == 3;
    });
}

std::vector<float> Resampler::apply(std::span<const float> field) const
{
    const std::size_t frame_size = 3 * landmark_count();
    if (field.size() % frame_size != 0) {
        throw Error(
            "resample: a field of {} numbers, but {} landmarks have {} in every frame; give three "
            "for each landmark",
            field.size(), landmark_count(), frame_size);
    }
    std::vector<float> result(field.size() / frame_size * 3 * particle_count());
    float* to = result.data();
    for (const float* frame = field.data(); frame != field.data() + field.size();
         frame += frame_size) {
        for (const Weights& weights : weights_) {
            double sum[3] = {-0.0, -0.0, -0.0};  // so that a landmark alone keeps signs of zeros
            for (std::size_t j = 0; j < weights.weight.size(); ++j) {
                if (weights.weight[j] == 0) continue;  // it may be lost, that is, NaN
                const float* from = frame + 3 * std::size_t(weights.landmark[j]);
                for (int axis = 0; axis < 3; ++axis) sum[axis] += weights.weight[j] * from[axis];
            }
            for (const double value : sum) *to++ = static_cast<float>(value);
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

}  // namespace

std::vector<int> Resampler::leaning_on(const std::vector<int>& landmarks) const
{
    std::vector<bool> wanted(landmark_count(), false);
    for (const int landmark : landmarks) wanted[landmark] = true;
    std::vector<int> particles;
    for (std::size_t p = 0; p < weights_.size(); ++p) {
        bool any = false;
        for (std::size_t j = 0; j < weights_[p].weight.size(); ++j)
            any = any || (weights_[p].weight[j] != 0 && wanted[weights_[p].landmark[j]]);
        if (any) particles.push_back(static_cast<int>(p));
    }
    return particles;
}

Rollout Resampler::apply(const Rollout& rollout, double frame_interval,
                         const std::optional<State>& start) const
{
    check_rollout(rollout, landmark_count(), frame_interval);
    Rollout result;
    result.frame_count = rollout.frame_count;
    result.position = apply(rollout.position);
    result.velocity = apply(rollout.velocity);
    result.acceleration = apply(rollout.acceleration);
    const std::vector<HeldParticle> held = held_particles(*this, rollout.handles.particles);
    const bool needs_start =
        rollout.handles.moving() &&
        std::any_of(held.begin(), held.end(), [](const HeldParticle& p) { return p.attached; });
    const State first =
        needs_start ? apply(start ? *start : rollout.state(0, frame_interval)) : State{};
    result.handles = handles_of(held, rollout.handles, first);
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
        for (std::size_t i = 0; i < weight.size(); ++i)
            away -= weight[i] * other_state.position[landmark[i]];
        sum += dot(away, away);
    }
    return std::sqrt(sum / double(cloth.particle_count()));
}

}  // namespace springtime
