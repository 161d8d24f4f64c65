#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "learn/global_model.h"
#include "learn/gradient.h"
#include "sim/stepper.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFreedom = 3;  // of the Student distribution that residuals have

// Whole recordings in memory, and a network that follows them.
class CaptureRun {
  public:
    CaptureRun(const Motion& motion, const GlobalsOptions& options)
        : motion_(in_memory(motion)), device_(options.device)
    {
        for (std::size_t r = 0; r < motion_.rollout_count(); ++r) {
            const Rollout rollout = motion_.read(r, 0, motion_.frame_counts[r]);
            std::vector<bool> free(motion_.header.landmark_count(), true);
            for (const int held : rollout.handles.particles) free[std::size_t(held)] = false;
            for (std::size_t f = 0; f < rollout.frame_count; ++f) {
                for (std::size_t l = 0; l < free.size(); ++l) {
                    if (free[l] && rollout.seen(f, l)) seen_.push_back({r, f, l});
                }
            }
            positions_.push_back(rollout.position);
            free_count_ = std::max(free_count_, double(std::count(free.begin(), free.end(), true)));
        }
        if (seen_.empty()) {
            throw Error(
                "globals: no recording shows a landmark that is free; give motion in which not all "
                "are held or missing");
        }
    }

    const Motion& motion() const { return motion_; }
    std::size_t seen_count() const { return seen_.size(); }
    // Residuals of landmarks and frames next to each other go together: what noise there is, a
    // tracker has in common over most of the cloth and some tenths of a second.
    double correlated() const
    {
        constexpr double kSeconds = 0.4;
        return free_count_ * std::max(1.0, kSeconds / motion_.header.frame_interval());
    }

    // Sub-steps of a step of the motion; none if the springs need too many.
    std::optional<int> substeps(const Cloth& cloth) const
    {
        const Environment environment = with_globals(motion_, *cloth.globals).header.environment;
        return laddered_substeps(cloth, environment, motion_.header.dt);
    }

    // Predicted minus observed for all free landmarks that are seen, three numbers each; none if
    // the cloth blows up. [m]
    std::optional<VectorXd> residuals(const Cloth& cloth, int substeps) const;

    // Mean over the frames of the root mean square over the landmarks. [m]
    double frame_error(const VectorXd& residuals) const;

  private:
    struct Seen {
        std::size_t rollout, frame, landmark;
    };
    static Motion in_memory(const Motion& motion);
    bool run_batch(const Cloth& cloth, const Motion& corrected, int substeps, std::size_t first,
                   std::vector<std::vector<float>>& predicted) const;

    Motion motion_;
    Device device_;
    std::vector<Seen> seen_;
    std::vector<std::vector<float>> positions_;
    double free_count_ = 0;
};

// As many recordings, and as much of each, as one fit needs.
Motion CaptureRun::in_memory(const Motion& motion)
{
    constexpr std::size_t kMostRollouts = 16;
    constexpr double kMostSeconds = 30;
    const auto most = std::size_t(kMostSeconds / motion.header.frame_interval()) + 2;
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < std::min(motion.rollout_count(), kMostRollouts); ++r) {
        rollouts.push_back(motion.read(r, 0, std::min(motion.frame_counts[r], most)));
        rollouts.back().acceleration.clear();
    }
    return Motion::from_rollouts(motion.header, std::move(rollouts));
}

bool CaptureRun::run_batch(const Cloth& cloth, const Motion& corrected, int substeps,
                           std::size_t first, std::vector<std::vector<float>>& predicted) const
{
    const MotionHeader& header = corrected.header;
    const double interval = header.frame_interval(), dt = header.dt / substeps;
    const Resampler resampler(cloth, header);
    const LandmarkMap map(cloth, header);
    const auto stepper = make_batch_stepper(cloth, {dt, header.environment, device_});
    const std::size_t lanes =
        std::min(std::size_t(stepper->lane_count()), corrected.rollout_count() - first);
    std::vector<State> states;
    std::size_t frames = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t r = first + lane;
        const Rollout rollout = corrected.read(r, 0, corrected.frame_counts[r]);
        const State landmarks = rollout.state(0, interval, dt);
        Rollout held;  // without observed paths: nothing can depend on them
        held.handles = rollout.handles;
        const Handles handles = resampler.apply(held, interval, landmarks).handles;
        State start = resampler.apply(landmarks);
        if (!header.velocities) project_onto_rest_lengths(start, cloth, handles.particles);
        states.push_back(with_handles(std::move(start), handles, dt));
        stepper->load(int(lane), states[lane], handles);
        predicted[r].resize(rollout.position.size());
        frames = std::max(frames, rollout.frame_count);
    }
    const double limit = largest_speed(cloth.sheet, dt);
    for (std::size_t f = 0; f < frames; ++f) {
        if (f > 0) {
            stepper->advance(header.stride * substeps);
            if (store_checked(*stepper, states, limit)) return false;
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (f >= corrected.frame_counts[first + lane]) continue;
            const std::vector<Vec3d> landmarks = map.apply(states[lane].position);
            float* to = &predicted[first + lane][3 * f * landmarks.size()];
            for (const Vec3d& x : landmarks) {
                for (int axis = 0; axis < 3; ++axis) *to++ = float(x[axis]);
            }
        }
    }
    return true;
}

std::optional<VectorXd> CaptureRun::residuals(const Cloth& cloth, int substeps) const
{
    const Motion corrected = with_globals(motion_, *cloth.globals);
    std::vector<std::vector<float>> predicted(motion_.rollout_count());
    for (std::size_t first = 0; first < predicted.size();) {
        if (!run_batch(cloth, corrected, substeps, first, predicted)) return std::nullopt;
        while (first < predicted.size() && !predicted[first].empty()) ++first;
    }
    VectorXd result(Eigen::Index(3 * seen_.size()));
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const auto [rollout, frame, landmark] = seen_[i];
        const std::size_t at = 3 * (frame * motion_.header.landmark_count() + landmark);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            result[Eigen::Index(3 * i + axis)] =
                double(predicted[rollout][at + axis]) - double(positions_[rollout][at + axis]);
        }
    }
    return result;
}

double CaptureRun::frame_error(const VectorXd& residuals) const
{
    double sum = 0, frames = 0, squares = 0, count = 0;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        squares += residuals.segment<3>(Eigen::Index(3 * i)).squaredNorm();
        ++count;
        const bool last = i + 1 == seen_.size() || seen_[i + 1].frame != seen_[i].frame ||
                          seen_[i + 1].rollout != seen_[i].rollout;
        if (!last) continue;
        sum += std::sqrt(squares / count);
        ++frames;
        squares = count = 0;
    }
    return sum / frames;
}

// ---- The fit

// Levenberg and Marquardt's method on
//   F(q) = 1/C sum_i (nu + 3)/2 log(1 + |e_i|^2/(nu s^2)) + 1/2 sum_j ((q_j - q0_j)/spread_j)^2,
// with e_i the residual of a landmark in a frame and C how many of them go together.
class GlobalFitter {
  public:
    GlobalFitter(const Motion& motion, const GlobalsOptions& options, const Progress& progress)
        : run_(motion, options),
          model_(run_.motion(), options),
          threads_(thread_count(options.threads)),
          progress_(progress),
          values_(model_.start())
    {
    }

    GlobalsFit fit();

  private:
    struct Point {
        std::vector<double> values;
        int substeps = 1;
        VectorXd residuals;
    };
    std::optional<Point> at(const std::vector<double>& values) const;
    double scale_of(const VectorXd& residuals) const;
    double objective(const Point& point) const;
    MatrixXd jacobian(const Point& point) const;
    bool improve(Point& point);
    std::vector<double> standard_errors(const Point& point);
    void build_system(const Point& point);

    CaptureRun run_;
    GlobalModel model_;
    int threads_;
    const Progress& progress_;
    std::vector<double> values_;
    double scale_ = 1, damping_ = 1e-3;
    MatrixXd matrix_;
    VectorXd right_;
    int iterations_ = 0;
};

std::optional<GlobalFitter::Point> GlobalFitter::at(const std::vector<double>& values) const
{
    const Cloth cloth = model_.cloth(values);
    const std::optional<int> substeps = run_.substeps(cloth);
    if (!substeps) return std::nullopt;
    auto residuals = run_.residuals(cloth, *substeps);
    if (!residuals) return std::nullopt;
    return Point{values, *substeps, std::move(*residuals)};
}

// The median of |e| of three normal numbers is 1.538 s.
double GlobalFitter::scale_of(const VectorXd& residuals) const
{
    std::vector<double> distances;
    for (Eigen::Index i = 0; i < residuals.size(); i += 3) {
        distances.push_back(residuals.segment<3>(i).norm());
    }
    const auto middle = distances.begin() + std::ptrdiff_t(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    const Sheet& sheet = run_.motion().header.sheet;
    return std::max(*middle / 1.538, 1e-4 * std::hypot(sheet.length, sheet.width));
}

double GlobalFitter::objective(const Point& point) const
{
    double sum = 0;
    for (Eigen::Index i = 0; i < point.residuals.size(); i += 3) {
        const double square = point.residuals.segment<3>(i).squaredNorm() / (scale_ * scale_);
        sum += 0.5 * (kFreedom + 3) * std::log1p(square / kFreedom);
    }
    double prior = 0;
    for (std::size_t j = 0; j < model_.unknowns().size(); ++j) {
        const auto& unknown = model_.unknowns()[j];
        prior += 0.5 * std::pow((point.values[j] - unknown.start) / unknown.spread, 2);
    }
    return sum / run_.correlated() + prior;
}

// By difference quotients: every column is a run of all recordings side by side.
MatrixXd GlobalFitter::jacobian(const Point& point) const
{
    const auto& unknowns = model_.unknowns();
    MatrixXd columns = MatrixXd::Zero(point.residuals.size(), Eigen::Index(unknowns.size()));
    parallel_for(int(unknowns.size()), threads_, [&](int j) {
        for (const double sign : {1.0, -1.0}) {
            std::vector<double> values = point.values;
            const double step = sign * unknowns[std::size_t(j)].step;
            values[std::size_t(j)] += step;
            const auto residuals = run_.residuals(model_.cloth(values), point.substeps);
            if (!residuals) continue;
            columns.col(j) = (*residuals - point.residuals) / step;
            return;
        }
    });
    return columns;
}

void GlobalFitter::build_system(const Point& point)
{
    const MatrixXd columns = jacobian(point);
    VectorXd weights(point.residuals.size());
    for (Eigen::Index i = 0; i < weights.size(); i += 3) {
        const double square = point.residuals.segment<3>(i).squaredNorm() / (scale_ * scale_);
        weights.segment<3>(i).setConstant((kFreedom + 3) / (kFreedom + square) /
                                          (scale_ * scale_ * run_.correlated()));
    }
    matrix_ = columns.transpose() * weights.asDiagonal() * columns;
    right_ = -(columns.transpose() * weights.cwiseProduct(point.residuals));
    for (std::size_t j = 0; j < model_.unknowns().size(); ++j) {
        const auto& unknown = model_.unknowns()[j];
        const double precision = 1 / (unknown.spread * unknown.spread);
        matrix_(Eigen::Index(j), Eigen::Index(j)) += precision;
        right_[Eigen::Index(j)] -= precision * (point.values[j] - unknown.start);
    }
}

// One iteration; false when nothing more is gained.
bool GlobalFitter::improve(Point& point)
{
    constexpr int kTries = 6;
    constexpr double kGain = 1e-3;  // of the objective, which is a logarithm of odds
    build_system(point);
    const double before = objective(point);
    for (int attempt = 0; attempt < kTries; ++attempt) {
        MatrixXd damped = matrix_;
        damped.diagonal() *= 1 + damping_;
        const VectorXd step = damped.ldlt().solve(right_);
        std::vector<double> values = point.values;
        for (std::size_t j = 0; j < values.size(); ++j) {
            const double most = model_.unknowns()[j].most;
            values[j] += std::clamp(step[Eigen::Index(j)], -most, most);
        }
        auto trial = at(values);
        const double after = trial ? objective(*trial) : before;
        if (after < before) {
            point = std::move(*trial);
            damping_ = std::max(1e-5, damping_ / 5);
            return before - after > kGain;
        }
        damping_ = 6 * std::max(damping_, 1e-3);
    }
    return false;
}

std::vector<double> GlobalFitter::standard_errors(const Point& point)
{
    build_system(point);
    const MatrixXd inverse =
        matrix_.ldlt().solve(MatrixXd::Identity(matrix_.rows(), matrix_.cols()));
    std::vector<double> errors;
    for (Eigen::Index j = 0; j < inverse.rows(); ++j) {
        errors.push_back(std::sqrt(std::max(0.0, inverse(j, j))));
    }
    return errors;
}

GlobalsFit GlobalFitter::fit()
{
    constexpr int kRounds = 3, kIterations = 6;
    std::optional<Point> point = at(values_);
    if (!point) {
        throw Failure(
            "globals: a sheet like cloth blows up on this motion; check the paths of held points, "
            "the unit and the mass");
    }
    GlobalsFit result;
    result.stated_error = run_.frame_error(point->residuals);
    for (int round = 0; round < kRounds; ++round) {
        scale_ = scale_of(point->residuals);
        for (int i = 0; i < kIterations; ++i) {
            progress_.report({"fit globals", double(round * kIterations + i),
                              double(kRounds * kIterations), "iterations", {}});
            ++iterations_;
            if (!improve(*point)) break;
        }
    }
    scale_ = scale_of(point->residuals);
    result.globals = model_.globals(point->values, standard_errors(*point));
    result.cloth = model_.cloth(point->values);
    result.cloth.globals = result.globals;
    result.error = run_.frame_error(point->residuals);
    result.iterations = iterations_;
    return result;
}

std::string text_of(const FittedNumber& number, int digits)
{
    if (!number.error) return fmt::format("{:.{}g} as given", number.value, digits);
    return fmt::format("{:.{}g} +- {:.1g}", number.value, digits, *number.error);
}

}  // namespace

GlobalsFit fit_globals(const Motion& motion, const GlobalsOptions& options,
                       const Progress& progress)
{
    return GlobalFitter(motion, options, progress).fit();
}

std::string describe(const Globals& globals)
{
    constexpr double kDegree = 57.29577951308232;
    const auto degrees = [&](FittedNumber number) {
        number.value *= kDegree;
        if (number.error) number.error = kDegree * *number.error;
        return text_of(number, 2);
    };
    std::string text = fmt::format(
        "sheet {} x {} m instead of {:.4g} x {:.4g} m as stated; drag {} 1/s; gravity tilted "
        "by {} degrees towards x and {} towards z",
        text_of(globals.length, 4), text_of(globals.width, 4), globals.stated_length,
        globals.stated_width, text_of(globals.drag, 2), degrees(globals.tilt_x),
        degrees(globals.tilt_z));
    if (globals.offsets.empty()) return text;
    text += fmt::format("; held points {} s behind their paths", text_of(globals.delay, 2));
    for (const HeldOffset& held : globals.offsets) {
        text += fmt::format("; landmark {} beside its path by ({:.1f}, {:.1f}, {:.1f}) mm",
                            held.landmark, 1e3 * held.offset.x, 1e3 * held.offset.y,
                            1e3 * held.offset.z);
    }
    return text;
}

}  // namespace springtime
