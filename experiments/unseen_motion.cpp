#include "unseen_motion.h"

#include <chrono>
#include <cmath>

#include "presets.h"
#include "progress.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// Seeds of motion that no choice was made on.
constexpr std::uint64_t kUnseen = 9000001, kLonger = 9000101;

LearnOptions short_learning(std::vector<Horizon> horizons, int homogeneous, int batch)
{
    LearnOptions options;
    options.horizons = std::move(horizons);
    options.homogeneous_iterations = homogeneous;
    options.batch = batch;
    return options;
}

// The motion RMSE, and how long that took. One that blows up has no numbers.
nlohmann::json error_of(const Cloth& cloth, const Motion& motion, const CommonOptions& common)
{
    const MotionHeader& header = motion.header;
    // The source at its own step; a cloth that needs shorter ones gets them.
    const int substeps = cloth.springs.spring_count() > 0
                             ? 1
                             : stable_substeps(cloth, header.environment, header.dt);
    const auto start = std::chrono::steady_clock::now();
    try {
        nlohmann::json error =
            brief(surrogate_error(cloth, motion, device_named(common.device), common.threads,
                                  show_progress(common.quiet), substeps),
                  header.frame_interval());
        error["seconds"] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return error;
    } catch (const Failure&) {
        return {{"mean", nullptr}, {"std", nullptr}};
    }
}

// What simulating costs: wall time of all rollouts of the first set, with all threads.
void add_speed(nlohmann::json& row, const Cloth& cloth, const Motion& motion)
{
    if (!row["unseen"].contains("seconds")) return;
    const double seconds = row["unseen"]["seconds"].get<double>();
    double simulated = 0;
    for (const std::size_t frames : motion.frame_counts) {
        simulated += double(frames - 1) * motion.header.frame_interval();
    }
    row["seconds_per_simulated_second"] = seconds / simulated;
    row["seconds_per_step_and_particle"] =
        seconds / (simulated / motion.header.dt * double(cloth.particle_count()));
}

}  // namespace

GeneralisationScale generalisation_scale_named(const std::string& name)
{
    if (name == "smoke") {
        GeneralisationScale scale{7, 9, 8, 5, 4, 1, 1.5, 6, 2, 1, 2};
        scale.learning = short_learning({{4, 0.4}}, 16, 4);
        scale.more_work = {{8, 0.4}};
        scale.whole_work = {{4, 0.4}, {2, 1.5}};
        scale.graph_steps = scale.ode_steps = 4;
        scale.trial_steps = 2;
        scale.hidden = 8;
        scale.layers = 2;
        return scale;
    }
    if (name == "quick") {
        GeneralisationScale scale{16, 21, 17, 12, 8, 8, 12, 48, 16, 16, 16};
        scale.learning = short_learning({{24, 1}, {16, 2}}, 40, 16);
        scale.more_work = {{24, 1}, {24, 2}};
        scale.whole_work = {{24, 1}, {16, 2}, {8, 4}, {4, 8}};
        scale.graph_steps = 300;
        scale.ode_steps = 32;
        scale.trial_steps = 30;
        scale.hidden = 32;
        scale.layers = 4;
        return scale;
    }
    GeneralisationScale scale{31, 41, 32, 24, 16, 8, 12, 512, 32, 32, 16};
    scale.more_work = {{100, 1}, {200, 2}};
    scale.whole_work = {{100, 1}, {200, 2}, {100, 4}, {60, 8}};
    scale.trial_steps = 3000;
    return scale;
}

GenerateOptions generalisation_run(const GeneralisationScale& scale, int rollouts,
                                   std::uint64_t seed)
{
    GenerateOptions run = reference_run();
    run.seconds = scale.seconds;
    run.rollouts = rollouts;
    run.seed = seed;
    run.stride = 20;
    return run;
}

const Motion& UnseenMotion::named(const std::string& key) const
{
    for (const UnseenSet& set : sets) {
        if (set.key == key) return set.motion;
    }
    throw Failure("there are no rollouts named '{}'", key);
}

std::string unseen_file(int anchors)
{
    return fmt::format("unseen-{}.h5", anchors);
}

UnseenMotion make_unseen_motion(const fs::path& folder, const GeneralisationScale& scale,
                                const Cloth& source, const CommonOptions& common)
{
    UnseenMotion unseen{scale, {}};
    const auto add = [&](const std::string& key, const std::string& file, GenerateOptions run) {
        make_motion(folder / file, source, run, common);
        unseen.sets.push_back({key, folder / file, until_interrupted(open_motion(folder / file))});
    };
    for (const int anchors : {kUsualAnchors, 1, 3, 4}) {
        const bool usual = anchors == kUsualAnchors;
        GenerateOptions run =
            generalisation_run(scale, usual ? scale.test_rollouts : scale.anchored_rollouts,
                               common.seed + kUnseen + std::uint64_t(anchors));
        run.anchors = anchors;
        add(usual ? "unseen" : fmt::format("anchors_{}", anchors), unseen_file(anchors), run);
    }
    GenerateOptions run = generalisation_run(scale, scale.longer_rollouts, common.seed + kLonger);
    run.seconds = scale.longer;
    add("longer", "unseen-longer.h5", run);
    return unseen;
}

nlohmann::json number_or_null(double value)
{
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json brief(const MotionError& error, double frame_interval)
{
    nlohmann::json over_time = nlohmann::json::array();
    for (const double value : error.over_time) over_time.push_back(number_or_null(value));
    return {{"mean", number_or_null(error.mean)},
            {"std", number_or_null(error.std)},
            {"frame_interval", frame_interval},
            {"over_time", over_time}};
}

nlohmann::json error_after(const nlohmann::json& longer, double seconds)
{
    if (!longer.contains("over_time")) return nullptr;
    double sum = 0;
    std::size_t count = 0, frame = 0;
    for (const nlohmann::json& value : longer["over_time"]) {
        if (double(frame++) * longer["frame_interval"].get<double>() <= seconds) continue;
        if (value.is_null()) return nullptr;
        sum += value.get<double>();
        ++count;
    }
    return count > 0 ? nlohmann::json(sum / double(count)) : nlohmann::json(nullptr);
}

nlohmann::json unseen_row(const std::string& key, const std::string& name, const Cloth& cloth,
                          const Cloth& source, const UnseenMotion& unseen,
                          const CommonOptions& common)
{
    nlohmann::json row{{"key", key}, {"name", name}};
    for (const UnseenSet& set : unseen.sets) row[set.key] = error_of(cloth, set.motion, common);
    row["after"] = error_after(row["longer"], unseen.scale.seconds);
    if (cloth.springs.spring_count() > 0) {
        row["map_correlation"] = number_or_null(map_correlation(cloth, source));
    }
    add_speed(row, cloth, unseen.named("unseen"));
    return row;
}

nlohmann::json still_row(const UnseenMotion& unseen)
{
    nlohmann::json row{{"key", "still"}, {"name", "nothing moves"}};
    for (const UnseenSet& set : unseen.sets) {
        row[set.key] = brief(static_error(set.motion), set.motion.header.frame_interval());
    }
    row["after"] = error_after(row["longer"], unseen.scale.seconds);
    return row;
}

}  // namespace springtime::app
