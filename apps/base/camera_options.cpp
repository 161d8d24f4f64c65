#include "camera_options.h"

#include <algorithm>
#include <cmath>

namespace springtime::app {

void add_camera(const Flags& flags, CameraOptions& options)
{
    const Flags rare = flags.in("What a camera sees");
    flags.add(
        "--fps", options.fps,
        "Frames per second, instead of --stride; the time step becomes the longest up to --dt "
        "of which a whole number makes a frame");
    rare.add_switch("--positions-only", options.positions_only,
                    "Store no velocities and no accelerations");
    flags.add(
        "--noise", options.noise,
        "Standard deviation of the noise on every coordinate [m], as a camera has it; implies "
        "--positions-only");
    rare.add("--gaps", options.gaps,
             "Share of the landmarks that is missing in a frame; implies --positions-only");
    rare.add("--gap-seconds", options.gap_seconds, "Mean length of a gap [s]; 0.25 unless given");
    rare.add("--every", options.every,
             "Of a grid of landmarks, see only every so many rows and columns");
}

void check_camera(const CameraOptions& options, bool stride_given)
{
    if (options.fps && stride_given) {
        throw Error("--fps and --stride: both say when frames are stored; give one of them");
    }
    if (options.gap_seconds && options.gaps.value_or(0) == 0) {
        throw Error("--gap-seconds: how long gaps are, but there are none; give --gaps too");
    }
}

ObserveOptions observe_options(const CameraOptions& options)
{
    ObserveOptions camera;
    camera.noise = options.noise.value_or(camera.noise);
    camera.gaps = options.gaps.value_or(camera.gaps);
    camera.gap_seconds = options.gap_seconds.value_or(camera.gap_seconds);
    camera.every = options.every.value_or(camera.every);
    camera.positions_only = options.positions_only || camera.noise > 0 || camera.gaps > 0;
    return camera;
}

void set_frame_rate(const CameraOptions& options, double& dt, int& stride)
{
    if (options.fps) springtime::set_frame_rate(*options.fps, dt, stride);
}

}  // namespace springtime::app
