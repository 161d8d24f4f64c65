#include "springtime/simulation.h"

#include <cmath>
#include <utility>

#include "sim/forces.h"
#include "sim/obstacle_placement.h"
#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

void check_start(const State& state, std::size_t particles)
{
    if (state.position.size() != particles || state.velocity.size() != particles) {
        throw Error(
            "start: {} positions and {} velocities for a cloth of {} particles; give one each",
            state.position.size(), state.velocity.size(), particles);
    }
    for (std::size_t p = 0; p < particles; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            if (!std::isfinite(state.position[p][axis]) ||
                !std::isfinite(state.velocity[p][axis])) {
                throw Error("start: particle {} is not finite; every coordinate must be", p);
            }
        }
    }
}

void check_options(const SimulationOptions& options)
{
    if (!std::isfinite(options.dt) || options.dt <= 0) {
        throw Error("time step {} s: it must be finite and positive", options.dt);
    }
    check_environment(options.environment);
    check_contact(options);
}

}  // namespace

struct Simulation::Impl {
    Cloth cloth;
    SimulationOptions options;
    std::vector<Handles> handles;  // of the one lane
    std::vector<State> states;     // of the one lane
    ForceTable<double> table;
    std::unique_ptr<Stepper> stepper;
    long steps_done = 0;
};

Simulation::Simulation(const Cloth& cloth, State start, Handles handles,
                       const SimulationOptions& options)
{
    check_cloth(cloth, "cloth");
    check_start(start, cloth.particle_count());
    check_handles(handles, cloth.particle_count(), "handles");
    check_options(options);
    start = with_handles(std::move(start), handles, options.dt);
    impl_ = std::make_unique<Impl>(Impl{cloth,
                                        options,
                                        {std::move(handles)},
                                        {std::move(start)},
                                        ForceTable<double>(cloth, options.environment),
                                        make_single_stepper(cloth, options)});
    impl_->stepper->load(0, impl_->states[0], impl_->handles[0]);
    impl_->stepper->store(0, impl_->states[0]);  // in the precision it runs in
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

std::optional<StepReport> Simulation::advance(int steps)
{
    auto report = advance_checked(*impl_->stepper, impl_->states, impl_->handles, steps,
                                  impl_->cloth, impl_->options.dt);
    if (report) {
        report->step += impl_->steps_done;
    } else {
        impl_->steps_done += steps;
    }
    return report;
}

const State& Simulation::state() const
{
    return impl_->states[0];
}

std::vector<Vec3d> Simulation::acceleration() const
{
    return springtime::acceleration(impl_->table, impl_->handles[0], impl_->states[0]);
}

const Cloth& Simulation::cloth() const
{
    return impl_->cloth;
}

const Handles& Simulation::handles() const
{
    return impl_->handles[0];
}

const SimulationOptions& Simulation::options() const
{
    return impl_->options;
}

std::string Simulation::device_name() const
{
    return impl_->stepper->name();
}

std::string describe(const StepReport& report, const Cloth& cloth, const SimulationOptions& options)
{
    const double limit = largest_stable_step(cloth, options.environment);
    const int substeps = stable_substeps(cloth, options.environment, options.dt);
    std::string text = fmt::format(
        "the cloth blew up: particle {} was the first to leave all bounds, in step {} at {:.6g} s "
        "with a time step of {:.3g} s; the largest stable step is about {:.3g} s. ",
        report.particle, report.step, report.time, options.dt, limit);
    if (substeps > 1) {
        text += fmt::format(
            "Use --substeps auto (here {}), or lower stiffness and damping, or "
            "raise the mass",
            substeps);
    } else {
        text +=
            "The step is below that, so a handle or an obstacle that moves too fast, or a start "
            "that is stretched too far or inside an obstacle, is the likely cause; otherwise try "
            "a shorter --dt";
    }
    return text;
}

}  // namespace springtime
