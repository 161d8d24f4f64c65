#include "verdict.h"

#include <algorithm>

namespace springtime::baselines {

namespace {

constexpr std::size_t kLeastValidations = 12;
// Below these, a flat curve is a start that has not begun to learn.
std::int64_t least_steps(const std::string& kind)
{
    return kind == "mgn" ? kMostMeshGraphNetSteps / 5 : 2 * kPublishedOdeSteps;
}

// Whether the last third of the curve is lower than all before, by more than 2 %.
bool still_falls(const std::vector<double>& curve)
{
    const auto last = curve.end() - std::ptrdiff_t(curve.size() / 3);
    return *std::min_element(last, curve.end()) < 0.98 * *std::min_element(curve.begin(), last);
}

}  // namespace

Verdict verdict_of(const TrainingCurve& curve)
{
    const std::string steps = std::to_string(curve.steps) + " steps";
    if (curve.kind == "mgn" && curve.steps >= kMostMeshGraphNetSteps) {
        return {true, "trained for " + steps};
    }
    if (curve.steps < least_steps(curve.kind) || curve.validation.size() < kLeastValidations) {
        return {false, "stopped after " + steps + ", too few to call it trained"};
    }
    if (still_falls(curve.validation)) {
        return {false, "stopped after " + steps + ", error still falling"};
    }
    return {true, "trained for " + steps + ", until the error no longer fell"};
}

}  // namespace springtime::baselines
