#include "learn/noise.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

constexpr int kFrames = 20, kDegree = 9;
// Pieces are kept up to this many: then noise is known to a fraction of a percent.
constexpr std::size_t kMost = 200000;
// A piece with so many times the usual squares shows a cloth that snaps: noise of one level hardly
// ever has three times as much in a piece.
constexpr double kShaken = 3;

// Noise below this share of the shortest spring biases nothing that matters: 1 mm on springs of
// 0.5 m takes a third of the damping away, and the bias falls with the square.
constexpr double kHarmlessNoise = 5e-5;
// For every frame of a track: 20 x 20 x 3 products with a piece of 20 frames.
constexpr double kWorkOfTrackFrame = 3 * kFrames;

}  // namespace

bool noise_matters(const NoiseEstimate& noise, const Cloth& cloth)
{
    return noise.level > kHarmlessNoise * smallest_spacing(cloth);
}

NoiseMeter::NoiseMeter()
{
    Eigen::MatrixXd powers(kFrames, kDegree + 1);
    for (int f = 0; f < kFrames; ++f) {
        const double t = 2.0 * f / (kFrames - 1) - 1;
        for (int d = 0; d <= kDegree; ++d) powers(f, d) = std::pow(t, d);
    }
    const Eigen::MatrixXd basis =
        powers.householderQr().householderQ() * Eigen::MatrixXd::Identity(kFrames, kDegree + 1);
    residual_ = Eigen::MatrixXd::Identity(kFrames, kFrames) - basis * basis.transpose();
}

void NoiseMeter::add(const Tracks& tracks, Work& work)
{
    Eigen::MatrixXd piece(kFrames, 3);
    for (std::size_t p = 0; p < tracks.particle_count; ++p) {
        if (tracks.held[p]) continue;
        work.add(kWorkOfTrackFrame * double(tracks.frame_count));
        for (std::size_t first = 0; first + kFrames <= tracks.frame_count; first += kFrames) {
            if (is_full()) return;
            for (int f = 0; f < kFrames; ++f) {
                const Vec3d x = tracks.of(p)[first + f];
                for (int axis = 0; axis < 3; ++axis) piece(f, axis) = x[axis];
            }
            if (!piece.allFinite()) continue;
            const Eigen::MatrixXd left = residual_ * piece;
            const double way = (piece.topRows(kFrames / 2).colwise().mean() -
                                piece.bottomRows(kFrames / 2).colwise().mean())
                                   .norm();
            pieces_.push_back(
                {way, left.squaredNorm(),
                 left.topRows(kFrames - 1).cwiseProduct(left.bottomRows(kFrames - 1)).sum()});
        }
    }
}

bool NoiseMeter::is_full() const
{
    return pieces_.size() == kMost;
}

NoiseEstimate NoiseMeter::estimate() const
{
    NoiseEstimate noise;
    if (pieces_.empty()) return noise;
    std::vector<Piece> pieces = pieces_;
    const auto half = pieces.begin() + static_cast<std::ptrdiff_t>((pieces.size() + 1) / 2);
    std::nth_element(pieces.begin(), half - 1, pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.way < b.way; });
    const auto middle = pieces.begin() + (half - pieces.begin()) / 2;
    std::nth_element(pieces.begin(), middle, half,
                     [](const Piece& a, const Piece& b) { return a.squares < b.squares; });
    const double most = kShaken * middle->squares;
    double squares = 0, products = 0, count = 0;  // of tracks of one coordinate
    for (auto piece = pieces.begin(); piece != half; ++piece) {
        if (piece->squares > most) continue;
        squares += piece->squares;
        products += piece->products;
        count += 3;
    }
    if (!(squares > 0)) return noise;
    noise.correlation = correlation_of(products / squares);
    noise.level = std::sqrt(squares / (count * left_of(noise.correlation).trace()));
    noise.white = std::abs(noise.correlation) < kWhiteCorrelation;
    return noise;
}

// The polynomial takes part of the noise for motion. Noise of unit variance with correlation r^n
// over n frames, C, leaves residuals of the covariance R C R.
Eigen::MatrixXd NoiseMeter::left_of(double correlation) const
{
    Eigen::MatrixXd noise(kFrames, kFrames);
    for (int i = 0; i < kFrames; ++i) {
        for (int j = 0; j < kFrames; ++j) noise(i, j) = std::pow(correlation, std::abs(i - j));
    }
    return residual_ * noise * residual_;
}

// The correlation that explains how products of successive residuals compare with squares, which
// grows with it.
double NoiseMeter::correlation_of(double ratio) const
{
    double low = -0.95, high = 0.95;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        const Eigen::MatrixXd left = left_of(middle);
        (left.diagonal(1).sum() < ratio * left.trace() ? low : high) = middle;
    }
    return (low + high) / 2;
}

}  // namespace springtime
