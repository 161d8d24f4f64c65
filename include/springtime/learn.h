#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

struct LossWeights {
    double force = 1, impulse = 10, position = 0;
    double negative_stiffness = 0, negative_damping = 0;
};

struct LossTerms {
    double force = 0, impulse = 0, position = 0, negativity = 0;  // unweighted, but for the last
    double total = 0;
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

// As many parts of a step as are safe for a cloth (stable_substeps), in a coarse ladder of numbers.
inline constexpr int kAutoSubsteps = -1;

struct TrainOptions {
    GridOptions grid;
    SpringLaw law;                  // of the surrogate
    std::vector<TrainPass> passes;  // of one round
    int rounds = 4;
    int batch = 32;
    int clip_steps = 500;  // rounded down to whole frames
    // Parts that the surrogate cuts a step of the motion into, or kAutoSubsteps. Zero: one, since
    // the source had that step; for captured motion, which has none, as kAutoSubsteps. Cloths that
    // would then need steps below 10 microseconds are not considered.
    int substeps = 0;
    double slow_seconds = 1;      // what counts as the end of a rollout [s]
    double stiffness_rate = 0.1;  // step of Adam, relative to the mean of the start
    double damping_rate = 0.075;
    double round_decay = 0.3;  // each round begins with this share of the rates of the one before
    bool cosine = true;        // rates decay like a cosine over each pass; otherwise constant
    // Learn the logarithms: parameters stay positive by themselves. One that is zero at the start
    // begins at a hundredth of the mean, since zero has no logarithm.
    bool logarithmic = false;
    double stiffness_start = 0;  // [N/m], in all ranges; zero: that of `start`
    double damping_start = 0;    // [N s/m]; zero: that of `start`
    std::optional<Cloth> start;  // to begin with; without one, the best constants are searched for
    double validation_share = 0.05;
    int validation_clips = 32;
    int validate_every = 8;  // iterations
    int patience = 0;        // iterations without a better validation that end it; 0: no end
    std::uint64_t seed = 1;
    int threads = 0;
    Device device = Device::automatic;
};

// Everything needed to go on bit for bit as if never stopped.
struct TrainState {
    int iteration = 0;  // counted over all passes and rounds
    ParameterValues parameters;
    ParameterValues mean, square;                   // Adam
    double stiffness_scale = 0, damping_scale = 0;  // means of the start, which rates refer to
    double best_validation = -1;                    // [m]; negative before the first
    int best_iteration = 0;
    ParameterValues best;
};

// The least and the greatest value of a parameter.
struct ParameterBounds {
    const ParameterKind* kind;
    double low, high;
};

struct TrainLog {
    int iteration = 0, pass = 0, round = 0;
    LossTerms loss;
    double gradient_norm = 0;
    std::vector<ParameterBounds> bounds;  // of all learned parameters
    double validation_rmse = -1;          // [m]; negative when not measured in this iteration
    double seconds = 0;                   // of this iteration
};

struct TrainHooks {
    std::function<void(const TrainLog&)> on_log;
    // After every iteration whose state may be stored.
    std::function<void(const TrainState&)> on_state;
    // Asked after every iteration; false stops.
    std::function<bool(const TrainLog&, int total_iterations)> keep_going;
};

struct TrainResult {
    Cloth cloth;  // of the best validation
    TrainState state;
    double final_loss = 0;
    double validation_rmse = 0;  // [m], of `cloth`
    bool finished = false;
    bool too_stiff = false;  // it ended because the springs came to need too short steps
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
void check_train(const TrainOptions& options, const MotionSource& motion);

// Learns. With `resume`, goes on from there. Throws Error on bad input and Failure when a gradient
// is not finite, naming the clip, the step and the particle.
TrainResult train(const MotionSource& motion, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks);

// The best network with one stiffness, in all ranges, and one damping per family, and no isotropic
// damping: a search over decades, then descent on the position loss, judged by the validation
// clips. Where particles lie between landmarks the search goes on by family instead, judged by
// whole rollouts; both diagonals, and all dampings, are then the same, and networks that would need
// more sub-steps than the options allow are left out.
// `keep_going` is asked now and then with the share that is done; when it says no, Failure is
// thrown.
Cloth fit_homogeneous(const MotionSource& motion, const TrainOptions& options,
                      const std::function<bool(double share)>& keep_going = {});

// The best cloth of a training so far.
Cloth best_cloth(const MotionHeader& header, const TrainOptions& options, const TrainState& state);

// Motion RMSE of a cloth with the options' grid on the validation clips, or on whole validation
// rollouts where particles lie between landmarks. [m]
double validation_error(const MotionSource& motion, const TrainOptions& options,
                        const Cloth& cloth);

}  // namespace springtime
