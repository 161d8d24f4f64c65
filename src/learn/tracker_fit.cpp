#include "learn/tracker_fit.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

bool is_known(const Vec3d& x)
{
    return !std::isnan(x.x + x.y + x.z);
}

}  // namespace

std::vector<Vec3d> common_bias(const LandmarkShifts& beside)
{
    std::vector<Vec3d> mean(beside.front().size());
    double between = 0, freedom = 0, of_mean = 0, noise = 0;
    for (std::size_t l = 0; l < mean.size(); ++l) {
        double count = 0;
        for (const auto& recording : beside) {
            if (!is_known(recording[l])) continue;
            mean[l] += recording[l];
            ++count;
        }
        if (count == 0) continue;
        mean[l] = (1 / count) * mean[l];
        for (const auto& recording : beside) {
            if (!is_known(recording[l])) continue;
            const Vec3d off = recording[l] - mean[l];
            between += dot(off, off);
        }
        freedom += count - 1;
        of_mean += dot(mean[l], mean[l]);
        noise += 1 / count;
    }
    const double share =
        freedom > 0 && of_mean > 0 ? std::max(0.0, 1 - between / freedom * noise / of_mean) : 0.0;
    for (Vec3d& bias : mean) bias = share * bias;
    return mean;
}

double lasting_share(const LandmarkShifts& beside, const LandmarkShifts& first,
                     const std::vector<Vec3d>& common)
{
    double product = 0, square = 0;
    for (std::size_t r = 0; r < beside.size(); ++r) {
        for (std::size_t l = 0; l < first[r].size(); ++l) {
            if (!is_known(beside[r][l])) continue;
            product += dot(beside[r][l] - common[l], first[r][l]);
            square += dot(first[r][l], first[r][l]);
        }
    }
    return square > 0 ? std::clamp(product / square, 0.0, 1.0) : 0.0;
}

}  // namespace springtime
