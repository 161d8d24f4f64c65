// States, handles and the environment.
#include <algorithm>
#include <cmath>

#include "core/assert.h"
#include "core/finite.h"
#include "sim/stepper.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

namespace springtime {

void check_environment(const Environment& environment)
{
    constexpr double kMost = 1e4;
    if (!(environment.drag >= 0 && environment.drag <= kMost)) {
        throw Error(Field{"drag"}, "{} 1/s; 0 to {} 1/s is needed", environment.drag, kMost);
    }
    const auto check = [&](const char* field, const Vec3d& vector, const char* unit) {
        if (length(vector) <= kMost) return;  // false for NaN
        throw Error(Field{field}, "{} {} {} {}; a length of at most {} {} is needed", vector.x,
                    vector.y, vector.z, unit, kMost, unit);
    };
    check("gravity", environment.gravity, "m/s^2");
    check("wind", environment.wind, "m/s");
}

State flat_state(const Cloth& cloth)
{
    State state;
    for (const SheetPoint& p : cloth.rest) {
        state.position.push_back({p.u - cloth.sheet.length / 2, 0, p.v - cloth.sheet.width / 2});
    }
    state.velocity.resize(state.position.size());
    return state;
}

TriangleMesh surface_of(const Cloth& cloth, const State& state)
{
    TriangleMesh surface{state.position, surface_triangles(cloth)};
    if (surface.triangles.empty()) {
        throw Error("surface: this cloth has neither triangles nor a grid; give it one of them");
    }
    return surface;
}

Vec3d Handles::position(std::size_t handle, double time) const
{
    SPRINGTIME_ASSERT(moving() && handle < particles.size());
    return key_path(*this).place(handle, time);
}

KeyPath key_path(const Handles& handles)
{
    return {handles.key_time.size(), handles.particles.size(), handles.key_time.data(),
            handles.key_position.data()};
}

KeyShare key_share(const Handles& handles, double time)
{
    return key_path(handles).share(time);
}

Handles with_pins(const Handles& handles, const std::vector<int>& pins, const State& state)
{
    Handles all{handles.particles, handles.key_time, {}};
    for (const int p : pins) {
        const auto& held = all.particles;
        if (std::find(held.begin(), held.end(), p) == held.end()) all.particles.push_back(p);
    }
    const std::size_t moving = handles.particles.size();
    for (std::size_t k = 0; k < handles.key_time.size(); ++k) {
        const auto row = handles.key_position.begin() + std::ptrdiff_t(k * moving);
        all.key_position.insert(all.key_position.end(), row, row + std::ptrdiff_t(moving));
        for (std::size_t i = moving; i < all.particles.size(); ++i) {
            all.key_position.push_back(state.position[std::size_t(all.particles[i])]);
        }
    }
    return all;
}

void check_handles(const Handles& handles, std::size_t particle_count, std::string_view source)
{
    std::vector<bool> seen(particle_count, false);
    for (const int p : handles.particles) {
        if (p < 0 || std::size_t(p) >= particle_count) {
            throw Error("{}: handle on particle {}, but the cloth has 0 to {}", source, p,
                        particle_count - 1);
        }
        if (seen[p]) throw Error("{}: particle {} is a handle twice; name it once", source, p);
        seen[p] = true;
    }
    if (handles.key_position.size() != handles.key_time.size() * handles.particles.size()) {
        throw Error("{}: {} handle positions for {} keys of {} handles; give one each", source,
                    handles.key_position.size(), handles.key_time.size(), handles.particles.size());
    }
    for (std::size_t k = 0; k < handles.key_time.size(); ++k) {
        const double time = handles.key_time[k];
        if (!std::isfinite(time) || (k > 0 && time <= handles.key_time[k - 1])) {
            throw Error("{}: handle key {} is at {} s; times must be finite and ascend", source, k,
                        time);
        }
    }
    for (std::size_t i = 0; i < handles.key_position.size(); ++i) {
        if (!is_finite(handles.key_position[i])) {
            throw Error("{}: handle position {} is not finite", source, i);
        }
    }
}

}  // namespace springtime
