#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace springtime {

// Adam (Kingma and Ba 2015) with its usual decays, unless another is given for squares; the number
// added to the root is smaller than usual, because gradients of small cloths are. `step` counts
// from 1 since the moments were zero.
inline void adam_step(std::span<double> parameters, std::span<const double> gradient,
                      std::span<double> mean, std::span<double> square, double rate, int step,
                      double square_decay = 0.999)
{
    constexpr double kMeanDecay = 0.9, kTiny = 1e-12;
    const double mean_scale = 1 / (1 - std::pow(kMeanDecay, step));
    const double square_scale = 1 / (1 - std::pow(square_decay, step));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        mean[i] += (1 - kMeanDecay) * (gradient[i] - mean[i]);
        square[i] += (1 - square_decay) * (gradient[i] * gradient[i] - square[i]);
        const double root = std::sqrt(square_scale * square[i]);
        parameters[i] -= rate * mean_scale * mean[i] / (root + kTiny);
    }
}

// Falls from one to zero over a pass.
inline double cosine_decay(int step, int steps)
{
    return 0.5 * (1 + std::cos(3.14159265358979323846 * step / steps));
}

}  // namespace springtime
