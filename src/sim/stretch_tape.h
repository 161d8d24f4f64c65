#pragma once

#include <algorithm>
#include <vector>

#include "core/aligned.h"
#include "core/assert.h"
#include "sim/stepper.h"
#include "sim/tape.h"

namespace springtime {

// What all tapes share: remembering, running again, handles. A backend adds the four kernels.
template <class Real>
class StretchTape : public Tape<Real> {
  public:
    StretchTape(std::size_t particles, int lanes, const SimulationOptions& simulation,
                const TapeOptions& options)
        : particles_(particles),
          lanes_(lanes),
          numbers_(particles * 3 * lanes),
          dt_(simulation.dt),
          options_(options),
          starts_(lanes),
          mobility_(particles * lanes, Real(0)),
          adjoint_(2 * numbers_),
          acceleration_(numbers_)
    {
    }

    int lane_count() const override { return lanes_; }

    void begin(int steps) override
    {
        const std::size_t bytes = 2 * numbers_ * sizeof(Real);
        stretch_ = stretch_length(steps, bytes, options_.memory);
        last_ = last_stretch(steps, bytes, options_.memory);
        states_.resize(2 * numbers_ * (std::max(stretch_, steps - last_) + 1));
        std::fill_n(states_.begin(), 2 * numbers_, Real(0));
        std::fill(mobility_.begin(), mobility_.end(), Real(0));
        std::fill(starts_.begin(), starts_.end(), LaneStart{});
        kept_.resize(last_ / stretch_ + 1);
        end_ = steps;
        present_ = first_ = 0;
    }

    void load(int lane, const State& state, const Handles& handles) override
    {
        SPRINGTIME_ASSERT(present_ == 0);
        starts_[lane] = {handles, state.time};
        const State placed = with_handles(state, handles, dt_);
        for (std::size_t p = 0; p < particles_; ++p) {
            place(slot(0), lane, p, placed.position[p], placed.velocity[p]);
            mobility_[p * lanes_ + lane] = Real(dt_);
        }
        for (const int p : handles.particles) mobility_[p * lanes_ + lane] = Real(0);
    }

    void advance(int steps) override
    {
        for (int i = 0; i < steps; ++i) {
            SPRINGTIME_ASSERT(present_ < end_);
            // The next stretch begins where this one ends; nothing follows the last one.
            if (present_ - first_ == stretch_ && present_ <= last_) {
                std::copy_n(slot(stretch_), 2 * numbers_, slot(0));
                first_ = present_;
            }
            if (present_ == first_)
                kept_[first_ / stretch_].assign(slot(0), slot(0) + 2 * numbers_);
            run_step();
        }
    }

    std::span<const Real> position() const override { return {now(), numbers_}; }
    std::span<const Real> velocity() const override { return {now() + numbers_, numbers_}; }

    std::span<const Real> acceleration() override
    {
        compute_acceleration(now(), now() + numbers_, acceleration_.data());
        return acceleration_;
    }

    void begin_back() override
    {
        std::fill(adjoint_.begin(), adjoint_.end(), Real(0));
        clear_gradient();
    }

    std::span<Real> position_adjoint() override { return {adjoint_.data(), numbers_}; }
    std::span<Real> velocity_adjoint() override { return {adjoint_.data() + numbers_, numbers_}; }

    void pull_acceleration(std::span<const Real> adjoint) override
    {
        acceleration_adjoint(now(), now() + numbers_, adjoint.data());
    }

    void retreat(int steps) override
    {
        for (int i = 0; i < steps; ++i) {
            SPRINGTIME_ASSERT(present_ > 0);
            if (present_ == first_) run_again(first_ - stretch_);
            --present_;
            beat();
            step_adjoint(now(), now() + numbers_, now() + 3 * numbers_);
        }
    }

  protected:
    // Kernels. States are arrays of [particle][xyz][lane], positions and velocities.
    virtual void step(const Real* position, const Real* velocity, Real* to_position,
                      Real* to_velocity) = 0;
    virtual void compute_acceleration(const Real* position, const Real* velocity, Real* result) = 0;
    virtual void step_adjoint(const Real* position, const Real* velocity,
                              const Real* to_velocity) = 0;
    virtual void acceleration_adjoint(const Real* position, const Real* velocity,
                                      const Real* adjoint) = 0;
    virtual void clear_gradient() = 0;

    const Real* mobility() const { return mobility_.data(); }
    Real* adjoint_of_position() { return adjoint_.data(); }
    Real* adjoint_of_velocity() { return adjoint_.data() + numbers_; }
    std::size_t number_count() const { return numbers_; }
    std::size_t particle_count() const { return particles_; }

  private:
    struct LaneStart {
        Handles handles;
        double time = 0;
    };

    Real* slot(int index) { return states_.data() + 2 * numbers_ * index; }
    const Real* now() const { return states_.data() + 2 * numbers_ * (present_ - first_); }

    void place(Real* state, int lane, std::size_t particle, const Vec3d& position,
               const Vec3d& velocity)
    {
        for (int axis = 0; axis < 3; ++axis) {
            const std::size_t i = (particle * 3 + axis) * lanes_ + lane;
            state[i] = Real(position[axis]);
            state[numbers_ + i] = Real(velocity[axis]);
        }
    }

    void beat()
    {
        constexpr int kEvery = 16;  // steps of microseconds to milliseconds
        if (++beats_ % kEvery == 0 && options_.heartbeat) options_.heartbeat();
    }

    void run_step()
    {
        beat();
        const Real* from = slot(present_ - first_);
        Real* to = slot(present_ - first_ + 1);
        step(from, from + numbers_, to, to + numbers_);
        ++present_;
        for (int lane = 0; lane < lanes_; ++lane) {
            const double time = starts_[lane].time + double(present_) * dt_;
            place_moving_handles(
                starts_[lane].handles, time, dt_,
                [&](int p, const Vec3d& x, const Vec3d& v) { place(to, lane, p, x, v); });
        }
    }

    void run_again(int first)
    {
        const int end = present_;
        first_ = present_ = first;
        std::copy(kept_[first / stretch_].begin(), kept_[first / stretch_].end(), slot(0));
        while (present_ < end) run_step();
    }

    std::size_t particles_;
    int lanes_;
    std::size_t numbers_;  // in an array of [particle][xyz][lane]
    double dt_;
    TapeOptions options_;
    std::vector<LaneStart> starts_;
    AlignedVector<Real> mobility_;
    AlignedVector<Real> states_;             // of the present stretch
    std::vector<AlignedVector<Real>> kept_;  // the first state of every stretch
    AlignedVector<Real> adjoint_, acceleration_;
    int stretch_ = 1;
    int last_ = 0;  // step at which the last stretch begins
    int first_ = 0, present_ = 0, end_ = 0;
    unsigned beats_ = 0;
};

}  // namespace springtime
