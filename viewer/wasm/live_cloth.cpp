#include "live_cloth.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "backends/simd/simd.h"
#include "formats/obj_file.h"
#include "formats/obstacle_fit.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/report.h"

namespace springtime::live {

namespace {

// An element takes the geometric mean of the factors at its corners.
template <std::size_t N>
void scale_by_corners(std::vector<double>& values, const std::vector<std::array<int, N>>& corners,
                      std::span<const double> log_factor)
{
    for (std::size_t e = 0; e < values.size(); ++e) {
        double sum = 0;
        for (const int corner : corners[e]) sum += log_factor[corner];
        values[e] *= std::exp(sum / double(N));
    }
}

void scale_stiffness(Cloth& cloth, const Parameter& parameter, std::span<const double> log_factor)
{
    std::vector<double>& values = values_of(cloth, parameter);
    switch (parameter.kind->element) {
        case Element::spring:
            return scale_by_corners(values, cloth.springs.ends, log_factor);
        case Element::bend:
            return scale_by_corners(values, cloth.bends.particles, log_factor);
        case Element::triangle:
            return scale_by_corners(values, cloth.triangles.corners, log_factor);
        case Element::hinge:
            return scale_by_corners(values, cloth.hinges.corners, log_factor);
        case Element::coupling:
            return scale_by_corners(values, cloth.couplings.corners, log_factor);
    }
}

double distance(const SheetPoint& a, const SheetPoint& b)
{
    return std::hypot(a.u - b.u, a.v - b.v);
}

}  // namespace

LiveCloth::LiveCloth(std::string_view json, std::string_view name)
    : original_(cloth_from_json(json, name)),
      cloth_(original_),
      triangles_(surface_triangles(cloth_))
{
    options_.dt = 1.0 / 60;
    options_.substeps = kAutomatic;
    // The module for browsers without vector instructions has no kernels (no_kernels.cpp).
    if (best_instruction_set().width == 0) options_.device = Device::reference;
    // That of the command line. A coarse cloth gets more, or it would cut into round things.
    options_.thickness = std::max(std::max(cloth_.sheet.length, cloth_.sheet.width) / 500,
                                  0.25 * smallest_spacing(cloth_));
    find_edges();
    rebuild(flat_state(cloth_));
}

// ---- What is drawn ----

void LiveCloth::find_edges()
{
    std::set<std::array<int, 2>> found;
    const auto add = [&](int a, int b) { found.insert({std::min(a, b), std::max(a, b)}); };
    for (const auto& [a, b, c] : triangles_) {
        add(a, b);
        add(b, c);
        add(c, a);
    }
    if (triangles_.empty()) {
        for (const auto& [a, b] : cloth_.springs.ends) add(a, b);
    }
    edges_.assign(found.begin(), found.end());
    edge_count_.assign(cloth_.particle_count(), 0);
    for (const auto& [a, b] : edges_) {
        edge_length_.push_back(float(distance(cloth_.rest[a], cloth_.rest[b])));
        ++edge_count_[a];
        ++edge_count_[b];
    }
}

std::span<const float> LiveCloth::strain()
{
    const std::span<const Vec3f> points = simulation_->positions();
    strain_.assign(points.size(), 0);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const auto [a, b] = edges_[e];
        const float change = length(points[b] - points[a]) / edge_length_[e] - 1;
        strain_[a] += change;
        strain_[b] += change;
    }
    for (std::size_t p = 0; p < points.size(); ++p) strain_[p] /= std::max(edge_count_[p], 1.0f);
    return strain_;
}

std::span<const float> LiveCloth::speed()
{
    const std::span<const Vec3f> velocities = simulation_->velocities();
    speed_.resize(velocities.size());
    for (std::size_t p = 0; p < velocities.size(); ++p) speed_[p] = length(velocities[p]);
    return speed_;
}

const std::vector<WeightMap>& LiveCloth::maps()
{
    if (!maps_fresh_) maps_ = weight_maps(cloth_);
    maps_fresh_ = true;
    return maps_;
}

// ---- What acts on it ----

void LiveCloth::rebuild()
{
    rebuild(State(simulation_->state()));
}

// Holds keep their numbers. A function that throws changes nothing.
void LiveCloth::rebuild(const State& state)
{
    Simulation next(cloth_, state, {}, options_);
    std::vector<Hold> holds = holds_;
    for (Hold& held : holds) held.id = next.hold(held.particles);
    simulation_ = std::move(next);
    holds_ = std::move(holds);
}

void LiveCloth::set_frame(double dt, std::optional<int> substeps)
{
    const SimulationOptions before = options_;
    options_.dt = dt;
    options_.substeps = substeps;
    try {
        rebuild();
    } catch (...) {
        options_ = before;
        throw;
    }
}

void LiveCloth::set_environment(const Environment& environment)
{
    check_environment(environment);
    simulation_->set_drag(environment.drag);
    simulation_->set_gravity(environment.gravity);
    simulation_->set_wind(environment.wind);
    options_.environment = environment;
}

void LiveCloth::set_self_collision(bool on)
{
    options_.self_distance = on ? smallest_spacing(cloth_) : 0;
    rebuild();
}

void LiveCloth::set_obstacle(std::string_view name)
{
    if (name.empty()) {
        options_.obstacles.clear();
        surface_ = {};
        return rebuild();
    }
    const double side = std::min(cloth_.sheet.length, cloth_.sheet.width);
    std::optional<Obstacle> obstacle = built_in_obstacle(name, 0.5 * side);
    if (!obstacle) throw Error("obstacle '{}': use floor, sphere, table or animal", name);
    take_obstacle(std::move(*obstacle));
}

void LiveCloth::set_obstacle_mesh(std::string_view obj, std::string_view name)
{
    const TriangleMesh mesh = parse_obj(obj, name, {});
    if (mesh.triangles.empty()) {
        throw Error("{}: no faces; an OBJ file with v and f lines is needed", name);
    }
    const double side = std::min(cloth_.sheet.length, cloth_.sheet.width);
    take_obstacle(fitted_mesh(mesh, 0.5 * side, name));
}

// Below the middle of the flat sheet. What lies where the cloth is now would push it out at once,
// so the cloth begins anew above it.
void LiveCloth::take_obstacle(Obstacle obstacle)
{
    const double side = std::min(cloth_.sheet.length, cloth_.sheet.width);
    obstacle.key_pose[0].position.y -= options_.thickness + 0.01 * side;
    TriangleMesh surface = springtime::obstacle_surface(
        obstacle, 0, {{}, 6 * std::max(cloth_.sheet.length, cloth_.sheet.width)});
    options_.obstacles = {std::move(obstacle)};
    surface_ = std::move(surface);
    rebuild(flat_state(cloth_));
}

void LiveCloth::set_obstacle_pose(const Pose& pose)
{
    simulation_->set_pose(0, pose);
}

std::optional<std::string> LiveCloth::advance(int frames)
{
    const std::optional<StepReport> report = simulation_->advance(frames);
    if (!report) return std::nullopt;
    return describe(*report, cloth_, simulation_->options());
}

void LiveCloth::reset(double height)
{
    State state = flat_state(cloth_);
    for (Vec3d& position : state.position) position.y += height;
    rebuild(state);
}

// ---- What is held ----

const LiveCloth::Hold& LiveCloth::hold_of(HoldNumber number) const
{
    for (const Hold& held : holds_) {
        if (held.number == number) return held;
    }
    throw Error("hold {}: nothing is held under this number", number);
}

bool LiveCloth::is_held(int particle) const
{
    return std::any_of(holds_.begin(), holds_.end(), [&](const Hold& held) {
        return std::count(held.particles.begin(), held.particles.end(), particle) > 0;
    });
}

std::optional<HoldNumber> LiveCloth::hold(std::span<const int> particles)
{
    std::vector<int> free;
    for (const int p : particles) {
        if (!is_held(p)) free.push_back(p);
    }
    if (free.empty()) return std::nullopt;
    const HandleId id = simulation_->hold(free);
    holds_.push_back({++last_number_, std::move(free), id});
    return last_number_;
}

void LiveCloth::move(HoldNumber number, const Vec3d& target, const Vec3d& turn)
{
    simulation_->move(hold_of(number).id, target, turn);
}

void LiveCloth::release(HoldNumber number)
{
    simulation_->release(hold_of(number).id);
    std::erase_if(holds_, [&](const Hold& held) { return held.number == number; });
}

Vec3d LiveCloth::center(HoldNumber number) const
{
    return simulation_->center(hold_of(number).id);
}

// ---- Paint ----

void LiveCloth::paint(std::span<const float> factors)
{
    if (factors.size() != cloth_.particle_count()) {
        throw Error("paint: {} factors for {} particles", factors.size(), cloth_.particle_count());
    }
    std::vector<double> log_factor;
    for (const float factor : factors) {
        if (!(factor > 0) || !std::isfinite(factor)) throw Error("paint: a factor of {}", factor);
        log_factor.push_back(std::log(double(factor)));
    }
    Cloth painted = original_;
    for (const Parameter& parameter : parameters_in(painted)) {
        if (!parameter.is_damping()) scale_stiffness(painted, parameter, log_factor);
    }
    const bool same = std::all_of(factors.begin(), factors.end(), [](float f) { return f == 1; });
    if (!same) painted.errors.reset();
    std::swap(cloth_, painted);
    try {
        rebuild();
    } catch (...) {
        std::swap(cloth_, painted);
        throw;
    }
    maps_fresh_ = false;
}

std::string LiveCloth::json() const
{
    return cloth_to_json(cloth_);
}

}  // namespace springtime::live
