#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reproduce.h"

namespace springtime::app {

// How much of the experiment on motion never seen. Scales differ in these numbers alone.
struct GeneralisationScale {
    int mesh, remeshed;            // particles along a side of the source, and of its yardstick
    int finer, coarser, coarsest;  // the same for surrogates on other grids
    double seconds, longer;        // [s] of a rollout; of the rollouts that run on
    int rollouts, test_rollouts, anchored_rollouts, longer_rollouts;
    LearnOptions learning{};            // of all trainings
    std::vector<Horizon> more_work{};   // of the training that takes its time
    std::vector<Horizon> whole_work{};  // of the one whose clips grow to whole rollouts
    // Steps of the baselines, 0: until trained; width and layers of them, 0: as published.
    std::int64_t graph_steps = 0, ode_steps = 0, trial_steps = 0;
    int hidden = 0, layers = 0;
};
GeneralisationScale generalisation_scale_named(const std::string& name);

GenerateOptions generalisation_run(const GeneralisationScale& scale, int rollouts,
                                   std::uint64_t seed);

// Rollouts that nothing was chosen by: those like the training rollouts, those held by other
// numbers of anchors, and those that run on beyond the seconds of the training.
struct UnseenSet {
    std::string key;  // "unseen", "anchors_3", "longer"
    std::filesystem::path file;
    Motion motion;
};
struct UnseenMotion {
    GeneralisationScale scale;
    std::vector<UnseenSet> sets;

    const Motion& named(const std::string& key) const;
};
// The name of the file of those held by so many anchors.
std::string unseen_file(int anchors);
inline constexpr int kUsualAnchors = 2;  // of the training

UnseenMotion make_unseen_motion(const std::filesystem::path& folder,
                                const GeneralisationScale& scale, const Cloth& source,
                                const CommonOptions& common);

// Errors of every frame of a set of rollouts, as a result has them: mean and standard deviation,
// and the mean of every frame over time.
nlohmann::json brief(const MotionError& error, double frame_interval);
nlohmann::json number_or_null(double value);
// Beyond the seconds of the training, of a brief of the longer rollouts.
nlohmann::json error_after(const nlohmann::json& longer, double seconds);

// What a cloth does on all sets. One that blows up has no numbers.
nlohmann::json unseen_row(const std::string& key, const std::string& name, const Cloth& cloth,
                          const Cloth& source, const UnseenMotion& unseen,
                          const CommonOptions& common);
nlohmann::json still_row(const UnseenMotion& unseen);

}  // namespace springtime::app
