#pragma once

#include <cmath>
#include <vector>

#include "core/random.h"
#include "motions.h"
#include "springtime/generate.h"

namespace springtime {

// A cloth of 30 cm and 30 g with a stiff patch, as one would hold before a camera.
inline Cloth handkerchief(int side, double stiffness, double patch, double damping)
{
    return make_grid_cloth({0.3, 0.3, 0.03}, {side, side, true, true, true, true},
                           MaterialField::uniform(stiffness).paint(
                               {MaterialField::Patch{{0.35, 0.75}, {0.3, 0.7}}, patch}),
                           MaterialField::uniform(damping));
}

// Hangs by its upper corners, 2 cm closer together than they are apart in the sheet.
inline State hanging(const Cloth& cloth)
{
    State state = flat_state(cloth);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const SheetPoint rest = cloth.rest[p];
        state.position[p] = {(rest.u - 0.15) * 28 / 30, -rest.v, 0};
    }
    return state;
}

// Both upper corners are carried about: together, and a third as much each for itself, by a sum of
// three swings of 0.4 to 1.3 Hz in each direction, which sets in over half a second after `settle`.
inline Handles carried_corners(const Cloth& cloth, double settle, double seconds, int seed)
{
    constexpr double kKeysApart = 0.02;  // [s]
    constexpr int kSwings = 3;
    struct Swing {
        double rate, phase;
    };
    Random random(seed);
    const auto draw = [&] {
        std::array<std::array<Swing, kSwings>, 3> swings{};
        for (auto& axis : swings) {
            for (Swing& swing : axis) {
                swing = {0.4 + 0.9 * random.uniform(), 2 * M_PI * random.uniform()};
            }
        }
        return swings;
    };
    const auto common = draw(), west = draw(), east = draw();
    const auto place = [](const auto& swings, double t) {
        const Vec3d amplitude{0.03, 0.035, 0.06};  // [m]
        Vec3d sum{};
        for (int axis = 0; axis < 3; ++axis) {
            for (const Swing& s : swings[axis]) {
                sum[axis] += amplitude[axis] * std::sin(2 * M_PI * s.rate * t + s.phase);
            }
        }
        return sum;
    };
    Handles handles;
    handles.particles = {0, cloth.grid->cols - 1};
    const State start = hanging(cloth);
    for (double t = 0; t < settle + seconds + kKeysApart; t += kKeysApart) {
        const double part = std::clamp((t - settle) / 0.5, 0.0, 1.0);
        const double ramp = part * part * (3 - 2 * part);
        handles.key_time.push_back(t);
        for (const auto& [p, own] : {std::pair(0, &west), std::pair(handles.particles[1], &east)}) {
            handles.key_position.push_back(start.position[p] +
                                           ramp * (place(common, t) + 0.3 * place(*own, t)));
        }
    }
    return handles;
}

// As a camera sees such a cloth: positions with noise and gaps, of one take for every seed, and the
// paths of its corners.
inline Motion filmed(const Cloth& cloth, double fps, double seconds, const ObserveOptions& camera,
                     const std::vector<int>& seeds)
{
    constexpr double kSettle = 1.5;  // [s], not filmed
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.environment.drag = 2;
    header.stride = int(std::ceil(1000 / fps));  // a step of a millisecond at most
    header.dt = 1 / (fps * header.stride);
    header.captured = true;
    const int substeps = stable_substeps(cloth, header.environment, header.dt);
    const double interval = header.frame_interval();
    const auto skipped = std::size_t(std::lround(kSettle * fps));
    const auto frames = std::size_t(std::lround(seconds * fps)) + 1;
    std::vector<Rollout> recordings;
    MotionHeader seen = header;
    observe_header(seen, camera);
    for (const int seed : seeds) {
        Simulation simulation(cloth, hanging(cloth), carried_corners(cloth, kSettle, seconds, seed),
                              {header.dt / substeps, header.environment, Device::automatic});
        const Recording recording = record(simulation, skipped + frames, header.stride * substeps);
        recordings.push_back(observe(recording.rollout.frames(skipped, frames, interval), header,
                                     camera, std::uint64_t(seed), 0));
    }
    return Motion::from_rollouts(seen, std::move(recordings));
}

}  // namespace springtime
