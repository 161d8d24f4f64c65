#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "cloths.h"
#include "dual.h"
#include "physics/euler.h"
#include "sim/forces.h"
#include "sim/stepper.h"
#include "sim/tape.h"

namespace springtime {

inline std::vector<Vec3d> random_vectors(Random& random, std::size_t count)
{
    std::vector<Vec3d> vectors(count);
    for (Vec3d& vector : vectors) vector = {random.normal(), random.normal(), random.normal()};
    return vectors;
}

inline double dot(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b)
{
    double sum = 0;
    for (std::size_t p = 0; p < a.size(); ++p) sum += dot(a[p], b[p]);
    return sum;
}

// A linear functional of a run: weights of the last state, and of accelerations at some steps.
struct Loss {
    std::vector<Vec3d> position, velocity;
    std::map<int, std::vector<Vec3d>> acceleration;  // by step; zero for handles
};

// A run whose gradient is asked for.
struct Scene {
    Cloth cloth;
    State start;
    Handles handles;
    SimulationOptions options;
    int steps = 0;
    Loss loss;
};

inline Loss random_loss(const Cloth& cloth, const Handles& handles, const std::vector<int>& frames,
                        int seed)
{
    Random random(seed);
    const std::size_t count = cloth.particle_count();
    Loss loss{random_vectors(random, count), random_vectors(random, count), {}};
    for (const int frame : frames) {
        auto& weights = loss.acceleration[frame] = random_vectors(random, count);
        for (const int p : handles.particles) weights[p] = {};
    }
    return loss;
}

// An uneven 5 x 6 sheet in the wind. Two pins stand still, a third handle is carried about.
inline Scene windy_scene(int steps, int seed)
{
    Scene scene;
    scene.cloth = uneven_grid({5, 6, true, true, true, true});
    scene.start = shaken_state(scene.cloth, seed);
    const auto& x = scene.start.position;
    scene.handles = {{0, 5, 26},
                     {0, 0.3, 0.9},
                     {x[0], x[5], x[26],                                   // at 0 s
                      x[0], x[5], x[26] + Vec3d{0.2, 0.3, -0.1},           // at 0.3 s
                      x[0], x[5], x[26] + Vec3d{-0.2, 0.1, 0.1 * seed}}};  // at 0.9 s
    scene.options = {1.0 / 512, {{0, -9.81, 0}, 1.5, {2, 0.5, -1}}, Device::automatic};
    scene.start = with_handles(scene.start, scene.handles, scene.options.dt);
    scene.steps = steps;
    scene.loss = random_loss(scene.cloth, scene.handles,
                             {0, steps / 5, steps / 2, steps - 1, steps}, 100 + seed);
    return scene;
}

// The same with springs that follow a law, no two alike; its strains pass all knots.
inline Scene law_scene(int steps, int seed, const SpringLaw& law = manifold_law())
{
    Scene scene = windy_scene(steps, seed);
    add_uneven_law(scene.cloth, law);
    return scene;
}

// A finite-element sheet on which no two elements are alike, with handles and wind as above.
inline Scene mesh_scene(int steps, int seed, TriangleDamping kind, bool woven)
{
    Scene scene = windy_scene(steps, seed);
    scene.cloth = uneven_mesh({5, 6}, MeshCut::alternating, kind);
    if (woven) add_uneven_fibres(scene.cloth);
    return scene;
}

// The springs of a law with couplings of either sign.
inline Scene coupled_scene(int steps, int seed)
{
    Scene scene = law_scene(steps, seed, law_named("coupled"));
    Random random(9);
    for (double& c : scene.cloth.couplings.stiffness) c = 20 * random.uniform() - 10;
    return scene;
}

// ---- The way there, in plain loops on any scalar ----

template <class Real>
struct PlainRun {
    explicit PlainRun(const Scene& scene)
        : handles(scene.handles),
          start_time(scene.start.time),
          dt(scene.options.dt),
          table(scene.cloth, scene.options.environment)
    {
        for (const Vec3d& x : scene.start.position) position.push_back(vec3_cast<Real>(x));
        for (const Vec3d& v : scene.start.velocity) velocity.push_back(vec3_cast<Real>(v));
    }

    std::vector<Vec3<Real>> acceleration() const
    {
        std::vector<Vec3<Real>> result(position.size());
        add_spring_forces(table, position, velocity, result);
        add_bend_forces(table, position, velocity, result);
        if (table.damping_kind == TriangleDamping::strain) {
            add_triangle_forces<DampsStrain>(table, position, velocity, result);
        } else {
            add_triangle_forces<DampsDeformation>(table, position, velocity, result);
        }
        add_hinge_forces(table, position, velocity, result);
        add_coupling_forces(table, position, result);
        for (std::size_t p = 0; p < result.size(); ++p)
            result[p] = particle_acceleration(table, p, result[p], velocity[p]);
        for (const int p : handles.particles) result[p] = {};
        return result;
    }

    void step()
    {
        const auto a = acceleration();
        for (std::size_t p = 0; p < a.size(); ++p)
            euler_step(position[p], velocity[p], a[p], Real(dt), Real(dt));
        ++steps;
        for (std::size_t h = 0; handles.moving() && h < handles.particles.size(); ++h) {
            const HandlePose pose = handle_pose(handles, h, start_time + steps * dt, dt);
            position[handles.particles[h]] = vec3_cast<Real>(pose.position);
            velocity[handles.particles[h]] = vec3_cast<Real>(pose.velocity);
        }
    }

    Handles handles;
    double start_time, dt;
    int steps = 0;
    ForceTable<Real> table;
    std::vector<Vec3<Real>> position, velocity;
};

template <class Real>
Real weighted(const std::vector<Vec3d>& weights, const std::vector<Vec3<Real>>& values)
{
    Real sum(0);
    for (std::size_t p = 0; p < values.size(); ++p)
        sum = sum + dot(vec3_cast<Real>(weights[p]), values[p]);
    return sum;
}

// The loss of a run from where it stands to the end.
template <class Real>
Real loss_of(PlainRun<Real> run, const Scene& scene)
{
    Real sum(0);
    for (;; run.step()) {
        const auto weights = scene.loss.acceleration.find(run.steps);
        if (weights != scene.loss.acceleration.end())
            sum = sum + weighted(weights->second, run.acceleration());
        if (run.steps == scene.steps) break;
    }
    return sum + weighted(scene.loss.position, run.position) +
           weighted(scene.loss.velocity, run.velocity);
}

// ---- Gradients by all kinds of parameters ----

struct Gradient {
    ParameterValues kinds;

    explicit Gradient(const Cloth& cloth) : kinds(parameters_of(cloth))
    {
        for (std::vector<double>& values : kinds) std::fill(values.begin(), values.end(), 0.0);
    }
};

inline double largest_entry(const std::vector<double>& entries)
{
    double largest = 0;
    for (const double entry : entries) largest = std::max(largest, std::abs(entry));
    return largest;
}

// |g - e| over |e|, the worst of all entries. An entry below a hundredth of the largest counts as
// that hundredth: it is a difference of larger ones, and carries their rounding.
inline double worst_relative_error(const std::vector<double>& g, const std::vector<double>& e)
{
    const double least = 0.01 * largest_entry(e);
    double worst = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
        const double error = std::abs(g[i] - e[i]) / std::max(std::abs(e[i]), least);
        if (!(error <= worst)) worst = error;  // written so that NaN is kept
    }
    return worst;
}

inline double gradient_error(const Gradient& gradient, const Gradient& expected)
{
    double worst = 0;
    for (std::size_t kind = 0; kind < expected.kinds.size(); ++kind) {
        const double error = worst_relative_error(gradient.kinds[kind], expected.kinds[kind]);
        if (!(error <= worst)) worst = error;  // written so that NaN is kept
    }
    return worst;
}

// By dual numbers: one whole run per parameter.
inline Gradient dual_gradient(const Scene& scene)
{
    const PlainRun<Dual> start(scene);
    Gradient gradient(scene.cloth);
    for (int kind = 0; kind < learned_count(scene.cloth); ++kind) {
        const Parameter parameter = learned_parameters(scene.cloth)[kind];
        for (std::size_t e = 0; e < gradient.kinds[kind].size(); ++e) {
            PlainRun<Dual> changed = start;
            changed.table.parameter(parameter, e).slope = 1;
            gradient.kinds[kind][e] = loss_of(changed, scene).slope;
        }
    }
    return gradient;
}

// By central differences with steps of h times the parameter.
inline Gradient difference_gradient(const Scene& scene, double h)
{
    PlainRun<double> run(scene);
    const auto derivative = [&](double& parameter) {
        const double middle = parameter;
        parameter = middle * (1 + h);
        const double up = loss_of(run, scene);
        parameter = middle * (1 - h);
        const double down = loss_of(run, scene);
        parameter = middle;
        return (up - down) / (2 * h * middle);
    };
    Gradient gradient(scene.cloth);
    for (int kind = 0; kind < learned_count(scene.cloth); ++kind) {
        const Parameter parameter = learned_parameters(scene.cloth)[kind];
        for (std::size_t e = 0; e < gradient.kinds[kind].size(); ++e) {
            gradient.kinds[kind][e] = derivative(run.table.parameter(parameter, e));
        }
    }
    return gradient;
}

// Adds to one lane of an array of [particle][xyz][lane].
template <class Real>
void add_to_lane(std::span<Real> array, int lane, int lanes, const std::vector<Vec3d>& values)
{
    for (std::size_t p = 0; p < values.size(); ++p)
        for (int axis = 0; axis < 3; ++axis)
            array[(p * 3 + axis) * lanes + lane] += Real(values[p][axis]);
}

template <class Real>
std::vector<Vec3d> lane_of(std::span<const Real> array, int lane, int lanes)
{
    std::vector<Vec3d> values(array.size() / (3 * lanes));
    for (std::size_t p = 0; p < values.size(); ++p)
        for (int axis = 0; axis < 3; ++axis) values[p][axis] = array[(p * 3 + axis) * lanes + lane];
    return values;
}

// By a tape, summed over lanes; all scenes have the same number of steps.
template <class Real>
Gradient tape_gradient(Tape<Real>& tape, const std::map<int, Scene>& lanes)
{
    const int steps = lanes.begin()->second.steps, count = tape.lane_count();
    tape.begin(steps);
    for (const auto& [lane, scene] : lanes) tape.load(lane, scene.start, scene.handles);
    tape.advance(steps);
    tape.begin_back();
    for (const auto& [lane, scene] : lanes) {
        add_to_lane(tape.position_adjoint(), lane, count, scene.loss.position);
        add_to_lane(tape.velocity_adjoint(), lane, count, scene.loss.velocity);
    }
    for (int step = steps; step >= 0; --step) {
        std::vector<Real> adjoint(tape.position().size());
        bool seen = false;
        for (const auto& [lane, scene] : lanes) {
            const auto weights = scene.loss.acceleration.find(step);
            if (weights == scene.loss.acceleration.end()) continue;
            add_to_lane(std::span(adjoint), lane, count, weights->second);
            seen = true;
        }
        if (seen) tape.pull_acceleration(adjoint);
        if (step > 0) tape.retreat(1);
    }
    Gradient gradient(lanes.begin()->second.cloth);
    tape.add_gradient(gradient.kinds);
    return gradient;
}

inline const TapeOptions kKeepAll{std::size_t(1) << 30}, kKeepLittle{1};

inline Gradient reference_gradient(const Scene& scene)
{
    return tape_gradient(*make_reference_tape(scene.cloth, scene.options, kKeepAll), {{0, scene}});
}

}  // namespace springtime
