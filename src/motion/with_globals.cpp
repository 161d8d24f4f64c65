#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "motion/steady.h"
#include "motion/tracker_bias.h"
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

// (1 + S) x with the symmetric S of the strains xx, yy, zz, yz, zx, xy.
Vec3d stretched(const Vec3d& x, const std::array<FittedNumber, 6>& strain)
{
    const auto [xx, yy, zz, yz, zx, xy] = strain;
    return x + Vec3d{xx.value * x.x + xy.value * x.y + zx.value * x.z,
                     xy.value * x.x + yy.value * x.y + yz.value * x.z,
                     zx.value * x.x + yz.value * x.y + zz.value * x.z};
}

Vec3d offset_of(const Globals& globals, int landmark)
{
    for (const HeldOffset& held : globals.offsets) {
        if (held.landmark == landmark) return held.offset;
    }
    return {};
}

// Every path is stretched and turned about its own mean: what the offsets say stays.
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
            x = mean + turned(stretched(x - mean, globals.stretch), turn) + offset;
        }
    }
}

// Recordings with what globals say of their paths and of their tracker, worked out once for each.
class CorrectedRecordings {
  public:
    CorrectedRecordings(const Motion& motion, const Globals& globals)
        : read_(motion.read),
          interval_(motion.header.frame_interval()),
          size_(std::hypot(motion.header.sheet.length, motion.header.sheet.width)),
          globals_(globals)
    {
        if (globals_.tracker && globals_.tracker->common.size() != motion.header.landmark_count()) {
            globals_.tracker.reset();  // it knows other landmarks
        }
    }

    Rollout read(std::size_t rollout, std::size_t first, std::size_t count)
    {
        const Correction& correction = of(rollout);
        Rollout frames = read_(rollout, first, count);
        frames.handles = correction.handles;
        for (double& time : frames.handles.key_time) time -= double(first) * interval_;
        for (std::size_t i = 0; i < frames.position.size() && globals_.tracker; ++i) {
            const std::size_t landmark = i / 3 % correction.bias.size();
            frames.position[i] -= float(correction.bias[landmark][int(i % 3)]);
        }
        return frames;
    }

  private:
    struct Correction {
        Handles handles;
        std::vector<Vec3d> bias;  // seen minus real, by landmark; empty without a tracker
    };

    const Correction& of(std::size_t rollout)
    {
        const std::lock_guard lock(mutex_);
        const auto found = known_.find(rollout);
        if (found != known_.end()) return found->second;
        const Rollout begin = read_(rollout, 0, 1);
        Correction& correction = known_[rollout];
        correction.handles = begin.handles;
        correct(correction.handles, globals_);
        if (globals_.tracker) {
            correction.bias =
                bias_of_recording(begin, correction.handles, *globals_.tracker, size_);
        }
        return correction;
    }

    std::function<Rollout(std::size_t, std::size_t, std::size_t)> read_;
    double interval_, size_;
    Globals globals_;
    std::mutex mutex_;
    std::map<std::size_t, Correction> known_;
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
    result.source.reset();
    MotionHeader& header = result.header;
    const double along_u = globals.length.value / header.sheet.length;
    const double along_v = globals.width.value / header.sheet.width;
    header.sheet.length = globals.length.value;
    header.sheet.width = globals.width.value;
    for (SheetPoint& point : header.rest) point = {along_u * point.u, along_v * point.v};
    header.environment.gravity = globals.gravity;
    header.environment.drag = globals.drag.value;
    header.globals = globals;
    const auto corrected = std::make_shared<CorrectedRecordings>(motion, globals);
    result.read = [corrected](std::size_t rollout, std::size_t first, std::size_t count) {
        return corrected->read(rollout, first, count);
    };
    return result;
}

}  // namespace springtime
