#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/identify.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

// Learns a cloth of springs from motion.
//
//     const auto motion = Motion::from_arrays(sheet, rest, frames_per_second, positions);
//     const Learned learned = learn(motion, {.grid = Grid{20, 20}});
//
// learn() is what `springtime train` does. Its parts, train() and fit_homogeneous() here and
// identify() in identify.h, can be had by themselves.
namespace springtime {

// ---- The recipe ----

enum class LearnMethod {
    automatic,  // solves, then descends where that follows the motion better
    linear,     // solves for all springs at once
    gradient    // descends through the simulator
};
enum class LearnPasses {
    dual,   // stiffness on slow clips, then damping on all
    single  // both at once
};
enum class Freeze { stiffness, damping };

// Parts that a step of the motion is cut into.
struct Substeps {
    std::optional<int> count;  // without one: as many as the springs need (stable_substeps), in a
                               // coarse ladder of numbers
};

// What is not given depends on the motion: one schedule for motion with a source, another one for
// captured motion (docs/learning.md).
struct LearnOptions {
    LearnMethod method = LearnMethod::automatic;
    // Particles of the surrogate. Otherwise 32 x 32; for captured motion the grid of the landmarks,
    // one twice as fine where that does clearly better, or about as many particles as landmarks.
    std::optional<Grid> grid{};
    std::vector<SpringFamily> families{kSpringFamilies.begin(), kSpringFamilies.end()};
    SpringLaw law{};
    // Of the linear method (IdentifyOptions).
    BalanceForm form = BalanceForm::automatic;
    Instruments instruments = Instruments::automatic;
    std::optional<double> window{}, prior{};
    bool iterative = false;
    // Of the descent (TrainOptions).
    std::optional<LearnPasses> passes{};
    std::optional<int> rounds{}, stiffness_iterations{}, damping_iterations{}, clip_steps{};
    std::optional<int> patience{};  // with 0 nothing ends it early
    std::optional<Substeps> substeps{};
    std::optional<double> stiffness_rate{}, damping_rate{};
    // One for all passes, or one for each of the two.
    std::vector<double> force_weight{}, impulse_weight{}, position_weight{}, negative_weight{};
    std::optional<bool> logarithmic{};
    std::optional<Freeze> freeze{};                            // parameters that keep their start
    std::optional<double> stiffness_start{}, damping_start{};  // [N/m], [N s/m]
    double round_decay = 0.3;
    bool cosine = true;
    int batch = 32;
    double slow_seconds = 1;
    // Of both.
    double validation_share = 0.05;
    int validation_clips = 32;
    int validate_every = 8;
    std::uint64_t seed = 1;
    int threads = 0;
    Device device = Device::automatic;
};

struct LossTerms {
    double force = 0, impulse = 0, position = 0, negativity = 0;  // unweighted, but for the last
    double total = 0;
};

// The least and the greatest value of a parameter.
struct ParameterBounds {
    const ParameterKind* kind;
    double low, high;
};

// One iteration of a descent.
struct TrainLog {
    int iteration = 0, pass = 0, round = 0;
    LossTerms loss;
    double gradient_norm = 0;
    std::vector<ParameterBounds> bounds;    // of all learned parameters
    std::optional<double> validation_rmse;  // [m], where it was measured in this iteration
    double seconds = 0;                     // of this iteration
};

// Errors are motion RMSEs on the validation motion, which nothing was trained on [m]; not a number
// where the cloth blows up.
struct Learned {
    Cloth cloth;  // with standard errors where it is the linear answer, or was refined from it
    double validation_rmse = 0;
    // What it is compared with, where the method made it.
    std::optional<Identification> linear;
    std::optional<double> linear_rmse;
    std::optional<Cloth> homogeneous;
    std::optional<double> homogeneous_rmse;
    std::vector<TrainLog> log;  // of the descent, earlier runs included; empty without one
    int iterations = 0;         // of the descent
    int best_iteration = 0;     // 0: the start was best
    // The descent ended early because its springs came to need too short steps.
    bool too_stiff = false;
    double longest_step = 0;      // [s] that the cloth runs soundly with
    int substeps = 1;             // that a step of the motion is cut into for that
    std::string summary;          // what was done and why, in words, a line each
    double seconds = 0;           // of this run
    double training_seconds = 0;  // of solving and of the iterations, earlier runs included
};

// Everything a descent needs to go on bit for bit as if never stopped.
struct TrainState {
    int iteration = 0;  // counted over all passes and rounds
    ParameterValues parameters;
    ParameterValues mean, square;                   // Adam
    double stiffness_scale = 0, damping_scale = 0;  // means of the start, which rates refer to
    std::optional<double> best_validation;          // [m]; none before a finite one was found
    int best_iteration = 0;
    ParameterValues best;
};

// What a run of learn() has finished. A run that begins with it goes on from there and ends with
// the same bits.
struct LearnState {
    std::optional<Cloth> homogeneous;
    std::optional<Identification> linear;
    std::optional<TrainState> descent;
    std::vector<TrainLog> log;          // of the iterations before `descent`
    std::vector<std::string> warnings;  // what was found damaged and is done again
};

// Keeps what a run of learn() finishes, as it is finished, and hears what is chosen. This one keeps
// nothing. RunFolder (files.h) keeps it in a folder.
class LearnStore {
  public:
    virtual ~LearnStore() = default;

    // Called once, as soon as the input is known to be good: what earlier runs have finished.
    virtual LearnState open() { return {}; }
    virtual void keep_homogeneous(const Cloth&) {}
    virtual void keep_linear(const Identification&) {}
    virtual void keep_log(const TrainLog&) {}
    // Every few iterations, and when the descent ends or is cancelled.
    virtual void keep_descent(const TrainState&) {}
    virtual void keep_best(const Cloth&) {}            // the best cloth so far
    virtual void finish(const Learned&) {}             // nothing comes after this
    virtual void note(const std::string& /*text*/) {}  // a sentence for people
};

// Keeps it in memory.
class MemoryStore : public LearnStore {
  public:
    LearnState open() override;
    void keep_homogeneous(const Cloth& cloth) override { state.homogeneous = cloth; }
    void keep_linear(const Identification& linear) override { state.linear = linear; }
    void keep_log(const TrainLog& log) override { state.log.push_back(log); }
    void keep_descent(const TrainState& descent) override { state.descent = descent; }
    void keep_best(const Cloth& cloth) override { best = cloth; }
    void note(const std::string& text) override { notes.push_back(text); }

    LearnState state;
    std::optional<Cloth> best;
    std::vector<std::string> notes;
};

// Learns a surrogate of the motion: cuts recordings into segments and leaves some out for
// validation, chooses the grid, solves, descends, and says why. The motion is read through the one
// that is given. With a store, goes on from what that has kept. The result depends on the motion
// and the options alone, not on threads or interruptions. Throws Error on bad input, and Failure
// when a gradient is not finite.
Learned learn(const Motion& motion, const LearnOptions& options, const Progress& progress = {},
              LearnStore* store = nullptr);

// A motion RMSE [m] of clips below which there is nothing left to refine: noise of the positions,
// noise of the velocities that clips begin with, and rounding.
double refinement_floor(const Identification& linear, int clip_steps, const MotionHeader& header);

// ---- The descent by itself ----

struct LossWeights {
    double force = 1, impulse = 10, position = 0;
    double negative_stiffness = 0, negative_damping = 0;
};

// Stiffness stands for that of all ranges, damping for both dashpots.
enum class Learn { stiffness, damping, both };

// A run of iterations that learns some of the parameters while the others stay.
struct TrainPass {
    Learn learn = Learn::both;
    int iterations = 128;
    bool slow_clips = false;  // only clips of the last second of each rollout
    LossWeights weights;
};

struct TrainOptions {
    GridOptions grid;
    SpringLaw law;                  // of the surrogate
    std::vector<TrainPass> passes;  // of one round
    int rounds = 4;
    int batch = 32;
    int clip_steps = 500;  // rounded down to whole frames
    // Without: one, since the source had that step; for captured motion, which has none, as many as
    // the springs need. Cloths that would then need steps below 10 microseconds are not considered.
    std::optional<Substeps> substeps;
    double slow_seconds = 1;      // what counts as the end of a rollout [s]
    double stiffness_rate = 0.1;  // step of Adam, relative to the mean of the start
    double damping_rate = 0.075;
    double round_decay = 0.3;  // each round begins with this share of the rates of the one before
    bool cosine = true;        // rates decay like a cosine over each pass; otherwise constant
    // Learn the logarithms: parameters stay positive by themselves. One that is zero at the start
    // begins at a hundredth of the mean, since zero has no logarithm.
    bool logarithmic = false;
    std::optional<double> stiffness_start;  // [N/m], in all ranges, instead of that of `start`
    std::optional<double> damping_start;    // [N s/m], likewise
    std::optional<Cloth> start;  // to begin with; without one, the best constants are searched for
    double validation_share = 0.05;
    int validation_clips = 32;
    int validate_every = 8;       // iterations
    std::optional<int> patience;  // iterations without a better validation that end it
    std::uint64_t seed = 1;
    int threads = 0;
    Device device = Device::automatic;
};

struct TrainHooks {
    std::function<void(const TrainLog&)> on_log;
    // After every iteration whose state may be stored.
    std::function<void(const TrainState&)> on_state;
};

struct TrainResult {
    Cloth cloth;  // of the best validation
    TrainState state;
    double final_loss = 0;
    double validation_rmse = 0;  // [m], of `cloth`
    bool too_stiff = false;      // it ended because the springs came to need too short steps
};

// The published protocol for a mass-spring source: stiffness on slow clips, then damping on all.
std::vector<TrainPass> dual_pass(int stiffness_iterations, int damping_iterations,
                                 const LossWeights& weights);
std::vector<TrainPass> single_pass(int iterations, const LossWeights& weights);

// A surrogate with the given grid, not yet learned.
Cloth make_surrogate(const MotionHeader& header, const GridOptions& grid, double stiffness,
                     double damping, const SpringLaw& law = {});

int total_iterations(const TrainOptions& options);

// Throws Error unless motion of this kind can be learned from with these options.
void check_train(const TrainOptions& options, const Motion& motion);

// Learns. With `resume`, goes on from there. Throws Error on bad input and Failure when a gradient
// is not finite, naming the clip, the step and the particle. When it is cancelled, the last state
// that on_state was given is the one to resume from.
TrainResult train(const Motion& motion, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress = {});

// The best network with one stiffness, in all ranges, and one damping per family, and no isotropic
// damping: a search over decades, then descent on the position loss, judged by the validation
// clips. Where particles lie between landmarks the search goes on by family instead, judged by
// whole rollouts; both diagonals, and all dampings, are then the same, and networks that would need
// more sub-steps than the options allow are left out.
Cloth fit_homogeneous(const Motion& motion, const TrainOptions& options,
                      const Progress& progress = {});

// The best cloth of a training so far.
Cloth best_cloth(const MotionHeader& header, const TrainOptions& options, const TrainState& state);

// Motion RMSE of a cloth with the options' grid on the validation clips, or on whole validation
// rollouts where particles lie between landmarks. [m]
double validation_error(const Motion& motion, const TrainOptions& options, const Cloth& cloth);

}  // namespace springtime
