#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

// Along an observed motion the force balance of every particle is linear in the parameters of the
// springs, so that they follow from a sparse linear system, with their uncertainty.

enum class BalanceForm {
    automatic,  // force where accelerations are stored, else weak
    force,      // the balance at every frame
    weak        // the balance times smooth test functions: no derivative of positions is needed
};
enum class Instruments {
    automatic,  // where the noise is white and large enough to matter
    none,
    frames  // even frames against odd ones, whose noise is independent
};

// How strongly stiffness and damping are drawn to the median of their family: by this share of what
// the motion says about such a parameter on average.
struct PriorWeights {
    double stiffness = 0, damping = 0;
    bool operator==(const PriorWeights&) const = default;
};

struct IdentifyOptions {
    GridOptions grid;
    SpringLaw law;
    BalanceForm form = BalanceForm::automatic;
    Instruments instruments = Instruments::automatic;
    std::optional<double> window;    // half width of the test functions [s]; else by validation
    std::optional<double> prior;     // weight of both; else by validation, each for itself
    bool iterative = false;          // conjugate gradients instead of a factorisation
    double validation_share = 0.05;  // of the rollouts, left out as in training
    std::uint64_t seed = 1;
    int threads = 0;
};

// Noise counts as white while neighbouring frames are correlated by less than this.
inline constexpr double kWhiteCorrelation = 0.15;

struct NoiseEstimate {
    double level = 0;        // standard deviation of a coordinate [m]
    double correlation = 0;  // of successive frames
    bool white = false;
};

struct Identification {
    Cloth cloth;  // with standard errors
    BalanceForm form = BalanceForm::force;
    bool instruments = false;
    // White noise that matters, and no instruments against it: stiffness and damping come out too
    // low, and the standard errors do not know.
    bool biased = false;
    std::optional<double> window;  // [s]; the force form has none
    PriorWeights prior;
    NoiseEstimate noise;
    std::vector<int> unseen;      // springs the motion says nothing about: they have the prior
    std::vector<int> held_count;  // parameters held at zero, by kind
    double equation_error = 0;    // root of the mean squared residual [N]
    long equation_count = 0;
    double seconds = 0;
};

// Throws Error on motion that cannot be identified from.
Identification identify(const Motion& motion, const IdentifyOptions& options,
                        const Progress& progress = {});

// How well the springs of an identified cloth are known. Error is thrown for a cloth without
// standard errors.

// The usual size of every parameter: the median of those of its kind and family that are not zero;
// 1 where all are.
ParameterValues usual_sizes(const Cloth& cloth);

// The size of every parameter: its value, or the usual one where that is zero.
ParameterValues parameter_sizes(const Cloth& cloth);

// Standard errors, cut off at the size of the parameter or the usual one, whichever is larger: that
// much is known of what was hardly seen, or not at all.
ParameterValues known_errors(const Cloth& cloth);

// Standard errors over the size of the parameter; infinite where it was not seen.
ParameterValues relative_errors(const Cloth& cloth);

struct ErrorSummary {
    std::size_t count = 0, unseen = 0;
    // Infinite where that many are unseen.
    double median = 0, ninth_decile = 0, worst = 0;
};
// `errors` must not be empty.
ErrorSummary summary_of(const std::vector<double>& errors);

// The median of the standard errors of a kind of parameter that are finite; NaN where none is.
double median_error(const Identification& found, int kind);

// The median over the springs whose middle lies in each cell of the flat sheet, row by row from the
// north-west: infinite where more than half are unseen, NaN where there are none.
std::vector<double> error_map(const Cloth& cloth, const std::vector<double>& errors,
                              const Grid& cells);

// Springs whose stiffness was not seen.
std::vector<int> unseen_springs(const Cloth& cloth);

// For every particle whether it is a handle in all rollouts of a motion.
std::vector<bool> held_throughout(const Cloth& cloth, const Motion& motion);

// A motion that could be recorded next: the cloth falls from the flat sheet while some of it is
// held.
struct Experiment {
    std::string name;               // for people: "pin corner-nw and corner-se"
    std::vector<std::string> pins;  // as particles_named() takes them
    std::vector<int> pinned;        // particles
    double gain = 0;                // what it would tell: log of det(H + dH)/det(H), halved
    double stiffness_error = 0;     // median standard error afterwards [N/m]
    double damping_error = 0;       // likewise [N s/m]
};

struct DesignOptions {
    double seconds = 4;  // of each experiment
    double dt = 1e-3;    // [s]; cut into sub-steps where the cloth needs them
    int stride = 20;     // steps between frames
    Environment environment;
    int threads = 0;
};

// Ranks experiments by how much they would add to what is known, best first: each is simulated
// with the cloth as it was identified, from the start that generate() gives its first rollout when
// these particles are pinned. What is known are known_errors(), each for itself. Noise is taken to
// be what it was, and every frame to count: where filtering takes the quick part of the motion
// away, this promises too much. An experiment that blows up is left out.
// Does not depend on the number of threads. Throws Error for a cloth without standard errors, or
// without the noise that they come from.
std::vector<Experiment> rank_experiments(const Cloth& cloth, const DesignOptions& options,
                                         const Progress& progress = {});

}  // namespace springtime
