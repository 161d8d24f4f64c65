#include "springtime/error.h"
#include "springtime/evaluate.h"
#include "springtime/report.h"

namespace springtime {

namespace {

Result brief(const MotionError& error)
{
    Result result = Result::tree();
    result.add("mean", error.mean, "m");
    result.add("std", error.std, "m");
    return result;
}

Result report_of(const MotionError& error, double frame_interval)
{
    Result result = brief(error);
    result.add("per_rollout", error.per_rollout, "m");
    result.add("over_time", error.over_time, "m").along(frame_interval, "s");
    result.add("frame_interval", frame_interval, "s").data_only();
    result.label("motion RMSE");
    return result;
}

Result by_family(const std::map<std::string, double>& errors, const std::string& unit)
{
    Result result = Result::tree();
    for (const auto& [family, error] : errors) result.add(family, error, unit);
    return result;
}

// Triangles, hinges and couplings: a row for each of their parameters.
void add_elements(Result& result, const std::vector<ParameterError>& errors)
{
    for (const Element element : {Element::triangle, Element::hinge, Element::coupling}) {
        Result rows = Result::tree();
        for (const ParameterError& error : errors) {
            if (error.kind->element != element) continue;
            Result row = Result::tree();
            row.add("rmse", error.all, std::string(error.kind->unit)).label("RMSE");
            row.add("relative", error.relative).label("relative").percent();
            rows.add(std::string(error.kind->name), row);
        }
        if (rows.entries().empty()) continue;
        result.add(fmt::format("{}s", name_of(element)), rows)
            .label(fmt::format("parameters of {}s", name_of(element)));
    }
}

constexpr const char* kEqual = "equal to the last bit";

// Those of parameters that every spring has are there in any case: nothing without a truth.
void add_parameters(Result& result, const std::vector<ParameterError>& errors)
{
    for (const ParameterKind& kind : parameter_kinds()) {
        if (kind.element != Element::spring && kind.element != Element::bend) continue;
        const bool always = kind.presence == ParameterPresence::always;
        Result all, families, list = Result::list();
        for (const ParameterError& error : errors) {
            if (error.kind != &kind) continue;
            all = error.all;
            families = by_family(error.by_family, std::string(kind.unit));
            list.push(error.all);
        }
        if (!kind.learned || (!always && all.is_nothing())) continue;
        const bool ranges = kind.presence == ParameterPresence::per_range;
        const bool equal = !ranges && all.get_if<double>() && *all.get_if<double>() == 0;
        if (equal) {
            families.data_only();
            all.data_only();
        }
        result.add(fmt::format("{}_rmse", kind.name), ranges ? list : all, std::string(kind.unit))
            .label(fmt::format("{} RMSE{}", kind.label, ranges ? " by range of strain" : ""));
        if (equal) result.say(fmt::format("{}: {}", kind.label, kEqual));
        if (ranges) continue;
        result.add(fmt::format("{}_rmse_by_family", kind.name), families)
            .label(fmt::format("{} RMSE by family", kind.label));
    }
}

}  // namespace

Result report_of(const Evaluation& found)
{
    const double ours = found.surrogate.mean;
    Result baselines = Result::tree(), times = Result::tree(), result = Result::tree();
    const auto compare = [&](const char* name, const char* label,
                             const std::optional<MotionError>& error) {
        baselines.add(name, error ? brief(*error) : Result()).label(label);
        times.add(name, error && ours > 0 ? Result(error->mean / ours) : Result()).label(label);
    };
    compare("static", "nothing moves", found.nothing_moves);
    compare("handles", "moves with handles", found.with_handles);
    compare("homogeneous", "homogeneous network", found.homogeneous);
    result.add("rollouts", found.rollouts);
    result.add("frames", found.frames);
    Result motion = report_of(found.surrogate, found.frame_interval);
    if (ours == 0) motion.data_only();
    result.add("motion_rmse", motion);
    if (ours == 0) result.say(fmt::format("motion: {}", kEqual));
    add_parameters(result, found.parameters);
    add_elements(result, found.parameters);
    if (found.map_correlation) {
        result.add("map_correlation", *found.map_correlation)
            .label("correlation of the stiffness map with that of the truth");
    }
    result.add("baselines", baselines).label("motion RMSE of what needs no learning");
    result.add("times_better", times).label("this cloth is better by a factor of");
    result.add("warnings", warnings_of(found)).data_only();
    result.add("remarks", found.remarks).data_only();
    return result;
}

}  // namespace springtime
