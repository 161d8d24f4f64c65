#include "train_options.h"

#include <filesystem>

#include "config.h"
#include "progress.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct TrainArguments {
    CommonOptions common;
    TrainFlags flags;
    std::string motion, out = "run", resume;
    std::optional<Flags> settings;
};

// A resumed run takes the settings it began with.
std::string stored_config(const std::vector<std::string>& given)
{
    const std::string folder = argument_value(given, "resume");
    if (folder.empty()) return {};
    return RunFolder(folder).config();
}

// How springs were solved for.
Result result_of(const Identification& found)
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

Result result_of(const std::vector<LearnStep>& steps)
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

Result result_of(const TrainArguments& arguments, const fs::path& folder, const Learned& learned)
{
    const bool descended = learned.iterations > 0;
    Result result = Result::tree();
    result.label(folder.string());
    result.add("out", folder.string()).data_only();
    result.add("cloth", (folder / "cloth.json").string()).label("learned cloth");
    result.add("picture", (folder / "stiffness.png").string()).label("picture of its stiffness");
    result.add("method", arguments.flags.method);
    result.add("summary", learned.summary).data_only();
    result.add("validation_rmse", learned.validation_rmse, "m")
        .label("motion RMSE on validation motion");
    result.add("linear_validation_rmse", learned.linear_rmse, "m").label("  of the linear answer");
    result.add("homogeneous_validation_rmse", learned.homogeneous_rmse, "m")
        .label("  of the best homogeneous network");
    result.add("nothing_moves_rmse", learned.nothing_moves_rmse, "m").data_only();
    result.add("first_shape_follows_rmse", learned.first_shape_follows_rmse, "m").data_only();
    if (!learned.steps.empty()) result.add("steps", result_of(learned.steps)).data_only();
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
        result.add("identification", result_of(*learned.linear)).data_only();
    }
    return result;
}

// Where the work is, for who interrupts it.
struct LastUpdate {
    std::string stage;
    double done = 0, total = 0;
    bool iterations = false;

    Progress watching(const Progress& shown)
    {
        return Progress([this, shown](const ProgressUpdate& update) {
            stage = update.stage;
            done = update.done;
            total = update.total;
            iterations = update.unit == "iterations";
            shown.report(update);
            return true;
        });
    }
    std::string text() const
    {
        return iterations ? fmt::format("after {} of {} iterations of: {}", done, total, stage)
                          : fmt::format("in the midst of: {}", stage);
    }
};

// A run folder, new or as an earlier run left it; a new one is made when its input has been
// checked.
RunFolder open_folder(const TrainArguments& arguments)
{
    std::string config =
        merged_config(*arguments.settings, {"out", "resume", "motion", "threads", "quiet", "json"});
    config += fmt::format("motion = {}\n", toml_text(fs::absolute(arguments.motion).string()));
    const bool resume = !arguments.resume.empty();
    RunFolder folder(resume ? arguments.resume : arguments.out);
    if (resume) {
        check_same_config(folder.config(), config, "", folder.path().string());
    } else {
        folder.create_when_opened(config);
    }
    folder.on_note = [&common = arguments.common](const std::string& text) { note(common, text); };
    return folder;
}

int run_train(const TrainArguments& arguments)
{
    if (arguments.motion.empty()) {
        throw Error("train: no motion file; give one, or --resume FOLDER of an interrupted run");
    }
    RunFolder folder = open_folder(arguments);
    LastUpdate last;
    try {
        const Learned learned = learn(
            open_motion(arguments.motion), learn_options_from(arguments.flags, arguments.common),
            last.watching(show_progress(arguments.common.quiet)), &folder);
        write_png(folder.path() / "stiffness.png", draw_stiffness(learned.cloth));
        if (learned.cloth.bends.bend_count() > 0) {
            write_png(folder.path() / "bending.png", draw_bending(learned.cloth));
        }
        const Result result = result_of(arguments, folder.path(), learned);
        write_text((folder.path() / "result.json").string(), to_json(result, 1) + "\n");
        if (!arguments.common.json) fmt::print("{}", learned.summary);
        print(arguments.common, result);
        if (!arguments.common.json) {
            fmt::print("try: springtime evaluate {}/cloth.json TEST.h5\n", folder.path().string());
        }
        return kDone;
    } catch (const Cancelled&) {
        fmt::print(stderr, "springtime: interrupted {}; springtime train --resume {} goes on\n",
                   last.text(), folder.path().string());
        return kFailed;
    }
}

}  // namespace

Verb add_train(CLI::App& root)
{
    auto arguments = std::make_shared<TrainArguments>();
    const Flags flags =
        add_verb(root, "train",
                 "Learn a cloth of springs from motion: stiffness and damping of every spring");
    arguments->settings = flags;
    flags.add("motion,--motion", arguments->motion, "Motion file to learn from").type("FILE");
    flags.add("--out", arguments->out, "Folder for the run").type("FOLDER");
    flags.add("--resume", arguments->resume, "Go on with an interrupted run").type("FOLDER");
    add_train_flags(flags, arguments->flags);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_train(*arguments); }, stored_config};
}

}  // namespace springtime::app
