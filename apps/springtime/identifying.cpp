#include "identifying.h"

#include <algorithm>
#include <cmath>

#include "progress.h"

namespace springtime::app {

namespace {

constexpr double kManyHeld = 0.2;  // share of all parameters

// The median of the errors that are finite, or nothing.
double median_error(const std::vector<double>& errors)
{
    std::vector<double> finite;
    std::copy_if(errors.begin(), errors.end(), std::back_inserter(finite),
                 [](double error) { return std::isfinite(error); });
    if (finite.empty()) return NAN;
    const auto middle = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 2);
    std::nth_element(finite.begin(), middle, finite.end());
    return *middle;
}

constexpr double kMotion = 0.8;  // what is correlated more from frame to frame is hardly noise

std::string noise_text(const Identification& found)
{
    const NoiseEstimate& noise = found.noise;
    std::string text =
        noise.correlation > kMotion
            ? fmt::format(
                  "the noise of the positions is hidden by quick motion: polynomials leave {:.2g} "
                  "m, in which neighbouring frames are correlated by {:.2f}",
                  noise.level, noise.correlation)
            : fmt::format(
                  "noise of the positions: {:.2g} m, {} in time (neighbouring frames are "
                  "correlated by {:.2f})",
                  noise.level, noise.white ? "white" : "not white", noise.correlation);
    if (found.instruments) {
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

}  // namespace

Identification run_identification(const std::string& motion, const IdentifyOptions& options,
                                  const RunFolder& folder, const CommonOptions& common)
{
    const MotionReader reader(motion);
    ProgressBar bar("solve", "percent", common.quiet);
    try {
        return identify(lesson_of(reader), options,
                        [&](double share) { return bar.show(100 * share, 100); });
    } catch (const Failure& failure) {
        if (!interrupted()) throw;
        throw Failure("{}; springtime train --resume {} begins again", failure.what(),
                      folder.path().string());
    }
}

std::string describe(const Identification& found)
{
    const SpringSet& springs = found.cloth.springs;
    std::string text = fmt::format(
        "linear: {} springs from {} equations in {:.1f} s, {}\n", springs.spring_count(),
        found.equation_count, found.seconds,
        found.form == BalanceForm::force
            ? "force form, from stored accelerations"
            : fmt::format("weak form, from positions in windows of ±{:.2f} s", found.window));
    if (found.form == BalanceForm::weak) text += noise_text(found);
    text += fmt::format(
        "standard errors (median): stiffness {:.2g} N/m, damping {:.2g} N s/m; the prior has "
        "weights {:.0e} and {:.0e}",
        median_error(found.cloth.errors->parameters[0]),
        median_error(found.cloth.errors->parameters[1]), found.prior.stiffness,
        found.prior.damping);
    int held = 0;
    for (const int count : found.held_count) held += count;
    if (held > 0) text += fmt::format("; {} parameters are held at zero", held);
    text += "\n";
    const auto parameters = double(springs.spring_count() * found.held_count.size());
    if (held > kManyHeld * parameters) {
        text +=
            "warning: that many parameters at zero mean that such springs do not balance the "
            "forces of this motion; where particles lie between landmarks, --knots 0 and "
            "--isotropic-damping may\n";
    }
    if (!found.unseen.empty()) {
        text += fmt::format(
            "{} springs are not seen by this motion and have the median of their family: "
            "springtime inspect shows where\n",
            found.unseen.size());
    }
    return text;
}

nlohmann::json json_of(const Identification& found)
{
    const bool weak = found.form == BalanceForm::weak;
    nlohmann::json json{
        {"form", weak ? "weak" : "force"},
        {"instruments", found.instruments},
        {"biased", found.biased},
        {"prior", {{"stiffness", found.prior.stiffness}, {"damping", found.prior.damping}}},
        {"equations", found.equation_count},
        {"equation_error", found.equation_error},
        {"unseen", found.unseen},
        {"held", found.held_count},
        {"seconds", found.seconds}};
    json["window"] = weak ? nlohmann::json(found.window) : nlohmann::json();
    if (weak) {
        json["noise"] = {{"level", found.noise.level},
                         {"correlation", found.noise.correlation},
                         {"white", found.noise.white}};
    }
    for (const auto& [name, kind] : {std::pair{"stiffness", 0}, std::pair{"damping", 1}}) {
        json["median_error"][name] = median_error(found.cloth.errors->parameters[kind]);
    }
    return json;
}

// The velocity at the start of a clip is estimated from five frames and off by s/(sqrt(10) T)
// (docs/learning.md), which carries positions away over the clip, by half of that on average.
double refinement_floor(const Identification& found, const TrainOptions& options,
                        const MotionHeader& header)
{
    double noise = std::sqrt(3.0) * found.noise.level;
    if (!header.velocities) {
        const double clip = options.clip_steps * header.dt;
        noise *= 1 + clip / (2 * std::sqrt(10.0) * header.frame_interval());
    }
    return noise + 1e-4 * std::max(header.sheet.length, header.sheet.width);
}

}  // namespace springtime::app
