#include <filesystem>

#include "baselines.h"
#include "generalisation_text.h"
#include "presets.h"
#include "unseen_motion.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

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

LearnOptions with_law(LearnOptions options, const SpringLaw& law)
{
    options.law = law;
    return options;
}

LearnOptions on_grid(LearnOptions options, int side)
{
    options.grid = Grid{side, side};
    return options;
}

// What more time than a minute or two gains.
LearnOptions longer(LearnOptions options, const std::vector<Horizon>& horizons)
{
    options.horizons = horizons;
    options.batch *= 4;
    return options;
}

// The best law that is known here for a cloth of triangles (docs/research/generalisation.md).
LearnOptions coupled(LearnOptions options)
{
    options.method = LearnMethod::trajectory;
    options.law = law_named("coupled");
    options.masses = true;
    return options;
}

std::vector<Training> trainings_of(const GeneralisationScale& scale)
{
    const LearnOptions& usual = scale.learning;
    const SpringLaw published = law_named("published");
    const auto law = [&](const SpringLaw& of) { return with_law(usual, of); };
    const auto square = [](int side) { return fmt::format(", on a grid of {0} x {0}", side); };
    std::vector<Training> trainings{
        {"default", "per spring, lean law: what `train` learns by default", usual},
        {"published-law", "per spring, published law (k, b)", law(published)},
        {"full", "per spring, full law", law(law_named("full"))},
        {"k2-b", "per spring, k+, k-, b", law({.knots = {0}})},
        {"k-b-bends", "per spring, k, b, kappa, eta", law({.knots = {}, .bends = true})},
        {"k-b-c", "per spring, k, b, c", law({.knots = {}, .isotropic = true})},
        {"k2-b-c", "per spring, k+, k-, b, c", law({.knots = {0}, .isotropic = true})},
        {"k-b-c-bends", "per spring, k, b, c, kappa, eta",
         law({.knots = {}, .isotropic = true, .bends = true})},
        {"coupled", "per spring, coupled law, and masses", coupled(usual)},
        {"long", "per spring, lean law, longer clips and much more work",
         longer(usual, scale.more_work)},
        {"whole", "per spring, lean law, clips that grow to whole rollouts",
         longer(usual, scale.whole_work)},
        {"coupled-long", "per spring, coupled law, and masses, longer clips and much more work",
         longer(coupled(usual), scale.more_work)}};
    for (const auto& [key, side] : {std::pair{"finer", scale.finer},
                                    {"coarser", scale.coarser},
                                    {"coarsest", scale.coarsest}}) {
        trainings.push_back({key, "per spring, lean law" + square(side), on_grid(usual, side)});
        trainings.push_back({fmt::format("published-{}", key),
                             "per spring, published law" + square(side),
                             on_grid(law(published), side)});
    }
    return trainings;
}

// Numbers of a cloth that were learned or could be: all parameters of all elements.
std::size_t parameter_count(Cloth cloth)
{
    std::size_t count = 0;
    for (const Parameter& parameter : parameters_in(cloth)) {
        count += values_of(cloth, parameter).size();
    }
    return count;
}

// The rows of one training. The homogeneous networks are those of the first.
class RowMaker {
  public:
    RowMaker(const fs::path& folder, const UnseenMotion& unseen, const Cloth& source,
             const CommonOptions& common)
        : folder_(folder), unseen_(unseen), source_(source), common_(common)
    {
    }

    nlohmann::json row(const std::string& key, const std::string& name, const Cloth& cloth) const
    {
        nlohmann::json row = unseen_row(key, name, cloth, source_, unseen_, common_);
        row["parameters"] = parameter_count(cloth);
        return row;
    }

    void add(const Training& training, nlohmann::json& rows) const
    {
        note(common_, training.row);
        const RunFolder run = open_run(folder_ / training.name, training.name, common_);
        const Learned learned = learn_in(run, folder_ / "train.h5", training.options, common_);
        write_png(run.path() / "stiffness.png", draw_stiffness(learned.cloth));
        if (rows.empty()) {
            rows.push_back(row("homogeneous-published", "homogeneous, published law (k, b)",
                               learned.steps.front().cloth));
            rows.push_back(row("homogeneous", "homogeneous, lean law", learned.steps[1].cloth));
        }
        rows.push_back(row(training.name, training.row, learned.steps.back().cloth));
        rows.back()["seconds"] = learned.training_seconds;
    }

  private:
    fs::path folder_;
    const UnseenMotion& unseen_;
    const Cloth& source_;
    const CommonOptions& common_;
};

// Errors that others published for their own cloth of the same size and mesh. [m]
void add_published_rows(nlohmann::json& rows)
{
    struct Published {
        const char *key, *name;
        double mean, std;
    };
    for (const Published& p :
         {Published{"published-springs", "published: springs", 0.64, 0.42},
          {"published-mesh-graph-nets", "published: MeshGraphNets, 48 h of training", 0.68, 0.45},
          {"published-neural-ode", "published: neural ODE", 6.34, 6.30}}) {
        rows.push_back(
            {{"key", p.key}, {"name", p.name}, {"unseen", {{"mean", p.mean}, {"std", p.std}}}});
    }
}

// The source, the motion to learn from and the motion to be judged by, made once.
struct Prepared {
    GeneralisationScale scale;
    fs::path folder;
    Cloth source;
    UnseenMotion unseen;
};

Prepared prepare(const ReproduceArguments& arguments)
{
    GeneralisationScale scale = generalisation_scale_named(arguments.scale);
    if (arguments.training_rollouts) scale.rollouts = *arguments.training_rollouts;
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    fs::create_directories(folder);
    const Cloth source = reference_cloth({scale.mesh, scale.mesh}, MeshCut::diagonal);
    write_cloth(folder / "source.json", source);
    write_png(folder / "source.png", draw_stiffness(source));
    make_motion(folder / "train.h5", source,
                generalisation_run(scale, scale.rollouts, arguments.common.seed), arguments.common);
    return {scale, folder, source, make_unseen_motion(folder, scale, source, arguments.common)};
}

nlohmann::json result_of(const Prepared& prepared, const nlohmann::json& rows)
{
    return {{"training_rollouts", prepared.scale.rollouts},
            {"test_rollouts", prepared.scale.test_rollouts},
            {"seconds_of_rollouts", prepared.scale.seconds},
            {"springs_over_mesh_graph_nets", springs_over_networks(rows)},
            {"rows", rows}};
}

RowKeys keys_after_training()
{
    return {"still", "published-springs", "published-mesh-graph-nets", "published-neural-ode"};
}

void append(RowKeys& keys, const RowKeys& more)
{
    keys.insert(keys.end(), more.begin(), more.end());
}

}  // namespace

RowKeys generalisation_rows(const ReproduceArguments& arguments)
{
    RowKeys keys{"homogeneous-published", "homogeneous"};
    for (const Training& training : trainings_of(generalisation_scale_named(arguments.scale))) {
        keys.push_back(training.name);
    }
    if (arguments.baselines) append(keys, baseline_keys());
    append(keys, {"source-remeshed", "source-stiffer"});
    append(keys, keys_after_training());
    return keys;
}

RowKeys baseline_row_keys(const ReproduceArguments&)
{
    RowKeys keys = baseline_keys();
    append(keys, keys_after_training());
    return keys;
}

int reproduce_generalisation(const ReproduceArguments& arguments)
{
    const Prepared prepared = prepare(arguments);
    const auto& [scale, folder, source, unseen] = prepared;
    const CommonOptions& common = arguments.common;
    const RowMaker maker(folder, unseen, source, common);
    nlohmann::json rows = nlohmann::json::array();
    for (const Training& training : trainings_of(scale)) maker.add(training, rows);
    if (arguments.baselines) {
        for (nlohmann::json& row : baseline_rows(arguments, folder, unseen, source)) {
            rows.push_back(std::move(row));
        }
    }
    const Cloth finer = reference_cloth({scale.remeshed, scale.remeshed}, MeshCut::diagonal);
    rows.push_back(maker.row(
        "source-remeshed",
        fmt::format("the source itself with a mesh of {0} x {0}", scale.remeshed), finer));
    rows.push_back(
        maker.row("source-stiffer", "the source itself, 1 % stiffer", stiffened(source, 0.01)));
    rows.push_back(still_row(unseen));
    add_published_rows(rows);
    write_result(arguments, "Following finite elements on motion never seen",
                 result_of(prepared, rows), generalisation_text(rows, scale));
    return kDone;
}

int reproduce_baselines(const ReproduceArguments& arguments)
{
    const Prepared prepared = prepare(arguments);
    nlohmann::json rows =
        baseline_rows(arguments, prepared.folder, prepared.unseen, prepared.source);
    rows.push_back(still_row(prepared.unseen));
    add_published_rows(rows);
    write_result(arguments, "Baselines on motion never seen", result_of(prepared, rows),
                 generalisation_text(rows, prepared.scale));
    return kDone;
}

}  // namespace springtime::app
