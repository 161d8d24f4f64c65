#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
// learn() is what `springtime train` does. Its parts can be called alone: train() and
// fit_homogeneous() here, and identify() in identify.h.
namespace springtime {

// ---- The recipe ----

enum class LearnMethod {
    automatic,   // solves, and descends on trajectories unless that follows the motion exactly
    trajectory,  // descends on trajectories, in steps of growing detail
    linear,      // solves for all springs at once
    gradient     // descends on forces and impulses of short clips, as published
};
enum class LearnPasses {
    dual,   // stiffness on slow clips, then damping on all
    single  // both at once
};
enum class Freeze { stiffness, damping };

// What the learned cloth consists of.
enum class LearnElements {
    springs,
    triangles  // and hinges: a finite-element sheet, in the units of fabrics
};

// How many parts a step of the motion is cut into.
struct Substeps {
    std::optional<int> count;  // absent: as many as the springs need (stable_substeps), rounded up
                               // to a coarse ladder of numbers
};

// A part of a descent: some iterations on clips of one length.
struct Horizon {
    int iterations = 0;
    double seconds = 0;  // rounded to whole frames, at least one
};

// A descent on trajectories: the motion of a cloth that runs by itself is compared with the
// landmarks over long clips. docs/learning.md says why each part is as it is.
struct DescentOptions {
    std::vector<Horizon> horizons;
    int batch = 32;            // clips per iteration
    double start_share = 0.5;  // of the clips, that start with their rollout; others anywhere
    double rate = 0.1;         // of the logarithms; falls like a cosine
    double level_rate = 2;     // of the levels of families, times the rate
    // Rows and columns are as stiff in compression as in tension, and of the deviations only those
    // of stiffness (and mass) are learned; damping and bending have one value per family.
    bool lean = false;
    bool deviate = true;  // every element has its own value; otherwise one per family
    // Passes of [1 2 1] along rows and columns over the gradient of the deviations: few recordings
    // say more about a neighbourhood than about a spring. So many at first, none at the end.
    int smoothing = 6;
    double gradient_limit = 2;      // of the median over the clips
    double averaging = 0.95;        // decay of the running mean of the logarithms
    int validate_every = 32;        // iterations
    bool masses = false;            // every particle has its own mass, too; their sum stays
    bool squares = false;           // the loss is the mean of squares instead of that of distances
    std::optional<double> width{};  // distance beyond which outliers count less [m]; absent: none
    std::uint64_t seed = 1;
};

// What Globals consist of, by the words of `--fix`.
enum class GlobalKind : std::uint8_t {
    size,     // length and width of the sheet
    drag,     // of the air
    air,      // that moves with the cloth
    tilt,     // of gravity
    delay,    // of the cloth behind the stated paths of held points
    paths,    // turn, stretch and offsets of these paths
    tracker,  // where it shows landmarks beside where they are
};
inline constexpr std::array kGlobalKinds{GlobalKind::size,   GlobalKind::drag,  GlobalKind::air,
                                         GlobalKind::tilt,   GlobalKind::delay, GlobalKind::paths,
                                         GlobalKind::tracker};
std::string_view name_of(GlobalKind kind);

// The defaults of absent options depend on the motion. There is one schedule for simulated motion
// and another for captured motion (docs/learning.md).
struct LearnOptions {
    LearnMethod method = LearnMethod::automatic;
    // Particles of the surrogate. Absent: the grid of the landmarks if they form one, or a grid
    // with about as many particles. For captured motion one twice as fine is tried as well.
    std::optional<Grid> grid{};
    // Absent: all, but those across two cells where the law has quadratic bending.
    std::optional<std::vector<SpringFamily>> families{};
    // Absent: for trajectories the published law first, then the parts of the full law that pay
    // (docs/learning.md); otherwise the published law.
    std::optional<SpringLaw> law{};
    LearnElements elements = LearnElements::springs;
    // The mesh whose points are the particles, for triangles or for springs along its edges.
    // Absent, for triangles: that of the landmarks, a grid or else their Delaunay triangulation.
    std::optional<SheetMesh> mesh{};
    std::optional<MeshCut> cut{};  // of a grid; absent: the one that explains the motion best
    TriangleDamping damping_kind = TriangleDamping::deformation;  // of triangles
    bool orthotropic = false;  // triangles have a stiffness of their own along warp and weft
    // Triangles and hinges of a region share their parameters. One region makes the cloth
    // homogeneous. Absent: each has its own, but see below.
    std::optional<int> region_count{};     // found by clustering
    std::optional<ValueMap> region_map{};  // a region for each value
    // Where positions are noisy, regions are found by the motion itself, if it has any; not so if
    // every element is to be left for itself.
    bool single_elements = false;
    std::optional<bool> globals{};            // fit them first; absent: for captured motion
    std::vector<GlobalKind> fixed_globals{};  // these stay as the motion states them
    // The linear method (see IdentifyOptions).
    BalanceForm form = BalanceForm::automatic;
    Instruments instruments = Instruments::automatic;
    std::optional<double> window{}, prior{};
    // The descent on trajectories (see DescentOptions).
    std::vector<Horizon> horizons{};  // of the last step, with a value for every element
    std::optional<int> homogeneous_iterations{};
    std::optional<double> rate{}, start_share{}, width{};
    std::optional<int> smoothing{};
    // A mass for every particle, in the last step. Absent: for simulated motion, if the law is
    // absent as well.
    std::optional<bool> masses{};
    bool squares = false;
    // The published descent (see TrainOptions).
    std::optional<LearnPasses> passes{};
    std::optional<int> rounds{}, stiffness_iterations{}, damping_iterations{}, clip_steps{};
    std::optional<int> patience{};  // 0: it never ends early
    std::optional<Substeps> substeps{};
    std::optional<double> stiffness_rate{}, damping_rate{};
    // One number for all passes, or one for each of the two.
    std::vector<double> force_weight{}, impulse_weight{}, position_weight{}, negative_weight{};
    std::optional<bool> logarithmic{};
    std::optional<Freeze> freeze{};                            // parameters that do not change
    std::optional<double> stiffness_start{}, damping_start{};  // [N/m], [N s/m]
    double round_decay = 0.3;
    bool cosine = true;
    int batch = 32;
    double slow_seconds = 1;
    // Both methods.
    double validation_share = 0.125;
    int validation_rollouts = 16;  // at most
    std::optional<int> validate_every{};
    std::uint64_t seed = 1;
    int threads = 0;
    Device device = Device::automatic;
    Crew* crew = nullptr;  // shares the work
};

struct LossTerms {
    double force = 0, impulse = 0, position = 0;  // without their weights
    double negativity = 0;                        // with its weight
    double total = 0;
    double trajectory = 0;  // of descents on trajectories, which have no other terms
};

// The smallest and the largest value of a parameter.
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
    std::optional<double> validation_rmse;  // [m], if it was measured in this iteration
    double seconds = 0;                     // of this iteration
};

// The error of a cloth on whole validation rollouts, which training does not see. The error of a
// frame is the root mean square of the distance at the free landmarks. [m]
struct ValidationError {
    double mean = 0;                 // over all frames; NaN if the cloth blows up
    std::vector<double> by_rollout;  // over the frames of each
};

// One of the answers that learn() compares, from the simplest to the most detailed.
struct LearnStep {
    std::string name;  // "homogeneous, full law"
    Cloth cloth;
    ValidationError error;
    double seconds = 0;  // of this run
};

// The result of learn(). Errors are the means of ValidationError. [m]
struct Learned {
    Cloth cloth;  // with standard errors if it is the linear solution, or was refined from it
    double validation_rmse = 0;
    // What it is compared with, if the method computed it.
    std::vector<LearnStep> steps;  // of descents on trajectories
    std::optional<double> nothing_moves_rmse, first_shape_follows_rmse;
    std::optional<Identification> linear;
    std::optional<double> linear_rmse;
    std::optional<Cloth> homogeneous;
    std::optional<double> homogeneous_rmse;
    std::vector<TrainLog> log;  // of the descent, earlier runs included; empty without one
    int iterations = 0;         // of the descent
    int best_iteration = 0;     // 0: the start was best
    // True if the descent ended early because the springs came to need too short steps.
    bool too_stiff = false;
    double longest_step = 0;      // the longest step that is safe for the cloth [s]
    int substeps = 1;             // the number of safe sub-steps in a step of the motion
    std::string summary;          // what was done and why, in words, a line each
    double seconds = 0;           // of this run
    double training_seconds = 0;  // of solving and of the iterations, earlier runs included
};

// Everything that a descent needs to continue as if it had never stopped, to the last bit.
struct TrainState {
    int iteration = 0;             // counted over all passes and rounds
    ParameterValues parameters;    // their logarithms in descents on trajectories
    ParameterValues mean, square;  // Adam
    // Of descents on trajectories: Adam for the levels of families, and the running mean.
    ParameterValues level_mean{}, level_square{}, average{};
    double stiffness_scale = 0, damping_scale = 0;  // means at the start, the unit of rates
    // Of descents on trajectories: the lowest error so far, that `best` may exceed a little. [m]
    double lowest_validation = 0;
    std::optional<double> best_validation;  // of `best` [m]; absent before the first finite one
    int best_iteration = 0;
    ParameterValues best;
};

// What a run of learn() has finished so far. A run that starts from it ends with the same bits as
// one that was never interrupted.
struct LearnState {
    std::optional<Cloth> homogeneous;
    std::optional<Identification> linear;
    std::vector<Cloth> steps;  // what descents on trajectories have finished, in order
    std::optional<TrainState> descent;
    std::vector<TrainLog> log;          // of the iterations before `descent`
    std::vector<std::string> warnings;  // what was damaged and is computed again
};

// Receives what a run of learn() finishes, step by step. This base class keeps nothing. RunFolder
// (files.h) keeps everything in a folder.
class LearnStore {
  public:
    virtual ~LearnStore() = default;

    // Called once, as soon as the input is known to be valid. Returns what earlier runs finished.
    virtual LearnState open() { return {}; }
    virtual void keep_homogeneous(const Cloth&) {}
    virtual void keep_linear(const Identification&) {}
    virtual void keep_step(std::size_t /*number*/, const Cloth&) {}
    virtual void keep_log(const TrainLog&) {}
    // Called every few iterations, and when the descent ends or is cancelled.
    virtual void keep_descent(const TrainState&) {}
    virtual void keep_best(const Cloth&) {}            // the best cloth so far
    virtual void finish(const Learned&) {}             // the last call
    virtual void note(const std::string& /*text*/) {}  // a sentence for people
};

// Keeps everything in memory.
class MemoryStore : public LearnStore {
  public:
    LearnState open() override;
    void keep_homogeneous(const Cloth& cloth) override { state.homogeneous = cloth; }
    void keep_linear(const Identification& linear) override { state.linear = linear; }
    void keep_step(std::size_t number, const Cloth& cloth) override
    {
        state.steps.resize(number);
        state.steps.push_back(cloth);
    }
    void keep_log(const TrainLog& log) override { state.log.push_back(log); }
    void keep_descent(const TrainState& descent) override { state.descent = descent; }
    void keep_best(const Cloth& cloth) override { best = cloth; }
    void note(const std::string& text) override { notes.push_back(text); }

    LearnState state;
    std::optional<Cloth> best;
    std::vector<std::string> notes;

    // Of a run that was cancelled: the best cloth of the descent so far; else what the last step
    // has learned, the linear answer, or the homogeneous network. Nothing before any of these.
    std::optional<Cloth> best_so_far() const;
};

// Learns a surrogate of the motion. It cuts recordings into segments, leaves some out for
// validation, chooses the grid, solves, descends, and reports its choices in a summary. With a
// store, it continues from what the store has kept. The result depends on the motion and the
// options alone, not on threads or interruptions. Throws Error on bad input, and Failure when a
// gradient is not finite.
Learned learn(const Motion& motion, const LearnOptions& options, const Progress& progress = {},
              LearnStore* store = nullptr);

// The error of runs of some seconds below which nothing is left to refine. It accounts for noise of
// positions, noise of the velocities at the start, and rounding. [m]
double refinement_floor(const Identification& linear, double seconds, const MotionHeader& header);

// ---- The globals by themselves ----

struct GlobalsOptions {
    std::vector<GlobalKind> fixed{};  // these stay as stated
    GridOptions grid{};               // of the network that is run
    int threads = 0;
    Device device = Device::automatic;
};

struct GlobalsFit {
    Globals globals;
    Cloth cloth;              // homogeneous, with the levels that were fitted beside
    double stated_error = 0;  // of the start, with everything as stated [m]
    double error = 0;         // mean over the frames at the free landmarks [m]
    int iterations = 0;
};

// Fits what the recordings of a capture share, together with levels of stiffness, damping and
// bending, to whole recordings that a homogeneous network follows from their first frames. Noise
// may have heavy tails: residuals count like those of a Student distribution. Where the motion says
// little, a number stays near what is stated. docs/learning.md says how. Throws Error if no
// recording has a free landmark.
GlobalsFit fit_globals(const Motion& motion, const GlobalsOptions& options,
                       const Progress& progress = {});

// One line for people: "sheet 0.286 +- 0.002 x 0.271 +- 0.002 m instead of 0.3 x 0.3 m as stated;
// ..."
std::string describe(const Globals& globals);

// ---- The descent by itself ----

struct LossWeights {
    double force = 1, impulse = 10, position = 0;
    double negative_stiffness = 0, negative_damping = 0;
};

// Which parameters a pass learns, by their role: all stiffnesses, all dampings, or both.
enum class Learn { stiffness, damping, both };

// A series of iterations that learns some of the parameters while the others stay constant.
struct TrainPass {
    Learn learn = Learn::both;
    int iterations = 128;
    bool slow_clips = false;  // use only clips from the last seconds of each rollout
    LossWeights weights;
};

struct TrainOptions {
    GridOptions grid;
    SpringLaw law;  // of the surrogate
    // What is learned instead of springs of that grid and law; its parameters do not matter.
    std::optional<Cloth> cloth{};
    std::optional<Regions> regions{};  // of descents on trajectories: levels of these, not families
    std::vector<TrainPass> passes;     // of one round
    int rounds = 4;
    int batch = 32;
    int clip_steps = 500;  // rounded down to whole frames
    // Absent: one for simulated motion, because the source had that step; as many as the springs
    // need for captured motion. Cloths that need steps below 10 microseconds are not considered.
    std::optional<Substeps> substeps;
    double slow_seconds = 1;      // length of the last part of a rollout, for slow_clips [s]
    double stiffness_rate = 0.1;  // step of Adam, relative to the mean of the start
    double damping_rate = 0.075;
    double round_decay = 0.3;  // factor on the rates from one round to the next
    bool cosine = true;        // rates decay like a cosine over each pass; otherwise constant
    // Learn logarithms, so that parameters stay positive. A parameter that is zero at the start
    // begins at a hundredth of the mean, because zero has no logarithm.
    bool logarithmic = false;
    std::optional<double> stiffness_start;  // [N/m], in all ranges, instead of that of `start`
    std::optional<double> damping_start;    // [N s/m], likewise
    std::optional<Cloth> start;             // absent: the best constants are searched for
    double validation_share = 0.125;
    int validation_rollouts = 16;  // at most
    int validate_every = 8;        // iterations
    std::optional<int> patience;   // end after this many iterations without a better validation
    std::uint64_t seed = 1;
    int threads = 0;
    Device device = Device::automatic;
    Crew* crew = nullptr;  // shares the clips
};

struct TrainHooks {
    std::function<void(const TrainLog&)> on_log;
    // Called after every iteration whose state may be stored.
    std::function<void(const TrainState&)> on_state;
};

struct TrainResult {
    Cloth cloth;  // of the best validation
    TrainState state;
    double final_loss = 0;
    double validation_rmse = 0;  // [m], of `cloth`
    bool too_stiff = false;      // it ended because the springs came to need too short steps
};

// The published protocol for a mass-spring source: stiffness on slow clips, then damping on all
// clips.
std::vector<TrainPass> dual_pass(int stiffness_iterations, int damping_iterations,
                                 const LossWeights& weights);
std::vector<TrainPass> single_pass(int iterations, const LossWeights& weights);

// A surrogate that has not learned yet: all springs have the given numbers.
Cloth make_surrogate(const MotionHeader& header, const GridOptions& grid, double stiffness,
                     double damping, const SpringLaw& law = {});

int total_iterations(const TrainOptions& options);

// Throws Error unless these options are valid and fit the motion.
void check_train(const TrainOptions& options, const Motion& motion);

// Descends through the simulator. With `resume`, it continues from that state. When it is
// cancelled, resume from the last state that on_state received. Throws Error on bad input. Throws
// Failure that names the clip, the step and the particle when a gradient is not finite.
TrainResult train(const Motion& motion, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress = {});

// The best homogeneous network of the published law: one stiffness and one damping per family. It
// is found by a search over decades and then by a descent on trajectories.
Cloth fit_homogeneous(const Motion& motion, const TrainOptions& options,
                      const Progress& progress = {});

// The best cloth of a training so far.
Cloth best_cloth(const MotionHeader& header, const TrainOptions& options, const TrainState& state);

// The error on whole validation rollouts of a cloth on the grid of the options. [m]
double validation_error(const Motion& motion, const TrainOptions& options, const Cloth& cloth);

// ---- The gradient by itself, for an optimiser of one's own

struct RolloutLossOptions {
    // Where clips begin. Empty: every rollout at its first frame.
    std::vector<Clip> clips{};
    std::optional<double> seconds{};  // of a clip; absent: to the end of its rollout
    bool squares = false;             // mean of squares instead of distances
    std::optional<double> width{};    // distance beyond which outliers count less [m]; absent: none
    std::optional<Substeps> substeps{};  // as in TrainOptions
    int threads = 0;
    Device device = Device::automatic;
};

struct RolloutGradient {
    double loss = 0;           // mean over the clips of that of DescentOptions [m], or its square
    double error = 0;          // mean of the root mean square distance over the frames [m]
    ParameterValues gradient;  // of the loss, by the learned parameters of the cloth
};

// Runs a cloth freely along clips of a motion, as descents on trajectories do, and goes back
// through every step. The result does not depend on the number of threads. Throws Failure when the
// cloth blows up.
RolloutGradient rollout_gradient(const Cloth& cloth, const Motion& motion,
                                 const RolloutLossOptions& options, const Progress& progress = {});

}  // namespace springtime
