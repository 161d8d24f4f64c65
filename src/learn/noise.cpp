#include "learn/noise.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

constexpr int kFrames = 20, kDegree = 5;
// Pieces are kept up to this many: then noise is known to a fraction of a percent.
constexpr std::size_t kMost = 200000;

}  // namespace

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

void NoiseMeter::add(const Tracks& tracks)
{
    Eigen::MatrixXd piece(kFrames, 3);
    for (std::size_t p = 0; p < tracks.particle_count; ++p) {
        if (tracks.held[p]) continue;
        for (std::size_t first = 0; first + kFrames <= tracks.frame_count; first += kFrames) {
            if (pieces_.size() == kMost) return;
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

NoiseEstimate NoiseMeter::estimate() const
{
    NoiseEstimate noise;
    if (pieces_.empty()) return noise;
    std::vector<Piece> pieces = pieces_;
    const auto half = pieces.begin() + static_cast<std::ptrdiff_t>((pieces.size() + 1) / 2);
    std::nth_element(pieces.begin(), half - 1, pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.way < b.way; });
    double squares = 0, products = 0;
    for (auto piece = pieces.begin(); piece != half; ++piece) {
        squares += piece->squares;
        products += piece->products;
    }
    const double count = 3.0 * double(half - pieces.begin());  // tracks of one coordinate
    const double variance = squares / (count * (kFrames - kDegree - 1));
    // White noise of that variance would leave residuals with covariance variance * residual_.
    const double expected = residual_.diagonal(1).sum() * variance;
    noise.level = std::sqrt(variance);
    if (variance > 0)
        noise.correlation = (products / count - expected) / ((kFrames - 1) * variance);
    noise.white = std::abs(noise.correlation) < kWhiteCorrelation;
    return noise;
}

}  // namespace springtime
