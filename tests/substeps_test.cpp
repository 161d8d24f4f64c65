// Steps of the motion that the learner cuts into parts, where the springs need it.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/diagnosis.h"
#include "learn/gradient.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "training.h"

namespace springtime {

namespace {

constexpr LossWeights kAllTerms{.force = 0.7, .impulse = 30, .position = 500};

// A clip of seven frames of the windy scene, whose target ran with other springs.
struct WindyClip {
    Scene scene = windy_scene(24, 1);
    std::vector<Rollout> clips;

    WindyClip()
    {
        Scene truth = scene;
        for (double& k : truth.cloth.springs.stiffness) k *= 1.3;
        clips = {recorded(truth, 7, 4)};
        scene.options.device = Device::reference;
    }
    ParameterValues parameters() const { return parameters_of(scene.cloth); }
};

TEST(Substeps, AreThoseOfAMotionWithShorterSteps)
{
    // The same arithmetic on both sides, bit for bit.
    const WindyClip windy;
    for (const int n : {2, 3}) {
        SimulationOptions shorter = windy.scene.options;
        shorter.dt /= n;
        BatchGradient cut(windy.scene.cloth, windy.scene.options, 4, 1, Substeps{n});
        BatchGradient plain(windy.scene.cloth, shorter, 4 * n, 1);
        const auto a = cut.run(windy.clips, windy.parameters(), kAllTerms, true);
        const auto b = plain.run(windy.clips, windy.parameters(), kAllTerms, true);
        EXPECT_EQ(a.loss.total, b.loss.total);
        EXPECT_EQ(a.gradient.kinds, b.gradient.kinds);
    }
}

TEST(Substeps, GradientIsThatOfTheLoss)
{
    const WindyClip windy;
    BatchGradient batch(windy.scene.cloth, windy.scene.options, 4, 1, Substeps{3});
    const auto gradient = batch.run(windy.clips, windy.parameters(), kAllTerms, true).gradient;
    for (const int kind : {0, 1}) {
        for (const std::size_t spring : {0u, 17u, 40u}) {
            ParameterValues up = windy.parameters(), down = up;
            const double h = 1e-5 * up[kind][spring];
            up[kind][spring] += h;
            down[kind][spring] -= h;
            const auto loss = [&](const ParameterValues& parameters) {
                return batch.run(windy.clips, parameters, kAllTerms, false).loss.total;
            };
            // Central differences: rounding of 1e-16 L over h, and h^2 of the third derivative.
            const double slope = (loss(up) - loss(down)) / (2 * h);
            EXPECT_NEAR(gradient.kinds[kind][spring] / slope, 1, 1e-5) << kind << ' ' << spring;
        }
    }
}

// 15 x 15 particles over 0.3 m, 30 g: 0.13 g each.
Cloth handkerchief(double stiffness, double damping)
{
    return make_grid_cloth({0.3, 0.3, 0.03}, {15, 15, true, true, true, true},
                           MaterialField::uniform(stiffness), MaterialField::uniform(damping));
}

TEST(Substeps, AreTheSafeNumberRoundedUp)
{
    const Environment environment;
    int different = 0;
    for (const double k : {1.0, 10.0, 50.0, 100.0, 300.0, 500.0, 1000.0, 2000.0}) {
        const Cloth cloth = handkerchief(k, 0.01);
        const int safe = stable_substeps(cloth, environment, 1e-3);
        const int taken = *laddered_substeps(cloth, environment, 1e-3);
        EXPECT_GE(taken, safe);
        EXPECT_LE(taken, safe + safe / 2);  // neighbours are 1 : 2, 2 : 3 or 3 : 4
        const int odd = taken % 3 == 0 ? taken / 3 : taken;
        EXPECT_EQ(odd & (odd - 1), 0) << taken;  // a power of two, or three times one
        different += taken != safe;
    }
    EXPECT_GT(different, 0);
    // The limit goes with the root of the stiffness: 10^8 N/m takes 10^-8 s.
    EXPECT_FALSE(laddered_substeps(handkerchief(1e8, 0.01), environment, 1e-3));
}

TEST(Substeps, FollowTheParameters)
{
    const Cloth soft = handkerchief(1, 0.001), stiff = handkerchief(300, 0.02);
    const SimulationOptions step{1e-3, {}, Device::automatic};
    const auto of = [](const Cloth& cloth) { return parameters_of(cloth); };
    BatchGradient cut(soft, step, 16, 1, Substeps{}), plain(soft, step, 16, 1);
    EXPECT_EQ(cut.substeps_for(of(soft)), laddered_substeps(soft, {}, 1e-3));
    EXPECT_EQ(cut.substeps_for(of(stiff)), laddered_substeps(stiff, {}, 1e-3));
    EXPECT_GT(cut.substeps_for(of(stiff)), cut.substeps_for(of(soft)));
    EXPECT_EQ(plain.substeps_for(of(stiff)), 1);
    Rollout clip;  // a level sheet held by a corner
    clip.handles.particles = {0};
    for (; clip.frame_count < 3; ++clip.frame_count) {
        append_vectors(clip.position, flat_state(soft).position);
        append_vectors(clip.velocity, flat_state(soft).velocity);
    }
    // The order in which parameters come changes nothing.
    const double before = cut.motion_rmse({clip}, of(stiff));
    EXPECT_TRUE(std::isfinite(before));
    EXPECT_TRUE(std::isfinite(cut.motion_rmse({clip}, of(soft))));
    EXPECT_EQ(cut.motion_rmse({clip}, of(stiff)), before);
    EXPECT_TRUE(std::isnan(cut.motion_rmse({clip}, of(handkerchief(1e8, 0.02)))));
}

}  // namespace

}  // namespace springtime
