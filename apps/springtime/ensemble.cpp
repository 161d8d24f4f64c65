#include "ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "springtime/error.h"
#include "springtime/identify.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRollouts = 4;  // of the test that are run: a scatter needs no more

// Mean and standard deviation of numbers that come one after the other (Welford 1962).
struct Scatter {
    double mean = 0, squares = 0;

    void add(double value, std::size_t count)  // `count` with this one
    {
        const double before = value - mean;
        mean += before / double(count);
        squares += before * (value - mean);
    }
};

bool same_elements(const Cloth& a, const Cloth& b)
{
    const ParameterValues one = parameters_of(a), other = parameters_of(b);
    return a.particle_count() == b.particle_count() &&
           std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const auto& x, const auto& y) { return x.size() == y.size(); });
}

// The mean cloth; its standard errors are the standard deviations of a member.
Cloth mean_cloth(const std::vector<Cloth>& cloths)
{
    Cloth result = cloths.front();
    ParameterValues mean = parameters_of(result);
    StandardErrors errors;
    errors.parameters = mean;
    if (result.errors) errors.force = result.errors->force;
    std::vector<ParameterValues> values;
    for (const Cloth& cloth : cloths) values.push_back(parameters_of(cloth));
    for (std::size_t k = 0; k < mean.size(); ++k) {
        for (std::size_t e = 0; e < mean[k].size(); ++e) {
            Scatter scatter;
            for (std::size_t i = 0; i < values.size(); ++i) scatter.add(values[i][k][e], i + 1);
            mean[k][e] = scatter.mean;
            errors.parameters[k][e] = std::sqrt(scatter.squares / double(cloths.size() - 1));
        }
    }
    set_parameters(result, mean);
    result.errors = errors;
    return result;
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

// The landmarks of a rollout as a cloth predicts them, and as the motion shows them: both with the
// globals of the cloth.
struct Prediction {
    std::vector<Vec3d> landmarks;
    Rollout seen;
};

// Nothing if the cloth blows up.
std::optional<Prediction> predicted(const Cloth& cloth, const Motion& source, std::size_t rollout,
                                    const std::string& name, Device device)
{
    const Motion motion = cloth.globals ? with_globals(source, *cloth.globals) : source;
    MotionStart start = start_of(motion, rollout, cloth, name);
    if (start.observed) project_onto_rest_lengths(start.state, cloth, start.handles.particles);
    start.state.time = 0;
    const MotionHeader& header = motion.header;
    const int substeps = header.captured ? stable_substeps(cloth, start.environment, start.dt) : 1;
    Simulation simulation(cloth, start.state, start.handles,
                          {start.dt / substeps, start.environment, device});
    const Recording recording =
        record(simulation, motion.frame_counts[rollout], header.stride * substeps);
    if (recording.blow_up) return std::nullopt;
    const LandmarkMap map(cloth, header);
    Prediction result;
    for (std::size_t f = 0; f < recording.rollout.frame_count; ++f) {
        const State state = recording.rollout.state(f, header.frame_interval());
        const std::vector<Vec3d> there = map.apply(state.position);
        result.landmarks.insert(result.landmarks.end(), there.begin(), there.end());
    }
    result.seen = motion.read(rollout, 0, motion.frame_counts[rollout]);
    return result;
}

// Of the landmarks of a frame: root mean squares over those that are free and seen. [m]
struct FrameScatter {
    double squares = 0, error = 0;
    std::size_t count = 0, seen = 0;
};

// What the members predict of a rollout, by frame and landmark.
struct MemberMotions {
    std::vector<std::array<Scatter, 3>> scatter;
    std::vector<Vec3d> error;  // sum over the members, each by its own globals
    std::size_t count = 0;     // of members that went through it
};

MemberMotions motions_of(const std::vector<Cloth>& cloths, const Motion& motion,
                         std::size_t rollout, const std::string& name, Device device)
{
    MemberMotions all;
    all.scatter.resize(motion.frame_counts[rollout] * motion.header.landmark_count());
    all.error.resize(all.scatter.size());
    for (const Cloth& cloth : cloths) {
        const auto found = predicted(cloth, motion, rollout, name, device);
        if (!found) continue;
        ++all.count;
        for (std::size_t i = 0; i < found->landmarks.size(); ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                const double there = found->landmarks[i][axis];
                all.scatter[i][axis].add(there, all.count);
                all.error[i][axis] += there - found->seen.position[3 * i + std::size_t(axis)];
            }
        }
    }
    return all;
}

// Adds the frames of one rollout; the number of cloths that went through it.
std::size_t add_rollout(const std::vector<Cloth>& cloths, const Motion& motion, std::size_t rollout,
                        const std::string& name, Device device, std::vector<FrameScatter>& frames)
{
    const std::size_t landmarks = motion.header.landmark_count();
    const auto [scatter, error, count] = motions_of(cloths, motion, rollout, name, device);
    if (count < 2) return count;
    const Rollout seen = motion.read(rollout, 0, motion.frame_counts[rollout]);
    std::vector<char> held(landmarks, 0);
    for (const int l : seen.handles.particles) held[std::size_t(l)] = 1;
    frames.resize(std::max(frames.size(), seen.frame_count));
    for (std::size_t i = 0; i < scatter.size(); ++i) {
        if (held[i % landmarks]) continue;
        FrameScatter& frame = frames[i / landmarks];
        ++frame.count;
        const bool shown = seen.seen(i / landmarks, i % landmarks);
        frame.seen += shown;
        for (int axis = 0; axis < 3; ++axis) {
            frame.squares += scatter[i][axis].squares / double(count - 1);
            const double off = error[i][axis] / double(count);
            if (shown) frame.error += off * off;
        }
    }
    return count;
}

void add_motion(const std::vector<Cloth>& cloths, const fs::path& folder, const std::string& test,
                const CommonOptions& common, Result& result)
{
    const Motion motion = open_input(test);
    std::vector<FrameScatter> frames;
    std::size_t least = cloths.size();
    for (std::size_t r = 0; r < std::min(kMostRollouts, motion.rollout_count()); ++r) {
        least = std::min(least,
                         add_rollout(cloths, motion, r, test, device_named(common.device), frames));
    }
    if (least < cloths.size()) result.add("blow_ups", cloths.size() - least).label("blow up");
    std::string csv = "time,spread,error\n";
    DrawnCurve spread{"spread of the members", {}}, error{"error of their mean", {}};
    double squares = 0, errors = 0;
    const auto shown = std::size_t(std::count_if(
        frames.begin(), frames.end(), [](const FrameScatter& frame) { return frame.seen > 0; }));
    if (shown == 0) return;
    for (std::size_t f = 0; f < frames.size(); ++f) {
        const FrameScatter& frame = frames[f];
        if (frame.seen == 0) {  // a gap
            for (DrawnCurve* curve : {&spread, &error}) curve->values.push_back(std::nan(""));
            continue;
        }
        spread.values.push_back(std::sqrt(frame.squares / double(frame.count)));
        error.values.push_back(std::sqrt(frame.error / double(frame.seen)));
        csv += fmt::format("{},{},{}\n", double(f) * motion.header.frame_interval(),
                           spread.values.back(), error.values.back());
        squares += spread.values.back() / double(shown);
        errors += error.values.back() / double(shown);
    }
    write_text(folder / "motion.csv", csv);
    write_png(folder / "motion.png", draw_curves({spread, error}, motion.header.frame_interval(),
                                                 "time [s]", "landmarks [m]"));
    result.add("motion_spread", squares, "m").label("spread of motion");
    result.add("motion_error", errors, "m").label("error of mean motion");
}

}  // namespace

Result write_ensemble(const Ensemble& ensemble, const fs::path& folder, const std::string& test,
                      const CommonOptions& common)
{
    Result result = Result::tree();
    result.add("members", ensemble.cloths.size());
    std::vector<Cloth> cloths;
    for (const fs::path& path : ensemble.cloths) cloths.push_back(read_cloth(path));
    const bool alike = std::all_of(cloths.begin(), cloths.end(), [&](const Cloth& cloth) {
        return same_elements(cloth, cloths.front());
    });
    if (cloths.size() < 2 || !alike) {
        note(common, fmt::format("warning: {}: {}; no mean is taken", ensemble.name,
                                 alike ? "fewer than two members are done"
                                       : "the members have different elements"));
        return result;
    }
    fs::create_directories(folder);
    const Cloth mean = mean_cloth(cloths);
    write_cloth(folder / "cloth.json", mean);
    const std::vector<Parameter> parameters = learned_parameters(mean);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].range > 0 || mean.errors->parameters[k].empty()) continue;
        result
            .add(fmt::format("spread_{}", parameters[k].kind->name),
                 median(mean.errors->parameters[k]), std::string(parameters[k].kind->unit))
            .label("spread of " + label_of(mean, parameters[k]));
    }
    if (!test.empty()) add_motion(cloths, folder, test, common, result);
    return result;
}

}  // namespace springtime::app
