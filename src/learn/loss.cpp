#include "learn/loss.h"

#include <algorithm>
#include <cmath>

#include "core/assert.h"
#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// One weight per lane, which is the innermost index of the values.
template <class Real>
double square_sum(const std::vector<Real>& values, const std::vector<double>& weight)
{
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); i += weight.size()) {
        for (std::size_t lane = 0; lane < weight.size(); ++lane) {
            sum += weight[lane] * (double(values[i + lane]) * double(values[i + lane]));
        }
    }
    return sum;
}

// Differences are zero where a target is missing. This makes a mean over all of them one over those
// that are seen.
double weight_of_seen(std::size_t seen, std::size_t all)
{
    return seen > 0 ? double(all) / double(seen) : 0;
}

std::size_t count_seen(const std::vector<float>& targets)
{
    return std::size_t(std::count_if(targets.begin(), targets.end(),
                                     [](float target) { return !std::isnan(target); }));
}

double difference(double value, float target)
{
    return std::isnan(target) ? 0 : value - target;
}

// Some clips side by side, there and back. Differences to the targets are kept for every frame, in
// the layout of the tape, zero on handles and where a target is missing.
template <class Real>
class ClipRun {
  public:
    ClipRun(Tape<Real>& tape, std::span<const Rollout* const> clips,
            const std::vector<double>& mass, double dt, int stride, double speed_limit,
            const LossWeights& weights)
        : tape_(tape),
          clips_(clips),
          mass_(mass),
          dt_(dt),
          stride_(stride),
          speed_limit_(speed_limit),
          weights_(weights),
          numbers_(3 * mass.size()),
          frames_(clips[0]->frame_count),
          free_(mass.size() * clips.size(), 1),
          force_weight_(tape.lane_count(), 1),
          impulse_weight_(tape.lane_count(), 1),
          position_weight_(tape.lane_count(), 1),
          force_(frames_),
          position_(frames_),
          impulse_(weights.impulse != 0 ? numbers_ * tape.lane_count() : 0)
    {
        for (std::size_t c = 0; c < clips.size(); ++c) {
            SPRINGTIME_ASSERT(clips[c]->frame_count == frames_);
            for (const int p : clips[c]->handles.particles) free_[p * clips.size() + c] = 0;
            weigh_seen(c);
        }
    }

    LossTerms walk_there()
    {
        load();
        LossTerms terms;
        for (std::size_t f = 0; f < frames_; ++f) {
            if (f > 0) tape_.advance(stride_);
            if (looks_at_force(f)) compare_force(f);
            if (weights_.force != 0) terms.force += square_sum(force_[f], force_weight_);
            if (weights_.position != 0) {
                compare_position(f);
                terms.position += square_sum(position_[f], position_weight_);
            }
            if (weights_.impulse != 0 && is_end(f)) add_impulse(f);
        }
        const double particles = double(mass_.size());
        terms.force /= particles * double(frames_);
        terms.position /= particles * double(frames_);
        terms.impulse = square_sum(impulse_, impulse_weight_) / particles;
        terms.total = weights_.force * terms.force + weights_.impulse * terms.impulse +
                      weights_.position * terms.position;
        // A blow-up may stay finite for a while; its loss means nothing.
        if (!within_bounds()) terms.total = terms.position = std::nan("");
        return terms;
    }

    // d(terms)/d(f) = 2 w f / (P F) and f = m a; likewise for the other terms.
    void walk_back(double scale)
    {
        const double particles = double(mass_.size());
        const double by_force = scale * 2 * weights_.force / (particles * double(frames_));
        const double by_position = scale * 2 * weights_.position / (particles * double(frames_));
        const double by_impulse = scale * 2 * weights_.impulse / particles;
        tape_.begin_back();
        for (std::size_t f = frames_; f-- > 0;) {
            if (weights_.position != 0) push_position(f, by_position);
            if (weights_.impulse != 0 && f == frames_ - 1) push_velocity(by_impulse);
            if (looks_at_force(f)) pull_force(f, by_force, by_impulse);
            if (f > 0) tape_.retreat(stride_);
        }
    }

  private:
    bool within_bounds() const
    {
        const auto v = tape_.velocity();
        return std::all_of(v.begin(), v.end(),
                           [&](Real speed) { return std::abs(double(speed)) <= speed_limit_; });
    }

    bool is_end(std::size_t frame) const { return frame == 0 || frame == frames_ - 1; }
    bool looks_at_force(std::size_t frame) const
    {
        return weights_.force != 0 || (weights_.impulse != 0 && is_end(frame));
    }
    // Sign with which the acceleration of a frame enters the impulse.
    double impulse_sign(std::size_t frame) const
    {
        if (weights_.impulse == 0 || !is_end(frame)) return 0;
        return frame == 0 ? -1 : 1;
    }

    void weigh_seen(std::size_t c)
    {
        const Rollout& clip = *clips_[c];
        const std::size_t all = frames_ * numbers_;
        SPRINGTIME_ASSERT(clip.position.size() == all);
        if (weights_.position != 0) {
            position_weight_[c] = weight_of_seen(count_seen(clip.position), all);
        }
        if (weights_.force != 0 || weights_.impulse != 0) {
            SPRINGTIME_ASSERT(clip.acceleration.size() == all);
            force_weight_[c] = weight_of_seen(count_seen(clip.acceleration), all);
        }
        if (weights_.impulse != 0) {
            SPRINGTIME_ASSERT(clip.velocity.size() == all);
            std::size_t told = 0;
            for (std::size_t j = 0; j < numbers_; ++j) told += tells_impulse(clip, j);
            impulse_weight_[c] = weight_of_seen(told, numbers_);
        }
    }

    // Both ends are needed.
    bool tells_impulse(const Rollout& clip, std::size_t j) const
    {
        const std::size_t last = (frames_ - 1) * numbers_ + j;
        return !std::isnan(clip.velocity[j]) && !std::isnan(clip.velocity[last]) &&
               !std::isnan(clip.acceleration[j]) && !std::isnan(clip.acceleration[last]);
    }

    // Calls visit(index in the tape's layout, clip, index in a frame of the rollout, particle) for
    // the numbers of all free particles.
    template <class Visit>
    void for_each_free(const Visit& visit) const
    {
        for (std::size_t j = 0; j < numbers_; ++j) {
            const std::size_t row = j * tape_.lane_count(), p = j / 3;
            for (std::size_t c = 0; c < clips_.size(); ++c) {
                if (free_[p * clips_.size() + c]) visit(row + c, c, j, p);
            }
        }
    }

    void load()
    {
        tape_.begin(int(frames_ - 1) * stride_);
        for (std::size_t c = 0; c < clips_.size(); ++c) {
            tape_.load(int(c), clips_[c]->state(0, dt_ * stride_, dt_), clips_[c]->handles);
        }
    }

    void compare_force(std::size_t f)
    {
        const auto a = tape_.acceleration();
        force_[f].assign(a.size(), Real(0));
        for_each_free([&](auto i, auto c, auto j, auto p) {
            const float target = clips_[c]->acceleration[f * numbers_ + j];
            force_[f][i] = Real(mass_[p] * difference(double(a[i]), target));
        });
    }

    void compare_position(std::size_t f)
    {
        const auto x = tape_.position();
        position_[f].assign(x.size(), Real(0));
        for_each_free([&](auto i, auto c, auto j, auto) {
            position_[f][i] = Real(difference(double(x[i]), clips_[c]->position[f * numbers_ + j]));
        });
    }

    // The difference of J = m (v_T - v_0) + dt/2 m (a_T - a_0) to its target, end by end.
    void add_impulse(std::size_t f)
    {
        const auto v = tape_.velocity();
        for_each_free([&](auto i, auto c, auto j, auto p) {
            if (!tells_impulse(*clips_[c], j)) return;
            const double speed = double(v[i]) - clips_[c]->velocity[f * numbers_ + j];
            impulse_[i] += impulse_sign(f) * (mass_[p] * speed + 0.5 * dt_ * double(force_[f][i]));
        });
    }

    void push_position(std::size_t f, double by)
    {
        const auto back = tape_.position_adjoint();
        for_each_free([&](auto i, auto c, auto, auto) {
            back[i] += Real(by * position_weight_[c]) * position_[f][i];
        });
    }

    void push_velocity(double by)
    {
        const auto back = tape_.velocity_adjoint();
        for_each_free([&](auto i, auto c, auto, auto p) {
            back[i] += Real(by * impulse_weight_[c] * mass_[p] * impulse_[i]);
        });
    }

    void pull_force(std::size_t f, double by_force, double by_impulse)
    {
        const double by_end = impulse_sign(f) * by_impulse * 0.5 * dt_;
        pull_.assign(force_[f].size(), Real(0));
        for_each_free([&](auto i, auto c, auto, auto p) {
            double by = by_force * force_weight_[c] * double(force_[f][i]);
            if (by_end != 0) by += by_end * impulse_weight_[c] * impulse_[i];
            pull_[i] = Real(mass_[p] * by);
        });
        tape_.pull_acceleration(pull_);
    }

    Tape<Real>& tape_;
    std::span<const Rollout* const> clips_;
    const std::vector<double>& mass_;
    double dt_;
    int stride_;
    double speed_limit_;
    const LossWeights& weights_;
    std::size_t numbers_, frames_;    // numbers in a frame of a rollout
    std::vector<std::uint8_t> free_;  // [particle][clip]
    std::vector<double> force_weight_, impulse_weight_, position_weight_;  // by lane
    std::vector<std::vector<Real>> force_, position_;  // by frame, where a term needs them
    std::vector<double> impulse_;
    std::vector<Real> pull_;
};

}  // namespace

ClipLoss::ClipLoss(const Cloth& cloth, double dt, int stride, const LossWeights& weights)
    : dt_(dt),
      stride_(stride),
      speed_limit_(largest_speed(cloth.sheet, dt)),
      weights_(weights),
      mass_(cloth.mass)
{
}

template <class Real>
LossTerms ClipLoss::run(Tape<Real>& tape, std::span<const Rollout* const> clips, double scale,
                        ParameterGradient* gradient) const
{
    SPRINGTIME_ASSERT(!clips.empty() && int(clips.size()) <= tape.lane_count());
    ClipRun<Real> run(tape, clips, mass_, dt_, stride_, speed_limit_, weights_);
    const LossTerms terms = run.walk_there();
    if (gradient && std::isfinite(terms.total)) {
        run.walk_back(scale);
        tape.add_gradient(gradient->kinds);
    }
    return terms;
}

template LossTerms ClipLoss::run(Tape<float>&, std::span<const Rollout* const>, double,
                                 ParameterGradient*) const;
template LossTerms ClipLoss::run(Tape<double>&, std::span<const Rollout* const>, double,
                                 ParameterGradient*) const;

double negativity(std::span<const double> parameters, double weight, std::span<double> gradient)
{
    double sum = 0;
    for (std::size_t s = 0; s < parameters.size(); ++s) {
        if (parameters[s] >= 0) continue;
        sum -= weight * parameters[s];
        gradient[s] -= weight;
    }
    return sum;
}

std::vector<float> difference_acceleration(const Rollout& rollout, std::size_t landmarks,
                                           double frame_interval)
{
    const std::size_t numbers = 3 * landmarks, frames = rollout.frame_count;
    std::vector<float> result(frames * numbers, 0);
    if (frames < 3) {
        throw Error(Field{"clip_steps"},
                    "a clip of {} frames without stored accelerations; three are needed to "
                    "estimate them, so make the clips longer",
                    frames);
    }
    const double scale = 1 / (frame_interval * frame_interval);
    for (std::size_t f = 0; f < frames; ++f) {
        const std::size_t middle = std::clamp<std::size_t>(f, 1, frames - 2);
        const float* x = rollout.position.data() + middle * numbers;
        for (std::size_t j = 0; j < numbers; ++j) {
            const double second =
                double(x[j + numbers]) - 2 * double(x[j]) + double(*(x + j - numbers));
            result[f * numbers + j] = float(scale * second);
        }
    }
    return result;
}

}  // namespace springtime
