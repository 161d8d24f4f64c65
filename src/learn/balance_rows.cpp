#include "learn/balance_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "physics/bend.h"
#include "physics/external.h"
#include "physics/spring.h"
#include "sim/forces.h"

namespace springtime {

namespace {

// Derivative by central differences of sixth order, from three frames on each side.
constexpr int kReach = 3;
constexpr std::array<double, kReach> kDifference{3.0 / 4, -3.0 / 20, 1.0 / 60};

bool seen(const Vec3d& x)
{
    return std::isfinite(x.x);
}

void store(double* to, const Vec3d& value)
{
    to[0] = value.x;
    to[1] = value.y;
    to[2] = value.z;
}

Vec3d vector_at(const std::vector<float>& field, std::size_t index)
{
    return {field[3 * index], field[3 * index + 1], field[3 * index + 2]};
}

// The stretch of a spring as its kinds of stiffness share it: `stiffness` itself, then the ranges.
void share_stretch(const SpringSet& springs, std::size_t spring, double length,
                   std::vector<double>& shares)
{
    const double stretch = length - springs.rest_length[spring];
    shares.assign(1, stretch);
    for (std::size_t r = 0; r < springs.ranges.size(); ++r) {
        const SpringRange<double> range = range_of<double>(springs, r, spring);
        shares.push_back(stretch_within(stretch, range.from, range.to));
        shares[0] -= shares.back();
    }
}

// Which share of the stretch a kind of stiffness resists.
std::size_t share_of(const Parameter& stiffness)
{
    return stiffness.in_range() ? 1 + stiffness.range : 0;
}

// Writes the forces of one unit of both parameters of a bend on its first particle.
void store_bend_units(BalanceRows& rows, std::size_t bend, std::size_t place, const Vec3d& e,
                      const Vec3d& rate)
{
    store(rows.bend_unit_of(bend, 0) + 3 * place, bend_force(e, {}, 1.0, 0.0));
    store(rows.bend_unit_of(bend, 1) + 3 * place, bend_force({}, rate, 0.0, 1.0));
}

// The slot of the dashpot along the spring; the other dashpot is isotropic (physics/spring.h).
constexpr std::size_t kAlongSlot = 1;

}  // namespace

Tracks::Tracks(const Rollout& rollout)
    : frame_count(rollout.frame_count),
      particle_count(rollout.landmark_count()),
      position(frame_count * particle_count),
      held(particle_count, 0)
{
    for (std::size_t p = 0; p < particle_count; ++p) {
        for (std::size_t f = 0; f < frame_count; ++f) {
            position[p * frame_count + f] = vector_at(rollout.position, f * particle_count + p);
        }
    }
    for (const int p : rollout.handles.particles) held[p] = 1;
    if (rollout.handles.moving()) return;
    for (const int p : rollout.handles.particles) {
        Vec3d sum{};
        double count = 0;
        Vec3d* const track = position.data() + p * frame_count;
        for (std::size_t f = 0; f < frame_count; ++f) {
            if (!seen(track[f])) continue;
            sum += track[f];
            count += 1;
        }
        std::fill_n(track, frame_count, (1 / count) * sum);  // never seen: NaN
    }
}

namespace {

void add_bend_rows(const Cloth& cloth, const Rollout& rollout, int threads, BalanceRows& rows)
{
    const std::size_t particles = cloth.particle_count(), frames = rollout.frame_count;
    parallel_for(static_cast<int>(cloth.bends.bend_count()), threads, [&](int i) {
        const auto [a, m, b] = cloth.bends.particles[i];
        for (std::size_t f = 0; f < frames; ++f) {
            const auto difference = [&, a = a, m = m, b = b](const std::vector<float>& field) {
                return second_difference(vector_at(field, f * particles + a),
                                         vector_at(field, f * particles + m),
                                         vector_at(field, f * particles + b));
            };
            const Vec3d e = difference(rollout.position), rate = difference(rollout.velocity);
            rows.bend_seen[i * frames + f] = seen(e) && seen(rate);
            if (rows.bend_seen[i * frames + f]) store_bend_units(rows, i, f, e, rate);
        }
    });
}

}  // namespace

BalanceRows force_rows(const Cloth& cloth, const Environment& environment, const Rollout& rollout,
                       int threads)
{
    const SpringSet& springs = cloth.springs;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    const std::size_t particles = cloth.particle_count(), frames = rollout.frame_count;
    BalanceRows rows(cloth, frames);
    parallel_for(static_cast<int>(springs.spring_count()), threads, [&](int s) {
        thread_local std::vector<double> shares;
        const auto [a, b] = springs.ends[s];
        for (std::size_t f = 0; f < frames; ++f) {
            const std::size_t at_a = f * particles + a, at_b = f * particles + b;
            const Vec3d d = vector_at(rollout.position, at_b) - vector_at(rollout.position, at_a);
            const Vec3d v = vector_at(rollout.velocity, at_b) - vector_at(rollout.velocity, at_a);
            if (!seen(d) || !seen(v)) {
                rows.spring_seen[s * frames + f] = 0;
                continue;
            }
            const double inverse = 1 / std::sqrt(std::max(dot(d, d), double(kMinLengthSquared)));
            share_stretch(springs, s, 1 / inverse, shares);
            const auto unit_force = [&](const Parameter& parameter) {
                if (parameter.slot == kAlongSlot) return spring_force(d, v, 0.0, 0.0, 1.0);
                if (parameter.is_damping()) return v;
                return shares[share_of(parameter)] * inverse * d;
            };
            for (int k = 0; k < rows.kinds; ++k) {
                store(rows.unit_of(s, k) + 3 * f, unit_force(parameters[k]));
            }
        }
    });
    add_bend_rows(cloth, rollout, threads, rows);
    for (std::size_t f = 0; f < frames; ++f) {
        for (std::size_t p = 0; p < particles; ++p) {
            const Vec3d v = vector_at(rollout.velocity, f * particles + p);
            const Vec3d a = vector_at(rollout.acceleration, f * particles + p);
            const Vec3d other =
                external_acceleration(v, environment.gravity, environment.wind, environment.drag);
            const std::size_t row = p * frames + f;
            rows.free[row] = seen(a) && seen(v);
            store(rows.needed.data() + 3 * row, cloth.mass[p] * (a - other));
        }
    }
    for (const int p : rollout.handles.particles) {
        std::fill_n(rows.free.begin() + static_cast<std::ptrdiff_t>(p * frames), frames, 0);
    }
    return rows;
}

std::size_t window_margin(const TestFunction& test, std::size_t frame_step)
{
    return test.half_width + kReach * frame_step;
}

namespace {

// The first frame of a window from `first` that is chosen, counted from there.
std::size_t first_chosen(const FrameChoice& choice, std::size_t first)
{
    return (choice.first + choice.step - first % choice.step) % choice.step;
}

// What the weak form sums of one spring, frame by frame: channels that share a weight lie together.
class SpringSeries {
  public:
    SpringSeries(const Cloth& cloth)
        : springs_(cloth.springs),
          parameters_(learned_parameters(cloth)),
          shares_(1 + cloth.springs.ranges.size())
    {
    }

    void observe(std::size_t spring, const Vec3d* from, const Vec3d* to, std::size_t frames,
                 const FrameChoice& choice, double interval, double step);
    // Writes the rows of one window.
    void sum(const TestFunction& test, std::size_t middle, const FrameChoice& choice,
             double interval, BalanceRows& rows, std::size_t spring, std::size_t place) const;

  private:
    // Channels: stretch times direction, one triple per kind of stiffness, and the length, with
    // phi; with phi half a step later (u', l u' less small terms); with phi' there (u, d = l u).
    std::size_t value_channels() const { return 3 * shares_ + 1; }
    static constexpr std::size_t kLater = 6;
    static constexpr std::size_t kSlopes = 6;

    const SpringSet& springs_;
    std::vector<Parameter> parameters_;
    std::size_t shares_;
    std::vector<Vec3d> direction_;
    std::vector<double> length_, stretch_;
    std::vector<double> value_, later_, slope_;
};

void SpringSeries::observe(std::size_t spring, const Vec3d* from, const Vec3d* to,
                           std::size_t frames, const FrameChoice& choice, double interval,
                           double step)
{
    direction_.resize(frames);
    length_.resize(frames);
    value_.assign(frames * value_channels(), 0);
    later_.assign(frames * kLater, 0);
    slope_.assign(frames * kSlopes, 0);
    for (std::size_t f = 0; f < frames; ++f) {
        const Vec3d d = to[f] - from[f];
        length_[f] = std::max(length(d), std::sqrt(double(kMinLengthSquared)));
        direction_[f] = (1 / length_[f]) * d;
        share_stretch(springs_, spring, length_[f], stretch_);
        double* value = value_.data() + f * value_channels();
        for (std::size_t i = 0; i < shares_; ++i) store(value + 3 * i, stretch_[i] * direction_[f]);
        value[3 * shares_] = length_[f];
        double* slope = slope_.data() + f * kSlopes;
        store(slope, direction_[f]);
        store(slope + 3, d);  // l u
    }
    const std::size_t reach = kReach * choice.step;
    const double per_second = 1 / (interval * double(choice.step));
    for (std::size_t f = reach; f + reach < frames; ++f) {
        Vec3d turn{};     // u'
        double rate = 0;  // l'
        for (int i = 0; i < kReach; ++i) {
            const std::size_t offset = (i + 1) * choice.step;
            const double weight = kDifference[i] * per_second;
            turn += weight * (direction_[f + offset] - direction_[f - offset]);
            rate += weight * (length_[f + offset] - length_[f - offset]);
        }
        // u half a step later is u + h/2 u'; with d' = l' u + l u' and u.u' = 0 this adds
        // h/2 (l' u' + l |u'|^2 u) to u l'.
        const Vec3d small = step / 2 * (rate * turn + length_[f] * dot(turn, turn) * direction_[f]);
        store(later_.data() + f * kLater, turn);
        store(later_.data() + f * kLater + 3, small - length_[f] * turn);
    }
}

void SpringSeries::sum(const TestFunction& test, std::size_t middle, const FrameChoice& choice,
                       double interval, BalanceRows& rows, std::size_t spring,
                       std::size_t place) const
{
    std::vector<double> value(value_channels());
    std::array<double, kLater> later{};
    std::array<double, kSlopes> slope{};
    double weights = 0;
    const std::size_t first = middle - test.half_width;
    for (std::size_t i = first_chosen(choice, first); i < test.value.size(); i += choice.step) {
        const double* channel = value_.data() + (first + i) * value_channels();
        for (std::size_t c = 0; c < value_channels(); ++c) value[c] += test.value[i] * channel[c];
        channel = later_.data() + (first + i) * kLater;
        for (std::size_t c = 0; c < kLater; ++c) later[c] += test.later[i] * channel[c];
        channel = slope_.data() + (first + i) * kSlopes;
        for (std::size_t c = 0; c < kSlopes; ++c) {
            slope[c] += test.later_slope[i] * channel[c];
        }
        weights += test.value[i];
    }
    const double mean = value[3 * shares_] / weights;
    const double scale = interval * double(choice.step);
    for (int axis = 0; axis < 3; ++axis) {
        const auto unit_force = [&](const Parameter& parameter) {
            if (parameter.slot == kAlongSlot) {
                return scale *
                       (later[3 + axis] - slope[3 + axis] + mean * (slope[axis] + later[axis]));
            }
            if (parameter.is_damping()) return -scale * slope[3 + axis];
            return scale * value[3 * share_of(parameter) + axis];
        };
        for (int k = 0; k < rows.kinds; ++k) {
            rows.unit_of(spring, k)[3 * place + axis] = unit_force(parameters_[k]);
        }
    }
}

// Whether a track has no gap within `margin` of a frame.
class GapSearch {
  public:
    GapSearch(const Vec3d* track, std::size_t frames) : missing_(frames + 1)
    {
        for (std::size_t f = 0; f < frames; ++f) missing_[f + 1] = missing_[f] + !seen(track[f]);
    }
    bool whole(std::size_t middle, std::size_t margin) const
    {
        return missing_[middle + margin + 1] == missing_[middle - margin];
    }

  private:
    std::vector<int> missing_;
};

// The rows of a bend, as those of springs: sum phi e, and sum phi e' = -sum phi' e.
void add_weak_bend_rows(const Cloth& cloth, const Tracks& tracks,
                        const std::vector<GapSearch>& gaps, const TestFunction& test,
                        const std::vector<std::size_t>& middles, const FrameChoice& choice,
                        double interval, int threads, BalanceRows& rows)
{
    const std::size_t margin = window_margin(test, choice.step);
    const double scale = interval * double(choice.step);
    parallel_for(static_cast<int>(cloth.bends.bend_count()), threads, [&](int i) {
        const auto [a, m, b] = cloth.bends.particles[i];
        for (std::size_t w = 0; w < middles.size(); ++w) {
            const bool whole = gaps[a].whole(middles[w], margin) &&
                               gaps[m].whole(middles[w], margin) &&
                               gaps[b].whole(middles[w], margin);
            rows.bend_seen[i * middles.size() + w] = whole;
            if (!whole) continue;
            const std::size_t first = middles[w] - test.half_width;
            Vec3d value{}, slope{};
            for (std::size_t n = first_chosen(choice, first); n < test.value.size();
                 n += choice.step) {
                const Vec3d e = second_difference(tracks.of(a)[first + n], tracks.of(m)[first + n],
                                                  tracks.of(b)[first + n]);
                value += test.value[n] * e;
                slope += test.later_slope[n] * e;
            }
            store_bend_units(rows, i, w, scale * value, -scale * slope);
        }
    });
}

}  // namespace

BalanceRows weak_rows(const Cloth& cloth, const Environment& environment, const Tracks& tracks,
                      const TestFunction& test, const std::vector<std::size_t>& middles,
                      const FrameChoice& choice, double interval, double step, int threads)
{
    const std::size_t frames = tracks.frame_count, places = middles.size();
    const std::size_t margin = window_margin(test, choice.step);
    BalanceRows rows(cloth, places);
    std::vector<GapSearch> gaps;
    for (std::size_t p = 0; p < tracks.particle_count; ++p) gaps.emplace_back(tracks.of(p), frames);

    parallel_for(static_cast<int>(cloth.springs.spring_count()), threads, [&](int s) {
        SpringSeries series(cloth);
        const auto [a, b] = cloth.springs.ends[s];
        series.observe(s, tracks.of(a), tracks.of(b), frames, choice, interval, step);
        for (std::size_t i = 0; i < places; ++i) {
            if (gaps[a].whole(middles[i], margin) && gaps[b].whole(middles[i], margin)) {
                series.sum(test, middles[i], choice, interval, rows, s, i);
            } else {
                rows.spring_seen[s * places + i] = 0;
            }
        }
    });
    add_weak_bend_rows(cloth, tracks, gaps, test, middles, choice, interval, threads, rows);
    const Vec3d pull = environment.gravity + environment.drag * environment.wind;
    const double scale = interval * double(choice.step);
    parallel_for(static_cast<int>(tracks.particle_count), threads, [&](int p) {
        for (std::size_t i = 0; i < places; ++i) {
            const std::size_t row = p * places + i, first = middles[i] - test.half_width;
            rows.free[row] = !tracks.held[p] && gaps[p].whole(middles[i], margin);
            if (!rows.free[row]) continue;
            Vec3d sum{};
            // From the middle, so that a sum of phi'' that is not quite zero does not matter.
            const Vec3d origin = tracks.of(p)[middles[i]];
            for (std::size_t n = first_chosen(choice, first); n < test.value.size();
                 n += choice.step) {
                const double weight = test.second[n] - environment.drag * test.first[n];
                sum += weight * (tracks.of(p)[first + n] - origin) - test.value[n] * pull;
            }
            store(rows.needed.data() + 3 * row, cloth.mass[p] * scale * sum);
        }
    });
    return rows;
}

}  // namespace springtime
