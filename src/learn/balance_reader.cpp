#include "learn/balance_reader.h"

#include "core/parallel.h"
#include "core/random.h"
#include "learn/noise.h"
#include "motion/clips.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

constexpr std::size_t kChunk = 1024;                       // frames held in memory at a time
constexpr std::size_t kRowBytes = std::size_t(128) << 20;  // of one look at a piece, at most
// Windows are this share of their half width apart. Half as many cost a tenth of the precision,
// more of them gain nothing.
constexpr int kWindowsPerHalfWidth = 4;
// With fewer rollouts than this, one half may lack what the other has; each is then cut into four.
constexpr std::size_t kManyRollouts = 16;
constexpr std::size_t kCuts = 4;

}  // namespace

std::size_t Scheme::hop() const
{
    return std::max(1, half_width / kWindowsPerHalfWidth);
}

BalanceReader::BalanceReader(const Motion& motion, const IdentifyOptions& options)
    : motion_(motion),
      cloth_(options.cloth ? *options.cloth
                           : make_surrogate(motion.header, options.grid, 1, 1, options.law)),
      threads_(thread_count(options.threads)),
      resampler_(cloth_, motion.header),
      rollouts_(split_rollouts(motion.frame_counts.size(), options.validation_share, options.seed)
                    .training)
{
}

namespace {

// The same for a frame whatever is read with it.
void add_noise(Rollout& landmarks, double level, std::size_t rollout, std::size_t first,
               const std::vector<char>& handle)
{
    const bool standing = !landmarks.handles.moving();
    for (std::size_t f = 0; f < landmarks.frame_count; ++f) {
        Random random = Random::stream(rollout, first + f);
        for (std::size_t l = 0; l < handle.size(); ++l) {
            for (int axis = 0; axis < 3; ++axis) {
                const double noise = level * random.normal();
                if (handle[l] && standing) continue;
                landmarks.position[(f * handle.size() + l) * 3 + axis] += float(noise);
            }
        }
    }
}

}  // namespace

// A particle that hangs on a handle is held, be it seen or not. Paths are left as they are
// observed, with their gaps.
Rollout BalanceReader::read(std::size_t rollout, std::size_t first, std::size_t count,
                            double noise_level) const
{
    Rollout landmarks = motion_.read(rollout, first, count);
    std::vector<char> handle(landmarks.landmark_count(), 0);
    for (const int l : landmarks.handles.particles) handle[l] = 1;
    if (noise_level > 0) add_noise(landmarks, noise_level, rollout, first, handle);
    Rollout particles;
    particles.frame_count = landmarks.frame_count;
    particles.position = resampler_.apply(landmarks.position);
    particles.velocity = resampler_.apply(landmarks.velocity);
    particles.acceleration = resampler_.apply(landmarks.acceleration);
    bool standing = !landmarks.handles.moving();
    for (std::size_t p = 0; p < resampler_.particle_count(); ++p) {
        const Resampler::Weights& weights = resampler_.weights()[p];
        int on_handles = 0, landmarks_used = 0;
        for (std::size_t j = 0; j < weights.weight.size(); ++j) {
            if (weights.weight[j] == 0) continue;
            ++landmarks_used;
            on_handles += handle[weights.landmark[j]];
        }
        if (on_handles == 0) continue;
        particles.handles.particles.push_back(static_cast<int>(p));
        standing = standing && on_handles == landmarks_used;
    }
    if (!standing) {  // as far as the balance is concerned, they go their own ways
        particles.handles.key_time = {0};
        particles.handles.key_position.resize(particles.handles.particles.size());
    }
    return particles;
}

std::size_t BalanceReader::shortest() const
{
    std::size_t frames = SIZE_MAX;
    for (const std::size_t r : rollouts_) frames = std::min(frames, motion_.frame_counts[r]);
    return frames;
}

std::size_t BalanceReader::longest() const
{
    std::size_t frames = 0;
    for (const std::size_t r : rollouts_) frames = std::max(frames, motion_.frame_counts[r]);
    return frames;
}

bool BalanceReader::has_accelerations() const
{
    return motion_.header.velocities &&
           std::all_of(rollouts_.begin(), rollouts_.end(), [&](std::size_t r) {
               return motion_.frame_counts[r] == 0 || !motion_.read(r, 0, 1).acceleration.empty();
           });
}

NoiseEstimate BalanceReader::measure_noise(Work& work) const
{
    NoiseMeter meter;
    for (const std::size_t r : rollouts_) {
        if (meter.is_full()) break;
        const std::size_t frames = std::min(motion_.frame_counts[r], kChunk);
        meter.add(Tracks(read(r, motion_.frame_counts[r] - frames, frames)), work);
    }
    return meter.estimate();
}

std::size_t BalanceReader::place_count(const Scheme& scheme) const
{
    std::size_t places = 0;
    for (std::size_t r = 0; r < rollouts_.size(); ++r) {
        for (const Piece& piece : pieces(scheme, r)) places += piece.place_count();
    }
    return places;
}

std::vector<Piece> BalanceReader::pieces(const Scheme& scheme, std::size_t number) const
{
    const std::size_t rollout = rollouts_[number], frames = motion_.frame_counts[rollout];
    const std::size_t cuts = rollouts_.size() < kManyRollouts ? kCuts : 1;
    const bool force = scheme.form == BalanceForm::force;
    const std::size_t margin =
        force ? 0 : window_margin(test_function(scheme), scheme.frame_step());
    const std::size_t hop = force ? 1 : scheme.hop();
    const std::size_t most_places = std::max<std::size_t>(1, kRowBytes / row_bytes(cloth_));
    std::vector<Piece> result;
    for (std::size_t middle = margin; middle + margin < frames; middle += hop) {
        const std::size_t fold = (number + middle * cuts / frames) % 2;
        const bool fresh = result.empty() || result.back().fold != fold ||
                           result.back().place_count() >= most_places ||
                           middle + margin >= result.back().first + kChunk;
        if (fresh) result.push_back({rollout, middle - margin, 0, fold, {}});
        Piece& piece = result.back();
        if (!force) piece.middles.push_back(middle - piece.first);
        piece.count = middle + margin + 1 - piece.first;
    }
    return result;
}

}  // namespace springtime
