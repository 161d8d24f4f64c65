#include "springtime/simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/finite.h"
#include "geometry/mesh_geometry.h"
#include "sim/forces.h"
#include "sim/frame_motion.h"
#include "sim/stability.h"
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
        if (!is_finite(state.position[p]) || !is_finite(state.velocity[p])) {
            throw Error("start: particle {} is not finite; every coordinate must be", p);
        }
    }
}

void check_options(const SimulationOptions& options)
{
    if (!is_time_step(options.dt)) {
        throw Error(Field{"dt"}, "time step {} s: it must lie in {} to {} s", options.dt,
                    kLeastTimeStep, kMostTimeStep);
    }
    if (options.substeps && (*options.substeps < 1 || *options.substeps > kMostSubsteps)) {
        throw Error(Field{"substeps"}, "{} sub-steps: give 1 to {}, or automatic",
                    *options.substeps, kMostSubsteps);
    }
    check_environment(options.environment);
    check_contact(options);
}

// Particles that are held together.
struct Patch {
    HandleId id;
    std::size_t first;          // in FrameMotion::particles
    std::vector<Vec3d> offset;  // from the centre, when they were taken hold of [m]
};

// What the spans show, made when it is asked for.
struct View {
    std::vector<Vec3f> values;
    bool fresh = false;

    template <class Write>
    std::span<const Vec3f> shown(Write write)
    {
        if (!fresh) write(std::span<Vec3f>(values));
        fresh = true;
        return values;
    }
};

void write_floats(const std::vector<Vec3d>& from, std::span<Vec3f> to)
{
    for (std::size_t p = 0; p < from.size(); ++p) to[p] = vec3_cast<float>(from[p]);
}

}  // namespace

struct Simulation::Impl {
    Impl(const Cloth& cloth_, State start, Handles handles, const SimulationOptions& options_);

    double step() const { return options.dt / motion.steps; }
    void build_stepper();
    int substeps_for(double drag) const;
    void reload();
    void show_anew();
    void set_environment(const Environment& environment);
    std::size_t index_of(HandleId id) const;
    std::optional<StepReport> advance(int steps);

    Cloth cloth;
    SimulationOptions options;
    Handles keyed;                     // given at the start
    std::vector<State> states, spare;  // of the one lane, and room for the next
    ForceTable<double> table;
    std::optional<ClothSpectrum> worst;  // where sub-steps are automatic
    FrameMotion motion;                  // of the next frame
    std::vector<Patch> patches;
    long last_id = 0, steps_done = 0;
    std::unique_ptr<Stepper> stepper;
    std::vector<std::array<int, 3>> triangles;
    View position, velocity, normal;
};

Simulation::Impl::Impl(const Cloth& cloth_, State start, Handles handles,
                       const SimulationOptions& options_)
    : cloth(cloth_),
      options(options_),
      keyed(std::move(handles)),
      table(cloth_, options_.environment),
      triangles(surface_triangles(cloth_))
{
    if (!options.substeps) worst = worst_spectrum(cloth);
    motion.steps = substeps_for(options.environment.drag);
    motion.obstacles.reserve(options.obstacles.size());
    states = {with_handles(std::move(start), keyed, step())};
    spare = states;
    for (View* view : {&position, &velocity, &normal}) view->values.resize(cloth.particle_count());
    build_stepper();
}

int Simulation::Impl::substeps_for(double drag) const
{
    if (options.substeps) return *options.substeps;
    const int substeps = stable_substeps(*worst, drag, options.dt);
    if (substeps < kMostSubsteps) return substeps;
    throw Error(Field{"substeps"},
                "a frame of {} s would need {} sub-steps or more; lower the stiffness or the "
                "damping, or raise the mass",
                options.dt, kMostSubsteps);
}

void Simulation::Impl::build_stepper()
{
    SimulationOptions of_step = options;
    of_step.dt = step();
    stepper = make_single_stepper(cloth, of_step);
    reload();
    stepper->store(0, states[0]);  // in the precision it runs in
    show_anew();
}

void Simulation::Impl::reload()
{
    stepper->load(0, states[0], keyed);
    for (const auto& held : motion.particles) stepper->hold(0, std::span(&held.particle, 1));
}

void Simulation::Impl::show_anew()
{
    position.fresh = velocity.fresh = normal.fresh = false;
}

void Simulation::Impl::set_environment(const Environment& environment)
{
    check_environment(environment);
    const int substeps = substeps_for(environment.drag);
    options.environment = environment;
    table.set_environment(environment);
    if (substeps == motion.steps) return stepper->set_environment(environment);
    motion.steps = substeps;
    build_stepper();
}

std::size_t Simulation::Impl::index_of(HandleId id) const
{
    for (std::size_t i = 0; i < patches.size(); ++i) {
        if (patches[i].id == id) return i;
    }
    throw Error(Field{"handle"},
                "handle {}: nothing is held under it; it was released, or belongs "
                "to another simulation",
                long(id));
}

std::optional<StepReport> Simulation::Impl::advance(int steps)
{
    stepper->begin_frame(motion);
    auto report =
        advance_checked(*stepper, states, spare, steps, largest_speed(cloth.sheet, step()), [this] {
            reload();
            stepper->begin_frame(motion);
        });
    if (report) {
        report->step += steps_done;
        return report;
    }
    steps_done += steps;
    for (auto& held : motion.particles) held.from = held.to;
    for (auto& solid : motion.obstacles) {
        solid.from = solid.to;
        options.obstacles[solid.obstacle].key_time.assign(1, 0.0);
        options.obstacles[solid.obstacle].key_pose.assign(1, solid.to);
    }
    show_anew();
    return std::nullopt;
}

// ---- Simulation ----

Simulation::Simulation(const Cloth& cloth, const SimulationOptions& options)
    : Simulation(cloth, flat_state(cloth), {}, options)
{
}

Simulation::Simulation(const Cloth& cloth, State start, Handles handles,
                       const SimulationOptions& options)
{
    check_cloth(cloth, "cloth");
    check_start(start, cloth.particle_count());
    check_handles(handles, cloth.particle_count(), "handles");
    check_options(options);
    impl_ = std::make_unique<Impl>(cloth, std::move(start), std::move(handles), options);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

std::optional<StepReport> Simulation::advance(int frames)
{
    if (frames < 0 || frames > std::numeric_limits<int>::max() / substeps()) {
        throw Error(Field{"frames"}, "{} frames of {} sub-steps: give 0 to {}", frames, substeps(),
                    std::numeric_limits<int>::max() / substeps());
    }
    if (frames == 0) return std::nullopt;  // targets wait for the next frame
    return impl_->advance(frames * substeps());
}

// ---- What is held ----

HandleId Simulation::hold(std::string_view name)
{
    return hold(particles_named(impl_->cloth, name));
}

HandleId Simulation::hold(int particle)
{
    return hold(std::span(&particle, 1));
}

HandleId Simulation::hold(std::span<const int> particles)
{
    if (particles.empty()) {
        throw Error(Field{"particles"}, "nothing to hold; give at least one particle");
    }
    Handles all = handles();
    all.key_time.clear();
    all.key_position.clear();
    all.particles.insert(all.particles.end(), particles.begin(), particles.end());
    check_handles(all, impl_->cloth.particle_count(), "hold");

    State& state = impl_->states[0];
    Vec3d center;
    for (const int p : particles) center += (1.0 / double(particles.size())) * state.position[p];
    Patch patch{HandleId{++impl_->last_id}, impl_->motion.particles.size(), {}};
    for (const int p : particles) {
        patch.offset.push_back(state.position[p] - center);
        impl_->motion.particles.push_back({p, state.position[p], state.position[p]});
        state.velocity[p] = {};
    }
    impl_->patches.push_back(std::move(patch));
    impl_->reload();
    impl_->show_anew();
    return impl_->patches.back().id;
}

void Simulation::move(HandleId handle, const Vec3d& target, const Vec3d& turn)
{
    const Patch& patch = impl_->patches[impl_->index_of(handle)];
    if (!is_finite(target) || !is_finite(turn)) {
        throw Error(Field{"target"}, "handle {}: the target is not finite; give numbers",
                    long(handle));
    }
    const std::array<Vec3d, 3> axes = turned_axes(turn);
    for (std::size_t i = 0; i < patch.offset.size(); ++i) {
        const Vec3d& o = patch.offset[i];
        impl_->motion.particles[patch.first + i].to =
            target + o.x * axes[0] + o.y * axes[1] + o.z * axes[2];
    }
}

void Simulation::release(HandleId handle)
{
    const std::size_t index = impl_->index_of(handle);
    const std::size_t first = impl_->patches[index].first;
    const std::size_t count = impl_->patches[index].offset.size();
    auto& held = impl_->motion.particles;
    held.erase(held.begin() + std::ptrdiff_t(first), held.begin() + std::ptrdiff_t(first + count));
    impl_->patches.erase(impl_->patches.begin() + std::ptrdiff_t(index));
    for (std::size_t i = index; i < impl_->patches.size(); ++i) impl_->patches[i].first -= count;
    impl_->reload();
}

Vec3d Simulation::center(HandleId handle) const
{
    const Patch& patch = impl_->patches[impl_->index_of(handle)];
    Vec3d sum;
    for (std::size_t i = 0; i < patch.offset.size(); ++i) {
        sum += impl_->motion.particles[patch.first + i].from;
    }
    return (1.0 / double(patch.offset.size())) * sum;
}

Handles Simulation::handles() const
{
    Handles all = impl_->keyed;
    const std::size_t keys = all.key_time.size(), given = all.particles.size();
    for (const auto& held : impl_->motion.particles) all.particles.push_back(held.particle);
    all.key_position.clear();
    for (std::size_t k = 0; k < keys; ++k) {
        const auto from = impl_->keyed.key_position.begin() + std::ptrdiff_t(k * given);
        all.key_position.insert(all.key_position.end(), from, from + std::ptrdiff_t(given));
        for (const auto& held : impl_->motion.particles) all.key_position.push_back(held.from);
    }
    return all;
}

// ---- What acts on it ----

void Simulation::set_gravity(const Vec3d& gravity)
{
    Environment environment = impl_->options.environment;
    environment.gravity = gravity;
    impl_->set_environment(environment);
}

void Simulation::set_wind(const Vec3d& wind)
{
    Environment environment = impl_->options.environment;
    environment.wind = wind;
    impl_->set_environment(environment);
}

void Simulation::set_drag(double drag)
{
    Environment environment = impl_->options.environment;
    environment.drag = drag;
    impl_->set_environment(environment);
}

std::size_t Simulation::obstacle_named(std::string_view name) const
{
    const auto& all = impl_->options.obstacles;
    for (std::size_t o = 0; o < all.size(); ++o) {
        if (all[o].name == name) return o;
    }
    throw Error(Field{"obstacle"}, "obstacle '{}': none of the {} has this name", name, all.size());
}

void Simulation::set_pose(std::size_t obstacle, const Pose& pose)
{
    auto& obstacles = impl_->options.obstacles;
    if (obstacle >= obstacles.size()) {
        throw Error(Field{"obstacle"}, "obstacle {}: there are {}", obstacle, obstacles.size());
    }
    check_pose(pose, "obstacle");
    auto& guided = impl_->motion.obstacles;
    const auto known = std::find_if(guided.begin(), guided.end(),
                                    [&](const auto& g) { return g.obstacle == obstacle; });
    if (known != guided.end()) {
        known->to = pose;
    } else {
        guided.push_back({obstacle, obstacles[obstacle].pose(state().time), pose});
    }
}

// ---- What it looks like ----

std::span<const Vec3f> Simulation::positions() const
{
    return impl_->position.shown([&](std::span<Vec3f> to) { write_floats(state().position, to); });
}

std::span<const Vec3f> Simulation::velocities() const
{
    return impl_->velocity.shown([&](std::span<Vec3f> to) { write_floats(state().velocity, to); });
}

std::span<const Vec3f> Simulation::normals() const
{
    if (impl_->triangles.empty()) {
        throw Error("normals: this cloth has neither triangles nor a grid; give it one of them");
    }
    const std::span<const Vec3f> points = positions();
    return impl_->normal.shown(
        [&](std::span<Vec3f> to) { write_vertex_normals(points, impl_->triangles, to); });
}

const State& Simulation::state() const
{
    return impl_->states[0];
}

std::vector<Vec3d> Simulation::acceleration() const
{
    return springtime::acceleration(impl_->table, handles(), impl_->states[0]);
}

const Cloth& Simulation::cloth() const
{
    return impl_->cloth;
}

const SimulationOptions& Simulation::options() const
{
    return impl_->options;
}

int Simulation::substeps() const
{
    return impl_->motion.steps;
}

std::string Simulation::device_name() const
{
    return impl_->stepper->name();
}

std::string describe(const StepReport& report, const Cloth& cloth, const SimulationOptions& options)
{
    const double limit = largest_stable_step(cloth, options.environment);
    const int stable = stable_substeps(cloth, options.environment, options.dt);
    const int substeps = options.substeps.value_or(stable);
    std::string text = fmt::format(
        "the cloth blew up: particle {} was the first to leave all bounds, in step {} at {:.6g} s "
        "with a time step of {:.3g} s; the largest stable step is about {:.3g} s. ",
        report.particle, report.step, report.time, options.dt / substeps, limit);
    if (stable > substeps) {
        text += fmt::format(
            "Use automatic sub-steps (here {}), or lower stiffness and damping, or raise the mass",
            stable);
    } else {
        text +=
            "The step is below that, so a handle or an obstacle that moves too fast, or a start "
            "that is stretched too far or inside an obstacle, is the likely cause; otherwise try "
            "a shorter step";
    }
    return text;
}

}  // namespace springtime
