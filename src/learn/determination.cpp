#include "springtime/identify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/quantile.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

const StandardErrors& errors_of(const Cloth& cloth)
{
    if (!cloth.errors) {
        throw Error(
            "determination: the cloth has no standard errors; identify it from motion, by the "
            "linear method");
    }
    return *cloth.errors;
}

double usual_size(const std::vector<double>& values)
{
    std::vector<double> positive;
    std::copy_if(values.begin(), values.end(), std::back_inserter(positive),
                 [](double value) { return value > 0; });
    return positive.empty() ? 1 : quantile(positive, 0.5);
}

int cell_of(double place, int cells)
{
    return std::clamp(static_cast<int>(place * cells), 0, cells - 1);
}

}  // namespace

ParameterValues usual_sizes(const Cloth& cloth)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    ParameterValues sizes = parameters_of(cloth);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        for (const auto& [name, members] : families_of(cloth, parameters[k].kind->element)) {
            std::vector<double> values;
            for (const std::size_t e : members) values.push_back(sizes[k][e]);
            const double usual = usual_size(values);
            for (const std::size_t e : members) sizes[k][e] = usual;
        }
    }
    return sizes;
}

ParameterValues parameter_sizes(const Cloth& cloth)
{
    ParameterValues sizes = parameters_of(cloth);
    const ParameterValues usual = usual_sizes(cloth);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        for (std::size_t s = 0; s < sizes[k].size(); ++s) {
            if (!(sizes[k][s] > 0)) sizes[k][s] = usual[k][s];
        }
    }
    return sizes;
}

ParameterValues known_errors(const Cloth& cloth)
{
    ParameterValues errors = errors_of(cloth).parameters;
    const ParameterValues values = parameters_of(cloth);
    const ParameterValues usual = usual_sizes(cloth);
    for (std::size_t k = 0; k < errors.size(); ++k) {
        for (std::size_t s = 0; s < errors[k].size(); ++s) {
            errors[k][s] = std::min(errors[k][s], std::max(values[k][s], usual[k][s]));
        }
    }
    return errors;
}

ParameterValues relative_errors(const Cloth& cloth)
{
    ParameterValues errors = errors_of(cloth).parameters;
    const ParameterValues sizes = parameter_sizes(cloth);
    for (std::size_t k = 0; k < errors.size(); ++k) {
        for (std::size_t s = 0; s < errors[k].size(); ++s) errors[k][s] /= sizes[k][s];
    }
    return errors;
}

ErrorSummary summary_of(const std::vector<double>& errors)
{
    const auto unseen =
        std::count_if(errors.begin(), errors.end(), [](double error) { return std::isinf(error); });
    return {errors.size(), static_cast<std::size_t>(unseen), quantile(errors, 0.5),
            quantile(errors, 0.9), quantile(errors, 1)};
}

double median_error(const Identification& found, int kind)
{
    std::vector<double> finite;
    for (const double error : errors_of(found.cloth).parameters[std::size_t(kind)]) {
        if (std::isfinite(error)) finite.push_back(error);
    }
    return finite.empty() ? std::nan("") : quantile(finite, 0.5);
}

std::vector<double> error_map(const Cloth& cloth, const std::vector<double>& errors,
                              const Grid& cells)
{
    std::vector<std::vector<double>> inside(std::size_t(cells.rows) * cells.cols);
    for (std::size_t s = 0; s < errors.size(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
        const int col = cell_of((pa.u + pb.u) / (2 * cloth.sheet.length), cells.cols);
        const int row = cell_of((pa.v + pb.v) / (2 * cloth.sheet.width), cells.rows);
        inside[std::size_t(row) * cells.cols + col].push_back(errors[s]);
    }
    std::vector<double> medians;
    for (const std::vector<double>& values : inside) {
        medians.push_back(values.empty() ? std::numeric_limits<double>::quiet_NaN()
                                         : quantile(values, 0.5));
    }
    return medians;
}

std::vector<int> unseen_springs(const Cloth& cloth)
{
    const std::vector<double>& errors = errors_of(cloth).parameters[0];
    std::vector<int> unseen;
    for (std::size_t s = 0; s < errors.size(); ++s) {
        if (std::isinf(errors[s])) unseen.push_back(static_cast<int>(s));
    }
    return unseen;
}

std::vector<bool> held_throughout(const Cloth& cloth, const Motion& motion)
{
    const Resampler resampler(cloth, motion.header);
    std::vector<std::size_t> times_held(cloth.particle_count(), 0);
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        const std::vector<int> handles = motion.read(r, 0, 1).handles.particles;
        for (const int p : resampler.leaning_on(handles)) ++times_held[p];
    }
    std::vector<bool> held;
    for (const std::size_t times : times_held) held.push_back(times == motion.frame_counts.size());
    return held;
}

}  // namespace springtime
