#include "motion/steady.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

namespace springtime {

namespace {

double steady_median(std::vector<double> values)
{
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The value at a time of the quadratic through points[first] .. points[end - 1]. Points beyond four
// times the median distance get no weight (Tukey's biweight), and near points more than far ones.
Vec3d robust_quadratic(const std::vector<double>& time, const std::vector<Vec3d>& points,
                       std::size_t first, std::size_t end, double at, double width)
{
    constexpr int kRounds = 4;
    constexpr double kCut = 4;
    const auto base = [&](std::size_t i) {
        const double u = (time[i] - at) / width;
        return Eigen::Vector3d(1, u, u * u);
    };
    const auto point = [&](std::size_t i) {
        return Eigen::Vector3d(points[i].x, points[i].y, points[i].z);
    };
    std::vector<double> trust(end - first, 1), distance(end - first);
    Vec3d value = points[first];
    for (int round = 0; round < kRounds; ++round) {
        Eigen::Matrix3d matrix = Eigen::Vector3d(1e-9, 1e-6, 1e-3).asDiagonal();
        Eigen::Matrix3d right = Eigen::Matrix3d::Zero();
        for (std::size_t i = first; i < end; ++i) {
            const double u = std::abs(time[i] - at) / width, near = 1 - u * u * u;
            const Eigen::Vector3d powers = base(i);
            const double weight = trust[i - first] * near * near * near;
            matrix += weight * powers * powers.transpose();
            right += weight * powers * point(i).transpose();
        }
        const Eigen::Matrix3d solution = matrix.ldlt().solve(right);
        value = {solution(0, 0), solution(0, 1), solution(0, 2)};
        for (std::size_t i = first; i < end; ++i) {
            distance[i - first] = (point(i) - solution.transpose() * base(i)).norm();
        }
        const double cut = std::max(kCut * steady_median(distance), 1e-6);
        for (std::size_t i = 0; i < trust.size(); ++i) {
            const double share = distance[i] / cut;
            trust[i] = share < 1 ? (1 - share * share) * (1 - share * share) : 0;
        }
    }
    return value;
}

}  // namespace

void steady(Handles& handles, double seconds)
{
    const std::size_t count = handles.particles.size(), keys = handles.key_time.size();
    if (!handles.moving()) return;
    std::vector<Vec3d> mean(keys);
    for (std::size_t k = 0; k < keys; ++k) {
        for (std::size_t h = 0; h < count; ++h) {
            mean[k] += (1 / double(count)) * handles.key_position[k * count + h];
        }
    }
    std::vector<Vec3d> place(count);
    for (std::size_t h = 0; h < count; ++h) {
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<double> values;
            for (std::size_t k = 0; k < keys; ++k) {
                values.push_back(handles.key_position[k * count + h][axis] - mean[k][axis]);
            }
            place[h][axis] = steady_median(values);
        }
    }
    const std::vector<double>& time = handles.key_time;
    for (std::size_t k = 0; k < keys; ++k) {
        const auto first = std::upper_bound(time.begin(), time.end(), time[k] - seconds);
        const auto end = std::lower_bound(time.begin(), time.end(), time[k] + seconds);
        const Vec3d smooth = robust_quadratic(time, mean, std::size_t(first - time.begin()),
                                              std::size_t(end - time.begin()), time[k], seconds);
        for (std::size_t h = 0; h < count; ++h) {
            handles.key_position[k * count + h] = smooth + place[h];
        }
    }
}

}  // namespace springtime
