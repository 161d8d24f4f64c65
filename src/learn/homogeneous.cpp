#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "learn/clip_reader.h"
#include "physics/external.h"
#include "physics/spring.h"
#include "springtime/error.h"
#include "springtime/train.h"

namespace springtime {

namespace {

constexpr std::size_t kFamilies = kSpringFamilies.size();

// Normal equations of the force balance m (a - external) = sum over families of k E + b D, where E
// and D are the forces of unit stiffness and unit damping: the model is linear in both.
struct Balance {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2 * kFamilies, 2 * kFamilies);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(2 * kFamilies);
};

void add_frame(Balance& balance, const Cloth& cloth, const Environment& environment,
               const State& state, const float* acceleration, const std::vector<bool>& held)
{
    std::vector<std::array<Vec3d, 2 * kFamilies>> columns(cloth.particle_count());
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const auto family = std::size_t(cloth.springs.family[s]);
        const Vec3d d = state.position[b] - state.position[a];
        const Vec3d v = state.velocity[b] - state.velocity[a];
        const Vec3d elastic = spring_force(d, v, cloth.springs.rest_length[s], 1.0, 0.0);
        const Vec3d viscous = spring_force(d, v, cloth.springs.rest_length[s], 0.0, 1.0);
        columns[a][family] += elastic;
        columns[b][family] -= elastic;
        columns[a][kFamilies + family] += viscous;
        columns[b][kFamilies + family] -= viscous;
    }
    Eigen::VectorXd row(2 * kFamilies);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        if (held[p]) continue;
        const Vec3d a{acceleration[3 * p], acceleration[3 * p + 1], acceleration[3 * p + 2]};
        const Vec3d force =
            cloth.mass[p] * (a - external_acceleration(state.velocity[p], environment.gravity,
                                                       environment.wind, environment.drag));
        for (int axis = 0; axis < 3; ++axis) {
            for (std::size_t c = 0; c < 2 * kFamilies; ++c) row[long(c)] = columns[p][c][axis];
            balance.matrix += row * row.transpose();
            balance.right += force[axis] * row;
        }
    }
}

// Solves with a small ridge, so that a family without springs or without motion gets the mean.
Eigen::VectorXd solve(const Balance& balance)
{
    Eigen::MatrixXd matrix = balance.matrix;
    for (long i = 0; i < matrix.rows(); ++i) {
        matrix(i, i) += 1e-9 * matrix.diagonal().maxCoeff() + 1e-300;
    }
    return matrix.ldlt().solve(balance.right);
}

// A usable start where the balance gives none: what it takes to carry the sheet's weight at a
// stretch of a tenth, and a tenth of critical damping.
double fallback_stiffness(const Cloth& cloth)
{
    return 10 * cloth.sheet.mass * 9.81 / std::sqrt(cloth.sheet.length * cloth.sheet.width) /
           std::sqrt(double(cloth.particle_count()));
}

}  // namespace

Cloth fit_homogeneous(const MotionSource& motion, const TrainOptions& options)
{
    Cloth cloth = make_surrogate(motion.header, options.grid, 1, 1);
    const Resampler resampler(motion.header.rest, cloth.rest);
    const RolloutSplit split =
        split_rollouts(motion.frame_counts.size(), options.validation_share, options.seed);
    const std::size_t intervals = std::size_t(options.clip_steps / motion.header.stride);
    const ClipReader reader(motion, resampler, intervals);
    const auto clips = cut_clips(motion, split.training, intervals, 0, 0);

    Balance balance;
    constexpr std::size_t kClips = 32;  // 8 numbers need no more
    ClipShuffle shuffle(clips.size(), options.seed);
    for (std::size_t i = 0; i < std::min(kClips, clips.size()); ++i) {
        const Rollout target = reader.read(clips[shuffle.next()]);
        std::vector<bool> held(cloth.particle_count(), false);
        for (const int p : target.handles.particles) held[p] = true;
        for (std::size_t f = 0; f < target.frame_count; f += 3) {
            add_frame(balance, cloth, motion.header.environment, target.state(f, motion.header),
                      target.acceleration.data() + 3 * f * cloth.particle_count(), held);
        }
    }
    const Eigen::VectorXd fit = solve(balance);
    const double k_floor = 0.05 * fallback_stiffness(cloth);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const long family = long(cloth.springs.family[s]);
        const double k = std::max(fit[family], k_floor);
        cloth.springs.stiffness[s] = options.stiffness_start > 0 ? options.stiffness_start : k;
        const double critical = 2 * std::sqrt(k * cloth.mass[cloth.springs.ends[s][0]]);
        const double b = std::max(fit[long(kFamilies) + family], 1e-3 * critical);
        cloth.springs.damping[s] = options.damping_start > 0 ? options.damping_start : b;
    }
    return cloth;
}

}  // namespace springtime
