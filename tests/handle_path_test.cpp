#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "capture/smooth_path.h"
#include "capture/tool_fit.h"
#include "springtime/files.h"
#include "springtime/import.h"
#include "temp_folder.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 4, kCols = 5;
constexpr double kSpacing = 0.06, kPi = 3.14159265358979323846;

// A tool that swings through the room and turns about the vertical axis, and the two corners that
// it holds, at known offsets. All in metres, y up.
Vec3d tool_place(double t)
{
    return {0.2 * std::sin(2.1 * t), 1 + 0.1 * std::sin(3.3 * t + 1), 0.25 * std::sin(2.7 * t + 2)};
}
double tool_angle(double t)
{
    return 0.3 * std::sin(1.7 * t);
}
constexpr Vec3d kOffset[2] = {{-0.12, -0.05, 0.01}, {0.12, -0.05, 0.01}};

Vec3d turned(const Vec3d& a, double angle)  // about y
{
    return {std::cos(angle) * a.x + std::sin(angle) * a.z, a.y,
            -std::sin(angle) * a.x + std::cos(angle) * a.z};
}
Vec3d corner(int which, double t)
{
    return tool_place(t) + turned(kOffset[which], tool_angle(t));
}

// The sheet hangs straight down from the line between both corners.
Vec3d sheet_point(int row, int col, double t)
{
    const double along = double(col) / (kCols - 1);
    const Vec3d top = (1 - along) * corner(0, t) + along * corner(1, t);
    return top - Vec3d{0, kSpacing * row, 0};
}

struct Take {
    double delay = 0.23;   // of the recording behind the log [s]
    double noise = 0.004;  // [m], and ten times that in one place in ten
    double epoch = 1.6e9;  // [s], of both clocks
    double seconds = 8;
    unsigned seed = 1;
    Turn turn = {};  // from the level room to the axes of the camera
};

// About ten frames a second at uneven times; many rows repeat the one before.
void write_recording(const fs::path& path, const Take& take)
{
    std::mt19937 random(take.seed);
    std::normal_distribution<double> noise(0, take.noise);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::ofstream file(path);
    file << "%time";
    for (int p = 0; p < kRows * kCols; ++p) file << fmt::format(",x{0},y{0},z{0}", p);
    std::string cells;
    for (double time = 0; time < take.seconds; time += 0.05) {
        if (cells.empty() || uniform(random) < 0.5) {
            cells.clear();
            for (int p = 0; p < kRows * kCols; ++p) {
                const Vec3d x = take.turn(sheet_point(p / kCols, p % kCols, time - take.delay));
                const double size = uniform(random) < 0.1 ? 5 : 1;
                cells += fmt::format(",{},{},{}", x.x + size * noise(random),
                                     x.y + size * noise(random), x.z + size * noise(random));
            }
        }
        file << "\n" << std::int64_t(std::llround((take.epoch + time) * 1e9)) << cells;
    }
    file << "\n";
}

struct Log {
    double rate = 40;  // poses per second
    double unit = 1;   // [m]
    double from = -1, until = 9;
    double speed = 1;  // of the tool; another one is another motion
    std::string header =
        "%time,field.header.seq,field.header.stamp,field.header.frame_id,field.pose.position.x,"
        "field.pose.position.y,field.pose.position.z,field.pose.orientation.x,"
        "field.pose.orientation.y,field.pose.orientation.z,field.pose.orientation.w";
    // From the axes of the recording to those of the log.
    Turn turn = {};
    Vec3d shift = {};
};

// The pose of the tool as a ROS node logs it.
void write_ros_log(const fs::path& path, const Take& take, const Log& log)
{
    std::ofstream file(path);
    file << log.header;
    for (int i = 0; i < int((log.until - log.from) * log.rate); ++i) {
        const double time = log.from + i / log.rate;
        const Vec3d place = (1 / log.unit) * (log.turn(tool_place(log.speed * time)) + log.shift);
        const double half = 0.5 * tool_angle(log.speed * time);
        const Turn turn = log.turn * Turn{0, std::sin(half), 0, std::cos(half)};
        const auto stamp = std::int64_t(std::llround((take.epoch + time) * 1e9));
        // A quaternion and its opposite are the same rotation.
        const double sign = i % 2 == 0 ? 1 : -1;
        file << fmt::format("\n{0},{1},{0},base,{2},{3},{4},{5},{6},{7},{8}", stamp, i, place.x,
                            place.y, place.z, sign * turn.x, sign * turn.y, sign * turn.z,
                            sign * turn.w);
    }
    file << "\n";
}

ImportOptions options_with(std::vector<fs::path> logs)
{
    ImportOptions options;
    options.grid = Grid{kRows, kCols};
    options.length = kSpacing * (kCols - 1);
    options.width = kSpacing * (kRows - 1);
    options.mass = 0.03;
    options.driven = {"corner-nw", "corner-ne"};
    options.handle_path = std::move(logs);
    return options;
}

class HandlePath : public ::testing::Test {
  protected:
    ImportReport run(const ImportOptions& options)
    {
        return import_motion({folder / "take.csv"}, folder / "motion.h5", options);
    }
    std::string refusal(const ImportOptions& options)
    {
        const auto act = [&] { run(options); };
        const std::string text = fmt::format("{}: {}", field_of(act), error_of(act));
        EXPECT_FALSE(fs::exists(folder / "motion.h5"));
        return text;
    }
    // How far the stored paths are from where the corners were, at most. [m]
    double worst(double delay, const Turn& turn = {}) const
    {
        const MotionReader motion(folder / "motion.h5");
        const Handles handles = motion.read(0).handles;
        const double seconds = double(motion.frame_count(0) - 1) * motion.header().frame_interval();
        double most = 0;
        for (double t = 0; t < seconds; t += 0.01) {
            for (int h = 0; h < 2; ++h) {
                most = std::max(
                    most, length(handles.position(std::size_t(h), t) - turn(corner(h, t - delay))));
            }
        }
        return most;
    }

    TempFolder folder;
};

// 160 rows, half of them repeated, with 4 mm of noise and 20 mm in a tenth of all places: the mean
// of n of them is known to 4 mm / sqrt(n), with n = 80, so offsets to half a millimetre; the tool
// moves by 0.6 m/s, so the delay to about 4 mm / 0.6 m/s / sqrt(160) = 0.5 ms. Stamps that repeat
// are those of the first row with a frame, so nothing else is off.
TEST_F(HandlePath, DelayAndOffsetsAreFound)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    write_ros_log(folder / "log.csv", take, {});
    const ImportReport report = run(options_with({folder / "log.csv"}));
    const HandleLogReport& log = report.recordings.at(0).handle_log.value();
    EXPECT_NEAR(log.delay, take.delay, 0.004);
    EXPECT_LT(std::abs(log.delay - take.delay), 4 * log.delay_error);
    EXPECT_GT(log.delay_error, 1e-4);
    EXPECT_LT(log.delay_error, 0.004);
    ASSERT_EQ(log.offset.size(), 2u);
    for (int h = 0; h < 2; ++h) {
        EXPECT_LT(length(log.offset[std::size_t(h)] - kOffset[h]), 0.003) << h;
    }
    EXPECT_TRUE(log.oriented);
    EXPECT_TRUE(log.shared_clock);
    EXPECT_EQ(log.turn, 0);
    EXPECT_LT(worst(take.delay), 0.005);
    // Frames hold the same places.
    const Rollout rollout = MotionReader(folder / "motion.h5").read(0);
    for (const std::size_t f : {std::size_t(0), rollout.frame_count / 2}) {
        const double time = double(f) * report.header.frame_interval();
        const float* x = &rollout.position[3 * f * kRows * kCols];
        EXPECT_LT(length(Vec3d{x[0], x[1], x[2]} - rollout.handles.position(0, time)), 1e-6);
    }
}

// The same tracks without the log: the paths are off by several times as much. They are noisy, so
// eleven frames smooth them.
TEST_F(HandlePath, IsBetterThanNoisyTracks)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    const ImportReport report = run(options_with({}));
    EXPECT_GT(worst(take.delay), 0.01);
    EXPECT_EQ(report.recordings.at(0).smoothing_frames, 11u);
    EXPECT_GT(report.recordings.at(0).smoothing, 0.002);
    bool warned = false;
    for (const std::string& text : report.warnings) {
        warned = warned || text.find("`handle_path`") != std::string::npos;
    }
    EXPECT_TRUE(warned);
}

TEST_F(HandlePath, ADelayThatIsGivenIsTaken)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    write_ros_log(folder / "log.csv", take, {});
    ImportOptions options = options_with({folder / "log.csv"});
    options.handle_delay = 0.2;
    const HandleLogReport log = run(options).recordings.at(0).handle_log.value();
    EXPECT_EQ(log.delay, 0.2);
    EXPECT_TRUE(log.delay_given);
    EXPECT_EQ(log.delay_error, 0);
}

// A robot that is turned by 5 degrees against the camera, which is level: the cloth hangs straight
// down as recorded, and the path of the log is turned.
TEST_F(HandlePath, ALogMayBeSlanted)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    Log log;
    log.turn = turn_by({0.05, 0.06, -0.04});
    write_ros_log(folder / "log.csv", take, log);
    const HandleLogReport found =
        run(options_with({folder / "log.csv"})).recordings.at(0).handle_log.value();
    EXPECT_NEAR(found.turn, std::sqrt(0.05 * 0.05 + 0.06 * 0.06 + 0.04 * 0.04), 0.01);
    EXPECT_NEAR(found.delay, take.delay, 0.004);
    EXPECT_FALSE(found.levelled);
    EXPECT_LT(worst(take.delay), 0.006);
}

// A camera that is turned by 5 degrees against the robot, which is level: gravity is turned, and
// the points stay.
TEST_F(HandlePath, ACameraMayBeSlanted)
{
    Take take;
    take.turn = turn_by({0.06, 0, -0.06});
    write_recording(folder / "take.csv", take);
    write_ros_log(folder / "log.csv", take, {});
    const ImportReport report = run(options_with({folder / "log.csv"}));
    const HandleLogReport& found = report.recordings.at(0).handle_log.value();
    EXPECT_NEAR(found.turn, 0.06 * std::sqrt(2.0), 0.01);
    EXPECT_TRUE(found.levelled);
    EXPECT_NEAR(found.slant_before, 0.06 * std::sqrt(2.0), 0.02);  // noise, and what is in motion
    EXPECT_LT(found.slant, 0.02);
    EXPECT_LT(length(report.header.environment.gravity - take.turn({0, -9.81, 0})), 0.01 * 9.81);
    EXPECT_LT(worst(take.delay, take.turn), 0.006);
}

TEST_F(HandlePath, AxesMayHaveNothingInCommon)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    Log log;
    log.turn = turn_by({0, 0, kPi / 2});
    log.shift = {3, -2, 1};
    write_ros_log(folder / "log.csv", take, log);
    const HandleLogReport found =
        run(options_with({folder / "log.csv"})).recordings.at(0).handle_log.value();
    EXPECT_NEAR(found.turn, kPi / 2, 0.02);
    EXPECT_NEAR(found.delay, take.delay, 0.004);
    EXPECT_LT(worst(take.delay), 0.006);
}

// Millimetres, a clock of its own, columns without names: t, x, y, z, and the quaternion.
TEST_F(HandlePath, PlainColumnsOfAnotherClockInMillimetres)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    std::ofstream file(folder / "log.csv");
    for (int i = 0; i < 400; ++i) {
        const double time = 0.023 * i - 0.5, half = 0.5 * tool_angle(time);
        const Vec3d x = 1000.0 * tool_place(time);
        file << fmt::format("{},{},{},{},0,{},0,{}\n", 77 + time, x.x, x.y, x.z, std::sin(half),
                            std::cos(half));
    }
    file.close();
    const HandleLogReport log =
        run(options_with({folder / "log.csv"})).recordings.at(0).handle_log.value();
    EXPECT_FALSE(log.shared_clock);
    // Its first pose, at -0.5 s, is set where the recording begins.
    EXPECT_NEAR(log.delay, take.delay - 0.5, 0.004);
    EXPECT_LT(worst(take.delay), 0.006);
}

TEST_F(HandlePath, AFileMayHaveAPlaceForEveryPoint)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    std::ofstream file(folder / "log.csv");
    file << "time,a_x,a_y,a_z,b_x,b_y,b_z\n";
    for (int i = 0; i < 500; ++i) {
        const double time = 0.02 * i - 1;
        const Vec3d a = corner(0, time), b = corner(1, time);
        file << fmt::format("{},{},{},{},{},{},{}\n", take.epoch + time, a.x, a.y, a.z, b.x, b.y,
                            b.z);
    }
    file.close();
    const HandleLogReport log =
        run(options_with({folder / "log.csv"})).recordings.at(0).handle_log.value();
    EXPECT_FALSE(log.oriented);
    EXPECT_NEAR(log.delay, take.delay, 0.004);
    for (const Vec3d& offset : log.offset) EXPECT_LT(length(offset), 0.003);
    EXPECT_LT(worst(take.delay), 0.005);
}

// Poses come in pairs with a few milliseconds between, every tenth of a second.
TEST_F(HandlePath, BurstsDoNotShakeThePath)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.0002);
    std::ofstream file(folder / "log.csv");
    file << "time,x,y,z,qx,qy,qz,qw\n";
    for (int i = 0; i < 200; ++i) {
        const double time = 0.1 * (i / 2) - 1 + (i % 2 == 1 ? 0.002 : 0);
        const Vec3d x = tool_place(time);
        const double half = 0.5 * tool_angle(time);
        file << fmt::format("{},{},{},{},0,{},0,{}\n", take.epoch + time, x.x + noise(random),
                            x.y + noise(random), x.z + noise(random), std::sin(half),
                            std::cos(half));
    }
    file.close();
    run(options_with({folder / "log.csv"}));
    // The spline through frames h = 0.1 s apart: 5/384 h^4 x'''' is 0.02 mm for these paths.
    EXPECT_LT(worst(take.delay), 0.006);
}

TEST_F(HandlePath, EveryTakeHasItsOwnLog)
{
    const Take first, second{.delay = 0.11, .epoch = 1.7e9, .seed = 2};
    write_recording(folder / "take.csv", first);
    write_recording(folder / "second.csv", second);
    write_ros_log(folder / "log.csv", first, {});
    write_ros_log(folder / "second_log.csv", second, {});
    const ImportOptions options = options_with({folder / "log.csv", folder / "second_log.csv"});
    const ImportReport report =
        import_motion({folder / "take.csv", folder / "second.csv"}, folder / "motion.h5", options);
    EXPECT_NEAR(report.recordings.at(0).handle_log->delay, first.delay, 0.004);
    EXPECT_NEAR(report.recordings.at(1).handle_log->delay, second.delay, 0.004);
    fs::remove(folder / "motion.h5");
    const std::string one = refusal(options);  // of one recording
    EXPECT_TRUE(mentions(one, {"handle_path: ", "2 files for 1 recordings"}));
    // Logs that were exchanged are those of another time.
    const auto exchanged = [&] {
        import_motion({folder / "take.csv", folder / "second.csv"}, folder / "motion.h5",
                      options_with({folder / "second_log.csv", folder / "log.csv"}));
    };
    EXPECT_TRUE(mentions(error_of(exchanged), {"log of the same recording"}));
}

TEST_F(HandlePath, WhatDoesNotFitIsRefused)
{
    const Take take;
    write_recording(folder / "take.csv", take);
    Log log;
    log.until = 4;  // half of the recording
    write_ros_log(folder / "log.csv", take, log);
    EXPECT_TRUE(mentions(refusal(options_with({folder / "log.csv"})),
                         {"handle_path: ", "reach from", "`from` and `until`"}));
    Log other;
    other.speed = 2.3;
    write_ros_log(folder / "log.csv", take, other);
    EXPECT_TRUE(mentions(refusal(options_with({folder / "log.csv"})),
                         {"handle_path: ", "does not explain"}));
    write_bytes(folder / "log.csv", "x,y,z\n1,2,3\n2,3,4\n3,4,5\n4,5,6\n5,6,8\n");
    EXPECT_TRUE(mentions(refusal(options_with({folder / "log.csv"})), {"it has no times"}));
    write_bytes(folder / "log.csv", "time,x,y,z\n1,2,3,4\n2,2,3,4\n3,2,3,4\n");
    EXPECT_TRUE(mentions(refusal(options_with({folder / "log.csv"})), {"handle_path: "}));
    ImportOptions unheld = options_with({folder / "log.csv"});
    unheld.driven.clear();
    EXPECT_TRUE(mentions(refusal(unheld), {"handle_path: ", "`driven`"}));
    ImportOptions alone = options_with({});
    alone.handle_delay = 0.1;
    EXPECT_TRUE(mentions(refusal(alone), {"handle_delay: ", "`handle_path`"}));
}

// ---- Smoothing ----

// A quadratic is kept to rounding, with gaps and at both ends.
TEST(SmoothPath, KeepsQuadratics)
{
    PointFrame path;
    for (int f = 0; f < 40; ++f) path.push_back({1 + 0.1 * f, 0.02 * f * f, 3});
    for (const std::size_t gap : {3, 4, 20, 39}) path[gap] = kMissingPoint;
    const PointFrame smooth = smooth_robustly(path, 11);
    for (std::size_t f = 0; f < path.size(); ++f) {
        ASSERT_EQ(is_seen(smooth[f]), is_seen(path[f]));
        if (!is_seen(path[f])) continue;
        EXPECT_LT(length(smooth[f] - path[f]), 1e-9) << f;
    }
}

// Of white noise a quadratic through eleven places with tricube weights leaves about 0.6, and a
// stray place of twenty times the noise hardly moves it.
TEST(SmoothPath, RemovesNoiseAndStrayPlaces)
{
    std::mt19937 random(4);
    std::normal_distribution<double> noise(0, 1);
    PointFrame path;
    for (int f = 0; f < 400; ++f) path.push_back({noise(random), noise(random), noise(random)});
    for (std::size_t f = 7; f < path.size(); f += 37) path[f] = {20, 0, 0};
    const PointFrame smooth = smooth_robustly(path, 11);
    double squares = 0;
    for (const Vec3d& x : smooth) squares += dot(x, x) / (3 * double(smooth.size()));
    EXPECT_LT(std::sqrt(squares), 0.75);
    EXPECT_LT(length(smooth[7 + 37]), 5);
}

// ---- Splines ----

TEST(Spline, GoesThroughItsNumbersAndStraightThroughLines)
{
    const Spline line({0, 1, 3, 3.5}, {{1, 0}, {3, 0}, {7, 0}, {8, 5}});
    for (const double t : {0.0, 0.4, 1.0, 2.9, 3.5}) EXPECT_NEAR(line.at(t)[0], 1 + 2 * t, 1e-12);
    EXPECT_NEAR(line.at(3)[1], 0, 1e-12);
    EXPECT_NEAR(line.at(3.5)[1], 5, 1e-12);
    EXPECT_EQ(line.at(-1)[0], 1);  // stands still outside
    EXPECT_EQ(line.at(9)[0], 8);
}

// Of a function whose even derivatives vanish at both ends, the error at even times is h^4/384 of
// its fourth derivative, halfway between.
TEST(Spline, IsOfFourthOrder)
{
    for (const int count : {20, 40}) {
        const double h = 2 * kPi / count;
        std::vector<double> time;
        std::vector<std::vector<double>> numbers;
        for (int i = 0; i <= count; ++i) {
            time.push_back(i * h);
            numbers.push_back({std::sin(i * h)});
        }
        const Spline spline(time, numbers);
        double worst = 0;
        for (double t = 0; t < 2 * kPi; t += 0.01) {
            worst = std::max(worst, std::abs(spline.at(t)[0] - std::sin(t)));
        }
        EXPECT_NEAR(worst, h * h * h * h / 384, 0.1 * h * h * h * h / 384);
    }
}

}  // namespace
}  // namespace springtime
