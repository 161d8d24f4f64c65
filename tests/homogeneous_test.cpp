// One stiffness and one damping for all springs, or for each family.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/gradient.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "training.h"

namespace springtime {

namespace {

Cloth even_cloth(double stiffness, double damping)
{
    return make_grid_cloth({2.5, 2.5, 3.6}, {6, 6, true, true, true, true},
                           MaterialField::uniform(stiffness), MaterialField::uniform(damping));
}

TEST(HomogeneousStart, FindsATruthThatTheSearchComesBy)
{
    // It tries halves of decades around the weight over a tenth of the side, and 0.25 of critical
    // damping 2 sqrt(k m) among others.
    const double k = 3.6 * 9.81 / 0.25 * std::pow(10, -0.5), b = 0.25 * 2 * std::sqrt(k * 0.1);
    const Motion motion = generated_motion(even_cloth(k, b), short_falls(4, 0.4));
    const TrainOptions options = quick_options(6, 6, {});
    const Cloth start = start_of(TrainingSet(motion, options));
    EXPECT_NEAR(start.springs.stiffness[0] / k, 1, 1e-12);
    EXPECT_NEAR(start.springs.damping[0] / b, 1, 1e-12);
}

TEST(TrainStart, IsWhatTheOptionsGive)
{
    const Motion motion = generated_motion(even_cloth(40, 1), short_falls(4, 0.4));
    TrainOptions options = quick_options(6, 6, {});
    options.rounds = 1;
    options.start = even_cloth(70, 2);
    options.passes = {{Learn::damping, 1, false, {}}};  // stiffness stays where it starts
    const std::size_t springs = options.start->springs.spring_count();
    const auto stiffness = [&] { return train(motion, options, nullptr, {}).state.parameters[0]; };
    EXPECT_EQ(stiffness(), std::vector<double>(springs, 70));
    options.stiffness_start = 12;
    EXPECT_EQ(stiffness(), std::vector<double>(springs, 12));
    options.start->springs.ends[0] = {0, 35};
    EXPECT_THROW(stiffness(), Error);
}

TEST(FitHomogeneous, ComesNearOneStiffnessAndDamping)
{
    const Cloth truth = even_cloth(37, 0.9);
    const Motion motion = generated_motion(truth, short_falls(12, 1.2));
    const TrainOptions options = quick_options(6, 6, {});
    const Cloth fit = fit_homogeneous(motion, options);
    const SpringSet &found = fit.springs, &true_springs = truth.springs;
    EXPECT_LE(worst_relative_error(found.stiffness, true_springs.stiffness), 0.05);
    EXPECT_LE(worst_relative_error(found.damping, true_springs.damping), 0.3);
    // One value per family, and better than the start on whole validation rollouts.
    for (std::size_t s = 0; s < found.spring_count(); ++s) {
        const auto same = std::find(found.family.begin(), found.family.end(), found.family[s]);
        EXPECT_EQ(found.stiffness[s], found.stiffness[same - found.family.begin()]);
        EXPECT_EQ(found.damping[s], found.damping[same - found.family.begin()]);
    }
    const TrainingSet set(motion, options);
    const auto error = [&](const Cloth& cloth) { return set.validation_error(cloth).mean; };
    EXPECT_EQ(validation_error(motion, options, fit), error(fit));
    EXPECT_LE(error(fit), 0.2 * error(start_of(set)));
}

// ---- Particles between landmarks ----

TEST(FitHomogeneous, OnAnotherGridRunsAtTheStepAndIsNoWorseThanWhereItStarts)
{
    const Motion motion = generated_motion(even_cloth(40, 0.9), short_falls(6, 0.8));
    const TrainOptions options = quick_options(8, 8, {});
    const TrainingSet set(motion, options);
    const auto error = [&](const Cloth& cloth) { return set.validation_error(cloth).mean; };
    const Cloth start = start_of(set), fit = fit_homogeneous(motion, options);
    EXPECT_EQ(stable_substeps(start, set.step.environment, set.step.dt), 1);
    EXPECT_EQ(stable_substeps(fit, set.step.environment, set.step.dt), 1);
    EXPECT_LT(error(fit), error(start));
    const std::size_t springs = fit.springs.spring_count();
    Cloth syrup = fit;
    syrup.springs.stiffness.assign(springs, 1);
    syrup.springs.damping.assign(springs, 3);
    EXPECT_GT(error(syrup), 3 * error(fit));
}

}  // namespace

}  // namespace springtime
