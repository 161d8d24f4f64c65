#pragma once

#include <Eigen/Dense>
#include <vector>

#include "learn/balance_rows.h"
#include "learn/work.h"
#include "springtime/identify.h"

namespace springtime {

// Whether noise biases what is identified.
bool noise_matters(const NoiseEstimate& noise, const Cloth& cloth);

// Measures the noise of positions: what a polynomial of ninth degree through 20 frames leaves over.
// Only the quieter half of all pieces counts, by how far they move, for fast motion bends more
// than the polynomial does.
class NoiseMeter {
  public:
    NoiseMeter();

    // Of free particles. Counts its work.
    void add(const Tracks& tracks, Work& work);
    bool is_full() const;  // more tracks change nothing
    NoiseEstimate estimate() const;

  private:
    // A piece of a track: how far it moves, squared residuals, and products of successive ones.
    struct Piece {
        double way, squares, products;
    };
    Eigen::MatrixXd left_of(double correlation) const;
    double correlation_of(double ratio) const;

    Eigen::MatrixXd residual_;  // takes frames to what the polynomial leaves over
    std::vector<Piece> pieces_;
};

}  // namespace springtime
