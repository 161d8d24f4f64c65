#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "config.h"
#include "options.h"
#include "progress.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
    CommonOptions common;
    std::string cloth, motion, truth, homogeneous, out, substeps = "motion";
};

// All that is known of a cloth when it has been compared with a motion.
struct Evaluation {
    MotionError surrogate, nothing_moves, with_handles;
    std::optional<MotionError> homogeneous;
    std::optional<ParameterError> parameters;
    std::size_t rollouts = 0, frames = 0;
    double frame_interval = 0;  // [s]
    std::vector<std::string> warnings, remarks;
};

// Puts the file in front of what the library says of the cloth in it.
template <class Work>
auto naming(const std::string& file, Work work)
{
    try {
        return work();
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    } catch (const Failure& failure) {
        throw Failure("{}: {}", file, failure.what());
    }
}

MotionError run_cloth(const EvaluateArguments& arguments, const std::string& file,
                      const Cloth& cloth, const MotionSource& motion)
{
    const Device device = device_named(arguments.common.device);
    const std::string otherwise = motion.header.captured ? "auto" : "1";
    const int substeps =
        substeps_from(arguments.substeps == "motion" ? otherwise : arguments.substeps, cloth,
                      motion.header.environment, motion.header.dt, arguments.common.quiet);
    ProgressBar bar("evaluate " + fs::path(file).filename().string(), "frames",
                    arguments.common.quiet);
    return naming(file, [&] {
        return surrogate_error(
            cloth, motion, device, arguments.common.threads,
            [&](double done, double total) { return bar.show(done, total); }, substeps);
    });
}

// ---- The homogeneous network ----

bool same_file(const fs::path& a, const fs::path& b)
{
    std::error_code ignored;  // what does not exist is no file at all
    return fs::equivalent(a, b, ignored);
}

MotionError run_homogeneous(const EvaluateArguments& arguments, const std::string& file,
                            const Cloth& cloth, const MotionSource& motion)
{
    const Cloth network = read_cloth(file);
    if (network.particle_count() != cloth.particle_count()) {
        throw Error("{}: {} particles, but {} has {}; both must be compared at the same ones", file,
                    network.particle_count(), arguments.cloth, cloth.particle_count());
    }
    return run_cloth(arguments, file, network, motion);
}

// The one that the user names must be usable; one that merely lies there may be ignored.
void add_homogeneous(const EvaluateArguments& arguments, const Cloth& cloth,
                     const MotionSource& motion, Evaluation& result)
{
    if (!arguments.homogeneous.empty()) {
        result.homogeneous = run_homogeneous(arguments, arguments.homogeneous, cloth, motion);
        return;
    }
    const fs::path beside = fs::path(arguments.cloth).replace_filename("homogeneous.json");
    if (!fs::exists(beside)) {
        result.remarks.push_back(
            "no homogeneous network to compare with: 'train' leaves homogeneous.json beside the "
            "cloth it learns; or name one with --homogeneous");
        return;
    }
    if (same_file(beside, arguments.cloth)) {
        result.remarks.push_back("this cloth is the homogeneous network itself");
        return;
    }
    try {
        result.homogeneous = run_homogeneous(arguments, beside.string(), cloth, motion);
    } catch (const std::runtime_error& error) {
        if (interrupted()) throw;
        result.remarks.push_back(
            fmt::format("no homogeneous network to compare with: {}", error.what()));
    }
}

void add_warnings(Evaluation& result)
{
    const auto compare = [&](const MotionError& baseline, const char* name) {
        if (result.surrogate.mean < baseline.mean) return;
        result.warnings.push_back(
            fmt::format("this cloth is no better than {}: {:.4g} m against {:.4g} m", name,
                        result.surrogate.mean, baseline.mean));
    };
    compare(result.nothing_moves, "a motion in which nothing moves");
    compare(result.with_handles, "the first shape moved along with its handles");
    if (result.homogeneous) compare(*result.homogeneous, "the homogeneous network");
}

Evaluation evaluate(const EvaluateArguments& arguments, const Cloth& cloth,
                    const MotionSource& motion)
{
    Evaluation result;
    if (!arguments.truth.empty()) {
        const Cloth truth = read_cloth(arguments.truth);
        result.parameters = naming(arguments.truth, [&] { return parameter_error(cloth, truth); });
    }
    result.rollouts = motion.frame_counts.size();
    result.frames =
        std::accumulate(motion.frame_counts.begin(), motion.frame_counts.end(), std::size_t{0});
    result.frame_interval = motion.header.frame_interval();
    result.surrogate = run_cloth(arguments, arguments.cloth, cloth, motion);
    result.nothing_moves = static_error(cloth, motion);
    result.with_handles = handles_error(cloth, motion);
    add_homogeneous(arguments, cloth, motion, result);
    add_warnings(result);
    return result;
}

// ---- Results as JSON ----

nlohmann::json json_of(const EvaluateArguments& arguments, const Evaluation& result)
{
    const double ours = result.surrogate.mean;
    const auto brief = [](const MotionError& error) {
        return nlohmann::json{{"mean", error.mean}, {"std", error.std}};
    };
    const auto times = [&](const MotionError& error) {
        return ours > 0 ? nlohmann::json(error.mean / ours) : nlohmann::json();
    };
    nlohmann::json motion = brief(result.surrogate);
    motion["per_rollout"] = result.surrogate.per_rollout;
    motion["over_time"] = result.surrogate.over_time;
    motion["frame_interval"] = result.frame_interval;
    nlohmann::json json{{"cloth", arguments.cloth},
                        {"motion", arguments.motion},
                        {"rollouts", result.rollouts},
                        {"frames", result.frames},
                        {"motion_rmse", motion},
                        {"stiffness_rmse", nullptr},
                        {"damping_rmse", nullptr},
                        {"stiffness_rmse_by_family", nullptr},
                        {"damping_rmse_by_family", nullptr},
                        {"baselines",
                         {{"static", brief(result.nothing_moves)},
                          {"handles", brief(result.with_handles)},
                          {"homogeneous", nullptr}}},
                        {"times_better",
                         {{"static", times(result.nothing_moves)},
                          {"handles", times(result.with_handles)},
                          {"homogeneous", nullptr}}},
                        {"warnings", result.warnings},
                        {"remarks", result.remarks}};
    if (result.homogeneous) {
        json["baselines"]["homogeneous"] = brief(*result.homogeneous);
        json["times_better"]["homogeneous"] = times(*result.homogeneous);
    }
    if (result.parameters) {
        json["stiffness_rmse"] = result.parameters->stiffness;
        json["damping_rmse"] = result.parameters->damping;
        json["stiffness_rmse_by_family"] = result.parameters->stiffness_by_family;
        json["damping_rmse_by_family"] = result.parameters->damping_by_family;
    }
    return json;
}

// ---- Results as a table ----

// With the blank before it, if there is any.
std::string bar_of(double value, double most)
{
    constexpr double kWidth = 40;
    const long filled = most > 0 ? std::lround(kWidth * value / most) : 0;
    return filled > 0 ? " " + std::string(std::size_t(filled), '#') : "";
}

constexpr double kBetter = 1.01;  // what is less is no difference to speak of

void print_means(const Evaluation& result)
{
    const MotionError& ours = result.surrogate;
    fmt::print("motion RMSE [m]              mean        std\n");
    fmt::print("  {:<20} {:>10.4g} {:>10.4g}\n", "this cloth", ours.mean, ours.std);
    const auto print = [&](const char* name, const MotionError& error) {
        fmt::print("  {:<20} {:>10.4g} {:>10.4g}{}\n", name, error.mean, error.std,
                   error.mean >= kBetter * ours.mean && ours.mean > 0
                       ? fmt::format("  this cloth is {:.3g} times better", error.mean / ours.mean)
                       : "");
    };
    print("nothing moves", result.nothing_moves);
    print("moves with handles", result.with_handles);
    if (result.homogeneous) {
        print("homogeneous network", *result.homogeneous);
    } else {
        fmt::print("  {:<20} {:>10} {:>10}\n", "homogeneous network", "-", "-");
    }
}

void print_over_time(const Evaluation& result)
{
    const std::vector<double>& curve = result.surrogate.over_time;
    const double most = *std::max_element(curve.begin(), curve.end());
    const std::size_t last = curve.size() - 1, rows = std::min<std::size_t>(10, last);
    fmt::print("over time [m]\n");
    for (std::size_t row = 0; row <= rows; ++row) {
        const std::size_t frame = rows > 0 ? row * last / rows : 0;
        fmt::print("  {:>8.3g} s {:>10.4g}{}\n", double(frame) * result.frame_interval,
                   curve[frame], bar_of(curve[frame], most));
    }
}

void print_rollouts(const std::vector<double>& errors)
{
    constexpr std::size_t kMany = 16;
    std::vector<std::size_t> order(errors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return errors[a] < errors[b]; });
    const double most = errors[order.back()];
    fmt::print("by rollout [m]\n");
    if (errors.size() <= kMany) {
        for (std::size_t r = 0; r < errors.size(); ++r) {
            fmt::print("  {:>10} {:>10.4g}{}\n", r, errors[r], bar_of(errors[r], most));
        }
        return;
    }
    const auto print = [&](const char* name, std::size_t r) {
        fmt::print("  {:<10} {:>10.4g}  rollout {}\n", name, errors[r], r);
    };
    print("best", order.front());
    print("median", order[(order.size() - 1) / 2]);
    print("worst", order.back());
}

void print_parameters(const ParameterError& error)
{
    fmt::print("parameter RMSE          stiffness [N/m]   damping [N s/m]\n");
    const auto print = [](const std::string& name, double stiffness, double damping) {
        fmt::print("  {:<20} {:>16.4g} {:>17.4g}\n", name, stiffness, damping);
    };
    print("all springs", error.stiffness, error.damping);
    for (const auto& [family, stiffness] : error.stiffness_by_family) {
        print(family, stiffness, error.damping_by_family.at(family));
    }
}

void print_table(const EvaluateArguments& arguments, const Evaluation& result)
{
    fmt::print("{} on {}: {} rollouts, {} frames of {:.6g} s\n", arguments.cloth, arguments.motion,
               result.rollouts, result.frames, result.frame_interval);
    print_means(result);
    print_over_time(result);
    print_rollouts(result.surrogate.per_rollout);
    if (result.parameters) print_parameters(*result.parameters);
}

// ---- The verb ----

void check_out(const EvaluateArguments& arguments)
{
    const fs::path out = arguments.out;
    if (out.empty()) return;
    for (const std::string& input :
         {arguments.cloth, arguments.motion, arguments.truth, arguments.homogeneous}) {
        if (!input.empty() && same_file(out, input)) {
            throw Error("--out {}: is read as well; give another name", out.string());
        }
    }
    if (out.has_parent_path() && !fs::is_directory(out.parent_path())) {
        throw Error("--out {}: there is no directory {}; make it first or name another",
                    out.string(), out.parent_path().string());
    }
    if (fs::is_directory(out)) {
        throw Error("--out {}: is a directory; name a file in it", out.string());
    }
}

int run_evaluate(const EvaluateArguments& arguments)
{
    check_out(arguments);
    const Cloth cloth = read_cloth(arguments.cloth);
    const MotionReader reader(arguments.motion);
    const Evaluation result = evaluate(arguments, cloth, source_of(reader));
    const nlohmann::json json = json_of(arguments, result);
    if (arguments.common.json) {
        fmt::print("{}\n", json.dump());
    } else {
        print_table(arguments, result);
    }
    for (const std::string& text : result.remarks) note(arguments.common, text);
    for (const std::string& text : result.warnings) note(arguments.common, "warning: " + text);
    if (!arguments.out.empty()) write_text(arguments.out, json.dump(2) + "\n");
    return kDone;
}

}  // namespace

Verb add_evaluate(CLI::App& root)
{
    auto arguments = std::make_shared<EvaluateArguments>();
    CLI::App* verb = root.add_subcommand(
        "evaluate", "Tell how closely a cloth follows a motion, beside what needs no learning");
    verb->add_option("cloth", arguments->cloth, "Cloth file")->required()->type_name("FILE");
    verb->add_option("motion", arguments->motion, "Motion file with rollouts it was not made from")
        ->required()
        ->type_name("FILE");
    verb->add_option("--truth", arguments->truth,
                     "Source cloth with the same springs, to compare parameters with")
        ->type_name("FILE");
    verb->add_option("--homogeneous", arguments->homogeneous,
                     "Homogeneous network to compare with; otherwise homogeneous.json beside the "
                     "cloth, if there is one")
        ->type_name("FILE");
    verb->add_option(
        "--substeps", arguments->substeps,
        "Steps of the cloth per time step of the motion: a number, auto for as many as "
        "are safe, or motion: 1 where the motion's own step is known, auto where it "
        "was captured");
    verb->add_option("--out", arguments->out, "JSON file to write as well, or to replace")
        ->type_name("FILE");
    add_common(*verb, arguments->common);
    return {verb, [arguments] { return run_evaluate(*arguments); }, {}};
}

}  // namespace springtime::app
