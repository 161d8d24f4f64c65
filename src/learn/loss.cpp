#include "learn/loss.h"

#include <algorithm>
#include <cmath>

#include "core/assert.h"

namespace springtime {

// Differences to the targets at every frame, in the layout of the tape, zero on handles.
template <class Real>
struct ClipLoss::Residuals {
    std::vector<std::vector<Real>> force, position;  // by frame; empty where no term needs them
    std::vector<Real> impulse;
};

namespace {

// Calls visit(index in the tape's layout, clip, index in a frame of the rollout, particle).
template <class Visit>
void for_each_number(std::size_t particles, int lanes, std::size_t clips, const Visit& visit)
{
    for (std::size_t p = 0; p < particles; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            const std::size_t row = (p * 3 + axis) * lanes;
            for (std::size_t clip = 0; clip < clips; ++clip) {
                visit(row + clip, clip, p * 3 + axis, p);
            }
        }
    }
}

std::vector<std::uint8_t> free_particles(std::span<const Rollout* const> clips,
                                         std::size_t particles)
{
    std::vector<std::uint8_t> free(particles * clips.size(), 1);
    for (std::size_t clip = 0; clip < clips.size(); ++clip) {
        for (const int p : clips[clip]->handles.particles) free[p * clips.size() + clip] = 0;
    }
    return free;
}

template <class Real>
double square_sum(const std::vector<Real>& values)
{
    double sum = 0;
    for (const Real value : values) sum += double(value) * double(value);
    return sum;
}

}  // namespace

ClipLoss::ClipLoss(const Cloth& cloth, double dt, int stride, const LossWeights& weights)
    : dt_(dt), stride_(stride), weights_(weights), mass_(cloth.mass)
{
}

template <class Real>
LossTerms ClipLoss::run(Tape<Real>& tape, std::span<const Rollout* const> clips, double scale,
                        ParameterGradient* gradient) const
{
    SPRINGTIME_ASSERT(!clips.empty() && int(clips.size()) <= tape.lane_count());
    const std::size_t particles = mass_.size(), frames = clips[0]->frame_count;
    const std::size_t last = frames - 1, numbers = 3 * particles;
    const int lanes = tape.lane_count();
    const std::vector<std::uint8_t> free = free_particles(clips, particles);
    const auto is_free = [&](std::size_t p, std::size_t clip) {
        return free[p * clips.size() + clip];
    };

    MotionHeader header;  // for the times of the frames only
    header.dt = dt_;
    header.stride = stride_;
    header.rest.resize(particles);
    tape.begin(int(last) * stride_);
    for (std::size_t clip = 0; clip < clips.size(); ++clip) {
        tape.load(int(clip), clips[clip]->state(0, header), clips[clip]->handles);
    }

    // The way there: differences at every frame.
    Residuals<Real> residuals;
    residuals.force.resize(frames);
    residuals.position.resize(frames);
    std::vector<double> impulse(weights_.impulse != 0 ? numbers * lanes : 0);
    LossTerms terms;
    for (std::size_t f = 0; f < frames; ++f) {
        if (f > 0) tape.advance(stride_);
        const bool end = f == 0 || f == last;
        if (weights_.force != 0 || (weights_.impulse != 0 && end)) {
            const auto a = tape.acceleration();
            auto& difference = residuals.force[f];
            difference.assign(numbers * lanes, Real(0));
            for_each_number(particles, lanes, clips.size(), [&](auto i, auto c, auto j, auto p) {
                if (!is_free(p, c)) return;
                difference[i] =
                    Real(mass_[p] * (double(a[i]) - clips[c]->acceleration[f * numbers + j]));
            });
            if (weights_.force != 0) terms.force += square_sum(difference);
        }
        if (weights_.position != 0) {
            const auto x = tape.position();
            auto& difference = residuals.position[f];
            difference.assign(numbers * lanes, Real(0));
            for_each_number(particles, lanes, clips.size(), [&](auto i, auto c, auto j, auto p) {
                if (is_free(p, c))
                    difference[i] = Real(double(x[i]) - clips[c]->position[f * numbers + j]);
            });
            terms.position += square_sum(difference);
        }
        if (weights_.impulse != 0 && end) {
            const double sign = f == 0 ? -1 : 1;
            const auto v = tape.velocity();
            for_each_number(particles, lanes, clips.size(), [&](auto i, auto c, auto j, auto p) {
                if (!is_free(p, c)) return;
                const double speed = double(v[i]) - clips[c]->velocity[f * numbers + j];
                impulse[i] += sign * (mass_[p] * speed + 0.5 * dt_ * double(residuals.force[f][i]));
            });
        }
    }
    for (const double value : impulse) terms.impulse += value * value;
    terms.force /= double(particles * frames);
    terms.position /= double(particles * frames);
    terms.impulse /= double(particles);
    terms.total = weights_.force * terms.force + weights_.impulse * terms.impulse +
                  weights_.position * terms.position;
    if (!gradient || !std::isfinite(terms.total)) return terms;

    // The way back. d(terms)/d(force) = 2 w f / (P F), and f = m a.
    const double by_force = scale * 2 * weights_.force / double(particles * frames);
    const double by_position = scale * 2 * weights_.position / double(particles * frames);
    const double by_impulse = scale * 2 * weights_.impulse / double(particles);
    tape.begin_back();
    std::vector<Real> pull(numbers * lanes);
    for (std::size_t f = frames; f-- > 0;) {
        const bool end = f == 0 || f == last;
        if (weights_.position != 0) {
            const auto back = tape.position_adjoint();
            for (std::size_t i = 0; i < back.size(); ++i) {
                back[i] += Real(by_position) * residuals.position[f][i];
            }
        }
        if (weights_.impulse != 0 && f == last) {
            const auto back = tape.velocity_adjoint();
            for_each_number(particles, lanes, clips.size(), [&](auto i, auto, auto, auto p) {
                back[i] += Real(by_impulse * mass_[p] * impulse[i]);
            });
        }
        if (weights_.force != 0 || (weights_.impulse != 0 && end)) {
            const double sign = !end || weights_.impulse == 0 ? 0 : f == 0 ? -1 : 1;
            std::fill(pull.begin(), pull.end(), Real(0));
            for_each_number(particles, lanes, clips.size(), [&](auto i, auto c, auto, auto p) {
                if (!is_free(p, c)) return;
                double by = by_force * double(residuals.force[f][i]);
                if (sign != 0) by += sign * by_impulse * 0.5 * dt_ * impulse[i];
                pull[i] = Real(mass_[p] * by);
            });
            tape.pull_acceleration(pull);
        }
        if (f > 0) tape.retreat(stride_);
    }
    tape.add_gradient(gradient->stiffness, gradient->damping);
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
    if (frames < 3) return result;
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
