#include "learn/recording_fit.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPrior = 1e-3;    // of the error at the start
constexpr double kDamping = 1e-2;  // at the start

}  // namespace

RecordingFit::RecordingFit(const CaptureRun& run, std::vector<FitUnknown> unknowns,
                           DampedFit::MakeCloth cloth, int threads)
    : run_(run),
      unknowns_(std::move(unknowns)),
      fit_(run, unknowns_, std::move(cloth), threads, kDamping)
{
    std::vector<double> start;
    for (const FitUnknown& unknown : unknowns_) start.push_back(unknown.start);
    std::optional<FitPoint> point = fit_.at(start);
    if (!point) {
        throw Failure(
            "the fit cannot begin: the cloth blows up on this motion; check the paths of held "
            "points, the unit and the mass");
    }
    point_ = std::move(*point);
    prior_ = kPrior * objective(point_);
}

std::vector<double> RecordingFit::rms(const FitPoint& point) const
{
    const double floor = 1e-5 * run_.motion().header.sheet.length;  // so that it has a slope
    std::vector<double> result;
    std::size_t begin = 0;
    for (const std::size_t end : run_.recording_ends()) {
        const auto part = point.residuals.segment(Index(3 * begin), Index(3 * (end - begin)));
        result.push_back(
            std::hypot(floor, std::sqrt(3 * part.squaredNorm() / double(part.size()))));
        begin = end;
    }
    return result;
}

double RecordingFit::objective(const FitPoint& point) const
{
    const std::vector<double> errors = rms(point);
    double sum = 0, prior = 0;
    for (const double error : errors) sum += error;
    for (std::size_t j = 0; j < unknowns_.size(); ++j) {
        const double away = (point.values[j] - unknowns_[j].start) / unknowns_[j].spread;
        prior += 0.5 * prior_ * away * away;
    }
    return sum / double(errors.size()) + prior;
}

// dF/de = weight * e.
VectorXd RecordingFit::weights() const
{
    const std::vector<double> errors = rms(point_);
    VectorXd weights(point_.residuals.size());
    std::size_t begin = 0;
    for (std::size_t r = 0; r < errors.size(); ++r) {
        const std::size_t end = run_.recording_ends()[r], count = end - begin;
        weights.segment(Index(3 * begin), Index(3 * count))
            .setConstant(1 / (errors[r] * double(count * errors.size())));
        begin = end;
    }
    return weights;
}

// Of residuals whose variance is that of their recording, of which some go together.
MatrixXd RecordingFit::information(const MatrixXd& columns) const
{
    const std::vector<double> errors = rms(point_);
    MatrixXd result = MatrixXd::Zero(columns.cols(), columns.cols());
    std::size_t begin = 0;
    for (std::size_t r = 0; r < errors.size(); ++r) {
        const std::size_t end = run_.recording_ends()[r];
        const auto part = columns.middleRows(Index(3 * begin), Index(3 * (end - begin)));
        result += part.transpose() * part * (3 / (errors[r] * errors[r] * run_.correlated()));
        begin = end;
    }
    for (std::size_t j = 0; j < unknowns_.size(); ++j) {
        result(Index(j), Index(j)) += 1 / (unknowns_[j].spread * unknowns_[j].spread);
    }
    return result;
}

bool RecordingFit::improve()
{
    constexpr double kGain = 1e-3;
    const MatrixXd columns = fit_.jacobian(point_);
    const VectorXd by_residual = weights();
    MatrixXd matrix = columns.transpose() * by_residual.asDiagonal() * columns;
    VectorXd gradient = columns.transpose() * by_residual.cwiseProduct(point_.residuals);
    for (std::size_t j = 0; j < unknowns_.size(); ++j) {
        const FitUnknown& unknown = unknowns_[j];
        const double sharp = prior_ / (unknown.spread * unknown.spread);
        matrix(Index(j), Index(j)) += sharp;
        gradient[Index(j)] += sharp * (point_.values[j] - unknown.start);
    }
    information_ = information(columns);
    const double before = objective(point_);
    return fit_.improve(point_, matrix, gradient, [this](const FitPoint& other) {
        return objective(other);
    }) > kGain * before;
}

}  // namespace springtime
