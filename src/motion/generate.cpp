#include "springtime/generate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>
#include <set>

#include "core/parallel.h"
#include "core/random.h"
#include "motion/generate_by.h"
#include "motion/rank_recorder.h"
#include "motion/record.h"
#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

struct Quaternion {
    double w, x, y, z;
};

// Uniform over all rotations: a direction on the sphere of four dimensions.
Quaternion random_rotation(Random& random)
{
    Quaternion q{random.normal(), random.normal(), random.normal(), random.normal()};
    const double scale = 1 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

// v + 2 w (q x v) + 2 q x (q x v)
Vec3d rotated(const Quaternion& q, const Vec3d& v)
{
    const Vec3d axis{q.x, q.y, q.z};
    const Vec3d once = cross(axis, v);
    return v + 2 * q.w * once + 2.0 * cross(axis, once);
}

// By an angle of kLeastTilt to kMostTilt about any level axis: enough that no motion is symmetric.
Quaternion random_tilt(Random& random)
{
    constexpr double kLeastTilt = 0.1, kMostTilt = 0.25;  // [rad]
    const double azimuth = 2 * std::numbers::pi * random.uniform();
    const double half = 0.5 * (kLeastTilt + (kMostTilt - kLeastTilt) * random.uniform());
    return {std::cos(half), std::sin(half) * std::cos(azimuth), 0,
            std::sin(half) * std::sin(azimuth)};
}

// Squares of particles at random places that do not overlap; on a rope, as many in a row.
Handles random_squares(const Grid& grid, const GenerateOptions& options, Random& random)
{
    const int size = options.anchor_size;
    const int down = std::min(size, grid.rows), right = std::min(size, grid.cols);
    std::vector<std::pair<int, int>> corners;
    for (int tries = 0; static_cast<int>(corners.size()) < options.anchors; ++tries) {
        if (tries == 10000) {
            throw Error(Field{"anchors"},
                        "generate: {} anchors of {} x {} particles do not fit on a {} x {} grid; "
                        "ask for fewer or smaller ones",
                        options.anchors, down, right, grid.rows, grid.cols);
        }
        const int row = random.below(grid.rows - down + 1),
                  col = random.below(grid.cols - right + 1);
        const bool overlaps = std::any_of(corners.begin(), corners.end(), [&](const auto& other) {
            return std::abs(row - other.first) < size && std::abs(col - other.second) < size;
        });
        if (!overlaps) corners.push_back({row, col});
    }
    Handles handles;
    for (const auto& [row, col] : corners) {
        for (int i = 0; i < down * right; ++i) {
            handles.particles.push_back((row + i / right) * grid.cols + col + i % right);
        }
    }
    std::sort(handles.particles.begin(), handles.particles.end());
    return handles;
}

double distance(const SheetPoint& a, const SheetPoint& b)
{
    return std::hypot(a.u - b.u, a.v - b.v);
}

// Centres of discs that do not overlap, uniform over the sheet. No particle has a say in it.
std::vector<SheetPoint> random_centers(const Cloth& cloth, const GenerateOptions& options,
                                       Random& random)
{
    const Sheet& sheet = cloth.sheet;
    const double radius = options.anchor_radius;
    const Grid grid = cloth.grid.value_or(Grid{});
    std::vector<SheetPoint> centers;
    for (int tries = 0; static_cast<int>(centers.size()) < options.anchors; ++tries) {
        if (tries == 10000) {
            throw Error(
                Field{"anchors"},
                "generate: {} anchors of radius {} m do not fit on a sheet of {} m x {} m; ask for "
                "fewer or smaller ones",
                options.anchors, radius, sheet.length, sheet.width);
        }
        // Where the first discs may leave no room for the others, all are drawn anew.
        if (tries > 0 && tries % 100 == 0) centers.clear();
        double u = sheet.length * random.uniform(), v = sheet.width * random.uniform();
        if (grid.cols == 1) u = cloth.rest[0].u;  // on the rope
        if (grid.rows == 1) v = cloth.rest[0].v;
        const bool overlaps =
            std::any_of(centers.begin(), centers.end(), [&](const SheetPoint& other) {
                return distance({u, v}, other) < 2 * radius;
            });
        if (!overlaps) centers.push_back({u, v});
    }
    return centers;
}

Handles random_discs(const Cloth& cloth, const GenerateOptions& options, Random& random)
{
    std::set<int> particles;  // sorted, and each once: two discs may have the same nearest one
    for (const SheetPoint& center : random_centers(cloth, options, random)) {
        const auto held = particles_within(cloth, center, options.anchor_radius);
        particles.insert(held.begin(), held.end());
    }
    return {{particles.begin(), particles.end()}, {}, {}};
}

// How many rollouts a thread may hold in memory at once, out of 2 GiB for all threads together.
int rollouts_in_memory(const Cloth& cloth, std::size_t frames, int threads)
{
    const double bytes = double(frames) * double(cloth.particle_count()) * 9 * sizeof(float);
    return static_cast<int>(std::max(1.0, 0x1p31 / (bytes * threads)));
}

struct AnotherThreadEnded {};

void check_anchors(const Cloth& cloth, const GenerateOptions& options)
{
    if (!options.pinned.empty()) {
        check_handles({options.pinned, {}, {}}, cloth.particle_count(), "generate");
        return;
    }
    if (options.anchors < 0) {
        throw Error(Field{"anchors"}, "generate: {} anchors; not negative", options.anchors);
    }
    const double radius = options.anchor_radius;
    if (!std::isfinite(radius) || radius < 0) {
        throw Error(Field{"anchor_radius"},
                    "generate: anchors of radius {} m; it must be finite and not negative", radius);
    }
    if (radius > 0) {
        return;
    }
    if (!cloth.grid) {
        throw Error(
            "generate: squares of particles need a grid, but the cloth is none; give a radius for "
            "anchors that are discs");
    }
    const auto [least, most] = std::minmax(cloth.grid->rows, cloth.grid->cols);
    const int side = least == 1 ? most : least;
    if (options.anchor_size < 1 || options.anchor_size > side) {
        throw Error(Field{"anchor_size"}, "generate: anchors of {0} x {0} particles; 1 to {1}",
                    options.anchor_size, side);
    }
}

}  // namespace

void check_generate(const Cloth& cloth, const GenerateOptions& options)
{
    check_cloth(cloth, "generate");
    check_environment(options.environment);
    if (options.rollouts < 1) {
        throw Error(Field{"rollouts"}, "generate: {} rollouts; at least 1", options.rollouts);
    }
    if (options.stride < 1 || options.stride > kLargestStride) {
        throw Error(Field{"stride"}, "generate: stride {}; a frame is 1 to {} steps",
                    options.stride, kLargestStride);
    }
    if (!std::isfinite(options.seconds) || options.seconds > 1e6) {
        throw Error(Field{"seconds"}, "generate: {} s; rollouts can be up to 1e6 s long",
                    options.seconds);
    }
    if (!is_time_step(options.dt)) {
        throw Error(Field{"dt"}, "generate: time step {} s; it must lie in {} to {} s", options.dt,
                    kLeastTimeStep, kMostTimeStep);
    }
    if (!(options.seconds >= options.dt * options.stride)) {
        throw Error(
            Field{"seconds"},
            "generate: {} s is shorter than one frame of {} s; give more seconds, or store frames "
            "more often",
            options.seconds, options.dt * options.stride);
    }
    check_anchors(cloth, options);
}

RolloutStart random_start(const Cloth& cloth, const GenerateOptions& options, int index)
{
    check_generate(cloth, options);
    Random random = Random::stream(options.seed, index);
    RolloutStart start{flat_state(cloth), {}};
    const bool pinned = !options.pinned.empty();
    const Quaternion rotation = pinned ? random_tilt(random) : random_rotation(random);
    for (Vec3d& x : start.state.position) x = rotated(rotation, x);
    if (pinned) {
        start.handles.particles = options.pinned;
        return start;
    }
    start.handles = options.anchor_radius > 0 ? random_discs(cloth, options, random)
                                              : random_squares(*cloth.grid, options, random);
    return start;
}

void generate(const Cloth& cloth, const GenerateOptions& options, int first,
              const RolloutSink& sink, const Progress& progress)
{
    check_generate(cloth, options);
    const SimulationOptions step{options.dt, options.environment, options.device};
    const std::size_t frames =
        std::size_t(std::llround(options.seconds / (options.dt * options.stride))) + 1;
    if (first >= options.rollouts) return;
    const std::size_t steps = (frames - 1) * std::size_t(options.stride);
    const auto recorder =
        options.crew ? make_rank_recorder(*options.crew, cloth, step, std::size_t(options.rollouts),
                                          steps, options.threads)
                     : make_batch_recorder(cloth, step, std::size_t(options.rollouts), steps);
    if (recorder) return generate_by(*recorder, cloth, options, first, sink, progress);
    const int threads = thread_count(options.threads);
    const int width = std::min(make_batch_stepper(cloth, step)->lane_count(),
                               rollouts_in_memory(cloth, frames, threads));
    const int groups = (options.rollouts - first + width - 1) / width;

    std::atomic<bool> stopped{false};
    std::mutex progress_mutex;
    double frames_done = double(first) * double(frames);
    Turnstile turnstile;
    const auto report = [&](double frames_of_lanes) {
        const std::lock_guard lock(progress_mutex);
        if (stopped) throw AnotherThreadEnded{};
        frames_done += frames_of_lanes;
        progress.report(
            {"generate", frames_done / double(frames), double(options.rollouts), "rollouts", {}});
    };
    const auto make_group = [&](int group) {
        const int begin = first + group * width, end = std::min(begin + width, options.rollouts);
        std::vector<RolloutStart> starts;
        for (int i = begin; i < end; ++i) starts.push_back(random_start(cloth, options, i));
        const auto rollouts =
            record_batch(cloth, step, starts, frames, options.stride,
                         [&](double done) { report(done * double(starts.size())); });
        turnstile.pass(group, [&] {
            for (int i = begin; i < end; ++i) sink(i, rollouts[i - begin]);
        });
    };
    parallel_for(groups, threads, [&](int group) {
        if (stopped) return;
        try {
            make_group(group);
        } catch (const AnotherThreadEnded&) {  // that thread says why
        } catch (...) {
            stopped = true;
            turnstile.close();
            throw;
        }
    });
}

}  // namespace springtime
