#include "sim/stepper.h"

#include <cmath>

namespace springtime {

namespace {

std::optional<int> first_bad_particle(const State& state, double speed_limit)
{
    for (std::size_t p = 0; p < state.position.size(); ++p) {
        const Vec3d x = state.position[p];
        // Written so that NaN fails.
        const bool good = length(state.velocity[p]) <= speed_limit && std::isfinite(x.x) &&
                          std::isfinite(x.y) && std::isfinite(x.z);
        if (!good) return static_cast<int>(p);
    }
    return std::nullopt;
}

void load_all(Stepper& stepper, const std::vector<State>& states,
              const std::vector<Handles>& handles)
{
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
        stepper.load(static_cast<int>(lane), states[lane], handles[lane]);
    }
}

// The first lane, in lane order, that holds a bad particle.
std::optional<StepReport> find_bad(const std::vector<State>& states, double speed_limit)
{
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
        if (const auto particle = first_bad_particle(states[lane], speed_limit)) {
            return StepReport{*particle, 0, states[lane].time, static_cast<int>(lane)};
        }
    }
    return std::nullopt;
}

}  // namespace

double largest_speed(const Sheet& sheet, double dt)
{
    return std::hypot(sheet.length, sheet.width) / dt;
}

std::optional<StepReport> advance_checked(Stepper& stepper, std::vector<State>& states,
                                          const std::vector<Handles>& handles, int steps,
                                          const Cloth& cloth, double dt)
{
    const double speed_limit = largest_speed(cloth.sheet, dt);
    const auto store_all = [&](std::vector<State>& into) {
        for (std::size_t lane = 0; lane < into.size(); ++lane) {
            stepper.store(static_cast<int>(lane), into[lane]);
        }
    };
    std::vector<State> after = states;
    stepper.advance(steps);
    store_all(after);
    auto report = find_bad(after, speed_limit);
    if (!report) {
        states.swap(after);
        return std::nullopt;
    }
    // Go back and step singly, to name the first particle and the exact time.
    load_all(stepper, states, handles);
    for (int step = 1; step <= steps; ++step) {
        stepper.advance(1);
        store_all(after);
        if (const auto first = find_bad(after, speed_limit)) {
            report = first;
            report->step = step;
            break;
        }
    }
    load_all(stepper, states, handles);
    return report;
}

HandlePose handle_pose(const Handles& handles, std::size_t handle, double time, double dt)
{
    const Vec3d now = handles.position(handle, time);
    return {now, (1 / dt) * (now - handles.position(handle, time - dt))};
}

State with_handles(State state, const Handles& handles, double dt)
{
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        const int p = handles.particles[h];
        if (handles.moving()) {
            const HandlePose pose = handle_pose(handles, h, state.time, dt);
            state.position[p] = pose.position;
            state.velocity[p] = pose.velocity;
        } else {
            state.velocity[p] = {};
        }
    }
    return state;
}

}  // namespace springtime
