// Loss and gradient of a cloth on clips of a motion.
#include <cmath>

#include "learn/gradient.h"
#include "learn/heartbeat.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

std::vector<Clip> clips_of(const Motion& motion, const std::vector<Clip>& given)
{
    std::vector<Clip> clips = given;
    for (std::size_t r = 0; given.empty() && r < motion.rollout_count(); ++r) {
        clips.push_back({r, 0});
    }
    if (clips.empty()) {
        throw Error(Field{"clips"}, "the motion has no rollouts; at least one is needed");
    }
    for (const Clip& clip : clips) {
        if (clip.rollout >= motion.rollout_count()) {
            throw Error(Field{"clips"}, "clip of rollout {}, but the motion has {}", clip.rollout,
                        counted(motion.rollout_count(), "rollout"));
        }
        if (clip.first_frame + 1 >= motion.frame_counts[clip.rollout]) {
            throw Error(Field{"clips"},
                        "clip that begins at frame {} of rollout {}, which has {}; at least one "
                        "must follow",
                        clip.first_frame, clip.rollout,
                        counted(motion.frame_counts[clip.rollout], "frame"));
        }
    }
    return clips;
}

std::size_t intervals_of(const Motion& motion, const std::optional<double>& seconds)
{
    if (!seconds) return SIZE_MAX / 2;  // the reader stops at the end of a rollout
    const double intervals = std::round(*seconds / motion.header.frame_interval());
    if (intervals >= 1 && intervals < 1e9) return std::size_t(intervals);
    throw Error(Field{"seconds"}, "clips of {} s with frames of {} s; give at least one frame",
                *seconds, motion.header.frame_interval());
}

[[noreturn]] void fail(const Clip& clip)
{
    throw Failure(
        "the cloth blows up in the clip that begins at frame {} of rollout {}; lower its stiffness "
        "and damping, or use more sub-steps",
        clip.first_frame, clip.rollout);
}

}  // namespace

RolloutGradient rollout_gradient(const Cloth& cloth, const Motion& source,
                                 const RolloutLossOptions& options, const Progress& progress)
{
    check_cloth(cloth, "cloth");
    const Motion motion = cloth.globals ? with_globals(source, *cloth.globals) : source;
    const MotionHeader& header = motion.header;
    const std::vector<Clip> clips = clips_of(motion, options.clips);
    const Resampler resampler(cloth, header);
    const LandmarkMap map(cloth, header);
    const std::vector<Trajectory> trajectories =
        TrajectoryReader(motion, resampler, cloth)
            .read(clips, intervals_of(motion, options.seconds));
    FrameLoss loss;
    loss.squares = options.squares;
    if (options.width) loss.width = *options.width;
    const Heartbeat heartbeat(progress);
    heartbeat.progress().report({"gradient", 0, 1, {}, {}});
    const Substeps usual = header.captured ? Substeps{} : Substeps{1};
    BatchGradient batch(cloth, {header.dt, header.environment, options.device}, header.stride,
                        options.threads, options.substeps.value_or(usual), false, heartbeat);
    const auto followed = batch.follow(trajectories, map, parameters_of(cloth), loss, true);
    RolloutGradient result;
    result.gradient = ParameterGradient(cloth).kinds;
    const double share = 1 / double(clips.size());
    for (std::size_t i = 0; i < clips.size(); ++i) {
        if (!std::isfinite(followed[i].result.loss)) fail(clips[i]);
        result.loss += share * followed[i].result.loss;
        result.error += share * followed[i].result.error;
        for (std::size_t k = 0; k < result.gradient.size(); ++k) {
            for (std::size_t e = 0; e < result.gradient[k].size(); ++e) {
                result.gradient[k][e] += share * followed[i].gradient[k][e];
            }
        }
    }
    return result;
}

}  // namespace springtime
