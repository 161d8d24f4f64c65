#include <cmath>
#include <filesystem>
#include <optional>

#include "presets.h"
#include "progress.h"
#include "reproduce.h"
#include "surrogates.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// How much of it: all laws and grids, those that the figures need, or just a test that all parts
// work.
struct Scale {
    int mesh, finer;  // particles along a side of the source, and of the re-meshed source
    double seconds;
    int rollouts, test_rollouts, anchored_rollouts;
    bool all_rows;
};

Scale scale_named(const std::string& name)
{
    if (name == "smoke") return {5, 7, 1, 6, 2, 1, false};
    if (name == "quick") return {31, 41, 8, 128, 32, 16, false};
    return {31, 41, 8, 512, 32, 32, true};
}

// Seeds of motion that no choice was made on.
constexpr std::uint64_t kUnseen = 9000001;

GenerateOptions motion_options(const Scale& scale, int rollouts, int anchors, std::uint64_t seed)
{
    GenerateOptions run = reference_run();
    run.seconds = scale.seconds;
    run.rollouts = rollouts;
    run.anchors = anchors;
    run.seed = seed;
    run.stride = 20;
    return run;
}

// Unseen rollouts: those like the training rollouts, and those held by other numbers of anchors.
struct Tests {
    Motion unseen;
    std::vector<std::pair<int, Motion>> anchored;  // by the number of anchors
};

Tests make_tests(const fs::path& folder, const Scale& scale, const Cloth& source,
                 const CommonOptions& common)
{
    const auto make = [&](int anchors, int rollouts) {
        const fs::path path = folder / fmt::format("unseen-{}.h5", anchors);
        make_motion(path, source,
                    motion_options(scale, rollouts, anchors, common.seed + kUnseen + anchors),
                    common);
        return until_interrupted(open_motion(path));
    };
    Tests tests{make(2, scale.test_rollouts), {}};
    for (const int anchors : {1, 3, 4}) {
        tests.anchored.emplace_back(anchors, make(anchors, scale.anchored_rollouts));
    }
    return tests;
}

nlohmann::json number(double value)
{
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// What a cloth does on all tests. One that blows up has no numbers.
class Judge {
  public:
    Judge(const Tests& tests, const Cloth& source, const CommonOptions& common)
        : tests_(tests), source_(source), common_(common)
    {
    }

    nlohmann::json row(const std::string& name, const Cloth& cloth) const
    {
        nlohmann::json row{{"name", name}, {"unseen", error_of(cloth, tests_.unseen)}};
        for (const auto& [anchors, motion] : tests_.anchored) {
            row[fmt::format("anchors_{}", anchors)] = error_of(cloth, motion);
        }
        if (cloth.springs.spring_count() > 0) {
            row["map_correlation"] = number(map_correlation(cloth, source_));
        }
        return row;
    }
    nlohmann::json still_row() const
    {
        nlohmann::json row{{"name", "nothing moves"}};
        row["unseen"] = brief(static_error(tests_.unseen));
        for (const auto& [anchors, motion] : tests_.anchored) {
            row[fmt::format("anchors_{}", anchors)] = brief(static_error(motion));
        }
        return row;
    }

  private:
    static nlohmann::json brief(const MotionError& error)
    {
        return {{"mean", number(error.mean)}, {"std", number(error.std)}};
    }
    nlohmann::json error_of(const Cloth& cloth, const Motion& motion) const
    {
        const MotionHeader& header = motion.header;
        // The source at its own step; a cloth that needs shorter ones gets them.
        const int substeps = stable_substeps(cloth, header.environment, header.dt);
        const auto error = [&](int parts) {
            return brief(surrogate_error(cloth, motion, device_named(common_.device),
                                         common_.threads, show_progress(common_.quiet), parts));
        };
        try {
            return error(cloth.springs.spring_count() > 0 ? 1 : substeps);
        } catch (const Failure&) {
            return {{"mean", nullptr}, {"std", nullptr}};
        }
    }

    const Tests& tests_;
    const Cloth& source_;
    const CommonOptions& common_;
};

// The source with all stiffness raised by a share.
Cloth stiffened(Cloth cloth, double share)
{
    for (const Parameter& parameter : parameters_in(cloth)) {
        if (parameter.is_damping()) continue;
        for (double& value : values_of(cloth, parameter)) value *= 1 + share;
    }
    return cloth;
}

// One training, and the row that its cloth with a value for every element gives.
struct Training {
    std::string name, row;
    LearnOptions options;
};

LearnOptions with_law(const SpringLaw& law)
{
    LearnOptions options;
    options.law = law;
    return options;
}

LearnOptions on_grid(int side, LearnOptions options = {})
{
    options.grid = Grid{side, side};
    return options;
}

// What more time than a minute or two gains.
LearnOptions longer()
{
    LearnOptions options;
    options.horizons = {{100, 1}, {200, 2}};
    options.batch = 128;
    return options;
}

std::vector<Training> trainings_of(const Scale& scale)
{
    const SpringLaw published = law_named("published");
    const auto square = [](int side) { return fmt::format("{0} x {0}", side); };
    std::vector<Training> trainings{
        {"default", "per spring, lean law: what `train` learns by default", {}},
        {"published-law", "per spring, published law (k, b)", with_law(published)},
        {"finer", "per spring, lean law, on a grid of " + square(scale.mesh + 1),
         on_grid(scale.mesh + 1)}};
    if (!scale.all_rows) return trainings;
    const std::vector<Training> more{
        {"full", "per spring, full law", with_law(law_named("full"))},
        {"k2-b", "per spring, k+, k-, b", with_law({.knots = {0}})},
        {"k-b-bends", "per spring, k, b, kappa, eta", with_law({.knots = {}, .bends = true})},
        {"k-b-c", "per spring, k, b, c", with_law({.knots = {}, .isotropic = true})},
        {"k2-b-c", "per spring, k+, k-, b, c", with_law({.knots = {0}, .isotropic = true})},
        {"k-b-c-bends", "per spring, k, b, c, kappa, eta",
         with_law({.knots = {}, .isotropic = true, .bends = true})},
        {"long", "per spring, lean law, longer clips and ten times the work", longer()},
        {"24", "per spring, lean law, on a grid of 24 x 24", on_grid(24)},
        {"16", "per spring, lean law, on a grid of 16 x 16", on_grid(16)},
        {"published-32", "per spring, published law, on a grid of 32 x 32",
         on_grid(32, with_law(published))},
        {"published-24", "per spring, published law, on a grid of 24 x 24",
         on_grid(24, with_law(published))},
        {"published-16", "per spring, published law, on a grid of 16 x 16",
         on_grid(16, with_law(published))}};
    trainings.insert(trainings.end(), more.begin(), more.end());
    return trainings;
}

// The rows of one training. The homogeneous networks are those of the first.
void add_rows(const Training& training, const fs::path& folder, const Judge& judge,
              const CommonOptions& common, nlohmann::json& rows)
{
    note(common, training.row);
    const RunFolder run = open_run(folder / training.name, training.name, common);
    const Learned learned = learn_in(run, folder / "train.h5", training.options, common);
    write_png(run.path() / "stiffness.png", draw_stiffness(learned.cloth));
    if (rows.empty()) {
        rows.push_back(judge.row("homogeneous, published law (k, b)", learned.steps.front().cloth));
        rows.push_back(judge.row("homogeneous, lean law", learned.steps[1].cloth));
    }
    rows.push_back(judge.row(training.row, learned.steps.back().cloth));
    rows.back()["seconds"] = learned.training_seconds;
}

// Errors that others published for their own cloth of the same size and mesh. [m]
void add_published_rows(nlohmann::json& rows)
{
    struct Published {
        const char* name;
        double mean, std;
    };
    for (const Published& p : {Published{"published: springs", 0.64, 0.42},
                               {"published: MeshGraphNets, 48 h of training", 0.68, 0.45},
                               {"published: neural ODE", 6.34, 6.30}}) {
        rows.push_back({{"name", p.name}, {"unseen", {{"mean", p.mean}, {"std", p.std}}}});
    }
}

std::string text_of(const nlohmann::json& rows, const Scale& scale)
{
    const auto mean = [](const nlohmann::json& row, const char* key) {
        const bool there = row.contains(key) && !row[key]["mean"].is_null();
        return there ? fmt::format("{:.3f}", row[key]["mean"].get<double>()) : std::string("-");
    };
    const auto plain = [](const nlohmann::json& row, const char* key, const char* pattern) {
        const bool there = row.contains(key) && !row[key].is_null();
        return there ? fmt::format(fmt::runtime(pattern), row[key].get<double>())
                     : std::string("-");
    };
    std::string text = fmt::format(
        "Springs learn from {} rollouts of a finite-element sheet ({} s, held by two anchors), and "
        "then run by themselves on rollouts that nothing was chosen by. The figures are the motion "
        "RMSE [m]: the distance from the free landmarks, root mean square, mean over all frames. "
        "The first column has {} rollouts like those of the training, the next ones {} each with "
        "other numbers of anchors. The map is the stiffness of each cell; its correlation is that "
        "with the map of the source. The source itself with a finer mesh, or a little stiffer, "
        "says how close any cloth can come. Published figures belong to another cloth of that "
        "size.\n\n"
        "| cloth | two anchors | one | three | four | correlation of the map | training [s] |\n"
        "|---|---|---|---|---|---|---|\n",
        scale.rollouts, scale.seconds, scale.test_rollouts, scale.anchored_rollouts);
    for (const nlohmann::json& row : rows) {
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row["name"].get<std::string>(),
                        mean(row, "unseen"), mean(row, "anchors_1"), mean(row, "anchors_3"),
                        mean(row, "anchors_4"), plain(row, "map_correlation", "{:.2f}"),
                        plain(row, "seconds", "{:.0f}"));
    }
    return text;
}

}  // namespace

int reproduce_generalisation(const ReproduceArguments& arguments)
{
    const Scale scale = scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    const CommonOptions& common = arguments.common;
    fs::create_directories(folder);
    const Cloth source = reference_cloth({scale.mesh, scale.mesh}, MeshCut::diagonal);
    const Cloth finer = reference_cloth({scale.finer, scale.finer}, MeshCut::diagonal);
    write_cloth(folder / "source.json", source);
    write_png(folder / "source.png", draw_stiffness(source));
    make_motion(folder / "train.h5", source, motion_options(scale, scale.rollouts, 2, common.seed),
                common);
    const Tests tests = make_tests(folder, scale, source, common);
    const Judge judge(tests, source, common);

    nlohmann::json rows = nlohmann::json::array();
    for (const Training& training : trainings_of(scale)) {
        add_rows(training, folder, judge, common, rows);
    }
    rows.push_back(
        judge.row(fmt::format("the source itself with a mesh of {0} x {0}", scale.finer), finer));
    rows.push_back(judge.row("the source itself, 1 % stiffer", stiffened(source, 0.01)));
    rows.push_back(judge.still_row());
    add_published_rows(rows);
    write_result(arguments, "Following finite elements on motion never seen",
                 {{"training_rollouts", scale.rollouts},
                  {"test_rollouts", scale.test_rollouts},
                  {"rows", rows}},
                 text_of(rows, scale));
    return kDone;
}

}  // namespace springtime::app
