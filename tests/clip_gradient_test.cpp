// The seam at which a backend takes clips and parameters, and gives loss and gradient.
#include <gtest/gtest.h>

#include "learn/gradient.h"
#include "training.h"

namespace springtime {

namespace {

// A backend that hands everything on to tapes of its own, as a device would to its kernels.
class TapeBackend : public ClipGradient {
  public:
    TapeBackend(const Cloth& cloth, const SimulationOptions& options, int stride)
        : cloth_(cloth), options_(options), stride_(stride)
    {
    }

    std::string name() const override { return "tapes"; }
    Result run(std::span<const ClipView> clips, const ParameterValues& parameters,
               const ClipTerms& weights, int substeps, bool with_gradient) override
    {
        std::vector<Rollout> rollouts;
        for (const ClipView& clip : clips) {
            rollouts.push_back({clip.frame_count,
                                {clip.position.begin(), clip.position.end()},
                                {clip.velocity.begin(), clip.velocity.end()},
                                {clip.acceleration.begin(), clip.acceleration.end()},
                                *clip.handles});
            EXPECT_EQ(clip.start.position.size(), cloth_.particle_count());
            EXPECT_EQ(clip.start.position[0].x, double(clip.position[0]));
        }
        BatchGradient tapes(cloth_, options_, stride_, 1, Substeps{substeps});
        const auto found = tapes.run(
            rollouts, parameters,
            {.force = weights.force, .impulse = weights.impulse, .position = weights.position},
            with_gradient);
        return {{found.loss.force, found.loss.impulse, found.loss.position},
                with_gradient ? found.gradient.kinds : ParameterValues{}};
    }

  private:
    Cloth cloth_;
    SimulationOptions options_;
    int stride_;
};

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
        BatchGradient device(set.surrogate, set.step, stride, 1, substeps);
        device.use(std::make_unique<TapeBackend>(set.surrogate, set.step, stride));
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
