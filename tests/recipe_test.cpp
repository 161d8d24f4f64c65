// Learning from end to end: from arrays in memory, from files, by the command line, and in several
// sittings. All of them end with the same bits.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <regex>

#include "handkerchiefs.h"
#include "learn/plan.h"
#include "springtime/files.h"
#include "springtime/learn.h"
#include "temp_folder.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

// A cloth of 5 x 5 landmarks, as a camera sees it for three seconds.
struct Film {
    Sheet sheet{0.3, 0.3, 0.03};
    std::vector<SheetPoint> rest;
    double frames_per_second = 60;
    std::vector<float> positions;
    CaptureOptions capture;

    Motion motion() const
    {
        return Motion::from_arrays(sheet, rest, frames_per_second, positions, capture);
    }
};

const Film& film()
{
    static const Film made = [] {
        const Cloth cloth = handkerchief(5, 100, 300, 0.02);
        const Motion seen = filmed(cloth, 60, 3, {.noise = 0.001, .positions_only = true}, {1});
        Film film;
        film.rest = cloth.rest;
        film.positions = seen.read(0, 0, seen.frame_counts[0]).position;
        std::fill_n(film.positions.begin() + 3 * 12, 3, std::nanf(""));  // one point, once
        film.capture.environment.drag = 2;
        film.capture.driven = {0, 4};
        return film;
    }();
    return made;
}

LearnOptions few_iterations()
{
    LearnOptions options;
    options.grid = Grid{5, 5};
    options.horizons = {{4, 0.1}, {5, 0.2}};
    options.homogeneous_iterations = 4;
    options.globals = false;
    options.batch = 4;
    options.validate_every = 3;
    options.threads = 2;
    return options;
}

void write_motion(const fs::path& path, const Motion& motion)
{
    MotionWriter writer(path, motion.header);
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        writer.append(motion.read(r, 0, motion.frame_counts[r]));
    }
    writer.finish();
}

void expect_same(const Learned& a, const Learned& b)
{
    EXPECT_EQ(cloth_to_json(a.cloth), cloth_to_json(b.cloth));
    EXPECT_EQ(a.validation_rmse, b.validation_rmse);
    EXPECT_EQ(a.linear_rmse, b.linear_rmse);
    EXPECT_EQ(a.homogeneous_rmse, b.homogeneous_rmse);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.best_iteration, b.best_iteration);
    EXPECT_EQ(a.substeps, b.substeps);
    ASSERT_EQ(a.log.size(), b.log.size());
    for (std::size_t i = 0; i < a.log.size(); ++i) {
        EXPECT_EQ(a.log[i].iteration, b.log[i].iteration);
        EXPECT_EQ(a.log[i].loss.total, b.log[i].loss.total);
        EXPECT_EQ(a.log[i].validation_rmse, b.log[i].validation_rmse);
    }
}

const Learned& whole()
{
    static const Learned learned = learn(film().motion(), few_iterations());
    return learned;
}

// ---- Arrays ----

TEST(MotionFromArrays, IsWhatTheArraysSay)
{
    const float none = std::numeric_limits<float>::quiet_NaN();
    const std::vector<SheetPoint> rest{{0, 0}, {1, 0}, {0, 1}};
    // Two frames; the second does not show the last point, of which one number is missing.
    const std::vector<float> positions{0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 0, 1, 2, 0, none, 2, 1};
    CaptureOptions options;
    options.pinned = {1};
    options.driven = {0};
    const Motion motion = Motion::from_arrays({1, 1, 0.1}, rest, 50, positions, options);
    EXPECT_EQ(motion.frame_counts, (std::vector<std::size_t>{2}));
    EXPECT_TRUE(motion.header.captured);
    EXPECT_TRUE(motion.header.gaps);
    EXPECT_FALSE(motion.header.velocities);
    EXPECT_EQ(motion.header.stride, 20);  // steps of 1 ms
    EXPECT_DOUBLE_EQ(motion.header.frame_interval(), 0.02);
    const Rollout rollout = motion.read(0, 0, 2);
    EXPECT_TRUE(rollout.seen(0, 2));
    for (int axis = 0; axis < 3; ++axis) EXPECT_TRUE(std::isnan(rollout.position[15 + axis]));
    // A pin stands where it was seen on average, (1, 1, 0); what is driven goes its way.
    EXPECT_EQ(rollout.handles.particles, (std::vector<int>{1, 0}));
    EXPECT_EQ(length(rollout.handles.position(0, 0.01) - Vec3d{1, 1, 0}), 0);
    EXPECT_EQ(length(rollout.handles.position(1, 0.02) - Vec3d{0, 2, 0}), 0);
    // From the second frame on, the time counts from there.
    EXPECT_EQ(length(motion.read(0, 1, 1).handles.position(1, 0) - Vec3d{0, 2, 0}), 0);
    // In double, and twice the same recording.
    const std::vector<double> doubles(positions.begin(), positions.end());
    const std::vector<std::span<const double>> twice{doubles, doubles};
    const Motion both = Motion::from_arrays({1, 1, 0.1}, rest, 50, twice, options);
    EXPECT_EQ(both.rollout_count(), 2u);
    EXPECT_EQ(both.read(1, 0, 1).position, motion.read(0, 0, 1).position);
}

TEST(MotionFromArrays, NamesTheFieldThatIsWrong)
{
    const std::vector<SheetPoint> rest{{0, 0}, {1, 0}, {0, 1}};
    const auto field_of = [&](double rate, std::size_t numbers, const CaptureOptions& options) {
        try {
            Motion::from_arrays({1, 1, 0.1}, rest, rate, std::vector<float>(numbers), options);
        } catch (const Error& error) {
            return error.field();
        }
        return std::string("none");
    };
    EXPECT_EQ(field_of(30, 18, {}), "none");
    EXPECT_EQ(field_of(0, 18, {}), "frames_per_second");
    EXPECT_EQ(field_of(std::nan(""), 18, {}), "frames_per_second");
    EXPECT_EQ(field_of(30, 17, {}), "positions");
    EXPECT_EQ(field_of(30, 0, {}), "positions");
    EXPECT_EQ(field_of(30, 18, {.pinned = {3}}), "pinned");
    EXPECT_EQ(field_of(30, 18, {.driven = {-1}}), "driven");
    EXPECT_EQ(field_of(30, 18, {.longest_step = 0}), "longest_step");
}

// ---- The same bits, wherever the motion lies ----

TEST(Learn, FromMemoryIsTheSameAsFromAFile)
{
    const TempFolder folder;
    write_motion(folder / "m.h5", film().motion());
    RunFolder run(folder / "run");
    run.create("");
    expect_same(learn(open_motion(folder / "m.h5"), few_iterations(), {}, &run), whole());
    EXPECT_EQ(bytes_of(folder / "run/cloth.json"), cloth_to_json(whole().cloth));
    EXPECT_EQ(bytes_of(folder / "run/homogeneous.json"), cloth_to_json(*whole().homogeneous));
    EXPECT_EQ(bytes_of(folder / "run/linear.json"), cloth_to_json(whole().linear->cloth));
    EXPECT_FALSE(fs::exists(folder / "run/best.json"));
}

#ifdef SPRINGTIME_PROGRAM
TEST(Learn, FromMemoryIsTheSameAsTheCommandLine)
{
    const TempFolder folder;
    write_motion(folder / "m.h5", film().motion());
    const std::string command = fmt::format(
        "{} train {} --out {} --grid 5x5 --iterations 4 5 --horizons 0.1 0.2 "
        "--homogeneous-iterations 4 --globals none --batch 4 --validate-every 3 --quiet >/dev/null",
        SPRINGTIME_PROGRAM, (folder / "m.h5").string(), (folder / "run").string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_EQ(bytes_of(folder / "run/cloth.json"), cloth_to_json(whole().cloth));
}
#endif

TEST(Learn, ComparesWithItsBaselines)
{
    const Learned& learned = whole();
    ASSERT_TRUE(learned.linear && learned.linear_rmse && learned.homogeneous_rmse);
    EXPECT_EQ(learned.iterations, 4 + 9);
    EXPECT_EQ(learned.log.size(), 13u);
    EXPECT_FALSE(learned.summary.empty());
    const TrainOptions options = train_options(few_iterations(), learning_motion(film().motion()));
    const Motion motion = learning_motion(film().motion());
    EXPECT_EQ(validation_error(motion, options, learned.cloth), learned.validation_rmse);
    EXPECT_EQ(validation_error(motion, options, learned.linear->cloth), *learned.linear_rmse);
    EXPECT_EQ(validation_error(motion, options, *learned.homogeneous), *learned.homogeneous_rmse);
}

// ---- In several sittings ----

// Cancels at the given report of a stage, counted from 1. Reports from within an iteration, which
// are there so that it can be cancelled, do not count.
Progress cancelled_at(const std::string& stage, int report)
{
    return Progress([=, last = -1.0](const ProgressUpdate& update) mutable {
        if (!update.stage.starts_with(stage) || update.done == last) return true;
        last = update.done;
        return --report > 0;
    });
}

TEST(Learn, GoesOnWhereverItWasCancelled)
{
    for (const auto& [stage, report] :
         {std::pair{"solve", 1}, std::pair{"homogeneous fit", 1}, std::pair{"homogeneous fit", 7},
          std::pair{"homogeneous, lean", 1}, std::pair{"per spring", 1}, std::pair{"per spring", 4},
          std::pair{"per spring", 6}}) {
        SCOPED_TRACE(fmt::format("{} {}", stage, report));
        MemoryStore store;
        EXPECT_THROW(learn(film().motion(), few_iterations(), cancelled_at(stage, report), &store),
                     Cancelled);
        EXPECT_EQ(store.state.linear.has_value(), std::string_view(stage) != "solve");
        EXPECT_EQ(store.state.descent ? store.state.descent->iteration : 0,
                  std::string_view(stage) == "per spring"          ? 4 + report
                  : std::string_view(stage) == "homogeneous, lean" ? report
                                                                   : 0);
        expect_same(learn(film().motion(), few_iterations(), {}, &store), whole());
    }
}

TEST(Learn, ACancelledRunFolderGoesOnAndLooksFinishedOnlyAtTheEnd)
{
    const TempFolder folder;
    {
        RunFolder first(folder / "run");
        first.create_when_opened("a = 1\n");
        EXPECT_FALSE(first.exists());
        EXPECT_THROW(
            learn(film().motion(), few_iterations(), cancelled_at("per spring", 6), &first),
            Cancelled);
        EXPECT_TRUE(first.exists());
        EXPECT_FALSE(fs::exists(folder / "run/cloth.json"));
    }  // and with it the right to write there
    RunFolder second(folder / "run");
    const Learned learned = learn(film().motion(), few_iterations(), {}, &second);
    expect_same(learned, whole());
    // Numbers of seconds differ.
    const auto timeless = [](const std::string& text) {
        return std::regex_replace(text, std::regex(" *[0-9.]+ s\\b"), " s");
    };
    EXPECT_EQ(timeless(learned.summary), timeless(whole().summary));
    EXPECT_EQ(bytes_of(folder / "run/cloth.json"), cloth_to_json(whole().cloth));
}

TEST(Learn, FitsGlobalsAgainWhenItGoesOn)
{
    LearnOptions options = few_iterations();
    options.globals = true;
    options.fixed_globals = {GlobalKind::tilt, GlobalKind::delay, GlobalKind::paths};
    const Learned expected = learn(film().motion(), options);
    MemoryStore store;
    EXPECT_THROW(learn(film().motion(), options, cancelled_at("per spring", 2), &store), Cancelled);
    const Learned learned = learn(film().motion(), options, {}, &store);
    expect_same(learned, expected);
    EXPECT_EQ(learned.steps.size(), expected.steps.size());
}

TEST(Learn, BadInputLeavesNoFolder)
{
    const TempFolder folder;
    RunFolder run(folder / "run");
    run.create_when_opened("");
    LearnOptions options = few_iterations();
    options.batch = 0;
    EXPECT_THROW(learn(film().motion(), options, {}, &run), Error);
    EXPECT_FALSE(fs::exists(folder / "run"));
}

// ---- What is decided for the user ----

TEST(LearnPlan, DependsOnTheKindOfMotion)
{
    const Motion captured = learning_motion(film().motion());
    Motion made = captured;
    made.header.captured = false;
    LearnOptions open;
    const TrainOptions of_captured = train_options(open, captured),
                       of_made = train_options(open, made);
    EXPECT_EQ(of_captured.grid.rows, 5);
    EXPECT_EQ(of_made.grid.rows, 5);
    EXPECT_EQ(of_captured.passes.size(), 1u);
    EXPECT_EQ(of_made.passes.size(), 2u);
    EXPECT_EQ(of_captured.passes[0].weights.position, 1);
    EXPECT_EQ(of_made.passes[0].weights.position, 0);
    EXPECT_EQ(of_captured.patience, 24);
    EXPECT_FALSE(of_made.patience);
    EXPECT_TRUE(of_captured.logarithmic);
    EXPECT_FALSE(of_made.logarithmic);
    open.logarithmic = false;
    open.patience = 0;
    open.position_weight = {0.5, 2};
    open.passes = LearnPasses::dual;
    const TrainOptions given = train_options(open, captured);
    EXPECT_FALSE(given.logarithmic);
    EXPECT_FALSE(given.patience);
    EXPECT_EQ(given.passes[0].weights.position, 0.5);
    EXPECT_EQ(given.passes[1].weights.position, 2);
}

TEST(LearnPlan, WhatBeginsWithGivenValuesDoesNotSolve)
{
    const auto field_of = [](auto change) {
        LearnOptions options = few_iterations();
        change(options);
        try {
            check_learn(options, learning_motion(film().motion()));
        } catch (const Error& error) {
            return error.field();
        }
        return std::string("none");
    };
    EXPECT_EQ(field_of([](LearnOptions& o) { o.freeze = Freeze::damping; }), "freeze");
    EXPECT_EQ(field_of([](LearnOptions& o) { o.stiffness_start = 50; }), "stiffness_start");
    EXPECT_EQ(field_of([](LearnOptions& o) { o.damping_start = 1; }), "damping_start");
    EXPECT_EQ(field_of([](LearnOptions& o) { o.force_weight = {1, 2, 3}; }), "force_weight");
    EXPECT_EQ(field_of([](LearnOptions& o) {
                  o.stiffness_start = 50;
                  o.method = LearnMethod::gradient;
              }),
              "none");
}

}  // namespace

}  // namespace springtime
