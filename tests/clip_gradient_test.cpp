// The seam at which a backend takes clips and parameters, and gives loss and gradient.
#include <gtest/gtest.h>

#include <future>
#include <thread>

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

// ---- Clips that are prepared ahead

// What a test wants of clips that another thread prepares, and what it sees of them.
struct ClipTraffic {
    bool fail = false;            // the thread throws
    bool other_substeps = false;  // what it prepares fits nothing
    int runs = 0, runs_ahead = 0;
};

class ClipsAhead : public TapeClips {
  public:
    ClipsAhead(const Cloth& cloth, const SimulationOptions& options, int stride,
               ClipTraffic& traffic)
        : TapeClips(cloth, options, stride), traffic_(traffic)
    {
    }

    std::unique_ptr<PreparedClips> prepare(std::vector<ClipView> clips, const ClipTerms& weights,
                                           int substeps) override
    {
        const bool ahead = std::this_thread::get_id() != home_;
        if (ahead && traffic_.fail) throw Failure("test: clips cannot be prepared");
        if (ahead && traffic_.other_substeps) ++substeps;
        return std::make_unique<Prepared>(std::move(clips), weights, substeps, ahead);
    }

    Result run(PreparedClips& clips, const ParameterValues& parameters, bool with_gradient) override
    {
        EXPECT_EQ(std::this_thread::get_id(), home_);
        ++traffic_.runs;
        traffic_.runs_ahead += dynamic_cast<Prepared&>(clips).ahead;
        return TapeClips::run(clips, parameters, with_gradient);
    }

  private:
    struct Prepared : PreparedClips {
        Prepared(std::vector<ClipView> views, const ClipTerms& of_loss, int parts, bool by_another)
            : PreparedClips(std::move(views), of_loss, parts), ahead(by_another)
        {
        }
        bool ahead;
    };

    ClipTraffic& traffic_;
    std::thread::id home_ = std::this_thread::get_id();
};

GradientBackends clips_ahead(ClipTraffic& traffic)
{
    GradientBackends backends;
    backends.clips = [&](const Cloth& cloth, const SimulationOptions& step, int stride) {
        return std::make_unique<ClipsAhead>(cloth, step, stride, traffic);
    };
    return backends;
}

std::unique_ptr<PreparedClips> prepared_ahead(const BatchGradient& gradient,
                                              const std::vector<Rollout>& clips,
                                              const LossWeights& weights)
{
    return std::async(std::launch::async, [&] { return gradient.prepare(clips, weights); }).get();
}

void expect_same_bits(const BatchGradient::Result& a, const BatchGradient::Result& b)
{
    EXPECT_EQ(a.loss.force, b.loss.force);
    EXPECT_EQ(a.loss.impulse, b.loss.impulse);
    EXPECT_EQ(a.loss.position, b.loss.position);
    EXPECT_EQ(a.loss.total, b.loss.total);
    EXPECT_EQ(a.gradient.kinds, b.gradient.kinds);
}

struct PreparedBatch {
    TrainOptions options = quick_options(6, 6, {});
    TrainingSet set{patchwork_motion(), options};
    std::vector<Rollout> clips = set.reader.read(std::vector<Clip>{{0, 0}, {1, 20}, {2, 40}});
    ParameterValues parameters = parameters_of(patchwork());
    LossWeights weights{.force = 1, .impulse = 10, .position = 3};
    ClipTraffic traffic;

    BatchGradient gradient(const Substeps& substeps)
    {
        return BatchGradient(set.surrogate, set.step, set.motion.header.stride, 1, substeps, false,
                             {}, clips_ahead(traffic));
    }
};

TEST(PreparedClips, AreThoseThatRun)
{
    PreparedBatch batch;
    BatchGradient gradient = batch.gradient({1});
    const auto run = [&](const LossWeights& weights, PreparedClips* prepared) {
        return gradient.run(batch.clips, batch.parameters, weights, true, prepared);
    };
    const auto expected = run(batch.weights, nullptr);
    EXPECT_EQ(batch.traffic.runs_ahead, 0);
    const auto prepared = prepared_ahead(gradient, batch.clips, batch.weights);
    ASSERT_TRUE(prepared);
    expect_same_bits(run(batch.weights, prepared.get()), expected);
    EXPECT_EQ(batch.traffic.runs_ahead, 1);
    // Not for another loss.
    const LossWeights other{.force = 0, .impulse = 10, .position = 3};
    expect_same_bits(run(other, prepared.get()), run(other, nullptr));
    EXPECT_EQ(batch.traffic.runs_ahead, 1);
    EXPECT_EQ(batch.traffic.runs, 4);
}

TEST(PreparedClips, AreLeftAloneWhereParametersNeedOtherSubsteps)
{
    PreparedBatch batch;
    BatchGradient gradient = batch.gradient({});
    // Twenty times the frequency.
    ParameterValues stiff = batch.parameters;
    for (double& k : stiff[0]) k *= 400;
    ASSERT_NE(gradient.substeps_for(stiff), gradient.substeps_for(batch.parameters));
    const auto run = [&](const ParameterValues& parameters, PreparedClips* prepared) {
        return gradient.run(batch.clips, parameters, batch.weights, true, prepared);
    };
    EXPECT_FALSE(gradient.prepare(batch.clips, batch.weights));  // for which sub-steps?
    const auto expected_stiff = run(stiff, nullptr), expected = run(batch.parameters, nullptr);
    const auto prepared = prepared_ahead(gradient, batch.clips, batch.weights);
    ASSERT_TRUE(prepared);
    EXPECT_EQ(prepared->substeps, gradient.substeps_for(batch.parameters));
    expect_same_bits(run(stiff, prepared.get()), expected_stiff);
    EXPECT_EQ(batch.traffic.runs_ahead, 0);
    expect_same_bits(run(batch.parameters, prepared.get()), expected);
    EXPECT_EQ(batch.traffic.runs_ahead, 1);
}

TEST(PreparedClips, OfOtherThreadsChangeNoBitOfATraining)
{
    TrainOptions options = quick_options(6, 6, dual_pass(3, 2, {.force = 1, .impulse = 10}));
    options.substeps = Substeps{1};
    options.stiffness_start = 40;
    options.damping_start = 0.8;
    const auto trained = [&](ClipTraffic& traffic) {
        TrainingSet set(patchwork_motion(), options);
        set.backends = clips_ahead(traffic);
        return train(set, options, nullptr, {}, Progress());
    };
    ClipTraffic ahead, at_once{.other_substeps = true}, failing{.fail = true};
    expect_same_bits(trained(ahead), trained(at_once));
    EXPECT_EQ(ahead.runs, 5);
    EXPECT_EQ(ahead.runs_ahead, 5);
    EXPECT_EQ(at_once.runs, 5);
    EXPECT_EQ(at_once.runs_ahead, 0);
    EXPECT_THROW(trained(failing), Failure);
    EXPECT_EQ(failing.runs, 0);
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
