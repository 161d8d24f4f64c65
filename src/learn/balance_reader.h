#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "learn/balance.h"
#include "learn/balance_rows.h"
#include "learn/work.h"
#include "springtime/identify.h"
#include "springtime/motion.h"

namespace springtime {

// Frames of a subset that the narrowest test function has on each side of its middle: with three
// (half width 6 in all frames) swings of a third of its length are summed 2e-3 wrong.
constexpr std::size_t kFewestFrames = 4;

// One way to write down the balance.
struct Scheme {
    BalanceForm form = BalanceForm::force;
    Instruments instruments = Instruments::none;
    int half_width = 0;      // [frames]
    double noise_level = 0;  // of a coordinate, for Instruments::noise [m]

    std::size_t frame_step() const { return instruments == Instruments::frames ? 2 : 1; }
    std::size_t hop() const;  // frames between the middles of windows
};

// Frames of a rollout that are read together, and the middles of windows among them.
struct Piece {
    std::size_t rollout = 0, first = 0, count = 0;
    std::size_t fold = 0;              // the half of the motion it belongs to
    std::vector<std::size_t> middles;  // counted from `first`

    std::size_t place_count() const { return middles.empty() ? count : middles.size(); }
    std::size_t frame_of(std::size_t place) const
    {
        return first + (middles.empty() ? place : middles[place]);
    }
};

// Reads the training rollouts and writes down their balance.
class BalanceReader {
  public:
    // The motion must outlive it.
    BalanceReader(const Motion& motion, const IdentifyOptions& options);

    const Cloth& cloth() const { return cloth_; }
    const Motion& motion() const { return motion_; }
    const Environment& environment() const { return motion_.header.environment; }
    const std::vector<std::size_t>& rollouts() const { return rollouts_; }
    int threads() const { return threads_; }
    double interval() const { return motion_.header.frame_interval(); }
    // The step of the integrator that the balance is written for. Captured motion has none: a small
    // one, since with a step h the balance takes k h / 2 for damping. [s]
    double step() const
    {
        constexpr double kSmall = 1.0 / 16;
        return motion_.header.captured ? kSmall * motion_.header.dt : motion_.header.dt;
    }
    std::size_t frame_count(std::size_t rollout) const { return motion_.frame_counts[rollout]; }
    std::size_t shortest() const;  // rollout [frames]
    std::size_t longest() const;
    bool has_accelerations() const;
    TestFunction test_function(const Scheme& scheme) const
    {
        return TestFunction(scheme.half_width, interval(), step());
    }
    double row_interval(const Scheme& scheme) const  // [s]
    {
        return interval() * double(scheme.form == BalanceForm::force ? 1 : scheme.hop());
    }

    NoiseEstimate measure_noise(Work& work) const;
    // A rollout in pieces that fit into memory. Where rollouts are few each is cut into stretches
    // that go to the two halves in turn, so that either half has seen every kind of motion.
    std::vector<Piece> pieces(const Scheme& scheme, std::size_t rollout) const;
    std::size_t place_count(const Scheme& scheme) const;  // of all rollouts
    // The motion of the particles in a piece.
    Rollout particles(const Piece& piece) const
    {
        return read(piece.rollout, piece.first, piece.count);
    }
    // Visits the rows of a piece, and those of windows with the tracks that they were made of.
    template <class Visit>
    void with_rows(const Scheme& scheme, const Piece& piece, const Visit& visit) const;
    template <class Visit>
    void with_windows(const Scheme& scheme, const Piece& piece, const Visit& visit) const;

  private:
    // The motion of the particles, with noise of this level added to the landmarks. Landmarks that
    // stand still have none: their mean is taken.
    Rollout read(std::size_t rollout, std::size_t first, std::size_t count,
                 double noise_level = 0) const;

    const Motion& motion_;
    Cloth cloth_;
    int threads_;
    Resampler resampler_;
    std::vector<std::size_t> rollouts_;
};

template <class Visit>
void BalanceReader::with_rows(const Scheme& scheme, const Piece& piece, const Visit& visit) const
{
    if (scheme.form == BalanceForm::weak) {
        with_windows(scheme, piece, [&](const BalancePair& rows, const Tracks&) { visit(rows); });
        return;
    }
    const Rollout particles = read(piece.rollout, piece.first, piece.count);
    const BalanceRows rows = force_rows(cloth_, motion_.header.environment, particles, threads_);
    visit(BalancePair{rows, rows});
}

template <class Visit>
void BalanceReader::with_windows(const Scheme& scheme, const Piece& piece, const Visit& visit) const
{
    const Environment& environment = motion_.header.environment;
    const TestFunction test = test_function(scheme);
    const Tracks tracks(read(piece.rollout, piece.first, piece.count));
    const auto subset = [&](std::size_t first) {
        return weak_rows(cloth_, environment, tracks, test, piece.middles,
                         {scheme.frame_step(), first}, interval(), step(), threads_);
    };
    const BalanceRows one = subset(0);
    if (scheme.instruments == Instruments::frames) {
        visit(BalancePair{one, subset(1)}, tracks);
    } else if (scheme.instruments == Instruments::noise) {
        const Tracks noisier(read(piece.rollout, piece.first, piece.count, scheme.noise_level));
        BalanceRows change = weak_rows(cloth_, environment, noisier, test, piece.middles, {},
                                       interval(), step(), threads_);
        change.subtract(one);
        visit(BalancePair{one, one, &change}, tracks);
    } else {
        visit(BalancePair{one, one}, tracks);
    }
}

}  // namespace springtime
