#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

// Linear identification. Along an observed motion, the force balance of every particle is linear in
// the parameters of springs, triangles and hinges. So the parameters and their uncertainty follow
// from a sparse linear system.
namespace springtime {

// ---- Identification

enum class BalanceForm {
    automatic,  // force if accelerations are stored, otherwise weak
    force,      // the balance at every frame
    weak        // the balance times smooth test functions: needs no derivatives of positions
};
enum class Instruments {
    automatic,  // if the noise is white and large enough to matter: frames, or noise for triangles
    none,
    frames,  // even frames against odd frames, whose noise is independent
    noise    // for triangles: as much noise again is added, and what that takes is put back
};

std::string_view name_of(Instruments instruments);

// How strongly stiffness and damping of springs are drawn to the median of their family, and those
// of triangles and hinges to their neighbours on the mesh. The weight is relative to the
// information that the motion has about such a parameter on average.
struct PriorWeights {
    double stiffness = 0, damping = 0;
    double bending = 0, bending_damping = 0;  // of hinges
    bool operator==(const PriorWeights&) const = default;
};

// Elements of a region share their parameters: those of triangles as they are, those of hinges per
// bending of the material (hinge_shapes() in cloth.h).
struct Regions {
    int count = 0;
    std::array<std::vector<int>, kElements.size()> of{};  // by Element; empty: each its own
};

// How many regions of triangles are looked for where positions are noisy. The two halves of the
// motion choose the number, and whether every element is better left for itself, unless `least` and
// `most` are the same.
struct RegionSearch {
    int least = 1, most = 5;
};

// What one half of the motion says of the other about regions.
struct RegionChoice {
    int triangles = 0, hinges = 0;  // clusters; 0: every element is better left for itself
    // Share of the displacements of one half that the other leaves.
    double left_by_regions = 0, left_by_elements = 0;
};

struct IdentifyOptions {
    GridOptions grid;
    SpringLaw law;
    // What is identified instead of springs of that grid and law; its parameters do not matter.
    std::optional<Cloth> cloth{};
    std::optional<Regions> regions{};
    // Where no regions are given and displacements are weighed. Absent: every element for itself.
    std::optional<RegionSearch> search = RegionSearch{};
    BalanceForm form = BalanceForm::automatic;
    Instruments instruments = Instruments::automatic;
    std::optional<double> window;    // half width of the test functions [s]; absent: by validation
    std::optional<double> prior;     // both weights; absent: by validation, one after the other
    double validation_share = 0.05;  // share of the rollouts that is left out, as in training
    std::uint64_t seed = 1;
    int threads = 0;
    Crew* crew = nullptr;  // shares the sums over the motion
};

// Noise counts as white if the correlation of successive frames is below this.
inline constexpr double kWhiteCorrelation = 0.15;

struct NoiseEstimate {
    double level = 0;        // standard deviation of a coordinate [m]
    double correlation = 0;  // of successive frames
    bool white = false;
};

struct Identification {
    Cloth cloth;  // with standard errors
    BalanceForm form = BalanceForm::force;
    Instruments instruments = Instruments::none;
    // True if white noise matters and there are no instruments against it. Stiffness and damping
    // are then too low, by more than the standard errors say.
    bool biased = false;
    // True if residuals were weighed as displacements: triangles from noisy positions.
    bool displacements = false;
    std::optional<double> window;  // [s]; the force form has none
    PriorWeights prior;
    std::optional<RegionChoice> regions;  // if they were looked for
    NoiseEstimate noise;
    // Springs, or triangles of a cloth without springs, that the motion says nothing about: they
    // have the prior.
    std::vector<int> unseen;
    std::vector<int> held_count;  // for each learned parameter, how many values are held at zero
    double equation_error = 0;    // root of the mean squared residual [N]
    double unexplained = 0;       // that, as a share of the forces; of displacements, beyond noise
    long equation_count = 0;
    double seconds = 0;
};

// Identifies the springs of a motion. Throws Error if the motion cannot be used.
Identification identify(const Motion& motion, const IdentifyOptions& options,
                        const Progress& progress = {});

// The part of the forces that no parameters can explain, as a share of their root mean square: what
// is left if every particle chooses the parameters of its elements for itself. It takes much less
// time than identify(). Absent without stored accelerations, unless the weak form is asked for;
// that needs rollouts of some frames. For triangles from positions with white noise it is the share
// of the displacements that one half of the motion leaves of the other.
std::optional<double> least_unexplained(const Motion& motion, const IdentifyOptions& options,
                                        const Progress& progress = {});

// ---- How well the elements are known
//
// These functions throw Error for a cloth without standard errors.

// The usual size of every parameter: the median of the non-zero values of its family, or 1 if all
// are zero.
ParameterValues usual_sizes(const Cloth& cloth);

// The size of every parameter: its value, or the usual size if that is zero.
ParameterValues parameter_sizes(const Cloth& cloth);

// Standard errors, limited to the size of the parameter or the usual size, whichever is larger.
// That much is known even of a parameter that was not seen.
ParameterValues known_errors(const Cloth& cloth);

// Standard errors divided by the size of the parameter; infinite for parameters that were not seen.
ParameterValues relative_errors(const Cloth& cloth);

struct ErrorSummary {
    std::size_t count = 0, unseen = 0;
    // Infinite if too many are unseen.
    double median = 0, ninth_decile = 0, worst = 0;
};
// `errors` must not be empty.
ErrorSummary summary_of(const std::vector<double>& errors);

// The median of the standard errors of a learned parameter that are finite; NaN where none is.
double median_error(const Identification& found, int parameter);

// The elements that the first of the learned parameters belongs to: springs, or triangles in a
// cloth without springs.
Element main_element(const Cloth& cloth);

// The median error of the main elements whose middle lies in each cell of the flat sheet, row by
// row from the north-west. It is infinite if more than half of them are unseen and NaN if there are
// none.
std::vector<double> error_map(const Cloth& cloth, const std::vector<double>& errors,
                              const Grid& cells);

// The main elements whose first parameter was not seen.
std::vector<int> unseen_elements(const Cloth& cloth);

// For every particle, whether it is a handle in all rollouts of a motion.
std::vector<bool> held_throughout(const Cloth& cloth, const Motion& motion);

// ---- What to record next

// A motion that could be recorded next: the flat sheet falls while some particles are held.
struct Experiment {
    std::string name;               // for people: "pin corner-nw and corner-se"
    std::vector<std::string> pins;  // as particles_named() takes them
    std::vector<int> pinned;        // particles
    double gain = 0;                // information gain: half the log of det(H + dH)/det(H)
    double stiffness_error = 0;     // median standard error afterwards [N/m]
    double damping_error = 0;       // likewise [N s/m]
};

struct DesignOptions {
    double seconds = 4;  // of each experiment
    double dt = 1e-3;    // [s]; cut into sub-steps if the cloth needs them
    int stride = 20;     // steps between frames
    Environment environment;
    int threads = 0;
};

// Ranks experiments by how much they would add to what is known, best first. Each experiment is
// simulated with the identified cloth, from the start that generate() gives its first rollout when
// these particles are pinned. What is known so far is known_errors(), taken as independent. The
// noise is assumed to stay the same, and every frame to count. If filtering removes the fast part
// of the motion, this promises too much. An experiment that blows up is left out. The result does
// not depend on the number of threads. Throws Error for a cloth without standard errors, or without
// the noise that they come from.
std::vector<Experiment> rank_experiments(const Cloth& cloth, const DesignOptions& options,
                                         const Progress& progress = {});

}  // namespace springtime
