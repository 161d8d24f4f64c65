#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

// A rotation vector turns `x` about the origin (Rodrigues).
Vec3d turned(const Vec3d& x, const Vec3d& turn)
{
    const double angle = length(turn);
    if (angle == 0) return x;
    const Vec3d axis = (1 / angle) * turn;
    return std::cos(angle) * x + std::sin(angle) * cross(axis, x) +
           (1 - std::cos(angle)) * dot(axis, x) * axis;
}

Vec3d offset_of(const Globals& globals, int landmark)
{
    for (const HeldOffset& held : globals.offsets) {
        if (held.landmark == landmark) return held.offset;
    }
    return {};
}

// Every path turns about its own mean: what the offsets say stays.
void correct(Handles& handles, const Globals& globals)
{
    if (!handles.moving()) return;
    const std::size_t count = handles.particles.size(), keys = handles.key_time.size();
    const Vec3d turn{globals.turn[0].value, globals.turn[1].value, globals.turn[2].value};
    for (double& time : handles.key_time) time += globals.delay.value;
    for (std::size_t h = 0; h < count; ++h) {
        Vec3d mean{};
        for (std::size_t k = 0; k < keys; ++k) {
            mean += (1 / double(keys)) * handles.key_position[k * count + h];
        }
        const Vec3d offset = offset_of(globals, handles.particles[h]);
        for (std::size_t k = 0; k < keys; ++k) {
            Vec3d& x = handles.key_position[k * count + h];
            x = mean + turned(x - mean, turn) + offset;
        }
    }
}

void check_stated_size(const Sheet& sheet, const Globals& globals)
{
    const auto differ = [](double a, double b) { return !(std::abs(a - b) <= 0.01 * b); };
    if (!differ(sheet.length, globals.stated_length) && !differ(sheet.width, globals.stated_width))
        return;
    throw Error(
        "the cloth was fitted to recordings of a sheet stated as {:.6g} m x {:.6g} m, but this "
        "motion states {:.6g} m x {:.6g} m; import it with the same length and width",
        globals.stated_length, globals.stated_width, sheet.length, sheet.width);
}

}  // namespace

Motion with_globals(const Motion& motion, const Globals& globals)
{
    if (motion.header.globals) return motion;
    check_stated_size(motion.header.sheet, globals);
    Motion result = motion;
    MotionHeader& header = result.header;
    const double along_u = globals.length.value / header.sheet.length;
    const double along_v = globals.width.value / header.sheet.width;
    header.sheet.length = globals.length.value;
    header.sheet.width = globals.width.value;
    for (SheetPoint& point : header.rest) point = {along_u * point.u, along_v * point.v};
    header.environment.gravity = globals.gravity;
    header.environment.drag = globals.drag.value;
    header.globals = globals;
    result.read = [read = motion.read, globals](std::size_t rollout, std::size_t first,
                                                std::size_t count) {
        Rollout frames = read(rollout, first, count);
        correct(frames.handles, globals);
        return frames;
    };
    return result;
}

}  // namespace springtime
