#pragma once

#include <functional>
#include <optional>

#include "springtime/sheet.h"
#include "springtime/simulation.h"

namespace springtime {

// A cloth has settled when its root-mean-square speed has stayed below `speed` for `seconds`.
struct RestRule {
    double speed = 0;       // [m/s]
    double seconds = 0.5;   // [s]; longer than the turning points of a swing last
    double not_before = 0;  // [s]: while something else is still going to move, nothing has settled
};

// A thousandth of the sheet's diagonal per second.
RestRule rest_rule(const Sheet& sheet);

// Root mean square over the particles, and the largest. [m/s]
struct Speeds {
    double rms = 0, largest = 0;
};
Speeds speeds_of(const State& state);

// Looks at states in the order of their time.
class RestWatch {
  public:
    explicit RestWatch(const RestRule& rule) : rule_(rule) {}
    // True once the cloth has settled.
    bool settled(const State& state);

  private:
    RestRule rule_;
    std::optional<double> slow_since_;  // [s]
};

struct Settling {
    bool settled = false;
    Speeds speeds;                      // at the end
    std::optional<StepReport> blow_up;  // the simulation is then where it was before
};

// The rule, with nothing settled before the last key of handles and obstacles.
RestRule after_all_paths(RestRule rule, const Simulation& simulation);

// Advances until the cloth has settled, all paths ended, or until the time is `until`. The state is
// looked at every `look` seconds.
Settling settle(Simulation& simulation, const RestRule& rule, double until,
                const std::function<bool(double time)>& keep_going = {}, double look = 0.05);

}  // namespace springtime
