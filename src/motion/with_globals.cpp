#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "motion/steady.h"
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
    if (globals.steadied) steady(handles, *globals.steadied);
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

// The paths of every recording, corrected once.
class CorrectedHandles {
  public:
    CorrectedHandles(const Motion& motion, const Globals& globals)
        : read_(motion.read), interval_(motion.header.frame_interval()), globals_(globals)
    {
    }

    // As seen from a frame of the recording.
    Handles at(std::size_t rollout, std::size_t frame)
    {
        Handles handles = whole(rollout);
        for (double& time : handles.key_time) time -= double(frame) * interval_;
        return handles;
    }

  private:
    Handles whole(std::size_t rollout)
    {
        const std::lock_guard lock(mutex_);
        const auto found = known_.find(rollout);
        if (found != known_.end()) return found->second;
        Handles handles = read_(rollout, 0, 1).handles;
        correct(handles, globals_);
        return known_[rollout] = handles;
    }

    std::function<Rollout(std::size_t, std::size_t, std::size_t)> read_;
    double interval_;
    Globals globals_;
    std::mutex mutex_;
    std::map<std::size_t, Handles> known_;
};

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
    const auto handles = std::make_shared<CorrectedHandles>(motion, globals);
    result.read = [read = motion.read, handles](std::size_t rollout, std::size_t first,
                                                std::size_t count) {
        Rollout frames = read(rollout, first, count);
        frames.handles = handles->at(rollout, first);
        return frames;
    };
    return result;
}

}  // namespace springtime
