#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "progress.h"
#include "rank_session.h"
#include "reproduce_fabric.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// How much of it: all, a first look, or just a test that all parts work.
struct Scale {
    std::string grid;
    double mass;  // [kg], 0.1 for every particle
    double seconds;
    int few, many, test;  // rollouts
    int stiffness_iterations, damping_iterations;
};

Scale scale_named(const std::string& name)
{
    if (name == "smoke") return {"8x8", 6.4, 2, 4, 4, 2, 4, 2};
    if (name == "quick") return {"16x16", 25.6, 8, 8, 32, 8, 24, 12};
    return {"32x32", 102.4, 8, 8, 32, 16, 128, 64};
}

// One kind of data, and how close the linear answer is to come. [N/m], [N s/m]
struct Data {
    std::string name, text;
    int rollouts;
    bool camera;   // positions at 60 frames a second; otherwise all that is stored
    double noise;  // [m]
    double stiffness_wanted, damping_wanted;
};

std::vector<Data> data_of(const Scale& scale)
{
    const std::string many = fmt::format("{} rollouts, 60 fps, positions only", scale.many);
    return {{"clean", fmt::format("{} rollouts, clean, velocities stored", scale.few), scale.few,
             false, 0, 1e-3, 1e-3},
            {"camera", many, scale.many, true, 0, 0.02, 0.02},
            {"camera-1mm", many + ", noise 1 mm", scale.many, true, 1e-3, 0.15, 0.15},
            {"camera-1cm", many + ", noise 1 cm", scale.many, true, 1e-2, 1.2, 1.4}};
}

GenerateOptions motion_options(const Scale& scale, const Data& data, std::uint64_t seed)
{
    GenerateOptions run;
    run.rollouts = data.rollouts;
    run.seconds = scale.seconds;
    run.seed = seed;
    if (data.camera) film(run);
    return run;
}

LearnOptions learn_options(const Scale& scale, const Data& data, LearnMethod method)
{
    LearnOptions options;
    options.method = method;
    options.grid = parse_grid(scale.grid);
    if (method == LearnMethod::gradient) {
        options.stiffness_iterations = scale.stiffness_iterations;
        options.damping_iterations = scale.damping_iterations;
        options.rounds = 1;
    }
    if (data.camera && method == LearnMethod::gradient) {
        options.force_weight = options.impulse_weight = {0};
        options.position_weight = {1};
    }
    return options;
}

// Share of the parameters that lie within 1.96 standard errors of the truth.
double coverage(const Cloth& cloth, const Cloth& truth)
{
    int inside = 0, count = 0;
    const ParameterValues ours = parameters_of(cloth), theirs = parameters_of(truth);
    for (std::size_t k = 0; k < ours.size(); ++k) {
        const std::vector<double>& errors = cloth.errors->parameters[k];
        for (std::size_t s = 0; s < errors.size(); ++s) {
            const double off = ours[k][s] - theirs[k][s];
            if (!std::isfinite(errors[s])) continue;
            inside += std::abs(off) <= 1.96 * errors[s];
            ++count;
        }
    }
    return count > 0 ? double(inside) / count : NAN;
}

nlohmann::json row_of(const Cloth& cloth, const Cloth& truth, const Motion& test,
                      const CommonOptions& common)
{
    const MotionError motion =
        surrogate_error(cloth, test, device_named(common.device), common.threads,
                        show_progress(common.quiet), 1, crew());
    nlohmann::json row{{"motion_rmse", {{"mean", motion.mean}, {"std", motion.std}}}};
    for (const ParameterError& error : parameter_errors(cloth, truth)) {
        row[fmt::format("{}_rmse", error.kind->name)] = error.all;
    }
    return row;
}

// What a sitting before has finished is taken as it is.
template <class Make>
nlohmann::json kept(const fs::path& file, const Make& make)
{
    if (fs::exists(file)) return nlohmann::json::parse(read_text(file.string()));
    const nlohmann::json row = make();
    write_text(file.string(), row.dump(1) + "\n");
    return row;
}

struct Trial {
    const Scale& scale;
    const Data& data;
    fs::path folder;
    const Cloth& truth;
    const Motion& test;
    const CommonOptions& common;

    fs::path motion() const { return folder / (data.name + ".h5"); }
    RunFolder run(const std::string& method) const
    {
        const std::string name = data.name + "-" + method;
        return open_run(folder / name, name, common);
    }

    nlohmann::json linear() const
    {
        const RunFolder place = run("linear");
        return kept(place.path() / "row.json", [&] {
            note(common, data.text + ": solving");
            const Learned learned =
                learn_in(place, motion(), learn_options(scale, data, LearnMethod::linear), common);
            nlohmann::json row = row_of(learned.cloth, truth, test, common);
            row["seconds"] = learned.linear->seconds;
            row["coverage"] = coverage(learned.cloth, truth);
            row["identification"] = nlohmann::json::parse(identification_to_json(*learned.linear));
            write_png(place.path() / "stiffness.png", draw_stiffness(learned.cloth));
            return row;
        });
    }

    nlohmann::json gradient() const
    {
        const RunFolder place = run("gradient");
        return kept(place.path() / "row.json", [&] {
            note(common, data.text + ": gradient descent");
            const Learned learned = learn_in(
                place, motion(), learn_options(scale, data, LearnMethod::gradient), common);
            nlohmann::json row = row_of(learned.cloth, truth, test, common);
            row["seconds"] = learned.training_seconds;
            row["iterations"] = learned.iterations;
            return row;
        });
    }
};

std::string table_of(const std::vector<Data>& all, const nlohmann::json& rows)
{
    std::string text =
        "| data | method | RMSE of k [N/m] | asked | RMSE of b [N s/m] | asked | within 95 % "
        "interval | motion RMSE on unseen rollouts [m] | seconds |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
    for (const Data& data : all) {
        for (const char* method : {"linear", "gradient"}) {
            const nlohmann::json& row = rows.at(data.name).at(method);
            const bool linear = row.contains("coverage");
            const auto asked = [&](double value) {
                return linear ? fmt::format("{:g}", value) : std::string("-");
            };
            text += fmt::format(
                "| {} | {} | {:.2g} | {} | {:.2g} | {} | {} | {:.2g} ± {:.2g} | {:.1f} |\n",
                data.text, method, row["stiffness_rmse"].get<double>(),
                asked(data.stiffness_wanted), row["damping_rmse"].get<double>(),
                asked(data.damping_wanted),
                linear ? fmt::format("{:.0f} %", 100 * row["coverage"].get<double>())
                       : std::string("-"),
                row["motion_rmse"]["mean"].get<double>(), row["motion_rmse"]["std"].get<double>(),
                row["seconds"].get<double>());
        }
    }
    return text;
}

}  // namespace

RowKeys identification_rows(const ReproduceArguments& arguments)
{
    RowKeys keys;
    for (const Data& data : data_of(scale_named(arguments.scale))) {
        keys.push_back(data.name + "-linear");
        keys.push_back(data.name + "-gradient");
    }
    for (const std::string& key : fabric_row_keys()) keys.push_back("triangles-" + key);
    return keys;
}

int reproduce_identification(const ReproduceArguments& arguments)
{
    const Scale scale = scale_named(arguments.scale);
    const CommonOptions& common = arguments.common;
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    fs::create_directories(folder);
    const nlohmann::json triangles = fabric_rows(arguments, folder);
    ClothOptions source;  // the published one: 15.5 m, k of 25/50/100, b = 6
    source.grid = scale.grid;
    source.mass = scale.mass;
    const Cloth truth = make_cloth(source);
    write_cloth(folder / "truth.json", truth);
    const std::vector<Data> all = data_of(scale);
    Data unseen = all[0];
    unseen.rollouts = scale.test;
    make_motion(folder / "test.h5", truth, motion_options(scale, unseen, common.seed + 1000003),
                common);
    const MotionReader reader(folder / "test.h5");
    const Motion test = source_of(reader);
    nlohmann::json rows;
    for (const Data& data : all) {
        const Trial trial{scale, data, folder, truth, test, common};
        const ObserveOptions camera{.noise = data.noise, .positions_only = data.camera};
        make_motion(trial.motion(), truth, motion_options(scale, data, common.seed), common,
                    camera);
        rows[data.name] = {
            {"text", data.text}, {"linear", trial.linear()}, {"gradient", trial.gradient()}};
    }
    write_result(arguments, "Linear identification", {{"data", rows}, {"triangles", triangles}},
                 table_of(all, rows) + fabric_table(triangles));
    return kDone;
}

}  // namespace springtime::app
