#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"

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
    double window = 0;       // half width of the test functions [s]; zero: chosen by validation
    double prior = -1;       // weight of both; negative: chosen by validation, each for itself
    bool iterative = false;  // conjugate gradients instead of a factorisation
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
    double window = 0;  // [s]; zero for the force form
    PriorWeights prior;
    NoiseEstimate noise;
    std::vector<int> unseen;      // springs the motion says nothing about: they have the prior
    std::vector<int> held_count;  // parameters held at zero, by kind
    double equation_error = 0;    // root of the mean squared residual [N]
    long equation_count = 0;
    double seconds = 0;
};

// Throws Error on motion that cannot be identified from. `keep_going` is asked now and then with
// the share that is done; when it says no, Failure is thrown.
Identification identify(const MotionSource& motion, const IdentifyOptions& options,
                        const std::function<bool(double share)>& keep_going = {});

}  // namespace springtime
