// What identification takes, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "error_of.h"
#include "identifying.h"
#include "springtime/error.h"
#include "springtime/identify.h"
#include "stubborn.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Identify, RefusesWhatItCannotUse)
{
    const Cloth truth = varied_cloth(kGrid5);
    const Motion clean = falls(truth, 3, 1, 60);
    const auto message = [&](const Motion& motion, const IdentifyOptions& options) {
        return error_of([&] { identify(motion, options); });
    };
    const auto expect_part = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    Motion touching = clean;
    touching.header.contact = true;
    expect_part(message(touching, options_for(truth)), "touch obstacles");
    expect_part(message(falls(truth, 1, 1, 60), options_for(truth)), "1 rollout, but 2 are needed");
    IdentifyOptions options = options_for(truth);
    options.form = BalanceForm::force;
    expect_part(message(observed(clean, {}), options), "needs stored velocities");
    // Frames of 0.2 s for the shortest window of 12 frames on each side.
    expect_part(message(observed(falls(truth, 3, 0.2, 60), {}), options_for(truth)),
                "give longer rollouts");
    options = options_for(truth);
    for (const double window : {2.0, 1e3, 1e12}) {  // of motion of 1 s
        options.window = window;
        expect_part(message(observed(clean, {}), options), "a shorter window");
    }
    options.instruments = Instruments::frames;
    for (const Instruments instruments : {Instruments::none, Instruments::frames}) {
        options.instruments = instruments;
        for (const double window : {-1.0, 1e-3, kInfinity, std::nan("")}) {
            options.window = window;
            expect_part(message(observed(clean, {}), options), "window");
        }
    }
}

TEST(Identify, OneRolloutWithoutAccelerationsMeansTheWeakForm)
{
    const Cloth truth = varied_cloth(kGrid5);
    Motion motion = falls(truth, 4, 1, 60);
    std::vector<Rollout> rollouts = rollouts_of(motion);
    for (std::size_t r = 0; r < rollouts.size(); ++r) {
        std::vector<Rollout> some = rollouts;
        some[r].acceleration.clear();
        const Identification result =
            identify(motion_of(motion.header, std::move(some)), options_for(truth));
        // The one rollout that is left out for validation is not asked.
        if (result.form == BalanceForm::force) continue;
        EXPECT_EQ(result.form, BalanceForm::weak);
        EXPECT_LE(parameter_rmse(result.cloth, truth, 0), 0.01);
        return;
    }
    FAIL() << "all took the force form";
}

TEST(Identify, TakesShortWindowsWhereGapsLeaveNoOthers)
{
    // All landmarks are missing in every 44th frame: windows of 16 frames on each side, and 3 more
    // for differences, fit between; the next longer ones, of 24, do not.
    const Cloth truth = varied_cloth(kGrid5);
    const Motion clean = observed(falls(truth, 5, 4, 60), {});
    std::vector<Rollout> rollouts = rollouts_of(clean);
    for (Rollout& rollout : rollouts) {
        for (std::size_t f = 0; f < rollout.frame_count; f += 44) {
            std::fill_n(rollout.position.begin() + static_cast<std::ptrdiff_t>(f * 75), 75,
                        std::numeric_limits<float>::quiet_NaN());
        }
    }
    MotionHeader header = clean.header;
    header.gaps = true;
    const Identification result = identify(motion_of(header, rollouts), options_for(truth));
    EXPECT_LE(*result.window, 16.5 / 60);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 0), 0.01);
}

TEST(Identify, APinThatIsLostForAWhileStaysAPin)
{
    const Cloth truth = varied_cloth(kGrid5);
    const Motion clean = observed(falls(truth, 3, 4, 60), {});
    std::vector<Rollout> rollouts = rollouts_of(clean);
    for (Rollout& rollout : rollouts) {
        const std::size_t pin = rollout.handles.particles[0];
        for (std::size_t f = 0; f < rollout.frame_count / 3; ++f) {  // more than a quarter
            std::fill_n(rollout.position.begin() + static_cast<std::ptrdiff_t>((f * 25 + pin) * 3),
                        3, std::numeric_limits<float>::quiet_NaN());
        }
    }
    MotionHeader header = clean.header;
    header.gaps = true;
    const Identification result = identify(motion_of(header, rollouts), options_for(truth));
    EXPECT_LE(parameter_rmse(result.cloth, truth, 0), 0.01);
}

TEST(Identify, StopsWhenAskedTo)
{
    const Cloth truth = varied_cloth(kGrid5);
    const Motion motion = observed(falls(truth, 3, 1, 60), {});
    std::vector<double> shares;
    const Progress listen([&](const ProgressUpdate& update) {
        shares.push_back(update.done / update.total);
        return true;
    });
    const Identification expected = identify(motion, options_for(truth), listen);
    ASSERT_GE(shares.size(), 3u);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_GT(shares.front(), 0);
    EXPECT_LE(shares.back(), 1);
    expect_same_bits(expected, identify(motion, options_for(truth)));
    for (const std::size_t stop : {std::size_t(0), shares.size() / 2, shares.size() - 1}) {
        std::size_t asked = 0;
        const Progress until([&](const ProgressUpdate&) { return asked++ < stop; });
        EXPECT_THROW(identify(motion, options_for(truth), until), Cancelled);
        EXPECT_EQ(asked, stop + 1);
    }
}

TEST(LeastUnexplained, StopsWhenAskedTo)
{
    const Cloth truth = varied_cloth(kGrid5);
    const Motion motion = falls(truth, 3, 1, 60);
    std::vector<double> shares;
    const Progress listen([&](const ProgressUpdate& update) {
        shares.push_back(update.done / update.total);
        return true;
    });
    const auto expected = least_unexplained(motion, options_for(truth), listen);
    ASSERT_GE(shares.size(), 3u);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(expected, least_unexplained(motion, options_for(truth)));
    for (const int no_at : {1, int(shares.size() / 2), int(shares.size())}) {
        Stubborn stubborn{0, no_at};
        EXPECT_THROW(least_unexplained(motion, options_for(truth), stubborn.listener()), Cancelled);
        EXPECT_EQ(stubborn.calls, no_at);
    }
}

TEST(Identify, TwoRolloutsAreEnough)
{
    const Cloth truth = varied_cloth({6, 6, true, true, true, true});
    // One of them is for validation; halves of the other choose window and prior. Its two pins are
    // neighbours, or one spring hides between them.
    const Motion clean = falls(truth, 2, 8, 60);
    for (const Motion& motion : {clean, observed(clean, {})}) {
        const Identification result = identify(motion, options_for(truth));
        EXPECT_LE(result.unseen.size(), 1u);
        for (const int k : {0, 1}) {
            double worst = 0;
            for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
                if (!std::isfinite(result.cloth.errors->parameters[k][s])) continue;
                worst =
                    std::max(worst, std::abs(learned(result.cloth, k)[s] - learned(truth, k)[s]));
            }
            EXPECT_LE(worst, 0.02) << k;
        }
    }
}

}  // namespace

}  // namespace springtime
