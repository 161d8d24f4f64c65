#include "learn/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/quantile.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kManyHeld = 0.2;  // share of all parameters
constexpr double kMotion = 0.8;    // what is correlated more from frame to frame is hardly noise

// Nothing, unless noise is so large that little else can be seen.
std::string noise_warning(const Identification& found)
{
    constexpr double kLarge = 0.03;  // of the sheet
    const Sheet& sheet = found.cloth.sheet;
    const double share = found.noise.level / std::max(sheet.length, sheet.width);
    if (found.noise.correlation > kMotion || share < kLarge) return {};
    return fmt::format(
        "warning: the noise is {:.0f} % of the size of the sheet, so what is learned says more of "
        "noise than of cloth; record with a better camera, or check the unit of the positions\n",
        100 * share);
}

std::string noise_text(const Identification& found)
{
    const NoiseEstimate& noise = found.noise;
    const std::string text =
        noise.correlation > kMotion
            ? fmt::format(
                  "the noise of the positions is hidden by quick motion: polynomials leave {:.2g} "
                  "m, in which neighbouring frames are correlated by {:.2f}",
                  noise.level, noise.correlation)
            : fmt::format(
                  "noise of the positions: {:.2g} m, {} in time (neighbouring frames are "
                  "correlated by {:.2f})",
                  noise.level, noise.white ? "white" : "not white", noise.correlation);
    if (found.displacements) {
        return text +
               "; so forces that do not balance were weighed by the displacements that would "
               "explain them, and what as much noise again takes away was put back\n";
    }
    if (found.instruments == Instruments::frames) {
        return text + (noise.white ? "; so even and odd frames were held against each other, which "
                                     "such noise cannot bias\n"
                                   : "; even and odd frames were held against each other\n");
    }
    if (found.biased) {
        return text +
               "\nwarning: even and odd frames could not be held against each other, so "
               "stiffness and damping come out too low, by more than the standard errors "
               "say; record more motion\n";
    }
    return text + "; all frames were used together\n";
}

// Whether elements share their parameters, and why.
std::string regions_text(const RegionChoice& choice)
{
    const bool shared = choice.triangles > 0;
    const std::string lead =
        shared ? fmt::format("regions: {} of triangles and {} of hinges were found",
                             choice.triangles, choice.hinges)
               : std::string("no regions: every element has its own parameters");
    return fmt::format(
        "{}; found in one half of the motion, {} leave {:.2g} % of the displacements of the other "
        "half beyond noise, and values for every element {:.2g} %\n",
        lead, shared ? "regions" : "the best regions", 100 * choice.left_by_regions,
        100 * choice.left_by_elements);
}

}  // namespace

std::string describe(const Identification& found)
{
    std::string elements;
    for (const Element element : kElements) {
        const std::size_t count = element_count(found.cloth, element);
        if (count == 0) continue;
        elements += (elements.empty() ? "" : ", ") + counted(count, name_of(element));
    }
    std::string text =
        fmt::format("linear: {} from {} equations in {:.1f} s, {}\n", elements,
                    found.equation_count, found.seconds,
                    found.form == BalanceForm::force
                        ? "force form, from stored accelerations"
                        : fmt::format("weak form, from positions in windows of ±{:.2f} s",
                                      found.window.value_or(0)));
    if (found.form == BalanceForm::weak) text += noise_text(found) + noise_warning(found);
    if (found.regions) text += regions_text(*found.regions);
    text += "standard errors (median):";
    const std::vector<Parameter> parameters = learned_parameters(found.cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const ParameterKind& kind = *parameters[k].kind;
        const bool hinge = kind.element == Element::hinge;
        text += fmt::format("{} {}{} {:.2g} {}", k == 0 ? "" : ",", hinge ? "hinge " : "",
                            label_of(found.cloth, parameters[k]),
                            median_error(found, static_cast<int>(k)), kind.unit);
    }
    const bool by_region = found.regions && found.regions->triangles > 0;
    if (!by_region) {
        text += fmt::format("; the prior has weights {:.0e} and {:.0e}", found.prior.stiffness,
                            found.prior.damping);
    }
    if (!by_region && found.cloth.hinges.hinge_count() > 0) {
        text += fmt::format(", {:.0e} and {:.0e} for bending", found.prior.bending,
                            found.prior.bending_damping);
    }
    const int held = std::accumulate(found.held_count.begin(), found.held_count.end(), 0);
    if (held > 0) {
        text += fmt::format("; {} {} held at zero", counted(std::size_t(held), "parameter"),
                            held == 1 ? "is" : "are");
    }
    text += "\n";
    std::size_t numbers = 0;
    for (const auto& values : parameters_of(found.cloth)) numbers += values.size();
    // Noise alone makes the damping of bending zero.
    if (held > kManyHeld * double(numbers) && !found.displacements) {
        const SpringSet& springs = found.cloth.springs;
        const bool has_law = !springs.ranges.empty() && !springs.isotropic_damping.empty();
        text += fmt::format(
            "warning: that many parameters at zero mean that such elements do not balance the "
            "forces of this motion{}\n",
            has_law ? ""
                    : "; where particles lie between landmarks, springs of a law with a knot at "
                      "strain 0 and isotropic damping may help");
    }
    if (!found.unseen.empty()) {
        const bool one = found.unseen.size() == 1;
        text += fmt::format("{} {} not seen by this motion and {} the values of {} {}\n",
                            counted(found.unseen.size(), name_of(parameters[0].kind->element)),
                            one ? "is" : "are", one ? "has" : "have", one ? "its" : "their",
                            found.cloth.triangles.triangle_count() > 0 ? "neighbours" : "family");
    }
    return text;
}

std::string describe_steps(const Learned& learned, std::optional<std::size_t> kept)
{
    const auto metres = [](double error) {
        return std::isfinite(error) ? fmt::format("{:.4g} m", error) : std::string("blows up");
    };
    std::string text =
        fmt::format("{}, error at the free landmarks:\n",
                    counted(learned.steps[0].error.by_rollout.size(), "whole validation rollout"));
    const auto row = [&](const std::string& name, double error, const std::string& more) {
        text += fmt::format("  {:<32} {:>12}{}\n", name, metres(error), more);
    };
    row("nothing moves", *learned.nothing_moves_rmse, "");
    row("the first shape follows", *learned.first_shape_follows_rmse, "");
    if (learned.linear_rmse) row("linear answer", *learned.linear_rmse, "");
    for (std::size_t i = 0; i < learned.steps.size(); ++i) {
        const LearnStep& step = learned.steps[i];
        row(step.name, step.error.mean,
            fmt::format("{:>9.1f} s{}", step.seconds, kept == i ? "  kept" : ""));
    }
    return text;
}

std::string describe_segments(const Motion& given, const Motion& cut, const TrainOptions& options)
{
    const std::size_t segments = cut.rollout_count(), rollouts = given.rollout_count();
    if (segments == rollouts && !given.header.captured) return {};
    const auto left_out =
        std::clamp(std::size_t(std::lround(options.validation_share * double(segments))),
                   std::size_t(1), std::max(segments, std::size_t(2)) - 1);
    const std::string validate =
        left_out > 1 ? fmt::format("{} of which are not trained on but validate", left_out)
                     : "one of which is not trained on but validates";
    if (segments == rollouts) return fmt::format("{}, {}", counted(rollouts, "rollout"), validate);
    return fmt::format("{}, cut into {} segments of about {:.3g} s, {}",
                       rollouts == 1 ? "one rollout alone" : fmt::format("{} rollouts", rollouts),
                       segments, double(cut.frame_counts[0]) * cut.header.frame_interval(),
                       validate);
}

std::string describe_grid(const MotionHeader& header, const GridOptions& grid)
{
    const std::optional<Grid> own = regular_grid(header.rest);
    const bool same = own && own->rows == grid.rows && own->cols == grid.cols;
    return fmt::format(
        "the surrogate has {} x {} particles, {}", grid.rows, grid.cols,
        same ? "as the landmarks are a grid of that kind"
             : fmt::format("about as many as the {} landmarks", header.landmark_count()));
}

}  // namespace springtime
