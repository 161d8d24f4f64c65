#include "sim/global_adjoint.h"

#include <algorithm>
#include <cmath>

#include "physics/euler.h"
#include "physics/rest_length.h"
#include "sim/forces.h"

namespace springtime {

namespace {

constexpr double kLeastLength = 1e-9;  // [m]: coincident ends feel nothing

}  // namespace

template <class Real>
GlobalRetreat<Real>::GlobalRetreat(Tape<Real>& tape, const Cloth& cloth,
                                   const SimulationOptions& options,
                                   const std::vector<Handles>& handles)
    : tape_(tape),
      cloth_(cloth),
      table_(cloth, options.environment),
      environment_(options.environment),
      dt_(options.dt),
      width_(std::size_t(tape.lane_count())),
      handles_(handles),
      lanes_(handles.size()),
      force_(cloth.particle_count())
{
    for (const Handles& lane : handles) {
        held_.emplace_back(cloth.particle_count(), false);
        for (const int p : lane.particles) held_.back()[std::size_t(p)] = true;
    }
    for (GlobalAdjoint& lane : lanes_) lane.rest_length.assign(cloth.springs.spring_count(), 0);
}

template <class Real>
Vec3d GlobalRetreat<Real>::at(const Real* array, std::size_t particle, std::size_t lane) const
{
    const Real* x = array + particle * 3 * width_ + lane;
    return {double(x[0]), double(x[width_]), double(x[2 * width_])};
}

// A held particle is where its path says, whatever the step before was: its adjoint belongs to the
// path and goes no further back.
template <class Real>
void GlobalRetreat<Real>::take_held()
{
    Real *position = tape_.position_adjoint().data(), *velocity = tape_.velocity_adjoint().data();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        for (const int p : handles_[lane].particles) {
            lanes_[lane].held.push_back(
                {at(position, std::size_t(p), lane), at(velocity, std::size_t(p), lane)});
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const std::size_t i = (std::size_t(p) * 3 + axis) * width_ + lane;
                position[i] = velocity[i] = Real(0);
            }
        }
    }
}

template <class Real>
void GlobalRetreat<Real>::add_step(const std::vector<Real>& back_position,
                                   const std::vector<Real>& back_velocity)
{
    const Real *position = tape_.position().data(), *velocity = tape_.velocity().data();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        GlobalAdjoint& sums = lanes_[lane];
        for (std::size_t p = 0; p < cloth_.particle_count(); ++p) {
            Vec3d back = at(back_velocity.data(), p, lane);
            const Vec3d a = euler_adjoint(at(back_position.data(), p, lane), back,
                                          held_[lane][p] ? 0.0 : dt_, dt_);
            sums.gravity += a;
            sums.drag += dot(a, environment_.wind - at(velocity, p, lane));
            force_[p] = (1 / cloth_.mass[p]) * a;
        }
        for (std::size_t s = 0; s < cloth_.springs.spring_count(); ++s) {
            const auto a = std::size_t(cloth_.springs.ends[s][0]);
            const auto b = std::size_t(cloth_.springs.ends[s][1]);
            const Vec3d d = at(position, b, lane) - at(position, a, lane);
            const double l = std::max(length(d), kLeastLength);
            const double slope = tension_by_rest_length(l, table_.rest_length[s],
                                                        table_.stiffness[s], table_.law(s));
            sums.rest_length[s] += slope / l * dot(force_[a] - force_[b], d);
        }
    }
}

template <class Real>
void GlobalRetreat<Real>::retreat(int steps)
{
    for (int i = 0; i < steps; ++i) {
        take_held();
        const auto position = tape_.position_adjoint(), velocity = tape_.velocity_adjoint();
        const std::vector<Real> back_position(position.begin(), position.end());
        const std::vector<Real> back_velocity(velocity.begin(), velocity.end());
        tape_.retreat(1);
        add_step(back_position, back_velocity);
    }
}

template <class Real>
void GlobalRetreat<Real>::end()
{
    take_held();
}

template class GlobalRetreat<float>;
template class GlobalRetreat<double>;

}  // namespace springtime
