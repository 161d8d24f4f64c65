#include "learn/recording_fit.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPrior = 1e-3;  // of the error at the start

}  // namespace

RecordingFit::RecordingFit(const CaptureRun& run, std::vector<FitUnknown> unknowns, MakeCloth cloth,
                           int threads)
    : run_(run),
      unknowns_(std::move(unknowns)),
      cloth_(std::move(cloth)),
      threads_(thread_count(threads))
{
    std::vector<double> start;
    for (const FitUnknown& unknown : unknowns_) start.push_back(unknown.start);
    std::optional<Point> point = at(start);
    if (!point) {
        throw Failure(
            "the fit cannot begin: the cloth blows up on this motion; check the paths of held "
            "points, the unit and the mass");
    }
    point_ = std::move(*point);
    prior_ = kPrior * objective(point_);
}

std::optional<RecordingFit::Point> RecordingFit::at(const std::vector<double>& values) const
{
    const Cloth cloth = cloth_(values);
    const std::optional<int> substeps = run_.substeps(cloth);
    if (!substeps) return std::nullopt;
    auto residuals = run_.residuals(cloth, *substeps);
    if (!residuals) return std::nullopt;
    return Point{values, *substeps, std::move(*residuals)};
}

std::vector<double> RecordingFit::rms(const Point& point) const
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

double RecordingFit::objective(const Point& point) const
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

MatrixXd RecordingFit::jacobian() const
{
    MatrixXd columns = MatrixXd::Zero(point_.residuals.size(), Index(unknowns_.size()));
    parallel_for(int(unknowns_.size()), threads_, [&](int j) {
        for (const double sign : {1.0, -1.0}) {
            std::vector<double> values = point_.values;
            const double step = sign * unknowns_[std::size_t(j)].step;
            values[std::size_t(j)] += step;
            const auto residuals = run_.residuals(cloth_(values), point_.substeps);
            if (!residuals) continue;
            columns.col(j) = (*residuals - point_.residuals) / step;
            return;
        }
    });
    return columns;
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

std::vector<double> RecordingFit::stepped(const VectorXd& step) const
{
    std::vector<double> values = point_.values;
    for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] += std::clamp(step[Index(j)], -unknowns_[j].most, unknowns_[j].most);
    }
    return values;
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

std::vector<double> RecordingFit::errors() const
{
    const MatrixXd inverse =
        information_.ldlt().solve(MatrixXd::Identity(information_.rows(), information_.cols()));
    std::vector<double> errors;
    for (Index j = 0; j < inverse.rows(); ++j) {
        errors.push_back(std::sqrt(std::max(0.0, inverse(j, j))));
    }
    return errors;
}

bool RecordingFit::improve()
{
    constexpr int kTries = 6;
    constexpr double kGain = 1e-3;
    const MatrixXd columns = jacobian();
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
    for (int attempt = 0; attempt < kTries; ++attempt) {
        MatrixXd damped = matrix;
        damped.diagonal() *= 1 + damping_;
        auto trial = at(stepped(-damped.ldlt().solve(gradient)));
        const double after = trial ? objective(*trial) : before;
        if (after < before) {
            point_ = std::move(*trial);
            damping_ = std::max(1e-5, damping_ / 5);
            return before - after > kGain * before;
        }
        damping_ = 6 * std::max(damping_, 1e-3);
    }
    return false;
}

}  // namespace springtime
