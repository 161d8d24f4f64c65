#include "learn/balance_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <type_traits>

#include "core/parallel.h"
#include "learn/element_formula.h"
#include "physics/external.h"

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

// What the particles of an element are to its formula: relative vectors of positions or velocities.
class RelativeVectors {
  public:
    RelativeVectors(const Cloth& cloth, Element type, std::size_t element)
        : shares_(particle_shares(cloth, type, element)), vectors_(vector_count(type))
    {
    }
    const std::vector<ParticleShare>& shares() const { return shares_; }

    // Differences from the first particle: close points first, less is lost to rounding.
    template <class At>  // the vector of a particle
    void of(const At& at, Vec3d* relative) const
    {
        const Vec3d origin = at(shares_[0].particle);
        for (int v = 0; v < vectors_; ++v) relative[v] = {};
        for (std::size_t i = 1; i < shares_.size(); ++i) {
            const Vec3d from_first = at(shares_[i].particle) - origin;
            for (int v = 0; v < vectors_; ++v) {
                if (shares_[i].weight[v] != 0) relative[v] += shares_[i].weight[v] * from_first;
            }
        }
    }

  private:
    std::vector<ParticleShare> shares_;
    int vectors_;
};

bool all_seen(const Vec3d* vectors, int count)
{
    return std::all_of(vectors, vectors + count, [](const Vec3d& x) { return seen(x); });
}

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

// The force of one unit of every parameter of an element at one frame.
void store_units(const ElementFormula& formula, std::size_t element, const ElementForces& forces,
                 const ElementForces& rates, const Vec3d* velocity, BalanceRows& rows, Element type,
                 std::size_t place)
{
    const int vectors = formula.vectors();
    for (std::size_t k = 0; k < formula.terms().size(); ++k) {
        const ElementFormula::Term& term = formula.terms()[k];
        Vec3d force[kMostVectors] = {};
        for (int v = 0; v < vectors; ++v) {
            if (!term.damping) force[v] = forces.elastic[std::size_t(term.elastic * vectors + v)];
            if (term.damping && term.dashpot.linear) force[v] -= rates.linear[std::size_t(v)];
        }
        for (int i = 0; term.damping && i < term.dashpot.measure_count; ++i) {
            const int m = term.dashpot.first_measure + i;
            const Vec3d* slope = forces.slope.data() + m * vectors;
            double rate = 0;
            for (int v = 0; v < vectors; ++v) rate += dot(slope[v], velocity[v]);
            for (int v = 0; v < vectors; ++v) {
                force[v] -= formula.weight(element, m) * rate * slope[v];
            }
        }
        for (int v = 0; v < vectors; ++v) {
            store(rows.unit_of(type, element, static_cast<int>(k), v) + 3 * place, force[v]);
        }
    }
}

void add_force_rows(const Cloth& cloth, Element type, const Rollout& rollout, int threads,
                    BalanceRows& rows)
{
    const std::size_t particles = cloth.particle_count(), frames = rollout.frame_count;
    const std::unique_ptr<ElementFormula> formula = formula_of(cloth, type);
    parallel_for(static_cast<int>(element_count(cloth, type)), threads, [&](int e) {
        const RelativeVectors relative(cloth, type, e);
        ElementForces forces = formula->room(), rates = formula->room();
        Vec3d position[kMostVectors], velocity[kMostVectors];
        for (std::size_t f = 0; f < frames; ++f) {
            const auto at = [&](const std::vector<float>& field) {
                return [&, f](int p) { return vector_at(field, f * particles + p); };
            };
            relative.of(at(rollout.position), position);
            relative.of(at(rollout.velocity), velocity);
            const bool whole =
                all_seen(position, formula->vectors()) && all_seen(velocity, formula->vectors());
            rows.group(type).seen[e * frames + f] = whole;
            if (!whole) continue;
            formula->at(e, position, forces);
            formula->linear(e, velocity, rates);
            store_units(*formula, e, forces, rates, velocity, rows, type, f);
        }
    });
}

}  // namespace

BalanceRows force_rows(const Cloth& cloth, const Environment& environment, const Rollout& rollout,
                       int threads)
{
    const std::size_t particles = cloth.particle_count(), frames = rollout.frame_count;
    BalanceRows rows(cloth, frames);
    for (const Element type : kElements) {
        if (element_count(cloth, type) > 0) add_force_rows(cloth, type, rollout, threads, rows);
    }
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

// What the weak form sums of one element, frame by frame: channels that share a weight lie
// together.
class ElementSeries {
  public:
    explicit ElementSeries(const ElementFormula& formula)
        : formula_(formula),
          vectors_(formula.vectors()),
          slopes_(formula.measures() * vectors_),
          elastic_(formula.elastic_count() * vectors_),
          forces_(formula.room())
    {
    }

    void observe(std::size_t element, const RelativeVectors& relative, const Tracks& tracks,
                 const FrameChoice& choice, double interval, double step);
    // Writes the rows of one window.
    void sum(const TestFunction& test, std::size_t middle, const FrameChoice& choice,
             double interval, BalanceRows& rows, Element type, std::size_t place) const;

  private:
    // Channels with phi: elastic forces as vectors, then measures as numbers.
    std::size_t value_channels() const { return std::size_t(3 * elastic_ + formula_.measures()); }
    // With phi half a step later, for every measure q with slope g: g', then q g' less small terms.
    std::size_t later_channels() const { return std::size_t(6 * slopes_); }
    // With phi' there: g, then q g, then the linear dashpot.
    std::size_t slope_channels() const { return std::size_t(6 * slopes_ + 3 * vectors_); }
    void differentiate(std::size_t frames, const FrameChoice& choice, double interval, double step);

    const ElementFormula& formula_;
    int vectors_, slopes_, elastic_;
    ElementForces forces_;
    std::size_t element_ = 0;
    std::vector<Vec3d> relative_;  // [frame][vector]
    std::vector<Vec3d> gradient_;  // [frame][measure][vector]
    std::vector<double> measure_;  // [frame][measure]
    std::vector<double> value_, later_, slope_;
};

void ElementSeries::observe(std::size_t element, const RelativeVectors& relative,
                            const Tracks& tracks, const FrameChoice& choice, double interval,
                            double step)
{
    const std::size_t frames = tracks.frame_count, measures = std::size_t(formula_.measures());
    element_ = element;
    relative_.resize(frames * std::size_t(vectors_));
    gradient_.resize(frames * std::size_t(slopes_));
    measure_.resize(frames * measures);
    value_.assign(frames * value_channels(), 0);
    later_.assign(frames * later_channels(), 0);
    slope_.assign(frames * slope_channels(), 0);
    for (std::size_t f = 0; f < frames; ++f) {
        Vec3d* const here = relative_.data() + f * std::size_t(vectors_);
        relative.of([&](int p) { return tracks.of(std::size_t(p))[f]; }, here);
        formula_.at(element, here, forces_);
        double* value = value_.data() + f * value_channels();
        for (int i = 0; i < elastic_; ++i) store(value + 3 * i, forces_.elastic[std::size_t(i)]);
        double* slope = slope_.data() + f * slope_channels();
        for (int i = 0; i < slopes_; ++i) {
            const double q = forces_.measure[std::size_t(i / vectors_)];
            const Vec3d g = forces_.slope[std::size_t(i)];
            gradient_[f * std::size_t(slopes_) + std::size_t(i)] = g;
            store(slope + 3 * i, g);
            store(slope + 3 * (slopes_ + i), q * g);
        }
        for (std::size_t m = 0; m < measures; ++m) {
            measure_[f * measures + m] = forces_.measure[m];
            value[std::size_t(3 * elastic_) + m] = forces_.measure[m];
        }
        for (int v = 0; v < vectors_; ++v) {
            store(slope + 3 * (2 * slopes_ + v), forces_.linear[std::size_t(v)]);
        }
    }
    if (slopes_ > 0) differentiate(frames, choice, interval, step);
}

// g half a step later is g + h/2 g'. This adds h/2 (q' g' + (g'.v) g) to q' g.
void ElementSeries::differentiate(std::size_t frames, const FrameChoice& choice, double interval,
                                  double step)
{
    const auto measures = std::size_t(formula_.measures()), vectors = std::size_t(vectors_);
    const std::size_t reach = kReach * choice.step;
    const double per_second = 1 / (interval * double(choice.step));
    std::vector<Vec3d> turn(vectors), velocity(vectors);
    for (std::size_t f = reach; f + reach < frames; ++f) {
        const auto derivative = [&](const auto& values, std::size_t width, std::size_t index) {
            std::decay_t<decltype(values[0])> sum{};
            for (int i = 0; i < kReach; ++i) {
                const std::size_t offset = (i + 1) * choice.step;
                sum +=
                    kDifference[i] * per_second *
                    (values[(f + offset) * width + index] - values[(f - offset) * width + index]);
            }
            return sum;
        };
        for (std::size_t v = 0; v < vectors; ++v) velocity[v] = derivative(relative_, vectors, v);
        for (std::size_t m = 0; m < measures; ++m) {
            const double rate = derivative(measure_, measures, m);
            double along = 0;  // g'.v
            for (std::size_t v = 0; v < vectors; ++v) {
                turn[v] = derivative(gradient_, measures * vectors, m * vectors + v);
                along += dot(turn[v], velocity[v]);
            }
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t i = m * vectors + v;
                const Vec3d g = gradient_[f * measures * vectors + i];
                const Vec3d small = step / 2 * (rate * turn[v] + along * g);
                double* later = later_.data() + f * later_channels();
                store(later + 3 * i, turn[v]);
                store(later + 3 * (std::size_t(slopes_) + i),
                      small - measure_[f * measures + m] * turn[v]);
            }
        }
    }
}

void ElementSeries::sum(const TestFunction& test, std::size_t middle, const FrameChoice& choice,
                        double interval, BalanceRows& rows, Element type, std::size_t place) const
{
    thread_local std::vector<double> value, later, slope;
    value.assign(value_channels(), 0);
    later.assign(later_channels(), 0);
    slope.assign(slope_channels(), 0);
    double weights = 0;
    const std::size_t first = middle - test.half_width;
    for (std::size_t i = first_chosen(choice, first); i < test.value.size(); i += choice.step) {
        const double* channel = value_.data() + (first + i) * value.size();
        for (std::size_t c = 0; c < value.size(); ++c) value[c] += test.value[i] * channel[c];
        channel = later_.data() + (first + i) * later.size();
        for (std::size_t c = 0; c < later.size(); ++c) later[c] += test.later[i] * channel[c];
        channel = slope_.data() + (first + i) * slope.size();
        for (std::size_t c = 0; c < slope.size(); ++c) {
            slope[c] += test.later_slope[i] * channel[c];
        }
        weights += test.value[i];
    }
    const double scale = interval * double(choice.step);
    const auto vector_in = [](const std::vector<double>& sums, int index) {
        const double* at = sums.data() + 3 * index;
        return Vec3d{at[0], at[1], at[2]};
    };
    for (std::size_t k = 0; k < formula_.terms().size(); ++k) {
        const ElementFormula::Term& term = formula_.terms()[k];
        for (int v = 0; v < vectors_; ++v) {
            Vec3d force{};
            if (!term.damping) force = vector_in(value, term.elastic * vectors_ + v);
            if (term.damping && term.dashpot.linear) force += vector_in(slope, 2 * slopes_ + v);
            for (int n = 0; term.damping && n < term.dashpot.measure_count; ++n) {
                const int m = term.dashpot.first_measure + n, i = m * vectors_ + v;
                const double mean = value[std::size_t(3 * elastic_ + m)] / weights;
                force -= formula_.weight(element_, m) *
                         (vector_in(later, slopes_ + i) - vector_in(slope, slopes_ + i) +
                          mean * (vector_in(slope, i) + vector_in(later, i)));
            }
            store(rows.unit_of(type, element_, static_cast<int>(k), v) + 3 * place, scale * force);
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

void add_weak_rows(const Cloth& cloth, Element type, const Tracks& tracks,
                   const std::vector<GapSearch>& gaps, const TestFunction& test,
                   const std::vector<std::size_t>& middles, const FrameChoice& choice,
                   double interval, double step, int threads, BalanceRows& rows)
{
    const std::size_t margin = window_margin(test, choice.step);
    const std::unique_ptr<ElementFormula> formula = formula_of(cloth, type);
    parallel_for(static_cast<int>(element_count(cloth, type)), threads, [&](int e) {
        ElementSeries series(*formula);
        const RelativeVectors relative(cloth, type, e);
        series.observe(e, relative, tracks, choice, interval, step);
        for (std::size_t w = 0; w < middles.size(); ++w) {
            const bool whole = std::all_of(
                relative.shares().begin(), relative.shares().end(),
                [&](const ParticleShare& s) { return gaps[s.particle].whole(middles[w], margin); });
            rows.group(type).seen[e * middles.size() + w] = whole;
            if (whole) series.sum(test, middles[w], choice, interval, rows, type, w);
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

    for (const Element type : kElements) {
        if (element_count(cloth, type) == 0) continue;
        add_weak_rows(cloth, type, tracks, gaps, test, middles, choice, interval, step, threads,
                      rows);
    }
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
