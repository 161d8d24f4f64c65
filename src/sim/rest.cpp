#include "springtime/simulation.h"

#include <algorithm>
#include <cmath>

#include "sim/stepper.h"

namespace springtime {

RestRule rest_rule(const Sheet& sheet)
{
    return {1e-3 * std::hypot(sheet.length, sheet.width)};
}

Speeds speeds_of(const State& state)
{
    double sum = 0, largest = 0;
    for (const Vec3d& v : state.velocity) {
        sum += dot(v, v);
        largest = std::max(largest, dot(v, v));
    }
    return {std::sqrt(sum / double(state.velocity.size())), std::sqrt(largest)};
}

bool RestWatch::settled(const State& state)
{
    if (!(speeds_of(state).rms < rule_.speed)) {
        slow_since_.reset();
        return false;
    }
    if (state.time < rule_.not_before) return false;
    if (!slow_since_) slow_since_ = state.time;
    return state.time - *slow_since_ >= rule_.seconds;
}

RestRule after_all_paths(RestRule rule, const Simulation& simulation)
{
    const Handles& handles = simulation.handles();
    if (handles.moving()) rule.not_before = std::max(rule.not_before, handles.key_time.back());
    for (const Obstacle& obstacle : simulation.options().obstacles) {
        if (obstacle.moving()) {
            rule.not_before = std::max(rule.not_before, obstacle.key_time.back());
        }
    }
    return rule;
}

Settling settle(Simulation& simulation, const RestRule& rule, double until,
                const Progress& progress, double interval)
{
    const int piece = steps_per_piece(simulation.cloth().particle_count() * simulation.substeps());
    const int frames =
        std::max(1, static_cast<int>(std::lround(interval / simulation.options().dt)));
    RestWatch watch(after_all_paths(rule, simulation));
    Settling result;
    while (simulation.state().time < until) {
        for (int done = 0; done < frames && !result.blow_up; done += piece) {
            result.blow_up = simulation.advance(std::min(piece, frames - done));
            progress.report({"settling", simulation.state().time, until, "s", {}});
        }
        if (result.blow_up) break;
        result.settled = watch.settled(simulation.state());
        if (result.settled) break;
    }
    result.speeds = speeds_of(simulation.state());
    return result;
}

}  // namespace springtime
