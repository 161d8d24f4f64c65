#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "learn/capture_run.h"
#include "learn/damped_fit.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFreedom = 3;  // of the Student distribution that residuals have
constexpr double kGain = 1e-3;  // of a logarithm of odds: less is no progress

// ---- The fit

// Levenberg and Marquardt's method on
//   F(q) = 1/C sum_i (nu + 3)/2 log(1 + |e_i|^2/(nu s^2)) + 1/2 sum_j ((q_j - q0_j)/spread_j)^2,
// with e_i the residual of a landmark in a frame and C how many of them go together.
class GlobalFitter {
  public:
    GlobalFitter(const Motion& motion, const GlobalsOptions& options, const Progress& progress)
        : run_(motion, options.device),
          model_(run_.motion(), options),
          fit_(
              run_, model_.unknowns(),
              [this](const std::vector<double>& values) { return model_.cloth(values); },
              options.threads, kDamping),
          progress_(progress)
    {
    }

    GlobalsFit fit();

  private:
    static constexpr double kDamping = 1e-3;  // at the start

    double scale_of(const VectorXd& residuals) const;
    double objective(const FitPoint& point) const;
    void descend(FitPoint& point);
    void descend_with_growing_horizons(FitPoint& point);
    void choose_paths(FitPoint& point);
    void find_tracker_bias(FitPoint& point);
    bool improve(FitPoint& point);
    bool refine(FitPoint& point) const;
    VectorXd weights(const FitPoint& point) const;
    void add_prior(const FitPoint& point, VectorXd& gradient) const;
    void build_system(const FitPoint& point);

    CaptureRun run_;
    GlobalModel model_;
    DampedFit fit_;
    const Progress& progress_;
    double scale_ = 1;
    MatrixXd matrix_;
    VectorXd gradient_;
    int iterations_ = 0, expected_ = 1;
};

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

double GlobalFitter::objective(const FitPoint& point) const
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

// dF/de = weight * e.
VectorXd GlobalFitter::weights(const FitPoint& point) const
{
    VectorXd weights(point.residuals.size());
    for (Eigen::Index i = 0; i < weights.size(); i += 3) {
        const double square = point.residuals.segment<3>(i).squaredNorm() / (scale_ * scale_);
        weights.segment<3>(i).setConstant((kFreedom + 3) / (kFreedom + square) /
                                          (scale_ * scale_ * run_.correlated()));
    }
    return weights;
}

void GlobalFitter::add_prior(const FitPoint& point, VectorXd& gradient) const
{
    for (std::size_t j = 0; j < model_.unknowns().size(); ++j) {
        const auto& unknown = model_.unknowns()[j];
        gradient[Eigen::Index(j)] +=
            (point.values[j] - unknown.start) / (unknown.spread * unknown.spread);
    }
}

void GlobalFitter::build_system(const FitPoint& point)
{
    const MatrixXd columns = fit_.jacobian(point);
    const VectorXd weights = this->weights(point);
    matrix_ = columns.transpose() * weights.asDiagonal() * columns;
    gradient_ = columns.transpose() * weights.cwiseProduct(point.residuals);
    add_prior(point, gradient_);
    for (std::size_t j = 0; j < model_.unknowns().size(); ++j) {
        const double spread = model_.unknowns()[j].spread;
        matrix_(Eigen::Index(j), Eigen::Index(j)) += 1 / (spread * spread);
    }
}

// One iteration; false when nothing more is gained.
bool GlobalFitter::improve(FitPoint& point)
{
    build_system(point);
    return fit_.improve(point, matrix_, gradient_,
                        [this](const FitPoint& other) { return objective(other); }) > kGain;
}

// Steps with the matrix that is there and the gradient of the adjoint, which costs a few runs where
// a new matrix costs one for every unknown. False when nothing was gained.
bool GlobalFitter::refine(FitPoint& point) const
{
    VectorXd gradient = run_.gradient(model_, point.values, point.substeps,
                                      weights(point).cwiseProduct(point.residuals));
    if (!gradient.allFinite()) return false;
    add_prior(point, gradient);
    auto trial = fit_.trial(point, matrix_, gradient);
    if (!trial) return false;
    const double gain = objective(point) - objective(*trial);
    if (!(gain > 0)) return false;
    point = std::move(*trial);
    return gain > kGain;
}

void GlobalFitter::descend(FitPoint& point)
{
    constexpr int kIterations = 5, kRefinements = 2;
    scale_ = scale_of(point.residuals);
    for (int i = 0; i < kIterations; ++i) {
        progress_.report({"fit globals",
                          double(std::min(iterations_, expected_)),
                          double(expected_),
                          "iterations",
                          {}});
        ++iterations_;
        if (!improve(point)) break;
        for (int r = 0; r < kRefinements && refine(point); ++r) {
        }
    }
}

// Cloth is chaotic: a fit to whole recordings would stay where it begins. So the horizon grows.
void GlobalFitter::descend_with_growing_horizons(FitPoint& point)
{
    constexpr double kFirst = 0.6, kGrowth = 2;  // [s]
    constexpr int kWhole = 2;                    // rounds on whole recordings
    std::vector<double> horizons;
    for (double seconds = kFirst; seconds < run_.longest(); seconds *= kGrowth) {
        horizons.push_back(seconds);
    }
    horizons.insert(horizons.end(), kWhole, run_.longest());
    expected_ = 5 * int(horizons.size());
    for (const double seconds : horizons) {
        run_.set_horizon(seconds);
        if (auto here = fit_.at(point.values)) point = std::move(*here);
        descend(point);
    }
}

// Paths that a tracker saw are noisy, and those of a log are not: what follows the recordings
// better is kept.
void GlobalFitter::choose_paths(FitPoint& point)
{
    if (!model_.can_steady()) return;
    model_.set_steady(true);
    std::optional<FitPoint> other = fit_.at(point.values);
    if (other) descend(*other);
    scale_ = scale_of(point.residuals);
    if (other && objective(*other) < objective(point) - kGain) {
        point = std::move(*other);
    } else {
        model_.set_steady(false);
    }
}

// What residuals have in common over all frames is a bias of the tracker, or of the network. The
// rest is fitted again without it, which changes it a little, so it is found twice.
void GlobalFitter::find_tracker_bias(FitPoint& point)
{
    constexpr int kRounds = 2;
    if (!model_.fits_tracker()) return;
    for (int round = 0; round < kRounds; ++round) {
        const auto before = model_.tracker();
        const auto hanging = run_.hanging(model_.cloth(point.values), point.substeps);
        if (!hanging) return;
        model_.set_tracker(TrackerBias{std::vector<Vec3d>(hanging->size()), *hanging, 0});
        auto plain = fit_.at(point.values);
        if (!plain) return model_.set_tracker(before);
        const LandmarkShifts beside = run_.medians(plain->residuals);
        TrackerBias tracker{common_bias(beside), *hanging, 0};
        model_.set_tracker(tracker);
        tracker.own =
            lasting_share(beside, run_.first_frames(model_.cloth(point.values)), tracker.common);
        model_.set_tracker(tracker);
        auto other = fit_.at(point.values);
        if (!other) return model_.set_tracker(before);
        point = std::move(*other);
        descend(point);
    }
}

GlobalsFit GlobalFitter::fit()
{
    std::optional<FitPoint> point = fit_.at(model_.start());
    if (!point) {
        throw Failure(
            "globals: a sheet like cloth blows up on this motion; check the paths of held points, "
            "the unit and the mass");
    }
    GlobalsFit result;
    result.stated_error = run_.frame_error(point->residuals);
    descend_with_growing_horizons(*point);
    choose_paths(*point);
    find_tracker_bias(*point);
    scale_ = scale_of(point->residuals);
    build_system(*point);
    result.globals = model_.globals(point->values, standard_errors(matrix_));
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

std::string describe_tracker(const TrackerBias& tracker)
{
    double squares = 0;
    for (const Vec3d& bias : tracker.common) squares += dot(bias, bias);
    return fmt::format(
        "; landmarks seen {:.1f} mm (rms) beside where they are in all recordings, and {:.0f} % of "
        "what else the first frame of a recording shows lasts",
        1e3 * std::sqrt(squares / double(tracker.common.size())), 100 * tracker.own);
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
    if (globals.air.error) {
        text += fmt::format("; air of {} times its mass moves along", text_of(globals.air, 2));
    }
    if (globals.tracker) text += describe_tracker(*globals.tracker);
    if (globals.offsets.empty()) return text;
    if (globals.steadied) text += "; noisy paths of held points steadied";
    if (globals.stretch[0].error) {
        text +=
            fmt::format("; their paths stretched by {:.1f}, {:.1f} and {:.1f} % along x, y and z",
                        100 * globals.stretch[0].value, 100 * globals.stretch[1].value,
                        100 * globals.stretch[2].value);
    }
    text += fmt::format("; held points {} s behind their paths", text_of(globals.delay, 2));
    for (const HeldOffset& held : globals.offsets) {
        text += fmt::format("; landmark {} beside its path by ({:.1f}, {:.1f}, {:.1f}) mm",
                            held.landmark, 1e3 * held.offset.x, 1e3 * held.offset.y,
                            1e3 * held.offset.z);
    }
    return text;
}

}  // namespace springtime
