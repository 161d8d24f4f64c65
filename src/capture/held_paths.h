#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "motion/point_frame.h"
#include "springtime/import.h"
#include "springtime/simulation.h"

namespace springtime {

// The paths of held landmarks, gathered frame by frame, and what handles become of them.
class HeldPaths {
  public:
    HeldPaths(std::vector<int> pinned, std::vector<int> driven);

    void add(const PointFrame& landmarks);

    // Driven points go where this says, at a time after the first frame, and not where they were
    // seen: given by their place in the list of driven ones.
    using Path = std::function<Vec3d(std::size_t driven, double time)>;
    void follow(Path path) { path_ = std::move(path); }

    // Pinned landmarks stand at the median of their places. Driven ones follow their observed
    // paths, straight through gaps; smoothed, by the quadratic through the five nearest frames that
    // show them, as Rollout::state() has it. Where that moves a path by more than `noisy` [m, rms],
    // by robust quadratics through more frames: on four takes of a swung napkin with 10 mm of noise
    // at 9 frames per second, compared with the log of the robot, those through eleven halved the
    // error of velocities and left 0.8 of that of places. Frames in which a driven one is missing
    // are counted in the report. Throws Error for a held landmark that no frame shows, by what
    // `label` calls it.
    Handles handles(double frame_interval, bool smooth, double noisy,
                    const std::function<std::string(int)>& label, RecordingReport& report) const;

  private:
    std::vector<Vec3d> smoothed_path(std::size_t held, double frame_interval, double noisy,
                                     RecordingReport& report) const;
    std::vector<Vec3d> followed_path(std::size_t driven, double key_interval,
                                     std::size_t keys) const;

    std::vector<int> landmarks_;  // pinned, then driven
    std::size_t pinned_count_;
    std::vector<PointFrame> paths_;  // of every held landmark, over frames
    Path path_;                      // empty: as observed
};

// From which frame on all points are known. Learning starts from what the first three frames show.
class FirstSight {
  public:
    static constexpr std::size_t kFrames = 3;

    explicit FirstSight(std::size_t point_count) : last_(point_count, 0) {}

    void add(const PointFrame& frame)
    {
        ++added_;
        if (whole_) return;
        for (std::size_t p = 0; p < frame.size(); ++p) {
            if (!is_seen(frame[p])) continue;
            if (last_[p] == 0) late_ = added_ - 1;
            last_[p] = added_;
        }
        const std::size_t first = added_ > kFrames ? added_ - kFrames : 0;  // numbers from 0
        if (std::all_of(last_.begin(), last_.end(), [&](std::size_t n) { return n > first; })) {
            const bool all = std::all_of(frame.begin(), frame.end(), is_seen);
            whole_ = all ? added_ - 1 : first;
        }
    }

    // The frame in which the last point is seen for the first time.
    std::size_t late() const { return late_; }
    // The first frame that shows every point, or does so with the two behind it.
    std::optional<std::size_t> whole() const { return whole_; }

  private:
    std::vector<std::size_t> last_;  // number of the frame, from 1, that showed each; 0: none did
    std::size_t added_ = 0, late_ = 0;
    std::optional<std::size_t> whole_;
};

}  // namespace springtime
