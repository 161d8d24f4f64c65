#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "motion/clips.h"
#include "sim/clip_gradient.h"
#include "springtime/learn.h"
#include "springtime/motion.h"

namespace springtime {

// A clip with frames around it.
struct FrameWindow {
    Rollout rollout;
    std::size_t clip_start = 0;  // frame
};

// A clip with as many frames around it as make the states at its ends those of the whole rollout:
// none where states are stored.
FrameWindow window_around(const Motion& motion, const Clip& clip, std::size_t intervals);

// What a loss reads of a clip in every frame; of the rest it reads the first frame and the last.
struct ClipFields {
    bool position = true, acceleration = true;
};
ClipFields fields_of(const LossWeights& weights);

// Clips as the published losses want them: resampled to the surrogate, with accelerations. Where
// positions are all there is, or landmarks are missing, the first frame becomes the estimated
// start, and velocities are there in the first frame and the last; what no frame shows stays
// missing.
class ClipReader {
  public:
    // Starts of captured motion are projected onto rest lengths when the surrogate is given.
    ClipReader(const Motion& motion, const Resampler& resampler, std::size_t intervals,
               const Cloth* surrogate = nullptr);

    // What is stored may be missing where `fields` do not ask for it.
    Rollout read(const Clip& clip, const ClipFields& fields = {}) const;
    // By several threads, which the motion has to allow.
    std::vector<Rollout> read(const std::vector<Clip>& clips, const ClipFields& fields = {},
                              int threads = 1) const;
    std::size_t intervals() const { return intervals_; }

  private:
    Rollout read_stored(const Clip& clip, const ClipFields& fields) const;
    Rollout read_observed(const Clip& clip) const;

    const Motion* motion_;
    const Resampler* resampler_;
    std::size_t intervals_;
    const Cloth* surrogate_;
};

// Shuffled batches of clips; the next one is read, and prepared, while the present one is worked
// on. Threads as ClipReader takes them.
class BatchReader {
  public:
    // Called by another thread.
    using Prepare = std::function<std::unique_ptr<PreparedClips>(const std::vector<Rollout>&)>;

    BatchReader(const ClipReader& reader, std::vector<Clip> clips, std::size_t batch,
                std::uint64_t seed, std::size_t batches_done, const ClipFields& fields, int threads,
                Prepare prepare = {});
    ~BatchReader();

    struct Batch {
        std::vector<Clip> clips;
        std::vector<Rollout> targets;
        std::unique_ptr<PreparedClips> prepared;  // of the targets; may be null
    };
    Batch next();

  private:
    void start();

    const ClipReader* reader_;
    std::vector<Clip> clips_;
    std::size_t batch_;
    ClipFields fields_;
    int threads_;
    Prepare prepare_;
    ClipShuffle shuffle_;
    std::future<Batch> coming_;
};

}  // namespace springtime
