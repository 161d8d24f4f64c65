#include "springtime/import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "capture/held_paths.h"
#include "springtime/files.h"
#include "temp_folder.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 4, kCols = 5;
constexpr double kSpacing = 0.05;  // [m]

// A sheet that hangs from its north edge and swings about it as a board: neighbours keep their
// distance, and everything is known at every time.
Vec3d board(int row, int col, double time)
{
    const double angle = 0.5 * std::sin(4 * time);
    return {kSpacing * col, 1 - kSpacing * row * std::cos(angle),
            kSpacing * row * std::sin(angle) + 0.1 * std::sin(2 * time)};
}

struct Written {
    std::vector<double> time;
    double unit = 1;  // [m]
    // What becomes of a point: kept as it is, unless a test says otherwise.
    std::function<std::string(std::size_t frame, int point, Vec3d x)> cells =
        [](std::size_t, int, Vec3d x) { return fmt::format("{},{},{}", x.x, x.y, x.z); };
    bool with_times = true;
};

std::vector<double> even_times(std::size_t frames, double rate)
{
    std::vector<double> time;
    for (std::size_t f = 0; f < frames; ++f) time.push_back(double(f) / rate);
    return time;
}

void write_board(const std::filesystem::path& path, const Written& written)
{
    std::ofstream file(path);
    file << (written.with_times ? "time" : "frame");
    for (int p = 0; p < kRows * kCols; ++p) file << fmt::format(",p{0}_x,p{0}_y,p{0}_z", p);
    file << "\n";
    for (std::size_t f = 0; f < written.time.size(); ++f) {
        file << (written.with_times ? fmt::format("{}", written.time[f]) : fmt::format("{}", f));
        for (int p = 0; p < kRows * kCols; ++p) {
            file << ','
                 << written.cells(
                        f, p, (1 / written.unit) * board(p / kCols, p % kCols, written.time[f]));
        }
        file << "\n";
    }
}

ImportOptions board_options()
{
    ImportOptions options;
    options.grid = Grid{kRows, kCols};
    options.length = kSpacing * (kCols - 1);
    options.width = kSpacing * (kRows - 1);
    options.mass = 0.03;
    options.driven = {"edge-north"};
    return options;
}

class Import : public ::testing::Test {
  protected:
    ImportReport run(const Written& written, const ImportOptions& options)
    {
        write_board(folder / "take.csv", written);
        return import_motion({folder / "take.csv"}, folder / "motion.h5", options);
    }
    // The field that is wrong and the message.
    std::string refusal(const Written& written, const ImportOptions& options)
    {
        const auto act = [&] { run(written, options); };
        const std::string text = fmt::format("{}: {}", field_of(act), error_of(act));
        EXPECT_FALSE(std::filesystem::exists(folder / "motion.h5"));
        EXPECT_FALSE(std::filesystem::exists(folder / "motion.h5.part"));
        return text;
    }
    Rollout rollout() const { return MotionReader(folder / "motion.h5").read(0); }

    TempFolder folder;
};

void expect_has(const std::string& text, const std::string& part)
{
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

// The distance of a stored point from where the board has it. [m]
double off(const Rollout& rollout, std::size_t frame, int p, double time)
{
    const float* x = &rollout.position[3 * (frame * kRows * kCols + std::size_t(p))];
    return length(Vec3d{x[0], x[1], x[2]} - board(p / kCols, p % kCols, time));
}

TEST_F(Import, PointsComeBackToRounding)
{
    const ImportReport report = run({even_times(121, 60)}, board_options());
    const MotionReader motion(folder / "motion.h5");
    const MotionHeader& header = motion.header();
    EXPECT_TRUE(header.captured);
    EXPECT_FALSE(header.velocities);
    EXPECT_NEAR(header.frame_interval(), 1.0 / 60, 1e-12);
    EXPECT_EQ(header.stride, 17);  // 16.67 ms in steps of at most 1 ms
    EXPECT_EQ(motion.frame_count(0), 121u);
    const Rollout rollout = motion.read(0);
    for (std::size_t f = 0; f < 121; ++f) {
        for (int p = 0; p < kRows * kCols; ++p) EXPECT_LT(off(rollout, f, p, double(f) / 60), 1e-6);
    }
    EXPECT_NEAR(header.rest[7].u, 2 * kSpacing, 1e-12);
    EXPECT_NEAR(header.rest[7].v, 1 * kSpacing, 1e-12);
    EXPECT_EQ(report.recordings.at(0).missing + report.recordings[0].outlier_count, 0u);
    EXPECT_NEAR(report.stretch, 1, 1e-6);
}

// The path of a driven point is z = 0.1 sin 2t. A quadratic through five frames, h apart, is off by
// at most h^3 x''' / 6 times 4 (the product of distances at the outermost frame), far below 1 mm.
TEST_F(Import, DrivenPointsLeavePathsAndPinnedOnesPlaces)
{
    ImportOptions options = board_options();
    run({even_times(121, 60)}, options);
    const Handles handles = rollout().handles;
    EXPECT_EQ(handles.particles, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(handles.key_time.size(), 121u);
    const double bound = 4 * std::pow(1.0 / 60, 3) * 0.8 / 6 + 1e-6;
    for (std::size_t f = 0; f < 121; ++f) {
        const double time = double(f) / 60;
        EXPECT_LT(length(handles.position(2, time) - board(0, 2, time)), bound);
    }
    options.driven = {"p0"};
    options.pinned = {"p4"};
    std::filesystem::remove(folder / "motion.h5");
    const ImportReport report = run({even_times(121, 60)}, options);
    const Handles mixed = rollout().handles;
    EXPECT_EQ(mixed.particles, (std::vector<int>{4, 0}));
    EXPECT_EQ(length(mixed.position(0, 0) - mixed.position(0, 1.5)), 0);
    // It stands where the median of 0.1 sin 2t is, and so it is said to move.
    EXPECT_GT(report.recordings[0].pin_motion, 0.03);
    ASSERT_EQ(report.warnings.size(), 1u);
    expect_has(report.warnings[0], "name them with `driven`");
}

TEST_F(Import, MillimetresAreRecognised)
{
    Written written{even_times(60, 60)};
    written.unit = 0.001;
    const ImportReport report = run(written, board_options());
    EXPECT_EQ(report.unit, 0.001);
    expect_has(report.unit_reason, "millimetres, which fit");
    EXPECT_LT(off(rollout(), 30, 19, 0.5), 1e-6);
}

TEST_F(Import, AWrongUnitIsRefused)
{
    Written written{even_times(60, 60)};
    written.unit = 0.001;
    ImportOptions options = board_options();
    options.unit = 1;
    const std::string text = refusal(written, options);
    expect_has(text, "stretched 1000-fold");
    expect_has(text, "give `unit` mm");
    options = board_options();
    options.length = 70;
    options.width = 50;
    expect_has(refusal({even_times(60, 60)}, options), "check `length` and `width`");
}

TEST_F(Import, AnAxisThatIsNotUpIsRefusedAndTurnedWhenNamed)
{
    Written written{even_times(60, 60)};
    // Written with z up: (x, y, z) of ours is (x, -z, y) there.
    written.cells = [](std::size_t, int, Vec3d x) {
        return fmt::format("{},{},{}", x.x, -x.z, x.y);
    };
    ImportOptions options = board_options();
    const std::string text = refusal(written, options);
    expect_has(text, "does not hang down");
    expect_has(text, "give `up` z");
    options.up = "z";
    run(written, options);
    EXPECT_LT(off(rollout(), 30, 19, 0.5), 1e-6);
}

// The lower edge is named: that is said before another axis is advised, with the upper corners.
TEST_F(Import, LowerPointsAreSaidToBeLower)
{
    ImportOptions options = board_options();
    options.driven = {"corner-sw", "corner-se"};
    const std::string text = refusal({even_times(60, 60)}, options);
    expect_has(text, "the named points are the lower ones");
    expect_has(text, "`driven` corner-nw `driven` corner-ne");
    EXPECT_LT(text.find("corner-nw"), text.find("give `up` -y"));
}

TEST_F(Import, AWrongGridIsRefused)
{
    ImportOptions options = board_options();
    options.grid = Grid{3, 5};
    const std::string count = refusal({even_times(60, 60)}, options);
    expect_has(count, "20 points, but a grid of 3 x 5 has 15");
    expect_has(count, "2x10, 4x5");
    options.grid = Grid{5, 4};
    const std::string shape = refusal({even_times(60, 60)}, options);
    expect_has(shape, "lie far apart");
    expect_has(shape, "`grid` 4x5");
}

TEST_F(Import, APointThatIsNeverSeenIsNamed)
{
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t, int p, Vec3d x) {
        return p == 7 ? std::string(",,") : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    ImportOptions options = board_options();
    expect_has(refusal(written, options), "point 'p7' is missing in all 60 frames");
    options.dropped = {"p7"};
    run(written, options);
    EXPECT_EQ(MotionReader(folder / "motion.h5").header().landmark_count(), 19u);
}

TEST_F(Import, OneFrameIsNoMotion)
{
    expect_has(refusal({even_times(1, 60)}, board_options()), "1 frame only");
}

TEST_F(Import, ARestShapeMustBeNumbers)
{
    std::ofstream rest(folder / "rest.obj");
    for (int p = 0; p < kRows * kCols; ++p) {
        rest << (p == 3 ? "v nan 0 0\n" : fmt::format("v {} 0 {}\n", p % kCols, p / kCols));
    }
    rest.close();
    ImportOptions options = board_options();
    options.grid.reset();
    options.rest = folder / "rest.obj";
    const std::string text = refusal({even_times(60, 60)}, options);
    expect_has(text, "rest.obj");
}

TEST_F(Import, ARestMeshSaysWhereThePointsLie)
{
    std::ofstream rest(folder / "rest.obj");
    for (int p = 0; p < kRows * kCols; ++p) {
        rest << fmt::format("v {} 0 {}\n", kSpacing * (p % kCols), kSpacing * (p / kCols));
    }
    rest.close();
    ImportOptions options = board_options();
    options.grid.reset();
    options.length = options.width = std::nullopt;
    options.rest = folder / "rest.obj";
    run({even_times(60, 60)}, options);
    const MotionReader motion(folder / "motion.h5");
    EXPECT_NEAR(motion.header().sheet.length, 4 * kSpacing, 1e-9);
    EXPECT_NEAR(motion.header().rest[13].u, 3 * kSpacing, 1e-9);
    EXPECT_NEAR(motion.header().rest[13].v, 2 * kSpacing, 1e-9);
}

TEST_F(Import, AFrameIsLaidOutFlat)
{
    ImportOptions options = board_options();
    options.grid.reset();
    options.length = options.width = std::nullopt;
    options.driven = {"p0", "p1", "p2", "p3", "p4"};
    const ImportReport report = run({even_times(60, 60)}, options);
    EXPECT_NEAR(report.header.sheet.length, 4 * kSpacing, 1e-6);
    EXPECT_NEAR(report.header.sheet.width, 3 * kSpacing, 1e-6);
    expect_has(report.rest_reason, "frame 0, laid out flat");
    // North is up and west is -x: as the grid has it.
    EXPECT_NEAR(report.header.rest[13].u, 3 * kSpacing, 1e-6);
    EXPECT_NEAR(report.header.rest[13].v, 2 * kSpacing, 1e-6);
}

TEST_F(Import, GapsStayGaps)
{
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t f, int p, Vec3d x) {
        return p == 12 && f >= 20 && f < 27 ? std::string("NaN,NaN,NaN")
                                            : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    const ImportReport report = run(written, board_options());
    EXPECT_EQ(report.recordings[0].missing, 7u);
    const Rollout moved = rollout();
    for (std::size_t f = 0; f < 60; ++f) {
        EXPECT_EQ(moved.seen(f, 12), f < 20 || f >= 27);
        EXPECT_TRUE(moved.seen(f, 11));
    }
}

TEST_F(Import, FramesThatTheFileLeavesOutBecomeGaps)
{
    Written written{even_times(60, 60)};
    written.time.erase(written.time.begin() + 10, written.time.begin() + 12);
    const ImportReport report = run(written, board_options());
    EXPECT_EQ(report.recordings[0].lost, 2u);
    const Rollout moved = rollout();
    ASSERT_EQ(moved.frame_count, 60u);
    EXPECT_FALSE(moved.seen(10, 0));
    EXPECT_LT(off(moved, 12, 19, 0.2), 1e-6);
    EXPECT_LT(off(moved, 9, 19, 0.15), 1e-6);
}

// Numbered meshes of which two are not there, and of which one is far off.
TEST_F(Import, FilesThatASequenceLeavesOutBecomeGaps)
{
    const auto write = [&](std::size_t number, double time) {
        std::ofstream file(folder / fmt::format("f{:03}.obj", number));
        for (int p = 0; p < kRows * kCols; ++p) {
            const Vec3d x = board(p / kCols, p % kCols, time);
            file << fmt::format("v {} {} {}\n", x.x, x.y, x.z);
        }
    };
    for (std::size_t f = 0; f < 60; ++f) {
        if (f != 20 && f != 21) write(f, double(f) / 60);
    }
    ImportOptions options = board_options();
    options.frame_rate = 60;
    const fs::path sequence = (folder / "f000.obj").parent_path();
    const ImportReport report = import_motion({sequence}, folder / "motion.h5", options);
    EXPECT_EQ(report.recordings[0].frames_read, 58u);
    EXPECT_EQ(report.recordings[0].lost, 2u);
    const Rollout moved = rollout();
    ASSERT_EQ(moved.frame_count, 60u);
    for (std::size_t f = 0; f < 60; ++f) {
        EXPECT_EQ(moved.seen(f, 7), f != 20 && f != 21);
        if (moved.seen(f, 7)) {
            EXPECT_LT(off(moved, f, 7, double(f) / 60), 1e-6);
        }
    }
    write(2000000000, 1);
    expect_has(error_of([&] { import_motion({sequence}, folder / "more.h5", options); }),
               "the number goes from 59 to 2000000000 (from the first) between two of them");
}

TEST_F(Import, RepeatedFramesAreDropped)
{
    Written written{even_times(60, 60)};
    written.with_times = false;
    written.time.insert(written.time.begin() + 30, written.time[29]);
    ImportOptions options = board_options();
    options.frame_rate = 60;
    const ImportReport report = run(written, options);
    EXPECT_EQ(report.recordings[0].duplicates, 1u);
}

// Between four frames the cubic is off by at most 9/16 h^4 x''''/24 at even times. The board's
// fastest point has |x''''| below 0.15 * (0.5 * 4)^4 * 16 m/s^4, generously.
TEST_F(Import, UnevenTimesAreResampled)
{
    Written written{even_times(120, 60)};
    for (std::size_t f = 0; f < 120; ++f) written.time[f] += 0.004 * std::sin(double(f * f));
    ImportOptions options = board_options();
    options.frame_rate = 60;
    const ImportReport report = run(written, options);
    EXPECT_TRUE(report.recordings[0].resampled);
    const double bound = 9.0 / 16 * std::pow(1.5 / 60, 4) * 38.4 / 24 + 1e-6;
    const Rollout moved = rollout();
    for (std::size_t f = 2; f + 2 < moved.frame_count; ++f) {
        EXPECT_LT(off(moved, f, 19, written.time[0] + double(f) / 60), bound) << f;
    }
}

// 60 frames a second become 120: each second one is a frame of the file, and those between are off
// by no more than the cubic (see above). Nothing is made up where points or frames are missing.
TEST_F(Import, AnotherRateIsMadeOfTheFrames)
{
    Written written{even_times(121, 60)};
    written.time.erase(written.time.begin() + 80,
                       written.time.begin() + 83);  // 1.3333 s to 1.3667 s
    written.cells = [](std::size_t f, int p, Vec3d x) {
        return p == 12 && f == 40 ? ",," : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    ImportOptions options = board_options();
    options.frame_rate = 120;
    const ImportReport report = run(written, options);
    const RecordingReport& recording = report.recordings[0];
    EXPECT_TRUE(recording.resampled && recording.another_rate && !recording.uneven);
    EXPECT_NEAR(recording.file_rate, 60, 1e-6);
    const double bound = 9.0 / 16 * std::pow(1.0 / 60, 4) * 38.4 / 24 + 1e-6;
    const Rollout moved = rollout();
    ASSERT_EQ(moved.frame_count, 241u);
    for (std::size_t f = 0; f < 241; ++f) {
        const bool lost = f > 158 && f < 166;
        EXPECT_EQ(moved.seen(f, 19), !lost) << f;
        EXPECT_EQ(moved.seen(f, 12), !lost && (f < 79 || f > 81)) << f;
        const bool four = f > 1 && f < 239 && !(f > 156 && f < 168);
        if (four || (f % 2 == 0 && !lost)) {
            EXPECT_LT(off(moved, f, 19, double(f) / 120), bound);
        }
    }
    EXPECT_EQ(recording.lost, 7u);
    EXPECT_EQ(recording.missing, 3u);
    EXPECT_EQ(recording.empty, 0u);
}

// The second take has half the rate of the first.
TEST_F(Import, TakesOfDifferentRatesGetThatOfTheFirst)
{
    write_board(folder / "a.csv", {even_times(60, 60)});
    write_board(folder / "b.csv", {even_times(31, 30)});
    const ImportReport report =
        import_motion({folder / "a.csv", folder / "b.csv"}, folder / "motion.h5", board_options());
    EXPECT_FALSE(report.recordings[0].resampled);
    EXPECT_TRUE(report.recordings[1].another_rate);
    EXPECT_EQ(report.recordings[1].frame_count, 61u);
    EXPECT_EQ(report.recordings[1].lost + report.recordings[1].missing, 0u);
}

TEST_F(Import, AnOutlierBecomesAGap)
{
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t f, int p, Vec3d x) {
        return fmt::format("{},{},{}", x.x, x.y, x.z + (p == 8 && f == 25 ? 0.04 : 0));
    };
    const ImportReport report = run(written, board_options());
    ASSERT_EQ(report.recordings[0].outlier_count, 1u);
    EXPECT_EQ(report.recordings[0].outliers[0].frame, 25u);
    EXPECT_EQ(report.recordings[0].outliers[0].landmark, 8);
    EXPECT_NEAR(report.recordings[0].outliers[0].off, 0.04, 1e-3);
    EXPECT_FALSE(rollout().seen(25, 8));
    std::filesystem::remove(folder / "motion.h5");
    ImportOptions options = board_options();
    options.keep_outliers = true;
    EXPECT_EQ(run(written, options).recordings[0].outlier_count, 1u);
    EXPECT_TRUE(rollout().seen(25, 8));
}

TEST_F(Import, PartOfATakeIsTaken)
{
    ImportOptions options = board_options();
    options.from = 0.5;
    options.until = 1;
    run({even_times(121, 60)}, options);
    const Rollout moved = rollout();
    ASSERT_EQ(moved.frame_count, 31u);
    EXPECT_LT(off(moved, 0, 19, 0.5), 1e-6);
}

TEST_F(Import, SeveralFilesAreRollouts)
{
    write_board(folder / "a.csv", {even_times(60, 60)});
    write_board(folder / "b.csv", {even_times(40, 60)});
    import_motion({folder / "a.csv", folder / "b.csv"}, folder / "motion.h5", board_options());
    const MotionReader motion(folder / "motion.h5");
    ASSERT_EQ(motion.rollout_count(), 2u);
    EXPECT_EQ(motion.frame_count(1), 40u);
}

// The second take lists the points backwards.
TEST_F(Import, PointsOfFurtherTakesAreMatchedByName)
{
    write_board(folder / "a.csv", {even_times(60, 60)});
    std::ofstream file(folder / "b.csv");
    file << "frame,time,marker,x,y,z\n";
    for (int f = 0; f < 40; ++f) {
        for (int p = kRows * kCols - 1; p >= 0; --p) {
            const Vec3d x = board(p / kCols, p % kCols, f / 60.0);
            file << fmt::format("{},{},p{},{},{},{}\n", f, f / 60.0, p, x.x, x.y, x.z);
        }
    }
    file.close();
    write_board(folder / "c.csv", {even_times(30, 60)});
    std::ifstream plain(folder / "c.csv");
    std::string header, rest;
    std::getline(plain, header);
    std::getline(plain, rest, '\0');
    for (std::size_t at = 0; (at = header.find('p', at)) != std::string::npos; ++at) {
        header[at] = 'q';
    }
    std::ofstream(folder / "c.csv") << header << "\n" << rest;
    const auto import = [&](const char* second) {
        return import_motion({folder / "a.csv", folder / second}, folder / "motion.h5",
                             board_options());
    };
    expect_has(error_of([&] { import("c.csv"); }), "c.csv: its points have other names");
    import("b.csv");
    const Rollout moved = MotionReader(folder / "motion.h5").read(1);
    for (int p = 0; p < kRows * kCols; ++p) EXPECT_LT(off(moved, 30, p, 0.5), 1e-6) << p;
}

TEST_F(Import, WhatNoFileSaysIsAskedFor)
{
    ImportOptions options = board_options();
    options.mass = 0;
    expect_has(refusal({even_times(60, 60)}, options), "mass: ");
    options = board_options();
    options.length.reset();
    expect_has(refusal({even_times(60, 60)}, options), "give `length` and `width`");
    Written written{even_times(60, 60)};
    written.with_times = false;
    expect_has(refusal(written, board_options()), "give `frame_rate`");
    options = board_options();
    options.driven = {"nose"};
    expect_has(refusal({even_times(60, 60)}, options), "driven: 'nose'");
    options.driven = options.pinned = {"p0"};
    expect_has(refusal({even_times(60, 60)}, options), "driven: point ");
}

// A measured shape lies along no edge to rounding: all of its first row counts.
TEST_F(Import, AnEdgeOfAMeasuredShapeIsMoreThanOnePoint)
{
    std::ofstream rest(folder / "rest.obj");
    for (int p = 0; p < kRows * kCols; ++p) {
        rest << fmt::format("v {} 0 {}\n", kSpacing * (p % kCols) + 5e-4 * std::sin(3.0 * p),
                            kSpacing * (p / kCols) + 5e-4 * std::cos(5.0 * p));
    }
    rest.close();
    ImportOptions options = board_options();
    options.grid.reset();
    options.length = options.width = std::nullopt;
    options.rest = folder / "rest.obj";
    EXPECT_EQ(run({even_times(60, 60)}, options).driven, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(Import, PointsThatAreLeftOutDoNotCount)
{
    // One point or another of the last row is always missing; without that row every frame is
    // whole.
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t f, int p, Vec3d x) {
        return p >= 15 && f % 5 == std::size_t(p - 15) ? std::string(",,")
                                                       : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    ImportOptions options = board_options();
    options.grid.reset();
    options.length = options.width = std::nullopt;
    options.driven = {"p0", "p1", "p2", "p3", "p4"};
    expect_has(refusal(written, options), "no frame shows every point");
    options.dropped = {"p15", "p16", "p17", "p18", "p19"};
    const ImportReport report = run(written, options);
    EXPECT_NEAR(report.header.sheet.width, 2 * kSpacing, 1e-6);
    EXPECT_EQ(report.recordings[0].missing, 0u);
}

TEST_F(Import, NumbersAreThoseOfTheFile)
{
    ImportOptions options = board_options();
    options.dropped = {"particle:0", "particle:1"};
    options.driven = {"particle:2", "p3", "p4"};
    const ImportReport report = run({even_times(60, 60)}, options);
    EXPECT_EQ(report.driven, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(report.labels[0], "p2");
    std::filesystem::remove(folder / "motion.h5");
    options.driven = {"particle:1"};
    expect_has(refusal({even_times(60, 60)}, options), "point 1 is left out by `dropped`");
}

TEST_F(Import, PathsThatAreDrawnThroughGapsAreSaid)
{
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t f, int p, Vec3d x) {
        return p == 0 && f < 12 ? std::string(",,") : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    const ImportReport report = run(written, board_options());
    EXPECT_EQ(report.recordings[0].bridged, 12u);
    EXPECT_EQ(report.recordings[0].late, 12u);
    ASSERT_EQ(report.warnings.size(), 2u);
    expect_has(report.warnings[0], "`from` 0.2");
    expect_has(report.warnings[1], "missing for 0.2 s at a time");
}

// Nothing is seen in the first 5 frames, p7 from frame 14 on, and p8 not from 12 to 24. The first
// frame that shows all is 25, at 0.4167 s, and the advice is good.
TEST_F(Import, TheAdviceToBeginLaterHolds)
{
    Written written{even_times(60, 60)};
    written.cells = [](std::size_t f, int p, Vec3d x) {
        const bool hidden = f < 5 || (p == 7 && f < 14) || (p == 8 && f >= 12 && f < 25);
        return hidden ? ",," : fmt::format("{},{},{}", x.x, x.y, x.z);
    };
    ImportOptions options = board_options();
    const ImportReport report = run(written, options);
    const RecordingReport& recording = report.recordings[0];
    EXPECT_EQ(recording.trimmed, 5u);
    EXPECT_EQ(recording.empty, 0u);  // left out is not written
    EXPECT_EQ(recording.late, 9u);   // of those that are written
    EXPECT_EQ(recording.missing, 9u + 13u);
    EXPECT_NEAR(recording.whole_from.value(), 25.0 / 60, 1e-9);
    ASSERT_EQ(report.warnings.size(), 1u);
    expect_has(report.warnings[0], "`from` 0.41");
    fs::remove(folder / "motion.h5");
    options.from = 0.41;
    EXPECT_EQ(run(written, options).warnings.size(), 0u);
    EXPECT_LT(off(rollout(), 0, 19, 25.0 / 60), 1e-6);
}

// Three points of which none is ever seen beside all others: 0 and 1, 1 and 2, 0 and 1 and so on.
TEST(FirstSight, ThreeFramesTogetherWillDo)
{
    const auto frame = [](std::vector<int> seen) {
        PointFrame points(3, kMissingPoint);
        for (const int p : seen) points[std::size_t(p)] = {1, 2, 3};
        return points;
    };
    FirstSight sight(3);
    for (int f = 0; f < 5; ++f) sight.add(frame({0}));
    EXPECT_EQ(sight.late(), 0u);
    sight.add(frame({2}));  // frame 5
    for (int f = 6; f < 9; ++f) sight.add(frame({0, 1}));
    EXPECT_EQ(sight.late(), 6u);
    EXPECT_EQ(sight.whole(), std::size_t(4));  // 0 in 4 and 6, 2 in 5, 1 in 6
    FirstSight never(3);
    for (int f = 0; f < 9; ++f) never.add(frame({f % 2}));
    EXPECT_FALSE(never.whole());
}

TEST_F(Import, TimesBeforeTheFirstAreSpokenOf)
{
    Written written{even_times(60, 60)};
    for (double& t : written.time) t = 1 - t;
    expect_has(refusal(written, board_options()),
               "time runs backwards throughout, from 0 s to -0.98");
}

TEST_F(Import, ExchangedSidesAreWarnedOf)
{
    ImportOptions options = board_options();
    std::swap(options.length, options.width);
    const ImportReport report = run({even_times(60, 60)}, options);
    ASSERT_EQ(report.warnings.size(), 1u);
    expect_has(report.warnings[0], "1.33 times as far apart");
}

TEST_F(Import, AnInterruptionLeavesNothing)
{
    write_board(folder / "take.csv", {even_times(60, 60)});
    EXPECT_THROW(import_motion({folder / "take.csv"}, folder / "motion.h5", board_options(),
                               Progress([](const ProgressUpdate& now) { return now.done < 1; })),
                 Cancelled);
    EXPECT_FALSE(std::filesystem::exists(folder / "motion.h5"));
    EXPECT_FALSE(std::filesystem::exists(folder / "motion.h5.part"));
}

}  // namespace
}  // namespace springtime
