#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/training_set.h"
#include "springtime/evaluate.h"

namespace springtime {

// On the validation rollouts.
TrivialErrors trivial_errors(const TrainingSet& set);

// The first of some answers, ordered from the simplest to the most detailed, that is not clearly
// worse than the best: by at most 3 %, or by no more than the standard error of the difference over
// the rollouts. None if no error is finite.
std::optional<std::size_t> simplest_good(const std::vector<ValidationError>& errors);

// What a descent on trajectories learns, from the simplest to the most detailed.
struct StepPlan {
    std::string name;
    SpringLaw law;
    DescentOptions descent;
};
std::vector<StepPlan> planned_steps(const LearnOptions& options, const MotionHeader& header);

// Makes a cloth of the published law follow another law, with starts for its parameters. Bends take
// the place of springs across two cells, unless these are asked for. The lean form also leaves out
// isotropic dashpots of diagonals and damping of bends, which did not pay on the finite-element
// benchmark. Cloths of other laws stay as they are.
Cloth with_law(Cloth cloth, const SpringLaw& law, bool lean, bool keep_families);

}  // namespace springtime
