// The seam at which a backend takes clips and parameters, and gives loss and gradient.
#include <gtest/gtest.h>

#include "learn/gradient.h"
#include "stand_ins.h"
#include "training.h"

namespace springtime {

namespace {

TEST(ClipGradient, OfABackendTakesThePlaceOfTapes)
{
    const TrainOptions options = quick_options(6, 6, {});
    const TrainingSet set(patchwork_motion(), options);
    const int stride = set.motion.header.stride;
    const std::vector<Rollout> clips = set.reader.read(std::vector<Clip>{{0, 0}, {1, 20}, {2, 40}});
    const ParameterValues parameters = parameters_of(patchwork());
    const LossWeights weights{.force = 1, .impulse = 10, .position = 3};
    for (const Substeps& substeps : {Substeps{1}, Substeps{2}, Substeps{}}) {
        BatchGradient tapes(set.surrogate, set.step, stride, 1, substeps);
        GradientBackends backends;
        backends.clips = [](const Cloth& cloth, const SimulationOptions& step, int of_frame) {
            return std::make_unique<TapeClips>(cloth, step, of_frame);
        };
        BatchGradient device(set.surrogate, set.step, stride, 1, substeps, false, {}, backends);
        const auto expected = tapes.run(clips, parameters, weights, true);
        const auto found = device.run(clips, parameters, weights, true);
        EXPECT_EQ(found.loss.force, expected.loss.force);
        EXPECT_EQ(found.loss.impulse, expected.loss.impulse);
        EXPECT_EQ(found.loss.position, expected.loss.position);
        // The sum of the means instead of the mean of the sums.
        EXPECT_NEAR(found.loss.total, expected.loss.total, 1e-12 * expected.loss.total);
        EXPECT_EQ(found.gradient.kinds, expected.gradient.kinds);
        EXPECT_EQ(device.motion_rmse(clips, parameters), tapes.motion_rmse(clips, parameters));
    }
}

TEST(ClipGradient, IsRefusedForADeviceThatIsNotThere)
{
    SimulationOptions options;
    options.device = Device::cuda;
    try {
        make_clip_gradient(patchwork(), options, 5);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.field(), "device");
    }
}

}  // namespace

}  // namespace springtime
