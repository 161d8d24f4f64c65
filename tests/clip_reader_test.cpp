// Clips of observed motion, against the states and frames of the whole rollout.
#include "learn/clip_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "motions.h"
#include "springtime/generate.h"

namespace springtime {

namespace {

const Cloth kCloth = make_grid_cloth({1.5, 1.0, 2.0}, {6, 8, true, true, true, true},
                                     MaterialField::uniform(20), MaterialField::uniform(0.2));

// Rollouts of 41 frames, as a camera sees them.
Motion observed(const ObserveOptions& camera)
{
    GenerateOptions options;
    options.rollouts = 2;
    options.seconds = 0.8;
    options.dt = 2e-3;
    options.stride = 10;
    options.anchor_size = 2;
    options.threads = 1;
    options.device = Device::cpu;
    const Motion whole = generated_motion(kCloth, options);
    MotionHeader header = whole.header;
    observe_header(header, camera);
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < 2; ++r) {
        rollouts.push_back(observe(whole.read(r, 0, whole.frame_counts[r]), header, camera, 9, r));
    }
    return motion_of(header, rollouts);
}

Vec3d vector_of(const std::vector<float>& values, std::size_t index)
{
    return {values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

// The start of a clip is the state of the whole rollout there, the frames after it are its frames,
// and its last velocities are there where its last positions are.
void expect_clip(const Motion& motion, const Resampler& resampler, const Clip& clip)
{
    const std::size_t intervals = 6, count = resampler.particle_count();
    const Rollout found = ClipReader(motion, resampler, intervals).read(clip);
    const Rollout whole = motion.read(clip.rollout, 0, motion.frame_counts[clip.rollout]);
    const Rollout frames = resampler.apply(whole, motion.header.frame_interval());
    const auto state_at = [&](std::size_t frame) {
        return resampler.apply(whole.state(clip.first_frame + frame, motion.header));
    };
    const State start = found.state(0, motion.header), expected = state_at(0);
    const State last = state_at(intervals);
    for (std::size_t p = 0; p < count; ++p) {
        // The same floats. A pin is at the mean of the frames that were read, some 15 of the clip
        // and around it, each off by at most 1 mm of noise.
        const bool pinned = std::count(frames.handles.particles.begin(),
                                       frames.handles.particles.end(), int(p)) > 0;
        EXPECT_LE(length(start.position[p] - expected.position[p]),
                  pinned ? 5 * 1e-3 * std::sqrt(3.0 / 15) : 0);
        EXPECT_EQ(length(start.velocity[p] - expected.velocity[p]), 0);
        const Vec3d v = vector_of(found.velocity, intervals * count + p);
        if (found.seen(intervals, p)) {
            EXPECT_EQ(length(v - last.velocity[p]), 0);
        }
        EXPECT_EQ(std::isnan(v.x), !found.seen(intervals, p));
        for (std::size_t f = 1; f <= intervals; ++f) {
            const std::size_t there = (clip.first_frame + f) * count + p;
            ASSERT_EQ(found.seen(f, p), frames.seen(clip.first_frame + f, p));
            if (!found.seen(f, p)) continue;
            EXPECT_EQ(length(vector_of(found.position, f * count + p) -
                             vector_of(frames.position, there)),
                      0);
        }
    }
}

TEST(ObservedClips, StartInTheStateOfTheWholeRollout)
{
    // Long gaps, so that some landmarks are not seen in a clip at all.
    const ObserveOptions gaps{
        .noise = 1e-3, .gaps = 0.3, .gap_seconds = 0.12, .positions_only = true};
    const ObserveOptions velocities{.gaps = 0.2, .gap_seconds = 0.06};
    const Resampler same(kCloth.rest, kCloth.rest);
    const Resampler coarse(kCloth.rest, grid_points(kCloth.sheet, {4, 5}));
    for (const std::size_t first : {0, 1, 3, 17, 33, 34}) {
        for (const std::size_t rollout : {0, 1}) {
            expect_clip(observed(gaps), same, {rollout, first});
            expect_clip(observed({.positions_only = true}), same, {rollout, first});
            expect_clip(observed(gaps), coarse, {rollout, first});
        }
    }
    const Motion stored = observed(velocities);
    const Rollout clip = ClipReader(stored, same, 6).read({0, 17});
    const Rollout whole = stored.read(0, 0, stored.frame_counts[0]);
    const State start = clip.state(0, stored.header), expected = whole.state(17, stored.header);
    for (std::size_t p = 0; p < kCloth.particle_count(); ++p) {
        // Floats of metres, and of a few metres per second.
        EXPECT_LE(length(start.position[p] - expected.position[p]), 1e-6);
        EXPECT_LE(length(start.velocity[p] - expected.velocity[p]), 1e-5);
    }
}

TEST(ObservedClips, HandlesKeepTheirTimes)
{
    // A held landmark goes along x at 1 m/s; in a clip it is where it is at the same time of the
    // whole rollout.
    const Motion pinned = observed({.positions_only = true});
    std::vector<Rollout> rollouts{pinned.read(0, 0, pinned.frame_counts[0])};
    rollouts[0].handles = {{0}, {0, 0.8}, {{0, 0, 0}, {0.8, 0, 0}}};
    const Motion motion = motion_of(pinned.header, rollouts);
    const Resampler same(kCloth.rest, kCloth.rest);
    const double interval = motion.header.frame_interval();
    const Handles clip = ClipReader(motion, same, 6).read({0, 10}).handles;
    const Handles whole = same.apply(rollouts[0], interval).handles;
    ASSERT_TRUE(whole.moving());
    ASSERT_EQ(clip.particles, whole.particles);
    for (std::size_t h = 0; h < clip.particles.size(); ++h) {
        for (const double t : {0.0, 0.03, 0.12}) {
            EXPECT_LE(length(clip.position(h, t) - whole.position(h, 10 * interval + t)), 1e-13);
        }
    }
}

}  // namespace

}  // namespace springtime
