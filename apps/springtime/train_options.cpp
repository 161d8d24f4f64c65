#include "train_options.h"

#include <algorithm>

#include "rank_session.h"

namespace springtime::app {

namespace {

void add_linear_flags(const Flags& verb, TrainFlags& flags)
{
    const Flags rare = verb.in("Linear solve (--method linear and auto)");
    rare.add("--form", flags.form,
             "Force balance at every frame (force), or in windows of positions (weak); auto: force "
             "where accelerations are stored")
        .one_of({"auto", "force", "weak"});
    rare.add("--window", flags.window,
             "Half width of the windows of the weak form [s]; 0: chosen by validation")
        .not_negative();
    rare.add(
            "--instruments", flags.instruments,
            "Against the bias of white noise; frames: even frames against odd ones; noise: as much "
            "noise is added again, and what that changes is taken off; auto: where noise is white "
            "and matters, frames for springs and noise for triangles")
        .one_of({"auto", "none", "frames", "noise"});
    rare.add("--prior", flags.prior,
             "Weight of the pull towards the median of each family; negative: chosen by "
             "validation");
}

std::optional<Substeps> substeps_named(const std::string& text)
{
    if (text == "motion") return std::nullopt;
    if (text == "auto") return Substeps{};
    int substeps = 0;
    if (parse_int(text, substeps) && substeps >= 1) return Substeps{substeps};
    throw Error("--substeps '{}': give a number of at least 1, auto or motion", text);
}

std::optional<double> positive(double value)
{
    return value > 0 ? std::optional<double>(value) : std::nullopt;
}

// None: what suits the method. Single terms add to the named law, or to the published one.
std::optional<SpringLaw> law_from(const TrainFlags& flags)
{
    const SpringLaw& terms = flags.terms;
    const bool more = !terms.knots.empty() || terms.isotropic || terms.bends;
    if (flags.law == "auto" && !more) return std::nullopt;
    SpringLaw law = law_named(flags.law == "auto" ? "published" : flags.law);
    if (!terms.knots.empty()) law.knots = terms.knots;
    law.isotropic |= terms.isotropic;
    law.bends |= terms.bends;
    return law;
}

// ---- What is learned

constexpr const char* kTriangles = "Triangles (--elements triangles and both)";

void add_element_flags(const Flags& verb, TrainFlags& flags)
{
    verb.add("--elements", flags.elements,
             "springs; triangles and hinges, a finite-element sheet in the units of fabrics; both, "
             "side by side in two folders")
        .one_of({"springs", "triangles", "both"});
    const Flags rare = verb.in(kTriangles);
    rare.add("--mesh", flags.mesh,
             "Flat mesh whose points are the particles, for triangles, or for springs along its "
             "edges; otherwise that of the landmarks")
        .shows("")
        .type("FILE.obj");
    rare.add("--cut", flags.cut,
             "How the cells of the landmarks' grid are cut into triangles; auto: as explains the "
             "motion best")
        .one_of({"auto", "diagonal", "antidiagonal", "alternating"});
    rare.add("--damping-kind", flags.damping_kind,
             "What the damping works against: every change of deformation, or the rate of strain "
             "alone")
        .one_of({"deformation", "strain"});
    rare.add_switch("--orthotropic", flags.orthotropic,
                    "Learn a stiffness of its own along warp (length) and weft (width)");
    const Flag regions =
        rare.add("--regions", flags.regions,
                 "Elements of a region share their parameters: K clusters that are found, or a "
                 "region for each value of a map; none: every element has its own; auto: likewise, "
                 "but where positions are noisy the motion chooses")
            .shows("auto")
            .type("auto|none|K|MAP.png|MAP.csv");
    rare.add_switch("--homogeneous", flags.homogeneous, "One region: the same fabric everywhere")
        .excludes(regions);
}

std::optional<MeshCut> cut_named(const std::string& name)
{
    for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
        if (name == name_of(cut)) return cut;
    }
    return {};
}

void set_elements(LearnOptions& options, const TrainFlags& flags)
{
    const bool triangles = flags.elements != "springs";
    if (triangles) options.elements = LearnElements::triangles;
    if (!flags.mesh.empty()) options.mesh = sheet_mesh(read_obj(flags.mesh), flags.mesh);
    if (!triangles) {
        const bool more = flags.cut != "auto" || flags.orthotropic || flags.homogeneous ||
                          !flags.regions.empty() || flags.damping_kind != "deformation";
        if (!more) return;
        throw Error(
            "--cut, --damping-kind, --orthotropic, --regions and --homogeneous are about "
            "triangles, "
            "and springs are learned; add --elements triangles");
    }
    options.cut = cut_named(flags.cut);
    options.orthotropic = flags.orthotropic;
    if (flags.damping_kind == name_of(TriangleDamping::strain)) {
        options.damping_kind = TriangleDamping::strain;
    }
    if (flags.homogeneous) options.region_count = 1;
    int count = 0;
    if (parse_int(flags.regions, count)) {
        options.region_count = count;
    } else if (flags.regions == "none") {
        options.single_elements = true;
    } else if (!flags.regions.empty() && flags.regions != "auto") {
        options.region_map = read_value_map(flags.regions);
    }
}

std::vector<Horizon> horizons_of(const TrainFlags& flags)
{
    if (flags.horizons.size() != flags.iterations.size()) {
        throw Error("--horizons has {} numbers and --iterations {}; give as many of each",
                    flags.horizons.size(), flags.iterations.size());
    }
    std::vector<Horizon> horizons;
    for (std::size_t i = 0; i < flags.horizons.size(); ++i) {
        if (!(flags.horizons[i] > 0) || !(flags.iterations[i] >= 1)) {
            throw Error("--horizons {} --iterations {}: both must be positive", flags.horizons[i],
                        flags.iterations[i]);
        }
        horizons.push_back({int(flags.iterations[i]), flags.horizons[i]});
    }
    return horizons;
}

void check_not_negative(const char* flag, double value)
{
    if (!(value >= 0)) throw Error("{} {}: it must not be negative", flag, value);
}

}  // namespace

void add_train_flags(const Flags& verb, TrainFlags& flags)
{
    const Flags descent = verb.in("Published descent (--method gradient)");
    const Flags loss = verb.in("Loss"), validation = verb.in("Validation");
    const auto weight = [&](const char* flag, std::vector<double>& values, const char* text,
                            const char* otherwise) {
        loss.add(flag, values, text).one_or_two().shows(otherwise);
    };
    verb.add("--method", flags.method,
             "linear: solve for all springs at once; trajectory: descend through the simulator, "
             "from "
             "one value per family to one per spring; auto: solve, and descend unless that follows "
             "the motion exactly; gradient: descend on forces of short clips, as published")
        .one_of({"auto", "linear", "trajectory", "gradient"});
    add_element_flags(verb, flags);
    verb.add("--grid", flags.grid,
             "Particles of the surrogate, ROWSxCOLS; auto: the grid of the landmarks, or about as "
             "many particles; for captured motion a grid twice as fine where that does clearly "
             "better");
    verb.in(kClothGroup)
        .add("--families", flags.families,
             "Spring families; all unless given, but those across two cells where bends take their "
             "place")
        .words()
        .shows("")
        .one_of({"structural", "diagonal", "antidiagonal", "bending"});
    verb.add("--law", flags.law,
             "What springs can do: published, a stiffness and a damping each; full, compression "
             "apart, isotropic damping and bending of three particles in line; coupled, with "
             "products of the stretches of neighbouring springs; auto: the parts of the full law "
             "that pay for trajectories, published otherwise. The flags among those of the cloth "
             "add single terms")
        .one_of({"auto", "published", "full", "coupled"});
    verb.add("--globals", flags.globals,
             "Fit first what the recordings of a capture share: size of the sheet, drag, air that "
             "moves along, tilt of gravity, delay and paths of held points, bias of the tracker; "
             "auto: for captured motion")
        .one_of({"auto", "none", "all"});
    verb.add("--fix", flags.fixed,
             "Of these, what is known and stays as the motion states it: size, drag, air, tilt, "
             "delay, paths, tracker; can be repeated")
        .words()
        .shows("")
        .one_of({"size", "drag", "air", "tilt", "delay", "paths", "tracker"});
    add_knots(verb, flags.terms.knots);
    verb.in(kClothGroup)
        .add_switch("--isotropic-damping", flags.terms.isotropic,
                    "Learn a second dashpot per spring, against all relative velocity");
    verb.in(kClothGroup)
        .add_switch("--bends", flags.terms.bends,
                    "Learn bending stiffness and damping of three particles in line");
    const Flags follow = verb.in("Descent on trajectories (--method trajectory and auto)");
    follow
        .add("--horizons", flags.horizons,
             "Seconds of the clips of the last step, one number for each part of it")
        .list();
    follow
        .add("--iterations", flags.iterations,
             "Iterations of the last step, one number for each part of it")
        .list();
    follow.add("--homogeneous-iterations", flags.learn.homogeneous_iterations,
               "Iterations of each homogeneous step");
    follow.add("--rate", flags.learn.rate, "Learning rate of the logarithms in the last step");
    follow.add("--start-share", flags.learn.start_share,
               "Share of the clips that start with their rollout; the others start at any frame");
    follow.add(
        "--smoothing", flags.learn.smoothing,
        "How often the gradient is smoothed over neighbouring springs at first; less and less "
        "later, and not at the end");
    follow
        .add("--masses", flags.masses,
             "learn: a mass for every particle as well; keep: those of the sheet; auto: learn for "
             "simulated motion, unless a law is given")
        .one_of({"auto", "learn", "keep"});
    follow.add("--loss", flags.loss, "distance: mean of distances; squares: of their squares")
        .one_of({"distance", "squares"});
    follow.add("--outlier-width", flags.learn.width,
               "Distance beyond which landmarks count less, for noise with outliers [m]");
    descent
        .add(
            "--passes", flags.passes,
            "dual: stiffness on slow clips, then damping on all; single: both at once; auto: dual, "
            "and single for captured motion")
        .one_of({"auto", "dual", "single"});
    verb.add("--rounds", flags.learn.rounds,
             "How often the passes are gone through; 4 unless given, 1 for captured motion")
        .between(1, 1000);
    verb.add("--stiffness-iterations", flags.learn.stiffness_iterations,
             "Iterations of the stiffness pass, 128 unless given; a single pass takes the sum of "
             "both; 64 for captured motion")
        .between(0, 1000000);
    verb.add("--damping-iterations", flags.learn.damping_iterations,
             "Iterations of the damping pass, 64 unless given, 32 for captured motion")
        .between(0, 1000000);
    descent.add("--stiffness-rate", flags.learn.stiffness_rate,
                "Learning rate of stiffness, relative to the mean of its start; 0.1 unless given, "
                "0.01 for captured motion");
    descent.add("--damping-rate", flags.learn.damping_rate,
                "Learning rate of damping, likewise; 0.075 unless given, 0.01 for captured motion");
    descent.add("--round-decay", flags.learn.round_decay,
                "Each round begins with this share of the rates of the one before");
    descent.add("--schedule", flags.schedule, "How the rates go over a pass")
        .one_of({"cosine", "constant"});
    verb.add("--batch", flags.learn.batch, "Clips per iteration");
    verb.add("--clip-steps", flags.learn.clip_steps,
             "Time steps of a clip, rounded down to whole frames; 500 unless given, 150 for "
             "captured motion");
    descent.add("--substeps", flags.substeps,
                "Parts that a time step of the motion is cut into: a number, auto for as many as "
                "the springs need, or motion: 1 where the motion's own step is known, auto where "
                "it was captured");
    descent.add("--slow-seconds", flags.learn.slow_seconds,
                "The stiffness pass sees the end of each rollout only, this long [s]; 0: all");
    weight("--force-weight", flags.learn.force_weight,
           "Weight of the force loss, or one per pass; 1 unless given, 0 for captured motion", "");
    weight("--impulse-weight", flags.learn.impulse_weight,
           "Weight of the impulse loss, likewise; 10 unless given, 0 for captured motion", "");
    weight("--position-weight", flags.learn.position_weight,
           "Weight of the position loss, likewise; 0 unless given, 1 for captured motion", "");
    weight("--negative-weight", flags.learn.negative_weight,
           "Penalty on negative parameters, likewise; 0, the default, cuts them off at zero", "");
    const Flag logarithms =
        descent.add_switch("--log-parameters", flags.log_parameters,
                           "Learn the logarithms, which keeps parameters positive, as is done for "
                           "captured motion");
    descent
        .add_switch("--plain-parameters", flags.plain_parameters,
                    "Learn the parameters themselves for captured motion, too")
        .excludes(logarithms);
    descent.add("--freeze", flags.freeze, "Parameters that keep their start")
        .one_of({"none", "stiffness", "damping"});
    descent.add("--stiffness-start", flags.stiffness_start,
                "First stiffness [N/m]; 0: that of the best homogeneous network");
    descent.add("--damping-start", flags.damping_start,
                "First damping [N s/m]; 0: that of the best homogeneous network");
    validation.add("--validation-share", flags.learn.validation_share,
                   "Share of the rollouts that is never trained on and chooses the best iteration");
    validation.add("--validation-rollouts", flags.learn.validation_rollouts,
                   "Validation rollouts that are run, at most");
    validation.add("--validate-every", flags.learn.validate_every,
                   "Iterations between two validations");
    validation
        .add("--patience", flags.learn.patience,
             "End after this many iterations without a better validation; 0, the default: never; "
             "24 for "
             "captured motion")
        .between(0, 1000000);
    add_linear_flags(verb, flags);
}

std::vector<SpringFamily> families_named(const std::vector<std::string>& names)
{
    std::vector<SpringFamily> families;
    for (const SpringFamily family : kSpringFamilies) {
        if (std::find(names.begin(), names.end(), name_of(family)) != names.end()) {
            families.push_back(family);
        }
    }
    return families;
}

LearnOptions learn_options_from(const TrainFlags& flags, const CommonOptions& common)
{
    check_not_negative("--stiffness-start", flags.stiffness_start);
    check_not_negative("--damping-start", flags.damping_start);
    LearnOptions options = flags.learn;
    options.method = flags.method == "linear"       ? LearnMethod::linear
                     : flags.method == "trajectory" ? LearnMethod::trajectory
                     : flags.method == "gradient"   ? LearnMethod::gradient
                                                    : LearnMethod::automatic;
    if (flags.grid != "auto") options.grid = parse_grid(flags.grid);
    if (!flags.families.empty()) options.families = families_named(flags.families);
    if (flags.globals != "auto") options.globals = flags.globals == "all";
    for (const GlobalKind kind : kGlobalKinds) {
        const auto& fixed = flags.fixed;
        if (std::find(fixed.begin(), fixed.end(), name_of(kind)) != fixed.end()) {
            options.fixed_globals.push_back(kind);
        }
    }
    set_elements(options, flags);
    options.law = law_from(flags);
    options.horizons = horizons_of(flags);
    options.squares = flags.loss == "squares";
    if (flags.masses != "auto") options.masses = flags.masses == "learn";
    options.form = flags.form == "force"  ? BalanceForm::force
                   : flags.form == "weak" ? BalanceForm::weak
                                          : BalanceForm::automatic;
    for (const Instruments known : {Instruments::none, Instruments::frames, Instruments::noise}) {
        if (flags.instruments == name_of(known)) options.instruments = known;
    }
    options.window = positive(flags.window);
    if (flags.prior >= 0) options.prior = flags.prior;
    if (flags.passes == "dual") options.passes = LearnPasses::dual;
    if (flags.passes == "single") options.passes = LearnPasses::single;
    if (flags.freeze == "stiffness") options.freeze = Freeze::stiffness;
    if (flags.freeze == "damping") options.freeze = Freeze::damping;
    if (flags.log_parameters) options.logarithmic = true;
    if (flags.plain_parameters) options.logarithmic = false;
    options.cosine = flags.schedule == "cosine";
    options.stiffness_start = positive(flags.stiffness_start);
    options.damping_start = positive(flags.damping_start);
    options.substeps = substeps_named(flags.substeps);
    options.seed = common.seed;
    options.threads = common.threads;
    options.crew = crew();
    options.device = device_named(common.device);
    return options;
}

}  // namespace springtime::app
