#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "learn/adam.h"
#include "learn/gradient.h"
#include "learn/lesson.h"
#include "physics/external.h"
#include "physics/spring.h"
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

// The logarithms of one stiffness and one damping per family, and their descent.
struct FamilyLogs {
    std::vector<double> logs, mean, square;  // stiffness by family, then damping

    explicit FamilyLogs(const Cloth& start)
        : logs(2 * kFamilies, 0), mean(2 * kFamilies, 0), square(2 * kFamilies, 0)
    {
        for (std::size_t s = 0; s < start.springs.spring_count(); ++s) {
            const auto family = std::size_t(start.springs.family[s]);
            logs[family] = std::log(start.springs.stiffness[s]);
            logs[kFamilies + family] = std::log(start.springs.damping[s]);
        }
    }

    Cloth cloth(Cloth surrogate) const
    {
        for (std::size_t s = 0; s < surrogate.springs.spring_count(); ++s) {
            const auto family = std::size_t(surrogate.springs.family[s]);
            surrogate.springs.stiffness[s] = std::exp(logs[family]);
            surrogate.springs.damping[s] = std::exp(logs[kFamilies + family]);
        }
        return surrogate;
    }

    void descend(const Cloth& at, const ParameterGradient& gradient, double rate, int step)
    {
        std::vector<double> by_family(2 * kFamilies, 0);
        for (std::size_t s = 0; s < at.springs.spring_count(); ++s) {
            const auto family = std::size_t(at.springs.family[s]);
            by_family[family] += gradient.stiffness[s] * at.springs.stiffness[s];
            by_family[kFamilies + family] += gradient.damping[s] * at.springs.damping[s];
        }
        adam_step(logs, by_family, mean, square, rate, step);
    }
};

}  // namespace

Cloth force_balance_start(const Lesson& lesson)
{
    const MotionHeader& header = lesson.motion.header;
    const TrainOptions& options = lesson.options;
    Cloth cloth = lesson.surrogate;
    const auto clips = lesson.training_clips(0);
    constexpr std::size_t kClips = 32;  // plenty for eight numbers
    Balance balance;
    ClipShuffle shuffle(clips.size(), options.seed);
    for (std::size_t i = 0; i < std::min(kClips, clips.size()); ++i) {
        const Rollout target = lesson.reader.read(clips[shuffle.next()]);
        std::vector<bool> held(cloth.particle_count(), false);
        for (const int p : target.handles.particles) held[p] = true;
        for (std::size_t f = 0; f < target.frame_count; f += 3) {
            add_frame(balance, cloth, header.environment, target.state(f, header),
                      target.acceleration.data() + 3 * f * cloth.particle_count(), held);
        }
    }
    const Eigen::VectorXd fit = solve(balance);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const long family = long(cloth.springs.family[s]);
        const double k = std::max(fit[family], 0.05 * fallback_stiffness(cloth));
        const double critical = 2 * std::sqrt(k * cloth.mass[cloth.springs.ends[s][0]]);
        const double b = std::max(fit[long(kFamilies) + family], 1e-3 * critical);
        cloth.springs.stiffness[s] = options.stiffness_start > 0 ? options.stiffness_start : k;
        cloth.springs.damping[s] = options.damping_start > 0 ? options.damping_start : b;
    }
    return cloth;
}

HomogeneousFit fit_homogeneous(const MotionSource& motion, const TrainOptions& options)
{
    constexpr int kIterations = 24;
    constexpr double kRate = 0.1;  // of the logarithms: at most a tenth a step
    TrainOptions fitted = options;
    fitted.stiffness_start = fitted.damping_start = 0;
    const Lesson lesson(motion, fitted);
    BatchGradient gradient(lesson.surrogate, lesson.step, motion.header.stride, options.threads);
    HomogeneousFit best{force_balance_start(lesson), 0};
    const auto rmse = [&](const Cloth& cloth) {
        return gradient.motion_rmse(lesson.validation, cloth.springs.stiffness,
                                    cloth.springs.damping);
    };
    best.validation_rmse = rmse(best.cloth);

    FamilyLogs logs(best.cloth);
    BatchReader batches(lesson.reader, lesson.training_clips(0), std::size_t(options.batch),
                        options.seed, 0);
    const LossWeights position{.force = 0, .impulse = 0, .position = 1};
    for (int step = 0; step < kIterations; ++step) {
        const Cloth cloth = logs.cloth(lesson.surrogate);
        const auto result = gradient.run(batches.next().targets, cloth.springs.stiffness,
                                         cloth.springs.damping, position, true);
        if (!std::isfinite(result.loss.total)) break;
        logs.descend(cloth, result.gradient, kRate * cosine_decay(step, kIterations), step + 1);
        const Cloth moved = logs.cloth(lesson.surrogate);
        const double error = rmse(moved);
        if (error < best.validation_rmse || !std::isfinite(best.validation_rmse)) {
            best = {moved, error};
        }
    }
    return best;
}

}  // namespace springtime
