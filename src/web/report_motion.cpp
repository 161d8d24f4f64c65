#include "web/report_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/exports/surface.h"
#include "learn/watched_error.h"
#include "springtime/error.h"
#include "springtime/evaluate.h"
#include "springtime/files.h"

namespace springtime {

namespace {

// What the player may take of the page; a page of 8 MiB opens at once everywhere.
constexpr std::size_t kPlayerBytes = 3'500'000;
constexpr std::size_t kMostFrames = 240;    // of a rollout in the player
constexpr double kPlayerRate = 30;          // [1/s], at most
constexpr std::size_t kMostErrors = 400;    // frames of a curve of errors
constexpr std::uint16_t kUnknown = 0xffff;  // instead of a coordinate
constexpr double kSteps = 0xfffe;           // that a coordinate is rounded to

// `count` of `all`, evenly spread, the first included.
std::vector<std::size_t> spread(std::size_t all, std::size_t count)
{
    std::vector<std::size_t> chosen;
    count = std::min(count, all);
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * all / count);
    return chosen;
}

// Frames of one rollout that the player shows, and the box that its coordinates are rounded in.
struct Scene {
    std::size_t rollout = 0;  // among the chosen ones
    std::vector<std::size_t> frames{};
    Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

    void include(const Vec3d& x)
    {
        if (std::isnan(x.x)) return;
        low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
        high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    std::uint16_t rounded(double x, double from, double to) const
    {
        if (std::isnan(x)) return kUnknown;
        return std::uint16_t(std::lround(to > from ? (x - from) / (to - from) * kSteps : 0));
    }
    std::vector<std::uint16_t> rounded(const std::vector<Vec3d>& points) const
    {
        std::vector<std::uint16_t> numbers;
        for (const Vec3d& x : points) {
            numbers.push_back(rounded(x.x, low.x, high.x));
            numbers.push_back(rounded(x.y, low.y, high.y));
            numbers.push_back(rounded(x.z, low.z, high.z));
        }
        return numbers;
    }
};

// What one cloth did on all chosen rollouts.
struct Course {
    MotionError error;
    std::vector<std::vector<double>> by_frame;  // [rollout][frame], all frames [m]
    std::vector<std::vector<Vec3d>> shown;      // [scene], its frames one after the other
    int substeps = 1;
    std::string failure;
};

class MotionReport {
  public:
    MotionReport(Payload& payload, const Motion& motion, const std::vector<ReportedRun>& runs,
                 const ReportOptions& options, const Progress& progress,
                 std::vector<std::string>& remarks)
        : payload_(payload),
          whole_(motion),
          chosen_(spread(motion.rollout_count(), std::size_t(std::max(1, options.rollouts)))),
          motion_(select_rollouts(motion, chosen_)),
          runs_(runs),
          options_(options),
          progress_(progress),
          remarks_(remarks)
    {
    }

    void add();

  private:
    void plan_scenes();
    void read_source();
    Course run(const Cloth& cloth, const std::string& name, bool shown);
    Course run_with(const Cloth& cloth, int substeps, bool shown);
    Result description() const;
    Result result_of(const Course& course) const;
    Result run_result(std::size_t index);
    void add_scenes(const std::vector<Course>& courses);
    void add_followers();
    std::string add_curve(const std::string& name, const std::vector<std::vector<double>>& frames);
    std::size_t curve_stride() const;

    Payload& payload_;
    const Motion& whole_;
    std::vector<std::size_t> chosen_;
    Motion motion_;  // the chosen rollouts
    const std::vector<ReportedRun>& runs_;
    const ReportOptions& options_;
    const Progress& progress_;
    std::vector<std::string>& remarks_;
    std::vector<Scene> scenes_;
    std::vector<std::vector<Vec3d>> source_;  // [scene], its frames one after the other
    std::vector<std::vector<int>> held_;      // [scene]
};

void MotionReport::plan_scenes()
{
    std::size_t points = motion_.header.landmark_count();
    for (const ReportedRun& run : runs_) points += run.cloth.particle_count();
    const std::size_t wanted = std::size_t(std::max(1, options_.player_rollouts));
    for (const std::size_t rollout : spread(chosen_.size(), wanted)) scenes_.push_back({rollout});
    const std::size_t bytes = 3 * sizeof(std::uint16_t) * points * scenes_.size();
    const std::size_t room = std::max<std::size_t>(2, std::min(kMostFrames, kPlayerBytes / bytes));
    for (Scene& scene : scenes_) {
        const std::size_t count = motion_.frame_counts[scene.rollout];
        const auto rate = std::size_t(
            std::max(1.0, std::round(1 / kPlayerRate / motion_.header.frame_interval())));
        const std::size_t stride =
            std::max(rate, (count - 1 + room - 1) / std::max<std::size_t>(1, room - 1));
        for (std::size_t f = 0; f < count; f += std::max<std::size_t>(1, stride)) {
            scene.frames.push_back(f);
        }
    }
}

void MotionReport::read_source()
{
    for (const Scene& scene : scenes_) {
        const Rollout rollout = motion_.read(scene.rollout, 0, motion_.frame_counts[scene.rollout]);
        const std::size_t count = motion_.header.landmark_count();
        std::vector<Vec3d> points;
        for (const std::size_t frame : scene.frames) {
            const float* x = &rollout.position[3 * frame * count];
            for (std::size_t l = 0; l < count; ++l) {
                points.push_back({x[3 * l], x[3 * l + 1], x[3 * l + 2]});
            }
        }
        source_.push_back(std::move(points));
        held_.push_back(rollout.handles.particles);
    }
}

Course MotionReport::run_with(const Cloth& cloth, int substeps, bool shown)
{
    Course course;
    course.substeps = substeps;
    course.by_frame.resize(chosen_.size());
    course.shown.resize(shown ? scenes_.size() : 0);
    // Of one rollout the frames come in order, and rollouts share nothing.
    const FrameWatcher watcher = [&](std::size_t rollout, std::size_t frame, const State& state,
                                     double error) {
        course.by_frame[rollout].push_back(error);
        for (std::size_t s = 0; s < course.shown.size(); ++s) {
            const auto& frames = scenes_[s].frames;
            if (scenes_[s].rollout != rollout) continue;
            if (!std::binary_search(frames.begin(), frames.end(), frame)) continue;
            course.shown[s].insert(course.shown[s].end(), state.position.begin(),
                                   state.position.end());
        }
    };
    course.error = watched_error(cloth, motion_, options_.device, options_.threads, progress_,
                                 substeps, watcher);
    return course;
}

// As `evaluate` does: in the step of the motion where that is known, otherwise in steps that are
// safe; those are tried, too, where the first blows up.
Course MotionReport::run(const Cloth& cloth, const std::string& name, bool shown)
{
    const int safe = stable_substeps(cloth, motion_.header.environment, motion_.header.dt);
    const int first = motion_.header.captured ? safe : 1;
    Course course;
    for (const int substeps : {first, safe}) {
        try {
            return run_with(cloth, substeps, shown);
        } catch (const Failure& failure) {
            course.failure = failure.what();
        } catch (const Error& error) {
            course.failure = error.what();
        }
    }
    remarks_.push_back(fmt::format("{} was not run on the motion: {}", name, course.failure));
    return course;
}

std::size_t MotionReport::curve_stride() const
{
    const std::size_t longest =
        *std::max_element(motion_.frame_counts.begin(), motion_.frame_counts.end());
    return (longest + kMostErrors - 1) / kMostErrors;
}

// [rollout][frame], with NaN behind the end of shorter rollouts.
std::string MotionReport::add_curve(const std::string& name,
                                    const std::vector<std::vector<double>>& frames)
{
    const std::size_t stride = curve_stride();
    std::size_t longest = 0;
    for (const auto& row : frames) longest = std::max(longest, row.size());
    const std::size_t columns = (longest + stride - 1) / stride;
    std::vector<float> values;
    for (const auto& row : frames) {
        for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t frame = c * stride;
            values.push_back(frame < row.size() ? float(row[frame])
                                                : std::numeric_limits<float>::quiet_NaN());
        }
    }
    payload_.add(name, {frames.size(), columns}, std::span<const float>(values));
    return name;
}

Result result_of_error(const MotionError& error)
{
    Result result = Result::tree();
    result.add("mean", error.mean, "m");
    result.add("std", error.std, "m");
    result.add("per_rollout", error.per_rollout, "m");
    return result;
}

Result MotionReport::description() const
{
    const MotionHeader& header = motion_.header;
    Result result = Result::tree();
    result.add("name", options_.motion->string());
    result.add("seen", options_.seen);
    result.add("rollouts", whole_.rollout_count());
    result.add("chosen", chosen_);
    result.add("frame_interval", header.frame_interval(), "s");
    result.add("curve_interval", header.frame_interval() * double(curve_stride()), "s");
    result.add("landmarks", header.landmark_count());
    result.add("captured", header.captured);
    std::size_t frames = 0;
    for (const std::size_t count : motion_.frame_counts) frames += count;
    result.add("frames", frames);
    Result baselines = Result::tree();
    baselines.add("nothing_moves", result_of_error(static_error(motion_)));
    baselines.add("first_shape_follows", result_of_error(handles_error(motion_)));
    result.add("baselines", baselines);
    return result;
}

void MotionReport::add_scenes(const std::vector<Course>& courses)
{
    Result list = Result::list();
    for (std::size_t s = 0; s < scenes_.size(); ++s) {
        Scene& scene = scenes_[s];
        for (const Vec3d& x : source_[s]) scene.include(x);
        for (const Course& course : courses) {
            if (!course.failure.empty()) continue;
            for (const Vec3d& x : course.shown[s]) scene.include(x);
        }
        Result entry = Result::tree();
        entry.add("rollout", chosen_[scene.rollout]);
        entry.add("frames", scene.frames);
        entry.add("all_frames", motion_.frame_counts[scene.rollout]);
        entry.add("low", std::vector<double>{scene.low.x, scene.low.y, scene.low.z});
        entry.add("high", std::vector<double>{scene.high.x, scene.high.y, scene.high.z});
        entry.add("held", held_[s]);
        const auto add_points = [&](const std::string& name, const std::vector<Vec3d>& points) {
            const std::vector<std::uint16_t> numbers = scene.rounded(points);
            payload_.add(name, {scene.frames.size(), points.size() / scene.frames.size(), 3},
                         std::span<const std::uint16_t>(numbers));
            return name;
        };
        entry.add("source", add_points(fmt::format("scene{}/source", s), source_[s]));
        Result cloths = Result::list();
        for (std::size_t r = 0; r < courses.size(); ++r) {
            const bool ran = courses[r].failure.empty();
            cloths.push(
                ran ? Result(add_points(fmt::format("scene{}/run{}", s, r), courses[r].shown[s]))
                    : Result());
        }
        entry.add("runs", cloths);
        list.push(entry);
    }
    payload_.header().add("scenes", list);
}

// Which landmarks a particle of each cloth follows, to colour it by its distance from there.
void MotionReport::add_followers()
{
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        const Resampler resampler(runs_[r].cloth, motion_.header);
        std::vector<std::uint32_t> index;
        std::vector<float> weight;
        for (const Resampler::Weights& weights : resampler.weights()) {
            for (std::size_t k = 0; k < weights.landmark.size(); ++k) {
                index.push_back(std::uint32_t(weights.landmark[k]));
                weight.push_back(float(weights.weight[k]));
            }
        }
        const std::size_t count = resampler.particle_count();
        const std::string name = fmt::format("run{}/follows", r);
        payload_.add(name + "_index", {count, 4}, std::span<const std::uint32_t>(index));
        payload_.add(name + "_weight", {count, 4}, std::span<const float>(weight));
    }
}

void MotionReport::add()
{
    plan_scenes();
    read_source();
    std::vector<Course> courses;
    Result list = Result::list();
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        courses.push_back(run(runs_[r].cloth, runs_[r].cloth_file, true));
        Result entry = Result::tree();
        if (courses[r].failure.empty()) {
            entry = result_of_error(courses[r].error);
            entry.add("substeps", courses[r].substeps);
            entry.add("by_frame", add_curve(fmt::format("run{}/by_frame", r), courses[r].by_frame));
        }
        if (runs_[r].homogeneous) {
            const Course plain = run(*runs_[r].homogeneous, "the homogeneous network", false);
            if (plain.failure.empty()) {
                Result homogeneous = result_of_error(plain.error);
                homogeneous.add("by_frame",
                                add_curve(fmt::format("run{}/homogeneous", r), plain.by_frame));
                entry.add("homogeneous", homogeneous);
            }
        }
        list.push(entry);
    }
    Result motion = description();
    motion.add("runs", list);
    std::vector<float> rest;
    for (const SheetPoint& p : motion_.header.rest) {
        rest.push_back(float(p.u));
        rest.push_back(float(p.v));
    }
    payload_.add("landmarks/rest", {motion_.header.landmark_count(), 2},
                 std::span<const float>(rest));
    const ExportSurface surface = make_surface(motion_.header.rest, {});
    std::vector<std::uint32_t> triangles;
    for (const auto& corners : surface.triangles) {
        triangles.insert(triangles.end(), corners.begin(), corners.end());
    }
    payload_.add("landmarks/surface", {surface.triangles.size(), 3},
                 std::span<const std::uint32_t>(triangles));
    const std::vector<std::uint32_t> curve(surface.curve.begin(), surface.curve.end());
    payload_.add("landmarks/curve", {curve.size()}, std::span<const std::uint32_t>(curve));
    payload_.header().add("motion", motion);
    add_scenes(courses);
    add_followers();
}

}  // namespace

void add_motion(Payload& payload, const Motion& motion, const std::vector<ReportedRun>& runs,
                const ReportOptions& options, const Progress& progress,
                std::vector<std::string>& remarks)
{
    MotionReport(payload, motion, runs, options, progress, remarks).add();
}

}  // namespace springtime
