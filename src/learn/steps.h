#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/training_set.h"
#include "springtime/evaluate.h"

namespace springtime {

// On whole validation rollouts.
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

// Makes a cloth follow a law that has at least its parameters; new stiffnesses are those of the spring.
Cloth with_law(Cloth cloth, const SpringLaw& law);

}  // namespace springtime
