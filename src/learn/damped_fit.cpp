#include "learn/damped_fit.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "learn/capture_run.h"

namespace springtime {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

DampedFit::DampedFit(const CaptureRun& run, const std::vector<FitUnknown>& unknowns,
                     MakeCloth cloth, int threads, double damping)
    : run_(run),
      unknowns_(unknowns),
      cloth_(std::move(cloth)),
      threads_(thread_count(threads)),
      damping_(damping)
{
}

std::optional<FitPoint> DampedFit::at(const std::vector<double>& values) const
{
    const Cloth cloth = cloth_(values);
    const std::optional<int> substeps = run_.substeps(cloth);
    if (!substeps) return std::nullopt;
    auto residuals = run_.residuals(cloth, *substeps);
    if (!residuals) return std::nullopt;
    return FitPoint{values, *substeps, std::move(*residuals)};
}

MatrixXd DampedFit::jacobian(const FitPoint& point) const
{
    MatrixXd columns = MatrixXd::Zero(point.residuals.size(), Index(unknowns_.size()));
    parallel_for(int(unknowns_.size()), threads_, [&](int j) {
        for (const double sign : {1.0, -1.0}) {
            std::vector<double> values = point.values;
            const double step = sign * unknowns_[std::size_t(j)].step;
            values[std::size_t(j)] += step;
            const auto residuals = run_.residuals(cloth_(values), point.substeps);
            if (!residuals) continue;
            columns.col(j) = (*residuals - point.residuals) / step;
            return;
        }
    });
    return columns;
}

std::optional<FitPoint> DampedFit::trial(const FitPoint& from, const MatrixXd& matrix,
                                         const VectorXd& gradient) const
{
    MatrixXd damped = matrix;
    damped.diagonal() *= 1 + damping_;
    const VectorXd step = -damped.ldlt().solve(gradient);
    std::vector<double> values = from.values;
    for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] += std::clamp(step[Index(j)], -unknowns_[j].most, unknowns_[j].most);
    }
    return at(values);
}

double DampedFit::improve(FitPoint& point, const MatrixXd& matrix, const VectorXd& gradient,
                          const Objective& objective)
{
    constexpr int kTries = 6;
    const double before = objective(point);
    for (int attempt = 0; attempt < kTries; ++attempt) {
        std::optional<FitPoint> next = trial(point, matrix, gradient);
        const double after = next ? objective(*next) : before;
        if (after < before) {
            point = std::move(*next);
            damping_ = std::max(1e-5, damping_ / 5);
            return before - after;
        }
        damping_ = 6 * std::max(damping_, 1e-3);
    }
    return 0;
}

std::vector<double> standard_errors(const MatrixXd& information)
{
    const MatrixXd inverse =
        information.ldlt().solve(MatrixXd::Identity(information.rows(), information.cols()));
    std::vector<double> errors;
    for (Index j = 0; j < inverse.rows(); ++j) {
        errors.push_back(std::sqrt(std::max(0.0, inverse(j, j))));
    }
    return errors;
}

}  // namespace springtime
