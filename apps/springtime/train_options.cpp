#include "train_options.h"

namespace springtime::app {

namespace {

LossWeights weights_of(const TrainFlags& flags, std::size_t pass)
{
    const auto pick = [&](const std::vector<double>& values) {
        return values[std::min(pass, values.size() - 1)];
    };
    const double negative = pick(flags.negative_weight);
    return {pick(flags.force_weight), pick(flags.impulse_weight), pick(flags.position_weight),
            negative, negative};
}

std::vector<TrainPass> passes_of(const TrainFlags& flags)
{
    const bool learn_stiffness = flags.freeze != "stiffness";
    const bool learn_damping = flags.freeze != "damping";
    const bool slow = flags.run.slow_seconds > 0;
    if (flags.passes == "single") {
        const Learn learn = !learn_stiffness ? Learn::damping
                            : learn_damping  ? Learn::both
                                             : Learn::stiffness;
        return {{learn, *flags.stiffness_iterations + *flags.damping_iterations, false,
                 weights_of(flags, 0)}};
    }
    std::vector<TrainPass> passes;
    if (learn_stiffness) {
        passes.push_back(
            {Learn::stiffness, *flags.stiffness_iterations, slow, weights_of(flags, 0)});
    }
    if (learn_damping) {
        passes.push_back({Learn::damping, *flags.damping_iterations, false, weights_of(flags, 1)});
    }
    return passes;
}

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
    rare.add("--instruments", flags.instruments,
             "frames: even frames against odd ones, free of bias when noise is white; auto: where "
             "it is")
        .one_of({"auto", "none", "frames"});
    rare.add("--prior", flags.prior,
             "Weight of the pull towards the median of each family; negative: chosen by "
             "validation");
    rare.add("--solver", flags.solver, "direct: sparse LDL^T; iterative: conjugate gradients")
        .one_of({"direct", "iterative"});
}

int substeps_named(const std::string& text)
{
    if (text == "motion") return 0;
    if (text == "auto") return kAutoSubsteps;
    int substeps = 0;
    if (parse_int(text, substeps) && substeps >= 1) return substeps;
    throw Error("--substeps '{}': give a number of at least 1, auto or motion", text);
}

}  // namespace

void add_train_flags(const Flags& verb, TrainFlags& flags)
{
    const Flags descent = verb.in("Descent (--method gradient and auto)");
    const Flags loss = verb.in("Loss"), validation = verb.in("Validation");
    const auto weight = [&](const char* flag, std::vector<double>& values, const char* text,
                            const char* otherwise) {
        loss.add(flag, values, text).one_or_two().shows(otherwise);
    };
    verb.add("--method", flags.method,
             "linear: solve for all springs at once; gradient: descend through the simulator; "
             "auto: solve, then descend where that follows the motion better")
        .one_of({"auto", "linear", "gradient"});
    verb.add("--grid", flags.grid,
             "Particles of the surrogate, ROWSxCOLS; auto: 32x32, and for captured motion the grid "
             "of the landmarks, one twice as fine where that does clearly better, or about as many "
             "particles");
    add_families(verb, flags.families);
    add_knots(verb, flags.run.law.knots);
    verb.in(kClothGroup)
        .add_switch("--isotropic-damping", flags.run.law.isotropic,
                    "Learn a second dashpot per spring, against all relative velocity");
    descent
        .add(
            "--passes", flags.passes,
            "dual: stiffness on slow clips, then damping on all; single: both at once; auto: dual, "
            "and single for captured motion")
        .one_of({"auto", "dual", "single"});
    verb.add("--rounds", flags.rounds,
             "How often the passes are gone through; 4 unless given, 1 for captured motion")
        .between(1, 1000);
    verb.add("--stiffness-iterations", flags.stiffness_iterations,
             "Iterations of the stiffness pass, 128 unless given; a single pass takes the sum of "
             "both; 64 for captured motion")
        .between(0, 1000000);
    verb.add("--damping-iterations", flags.damping_iterations,
             "Iterations of the damping pass, 64 unless given, 32 for captured motion")
        .between(0, 1000000);
    descent.add("--stiffness-rate", flags.stiffness_rate,
                "Learning rate of stiffness, relative to the mean of its start; 0.1 unless given, "
                "0.01 for captured motion");
    descent.add("--damping-rate", flags.damping_rate,
                "Learning rate of damping, likewise; 0.075 unless given, 0.01 for captured motion");
    descent.add("--round-decay", flags.run.round_decay,
                "Each round begins with this share of the rates of the one before");
    descent.add("--schedule", flags.schedule, "How the rates go over a pass")
        .one_of({"cosine", "constant"});
    verb.add("--batch", flags.run.batch, "Clips per iteration");
    verb.add("--clip-steps", flags.clip_steps,
             "Time steps of a clip, rounded down to whole frames; 500 unless given, 150 for "
             "captured motion");
    descent.add("--substeps", flags.substeps,
                "Parts that a time step of the motion is cut into: a number, auto for as many as "
                "the springs need, or motion: 1 where the motion's own step is known, auto where "
                "it was captured");
    descent.add("--slow-seconds", flags.run.slow_seconds,
                "The stiffness pass sees the end of each rollout only, this long [s]; 0: all");
    weight("--force-weight", flags.force_weight,
           "Weight of the force loss, or one per pass; 1 unless given, 0 for captured motion", "");
    weight("--impulse-weight", flags.impulse_weight,
           "Weight of the impulse loss, likewise; 10 unless given, 0 for captured motion", "");
    weight("--position-weight", flags.position_weight,
           "Weight of the position loss, likewise; 0 unless given, 1 for captured motion", "");
    weight("--negative-weight", flags.negative_weight,
           "Penalty on negative parameters, likewise; 0 cuts them off at zero", "0");
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
    descent.add("--stiffness-start", flags.run.stiffness_start,
                "First stiffness [N/m]; 0: that of the best homogeneous network");
    descent.add("--damping-start", flags.run.damping_start,
                "First damping [N s/m]; 0: that of the best homogeneous network");
    validation.add("--validation-share", flags.run.validation_share,
                   "Share of the rollouts that is never trained on and chooses the best iteration");
    validation.add("--validation-clips", flags.run.validation_clips,
                   "Clips of the validation motion that are looked at");
    validation.add("--validate-every", flags.run.validate_every, "Iterations between two looks");
    validation
        .add("--patience", flags.patience,
             "End after this many iterations without a better look; 0, the default: never; 24 for "
             "captured motion")
        .between(0, 1000000);
    add_linear_flags(verb, flags);
}

TrainFlags fitted_to(TrainFlags flags, const MotionHeader& header)
{
    const bool captured = header.captured;
    const auto weight = [](std::vector<double>& values, double otherwise) {
        if (values.empty()) values = {otherwise};
    };
    if (flags.grid == "auto") {
        const Grid grid = captured ? fitting_grid(header) : Grid{32, 32};
        flags.grid = fmt::format("{}x{}", grid.rows, grid.cols);
    }
    if (flags.passes == "auto") flags.passes = captured ? "single" : "dual";
    flags.rounds = flags.rounds.value_or(captured ? 1 : 4);
    flags.stiffness_iterations = flags.stiffness_iterations.value_or(captured ? 64 : 128);
    flags.damping_iterations = flags.damping_iterations.value_or(captured ? 32 : 64);
    // Measured on a cloth of 0.3 m with 1 mm of noise: with clips of 0.1 s and steps of 1 % the
    // loss halves; from 0.5 s on gradients lead nowhere, since what a noisy start shakes is chaos.
    flags.run.clip_steps = captured ? 150 : 500;
    flags.stiffness_rate = flags.stiffness_rate.value_or(captured ? 0.01 : 0.1);
    flags.damping_rate = flags.damping_rate.value_or(captured ? 0.01 : 0.075);
    flags.patience = flags.patience.value_or(captured ? 24 : 0);
    flags.log_parameters = flags.log_parameters || (captured && !flags.plain_parameters);
    // Forces of captured motion are second differences, which noise drowns.
    weight(flags.force_weight, captured ? 0 : 1);
    weight(flags.impulse_weight, captured ? 0 : 10);
    weight(flags.position_weight, captured ? 1 : 0);
    return flags;
}

IdentifyOptions identify_options_from(const TrainFlags& flags, const CommonOptions& common)
{
    IdentifyOptions options;
    options.grid = grid_options(flags.grid, flags.families);
    options.law = flags.run.law;
    options.form = flags.form == "force"  ? BalanceForm::force
                   : flags.form == "weak" ? BalanceForm::weak
                                          : BalanceForm::automatic;
    options.instruments = flags.instruments == "frames" ? Instruments::frames
                          : flags.instruments == "none" ? Instruments::none
                                                        : Instruments::automatic;
    options.window = flags.window;
    options.prior = flags.prior;
    options.iterative = flags.solver == "iterative";
    options.validation_share = flags.run.validation_share;
    options.seed = common.seed;
    options.threads = common.threads;
    return options;
}

TrainOptions train_options_from(const TrainFlags& flags, const CommonOptions& common)
{
    TrainOptions options = flags.run;
    options.grid = grid_options(flags.grid, flags.families);
    options.passes = passes_of(flags);
    options.cosine = flags.schedule == "cosine";
    options.logarithmic = flags.log_parameters;
    options.clip_steps = flags.clip_steps.value_or(flags.run.clip_steps);
    options.stiffness_rate = *flags.stiffness_rate;
    options.damping_rate = *flags.damping_rate;
    options.rounds = *flags.rounds;
    options.patience = *flags.patience;
    options.substeps = substeps_named(flags.substeps);
    options.seed = common.seed;
    options.threads = common.threads;
    options.device = device_named(common.device);
    return options;
}

}  // namespace springtime::app
