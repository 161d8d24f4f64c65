#include "sim/stepper.h"

#include <cmath>

#include "core/finite.h"

namespace springtime {

std::optional<int> first_bad_particle(const State& state, double speed_limit)
{
    for (std::size_t p = 0; p < state.position.size(); ++p) {
        // Written so that NaN fails.
        const bool good = length(state.velocity[p]) <= speed_limit && is_finite(state.position[p]);
        if (!good) return static_cast<int>(p);
    }
    return std::nullopt;
}

double largest_speed(const Sheet& sheet, double dt)
{
    return std::hypot(sheet.length, sheet.width) / dt;
}

std::optional<StepReport> store_checked(const Stepper& stepper, std::vector<State>& states,
                                        double speed_limit)
{
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
        stepper.store(static_cast<int>(lane), states[lane]);
    }
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
        if (const auto particle = first_bad_particle(states[lane], speed_limit)) {
            return StepReport{*particle, 0, states[lane].time, static_cast<int>(lane)};
        }
    }
    return std::nullopt;
}

std::optional<StepReport> advance_checked(Stepper& stepper, std::vector<State>& states,
                                          const std::vector<Handles>& handles, int steps,
                                          const Cloth& cloth, double dt,
                                          const PieceDone& piece_done)
{
    std::vector<State> spare = states;
    const int piece = steps_per_piece(cloth.particle_count() * states.size());
    for (int done = 0; done < steps; done += piece) {
        const int count = std::min(piece, steps - done);
        auto report =
            advance_checked(stepper, states, spare, count, largest_speed(cloth.sheet, dt), [&] {
                for (std::size_t lane = 0; lane < states.size(); ++lane) {
                    stepper.load(static_cast<int>(lane), states[lane], handles[lane]);
                }
            });
        if (report) {
            report->step += done;
            return report;
        }
        if (piece_done) piece_done(double(count) / steps);
    }
    return std::nullopt;
}

HandlePose handle_pose(const Handles& handles, std::size_t handle, double time, double dt)
{
    return key_path(handles).pose(handle, time, dt);
}

State with_handles(State state, const Handles& handles, double dt)
{
    for (const int p : handles.particles) state.velocity[p] = {};
    place_moving_handles(handles, state.time, dt, [&](int p, const Vec3d& x, const Vec3d& v) {
        state.position[p] = x;
        state.velocity[p] = v;
    });
    return state;
}

}  // namespace springtime
