#include <string>
#include <vector>

#include "springtime/report.h"

namespace springtime {

Result report_of(const Identification& found)
{
    Result prior = Result::tree(), errors = Result::tree();
    prior.add("stiffness", found.prior.stiffness);
    prior.add("damping", found.prior.damping);
    prior.add("bending", found.prior.bending);
    prior.add("bending_damping", found.prior.bending_damping);
    const std::vector<Parameter> parameters = learned_parameters(found.cloth);
    for (const Element element : kElements) {
        Result of_element = Result::tree();
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            if (parameters[k].kind->element != element) continue;
            of_element.add(label_of(found.cloth, parameters[k]),
                           median_error(found, static_cast<int>(k)),
                           std::string(parameters[k].kind->unit));
        }
        if (element_count(found.cloth, element) > 0) {
            errors.add(std::string(name_of(element)), of_element);
        }
    }
    Result result = Result::tree();
    result.add("form", found.form == BalanceForm::weak ? "weak" : "force");
    result.add("window", found.window, "s");
    result.add("instruments", std::string(name_of(found.instruments)));
    result.add("biased", found.biased);
    result.add("prior", prior);
    result.add("equations", found.equation_count);
    result.add("equation_error", found.equation_error, "N");
    result.add("median_error", errors);
    if (found.form == BalanceForm::weak) {
        Result noise = Result::tree();
        noise.add("level", found.noise.level, "m");
        noise.add("correlation", found.noise.correlation);
        noise.add("white", found.noise.white);
        result.add("noise", noise);
    }
    result.add("unseen", found.unseen);
    result.add("held", found.held_count);
    result.add("seconds", found.seconds, "s");
    return result;
}

namespace {

Result report_of(const std::vector<LearnStep>& steps)
{
    Result result = Result::tree();
    for (const LearnStep& step : steps) {
        Result entry = Result::tree();
        entry.add("validation_rmse", step.error.mean, "m");
        entry.add("by_rollout", step.error.by_rollout, "m");
        entry.add("seconds", step.seconds, "s");
        result.add(step.name, entry);
    }
    return result;
}

}  // namespace

Result report_of(const Learned& learned)
{
    const bool descended = learned.iterations > 0;
    Result result = Result::tree();
    result.add("summary", learned.summary).data_only();
    result.add("validation_rmse", learned.validation_rmse, "m")
        .label("motion RMSE on validation motion");
    result.add("linear_validation_rmse", learned.linear_rmse, "m").label("  of the linear answer");
    result.add("homogeneous_validation_rmse", learned.homogeneous_rmse, "m")
        .label("  of the best homogeneous network");
    result.add("nothing_moves_rmse", learned.nothing_moves_rmse, "m").data_only();
    result.add("first_shape_follows_rmse", learned.first_shape_follows_rmse, "m").data_only();
    if (!learned.steps.empty()) result.add("steps", report_of(learned.steps)).data_only();
    result.add("iterations", learned.iterations).unless_zero();
    result.add("best_iteration", learned.best_iteration).unless_zero();
    Result& loss = result.add("final_loss", descended ? learned.log.back().loss.total : 0);
    if (!descended) loss.data_only();
    result.add("longest_step", learned.longest_step, "s").label("longest step it runs with");
    result.add("substeps", learned.substeps).label("sub-steps of a step of the motion");
    result.add("seconds", learned.seconds, "s").label("time taken");
    result.add("training_seconds", learned.training_seconds, "s").data_only();
    result.add("finished", true).data_only();
    if (learned.linear) {
        result.add("identification", report_of(*learned.linear)).data_only();
    }
    return result;
}

}  // namespace springtime
