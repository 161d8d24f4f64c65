// How noisy positions are, against noise that is known.
#include "learn/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "identifying.h"
#include "stubborn.h"

namespace springtime {

namespace {

constexpr std::size_t kPieceFrames = 20, kPieceFreedoms = 10;  // less a polynomial of degree 9
// Bounds of random numbers: one in two million misses five standard deviations by chance, and the
// seeds are fixed.
constexpr double kSigmas = 5;

// Particles that each go their way: a slow swing of half a metre, and noise with a correlation of
// successive frames of `correlation`.
Tracks noisy_tracks(std::size_t particles, std::size_t frames, double level, double correlation,
                    std::uint64_t seed)
{
    Rollout empty;
    empty.frame_count = frames;
    empty.position.resize(3 * frames * particles);
    Tracks tracks(empty);
    Random random(seed);
    for (std::size_t p = 0; p < particles; ++p) {
        Vec3d noise{random.normal(), random.normal(), random.normal()};
        const double phase = 6 * random.uniform();
        for (std::size_t f = 0; f < frames; ++f) {
            const double swing = 0.5 * std::sin(0.02 * double(f) + phase);
            tracks.position[p * frames + f] = Vec3d{swing, 2 * swing, -swing} + level * noise;
            for (int axis = 0; axis < 3; ++axis) {
                noise[axis] = correlation * noise[axis] +
                              std::sqrt(1 - correlation * correlation) * random.normal();
            }
        }
    }
    return tracks;
}

NoiseEstimate estimate(const Tracks& tracks)
{
    NoiseMeter meter;
    Work work;
    meter.add(tracks, work);
    return meter.estimate();
}

// Squares that the estimate rests on: of the quieter half of the pieces.
double freedoms(std::size_t particles, std::size_t frames)
{
    return 3.0 * kPieceFreedoms * double(particles * (frames / kPieceFrames)) / 2;
}

TEST(Noise, LevelOfWhiteNoise)
{
    for (const double level : {1e-5, 1e-3, 1e-2}) {
        const NoiseEstimate noise = estimate(noisy_tracks(40, 400, level, 0, 1));
        // The root of the mean of n squares varies by sqrt(1/(2 n)) of itself.
        const double n = freedoms(40, 400);
        EXPECT_NEAR(noise.level / level, 1, kSigmas * std::sqrt(1 / (2 * n))) << level;
        EXPECT_TRUE(noise.white);
    }
}

// Products of successive residuals over their squares, for noise with correlation r^n over n
// frames: with R the matrix that takes a polynomial out, residuals have the covariance R C R.
double ratio_of(double correlation)
{
    Eigen::MatrixXd powers(kPieceFrames, kPieceFrames - kPieceFreedoms);
    Eigen::MatrixXd c(kPieceFrames, kPieceFrames);
    for (int i = 0; i < int(kPieceFrames); ++i) {
        for (int d = 0; d < powers.cols(); ++d) powers(i, d) = std::cos(d * std::acos(i / 9.5 - 1));
        for (int j = 0; j < int(kPieceFrames); ++j)
            c(i, j) = std::pow(correlation, std::abs(i - j));
    }
    const Eigen::MatrixXd r = Eigen::MatrixXd::Identity(kPieceFrames, kPieceFrames) -
                              powers * (powers.transpose() * powers).inverse() * powers.transpose();
    const Eigen::MatrixXd left = r * c * r;
    return left.diagonal(1).sum() / left.trace();
}

TEST(Noise, CorrelationIsMeasured)
{
    const double n = freedoms(150, 2000);
    for (const double correlation : {0.0, 0.25, 0.5, -0.5}) {
        const NoiseEstimate noise = estimate(noisy_tracks(150, 2000, 1e-3, correlation, 2));
        // Ratios vary by 1/sqrt(n), and the correlation by that over the slope of the ratio.
        const double slope = (ratio_of(correlation + 0.01) - ratio_of(correlation - 0.01)) / 0.02;
        const double scatter = 1.5 * kSigmas / std::sqrt(n) / slope;
        EXPECT_LE(scatter, 0.15);
        EXPECT_NEAR(noise.correlation, correlation, scatter);
        EXPECT_EQ(noise.white, correlation == 0);
        // The level is right as far as the correlation is: the polynomial leaves more of the
        // noise, the less it is correlated.
        EXPECT_NEAR(noise.level / 1e-3, 1, correlation == 0 ? 0.02 : 0.1) << correlation;
    }
}

TEST(Noise, CleanMotionHasNone)
{
    // Sine of w = 0.02 a frame and amplitude up to 1 m: what degree 9 leaves is below
    // w^10/10! (20/2)^10/2^9 = 6e-17 m, less than rounding.
    const NoiseEstimate noise = estimate(noisy_tracks(10, 200, 0, 0, 3));
    EXPECT_LE(noise.level, 3e-9);
    EXPECT_FALSE(noise.white);
}

TEST(Noise, OfStoredMotionIsThatOfFloats)
{
    // A fall, 120 frames a second, positions of some metres: floats round them by up to 2.4e-7 m.
    // What the polynomial leaves of the motion itself is smooth, not white.
    const Motion clean = falls(varied_cloth({5, 5, true, true, true, true}), 2, 2, 120);
    const NoiseEstimate noise = estimate(Tracks(clean.read(0, 0, clean.frame_counts[0])));
    EXPECT_LE(noise.level, 5e-5);
    EXPECT_FALSE(noise.white);
}

TEST(Noise, GapsAndHandlesDoNotDisturb)
{
    const double level = 2e-3;
    Tracks tracks = noisy_tracks(40, 400, level, 0, 4);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t p = 0; p < 40; ++p) {
        for (std::size_t f = 7 * p; f < 7 * p + 30; ++f) {
            tracks.position[p * 400 + f] = {nan, nan, nan};
        }
    }
    tracks.held[3] = 1;
    for (std::size_t f = 0; f < 400; ++f) tracks.position[3 * 400 + f] = {f % 2 * 1.0, 0, 0};
    const NoiseEstimate noise = estimate(tracks);
    EXPECT_NEAR(noise.level / level, 1, kSigmas * std::sqrt(1 / (2 * 0.8 * freedoms(40, 400))));
    EXPECT_TRUE(noise.white);
}

TEST(Noise, NothingToMeasureIsNoNoise)
{
    const NoiseEstimate noise = estimate(noisy_tracks(40, kPieceFrames - 1, 1e-3, 0, 5));
    EXPECT_EQ(noise.level, 0);
    EXPECT_FALSE(noise.white);
}

TEST(Noise, CanBeCancelledWithinARollout)
{
    constexpr int kFrames = 400;
    const Tracks tracks = noisy_tracks(2000, kFrames, 1e-3, 0, 1);
    Stubborn stubborn{0, 2};
    const Progress progress = stubborn.listener();
    Work work(progress, "noise");
    NoiseMeter meter;
    EXPECT_THROW(meter.add(tracks, work), Cancelled);
    EXPECT_EQ(stubborn.calls, 2);
    // Beside the two looks at the listener, a track: 60 multiplications for every frame.
    EXPECT_LE(work.done(), 2 * (Work::kReportEvery + 60 * kFrames));
}

}  // namespace

}  // namespace springtime
