// Prints what the library reads from a motion file, for tests that are not written in C++.
#include <fmt/core.h>

#include <cstdio>

#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {
namespace {

// The weights make the sum depend on the order; they are small integers, so that any program that
// adds in double gets the same to rounding.
double checksum(const std::vector<float>& values)
{
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += double(i % 97 + 1) * values[i];
    }
    return sum;
}

void print_header(const MotionReader& reader)
{
    const MotionHeader& header = reader.header();
    const Environment& air = header.environment;
    fmt::print("version {}\n", reader.version());
    fmt::print("rollouts {} {}\n", reader.rollout_count(), header.rollouts_planned);
    fmt::print("sheet {} {} {}\n", header.sheet.length, header.sheet.width, header.sheet.mass);
    fmt::print("time {} {}\n", header.dt, header.stride);
    fmt::print("air {} {} {} {} {} {} {}\n", air.gravity.x, air.gravity.y, air.gravity.z, air.drag,
               air.wind.x, air.wind.y, air.wind.z);
    fmt::print("seed {}\n", header.seed);
    fmt::print("texts {} {}\n", header.config.size(), header.source_cloth.size());
    double rest = 0;
    for (std::size_t i = 0; i < header.rest.size(); ++i) {
        rest += (i + 1.0) * (header.rest[i].u + 2 * header.rest[i].v);
    }
    fmt::print("rest {} {}\n", header.rest.size(), rest);
}

void print_rollout(const Rollout& rollout)
{
    const Handles& handles = rollout.handles;
    double particles = 0, keys = 0;
    for (std::size_t i = 0; i < handles.particles.size(); ++i) {
        particles += (i + 1.0) * handles.particles[i];
    }
    for (std::size_t i = 0; i < handles.key_position.size(); ++i) {
        const Vec3d x = handles.key_position[i];
        keys += (i + 1.0) * (x.x + 2 * x.y + 3 * x.z);
    }
    std::size_t missing = 0;
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        for (std::size_t l = 0; l < rollout.landmark_count(); ++l) missing += !rollout.seen(f, l);
    }
    fmt::print("missing {}\n", missing);
    fmt::print("rollout {} {} {} {} {} {} {} {} {}\n", rollout.frame_count,
               checksum(rollout.position), checksum(rollout.velocity), rollout.acceleration.size(),
               checksum(rollout.acceleration), handles.particles.size(), particles,
               handles.key_time.empty() ? 0.0 : handles.key_time.back(), keys);
}

}  // namespace
}  // namespace springtime

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fputs("usage: read_motion FILE\n", stderr);
        return 2;
    }
    try {
        const springtime::MotionReader reader(argv[1]);
        springtime::print_header(reader);
        for (std::size_t r = 0; r < reader.rollout_count(); ++r) {
            springtime::print_rollout(reader.read(r));
        }
    } catch (const springtime::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
