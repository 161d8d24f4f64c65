#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "generating.h"
#include "progress.h"
#include "rank_session.h"
#include "reproduce.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// How much of it: the published budget, a first look, or just a test that all parts work.
struct Scale {
    std::string grid;
    double mass;  // [kg], 0.1 for every particle
    double seconds;
    int rollouts, test_rollouts;
    int stiffness_iterations, damping_iterations;
};

Scale scale_named(const std::string& name)
{
    if (name == "smoke") return {"8x8", 6.4, 1.5, 6, 2, 4, 2};
    if (name == "quick") return {"32x32", 102.4, 8, 64, 16, 24, 12};
    return {"32x32", 102.4, 8, 512, 16, 128, 64};
}

// One way to train, with what was published for it; negative where nothing was.
struct Method {
    std::string name, text;
    LearnOptions options;
    double published_stiffness, published_damping;
};

// The start and the rates of the published protocol. The start is constant and knows nothing: 50
// N/m scores like any constant, 3 N s/m is half the truth. Rates are 4 N/m and 0.45 N s/m a step.
LearnOptions published_options(const Scale& scale)
{
    LearnOptions options;
    options.method = LearnMethod::gradient;
    options.grid = parse_grid(scale.grid);
    options.stiffness_iterations = scale.stiffness_iterations;
    options.damping_iterations = scale.damping_iterations;
    options.rounds = 1;
    options.stiffness_start = 50;
    options.damping_start = 3;
    options.stiffness_rate = 4.0 / 50;
    options.damping_rate = 0.45 / 3;
    options.clip_steps = 500;
    return options;
}

std::vector<Method> reconstruction_methods(const Scale& scale)
{
    const LearnOptions published = published_options(scale);
    Method dual{"dual-pass", "dual pass, as published", published, 14.3, 1.9};
    Method own{"default", "our schedule: fitted start, four rounds", published, -1, -1};
    own.options.rounds.reset();
    own.options.stiffness_start.reset();
    own.options.damping_start.reset();
    own.options.stiffness_rate.reset();
    own.options.damping_rate.reset();
    Method single{"single-pass", "single pass", published, 22.8, 8.5};
    single.options.passes = LearnPasses::single;
    Method by_position{"position-loss", "position loss instead of force and impulse", published,
                       26.3, -1};
    by_position.options.force_weight = by_position.options.impulse_weight = {0};
    by_position.options.position_weight = {1};
    by_position.options.negative_weight = {100};
    return {dual, own, single, by_position};
}

// The source of the published experiment: 15.5 m, k of 25/50/100, b = 6.
Cloth reconstruction_source(const Scale& scale)
{
    ClothOptions options;
    options.grid = scale.grid;
    options.mass = scale.mass;
    return make_cloth(options);
}

GenerateOptions motion_options(const Scale& scale, int rollouts, std::uint64_t seed)
{
    GenerateOptions run;
    run.rollouts = rollouts;
    run.seconds = scale.seconds;
    run.seed = seed;
    run.stride = 20;  // 25 frames in a clip of 500 steps
    return run;
}

nlohmann::json brief(const MotionError& error)
{
    return {{"mean", error.mean}, {"std", error.std}};
}

// Trains one method in its own folder, or takes what is there, and evaluates it.
nlohmann::json run_method(const Method& method, const fs::path& folder, const fs::path& motion,
                          const Motion& test, const Cloth& truth, const CommonOptions& common)
{
    note(common, method.text);
    const RunFolder run = open_run(folder / method.name, method.name, common);
    const fs::path homogeneous_file = run.path() / "homogeneous.json";
    if (fs::exists(folder / "homogeneous.json")) {  // the same for all methods
        fs::copy_file(folder / "homogeneous.json", homogeneous_file,
                      fs::copy_options::skip_existing);
    }
    const Learned learned = learn_in(run, motion, method.options, common);
    const Cloth& cloth = learned.cloth;
    const Device device = device_named(common.device);
    const MotionError error = surrogate_error(cloth, test, device, common.threads,
                                              show_progress(common.quiet), 1, crew());
    fs::copy_file(homogeneous_file, folder / "homogeneous.json", fs::copy_options::skip_existing);
    const MotionError homogeneous = surrogate_error(
        *learned.homogeneous, test, device, common.threads, show_progress(common.quiet), 1, crew());
    write_png(run.path() / "stiffness.png", draw_stiffness(cloth));
    const auto published = [](double value) {
        return value < 0 ? nlohmann::json(nullptr) : nlohmann::json(value);
    };
    nlohmann::json motion_rmse = brief(error);
    motion_rmse["per_rollout"] = error.per_rollout;
    motion_rmse["over_time"] = error.over_time;
    nlohmann::json row{{"text", method.text},
                       {"published",
                        {{"stiffness_rmse", published(method.published_stiffness)},
                         {"damping_rmse", published(method.published_damping)}}},
                       {"motion_rmse", motion_rmse},
                       {"baselines",
                        {{"static", brief(static_error(test))},
                         {"handles", brief(handles_error(test))},
                         {"homogeneous", brief(homogeneous)}}},
                       {"iterations", learned.iterations},
                       {"seconds", learned.training_seconds},
                       {"final_loss", learned.log.empty() ? 0 : learned.log.back().loss.total},
                       {"validation_rmse", learned.validation_rmse}};
    for (const ParameterError& parameter : parameter_errors(cloth, truth)) {
        row[fmt::format("{}_rmse", parameter.kind->name)] = parameter.all;
        row[fmt::format("{}_rmse_by_family", parameter.kind->name)] = parameter.by_family;
    }
    return row;
}

std::string table_of(const nlohmann::json& methods, const std::vector<std::string>& order,
                     const MotionError& floor)
{
    const auto number = [](const nlohmann::json& value) {
        return value.is_null() ? std::string("-") : fmt::format("{:.3g}", value.get<double>());
    };
    std::string text =
        "| method | iterations | RMSE of k [N/m] | published | RMSE of b [N s/m] | published | "
        "motion RMSE on unseen rollouts [m] |\n|---|---|---|---|---|---|---|\n";
    for (const std::string& name : order) {
        const nlohmann::json& m = methods.at(name);
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {:.4f} ± {:.4f} |\n",
                            m["text"].get<std::string>(), m["iterations"].get<int>(),
                            number(m["stiffness_rmse"]), number(m["published"]["stiffness_rmse"]),
                            number(m["damping_rmse"]), number(m["published"]["damping_rmse"]),
                            m["motion_rmse"]["mean"].get<double>(),
                            m["motion_rmse"]["std"].get<double>());
    }
    text += fmt::format(
        "| the true cloth, run in double instead of float | - | 0 | - | 0 | - | {:.4f} ± "
        "{:.4f} |\n",
        floor.mean, floor.std);
    const nlohmann::json& base = methods.at(order.front())["baselines"];
    for (const auto& [key, label] : {std::pair{"homogeneous", "best homogeneous network"},
                                     std::pair{"handles", "first shape moves with its handles"},
                                     std::pair{"static", "nothing moves"}}) {
        text += fmt::format("| {} | - | - | - | - | - | {:.4f} ± {:.4f} |\n", label,
                            base[key]["mean"].get<double>(), base[key]["std"].get<double>());
    }
    return text;
}

}  // namespace

RowKeys reconstruction_rows(const ReproduceArguments& arguments)
{
    RowKeys keys;
    for (const Method& method : reconstruction_methods(scale_named(arguments.scale))) {
        keys.push_back(method.name);
    }
    return keys;
}

int reproduce_reconstruction(const ReproduceArguments& arguments)
{
    const Scale scale = scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    const CommonOptions& common = arguments.common;
    fs::create_directories(folder);
    const Cloth truth = reconstruction_source(scale);
    write_cloth(folder / "truth.json", truth);
    write_png(folder / "truth.png", draw_stiffness(truth));
    make_motion(folder / "train.h5", truth, motion_options(scale, scale.rollouts, common.seed),
                common);
    make_motion(folder / "test.h5", truth,
                motion_options(scale, scale.test_rollouts, common.seed + 1000003), common);

    const MotionReader reader(folder / "test.h5");
    const Motion test = source_of(reader);
    // Folding sheets amplify rounding: no surrogate can be expected to come closer than this.
    note(common, "the truth itself, run in double precision");
    const MotionError floor = surrogate_error(truth, test, Device::reference, common.threads,
                                              show_progress(common.quiet));
    nlohmann::json methods;
    std::vector<std::string> order;
    for (const Method& method : reconstruction_methods(scale)) {
        order.push_back(method.name);
        methods[method.name] = run_method(method, folder, folder / "train.h5", test, truth, common);
    }
    nlohmann::json result = methods["default"];  // the names of `evaluate`, for our default
    result["training_rollouts"] = scale.rollouts;
    result["test_rollouts"] = reader.rollout_count();
    result["rounding_floor"] = brief(floor);
    result["methods"] = methods;
    write_result(arguments, "Reconstruction of a known cloth", result,
                 fmt::format("{} training rollouts, {} unseen ones of {} s, {} particles.\n\n{}",
                             scale.rollouts, reader.rollout_count(), scale.seconds, scale.grid,
                             table_of(methods, order, floor)));
    return kDone;
}

}  // namespace springtime::app
