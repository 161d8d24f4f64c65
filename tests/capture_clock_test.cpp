#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "capture/camera_clock.h"
#include "capture/rope.h"
#include "springtime/files.h"
#include "springtime/import.h"
#include "temp_folder.h"

namespace springtime {
namespace {

// ---- The clock of a tracker ----

TEST(CameraClock, DifferencesTellTheirTime)
{
    const PointFrame before{{0, 0, 0}, {1, 2, 3}, kMissingPoint},
        now{{0.1, 0.02, 0}, {1, 2.04, 2.9}, {1, 1, 1}};
    PointFrame velocity;
    for (std::size_t p = 0; p < 3; ++p) velocity.push_back((1 / 0.08) * (now[p] - before[p]));
    EXPECT_NEAR(step_by_velocities(before, now, velocity).value(), 0.08, 1e-12);
    velocity[1].x += 0.1;  // a velocity of another kind
    EXPECT_FALSE(step_by_velocities(before, now, velocity));
    EXPECT_FALSE(step_by_velocities(before, now, {}));
    EXPECT_FALSE(step_by_velocities(now, now, velocity));
}

TEST(CameraClock, StampsAreSetRightOnAverage)
{
    // Frames at 0, 0.09, 0.19, 0.26, 0.37, logged every 0.05 s, and one row that repeats.
    FrameStamps stamps{{0.0, 0.1, 0.2, 0.3, 0.35, 0.4}, std::vector<bool>(6), std::vector<bool>(6)};
    stamps.repeated[4] = true;
    const std::vector<std::optional<double>> steps = {{}, 0.09, 0.10, 0.07, {}, 0.11};
    const FrameStamps before = stamps;
    const double change = correct_stamps(stamps, steps).value();
    // Changes of the five that differ are 0, 0.01, 0.01, 0.04, 0.03 less their mean, 0.018.
    EXPECT_NEAR(change,
                std::sqrt((0.018 * 0.018 + 2 * 0.008 * 0.008 + 0.022 * 0.022 + 0.012 * 0.012) / 5),
                1e-12);
    EXPECT_NEAR(stamps.time[1] - stamps.time[0], 0.09, 1e-12);
    EXPECT_NEAR(stamps.time[5] - stamps.time[3], 0.11, 1e-12);
    EXPECT_NEAR(stamps.time[4] - stamps.time[3], 0.05, 1e-12);
    double mean = 0;
    for (const std::size_t i : {0, 1, 2, 3, 5}) mean += stamps.time[i] - before.time[i];
    EXPECT_NEAR(mean, 0, 1e-12);
    // Where steps are rarely known, or contradict the stamps, nothing changes.
    FrameStamps same = before;
    EXPECT_FALSE(correct_stamps(same, {{}, {}, 0.1, {}, {}, {}}));
    EXPECT_FALSE(correct_stamps(same, {{}, 0.9, 1.0, 0.7, {}, 1.1}));
    EXPECT_EQ(same.time, before.time);
}

// ---- A recording like those of ROS nodes ----

constexpr int kRows = 3, kCols = 4;

// A sheet that hangs from its north edge and swings as a board.
Vec3d board(int p, double time)
{
    const double angle = 0.6 * std::sin(3 * time), down = 0.1 * (p / kCols);
    return {0.1 * (p % kCols), 1 - down * std::cos(angle), down * std::sin(angle) + 0.1 * time};
}

// Frames at uneven times of the camera; rows every 50 ms have the last one, with backward
// differences. `%time` is that of the row, the stamp of the header stands still for a second.
std::string ros_text(bool stands)
{
    std::mt19937 random(3);
    std::uniform_real_distribution<double> step(0.07, 0.13);
    std::string text = "%time,field.header.seq,field.header.stamp,field.header.frame_id";
    for (int i = 0; i < 6 * kRows * kCols; ++i) text += fmt::format(",field.states{}", i);
    double seen = 0.01, before = seen - 0.1, next = seen + step(random);
    const std::int64_t epoch = 1600000000000000000;
    for (int row = 1; row < 200; ++row) {
        const double logged = 0.05 * row;
        if (next < logged) {  // steps are longer than rows
            before = seen;
            seen = next;
            next += step(random);
        }
        const double stamp = stands ? std::floor(seen) : seen;
        text += fmt::format("\n{},{},{},base", epoch + std::llround(logged * 1e9), row,
                            epoch + std::llround(stamp * 1e9));
        for (const bool velocity : {false, true}) {
            for (int axis = 0; axis < 3; ++axis) {
                for (int p = 0; p < kRows * kCols; ++p) {
                    const double x = board(p, seen)[axis];
                    const double v = (x - board(p, before)[axis]) / (seen - before);
                    text += fmt::format(",{}", velocity ? v : x);
                }
            }
        }
    }
    return text + "\n";
}

class RosRecording : public ::testing::Test {
  protected:
    ImportReport run(const std::string& text, const std::string& column = "")
    {
        write_bytes(folder / "take.csv", text);
        ImportOptions options;
        options.grid = Grid{kRows, kCols};
        options.length = 0.3;
        options.width = 0.2;
        options.mass = 0.05;
        options.driven = {"edge-north"};
        options.time_column = column;
        return import_motion({folder / "take.csv"}, folder / "motion.h5", options);
    }
    // The largest distance of free points from where they were, but for a common delay. [m]
    double worst(double delay) const
    {
        const MotionReader motion(folder / "motion.h5");
        const Rollout rollout = motion.read(0);
        double most = 0;
        for (std::size_t f = 2; f + 2 < rollout.frame_count; ++f) {
            const double time = double(f) * motion.header().frame_interval() + delay;
            for (int p = kCols; p < kRows * kCols; ++p) {
                const float* x = &rollout.position[3 * (f * kRows * kCols + std::size_t(p))];
                if (std::isnan(x[0])) continue;
                most = std::max(most, length(Vec3d{x[0], x[1], x[2]} - board(p, time)));
            }
        }
        return most;
    }
    double least_worst() const
    {
        double least = HUGE_VAL;
        for (double delay = -0.1; delay < 0.15; delay += 0.001) {
            least = std::min(least, worst(delay));
        }
        return least;
    }

    TempFolder folder;
};

bool has_remark(const ImportReport& report, const std::string& part)
{
    for (const std::string& remark : report.recordings.at(0).remarks) {
        if (remark.find(part) != std::string::npos) return true;
    }
    return false;
}

// The stamp of the header stands still, and rows are 50 ms apart: their times are off by what is
// uniform over that interval, 50 ms / sqrt(12) = 14.4 ms rms. Velocities tell the true times; what
// is left is the error of cubics through frames 0.1 s apart.
TEST_F(RosRecording, VelocitiesTellTheClockOfTheCamera)
{
    const ImportReport report = run(ros_text(true));
    const RecordingReport& recording = report.recordings.at(0);
    EXPECT_TRUE(has_remark(report, "column 1 ('%time')"));
    EXPECT_TRUE(has_remark(report, "('field.header.stamp') stands still"));
    EXPECT_TRUE(recording.own_clock);
    EXPECT_NEAR(recording.stamp_jitter.value(), 0.0144, 0.004);
    EXPECT_GT(recording.duplicates, 50u);
    EXPECT_LT(least_worst(), 0.001);
    // As asked for, the column is taken as it is: the sheet moves by up to 0.4 m/s.
    std::filesystem::remove(folder / "motion.h5");
    const ImportReport logged = run(ros_text(true), "%time");
    EXPECT_FALSE(logged.recordings.at(0).own_clock);
    EXPECT_NEAR(logged.recordings.at(0).stamp_jitter.value(), 0.0144, 0.001);
    EXPECT_GT(least_worst(), 0.004);
}

// A stamp that goes on says when the camera looked: motion is smoother against it.
TEST_F(RosRecording, TheSmootherColumnIsTheClock)
{
    const ImportReport report = run(ros_text(false));
    EXPECT_TRUE(has_remark(report, "column 3 ('field.header.stamp'), because motion is smoother"));
    EXPECT_LT(least_worst(), 0.001);
    std::filesystem::remove(folder / "motion.h5");
    EXPECT_TRUE(has_remark(run(ros_text(false), "header.stamp"), "as given"));
    const auto act = [&] { run(ros_text(false), "stempel"); };
    EXPECT_EQ(field_of(act), "time_column");
    EXPECT_TRUE(mentions(error_of(act), {"'stempel'", "'%time'", "'field.header.stamp'"}));
}

// ---- Ropes ----

// A chain of points at given distances that swings: directions change along it and in time.
PointFrame chain(const std::vector<double>& spacing, double time)
{
    PointFrame frame{{0.1 * std::sin(time), 1, 0}};
    for (std::size_t i = 0; i < spacing.size(); ++i) {
        const double share = double(i + 1) / double(spacing.size());
        const double down = 1.2 - 2.4 * share + 0.3 * std::sin(2 * time + 3 * share),
                     side = 0.4 * std::sin(3 * time + share);
        frame.push_back(frame.back() + spacing[i] * Vec3d{std::cos(down) * std::cos(side),
                                                          -std::sin(down),
                                                          std::cos(down) * std::sin(side)});
    }
    return frame;
}

std::vector<double> cable()
{
    return {0.02, 0.108, 0.102, 0.096, 0.095, 0.101, 0.102, 0.102, 0.106, 0.097, 0.08, 0.025};
}

TEST(Rope, IsToldFromSheetsInWhateverOrder)
{
    std::vector<PointFrame> rope, rows, snake, wide;
    for (int f = 0; f < 40; ++f) {
        rope.push_back(chain(cable(), 0.1 * f));
        PointFrame row, back;
        for (int p = 0; p < 20; ++p) {
            const int r = p / 4, c = p % 4;
            const auto at = [&](int col) {
                return Vec3d{0.1 * col, -0.1 * r, 0.02 * std::sin(r + 0.1 * f)};
            };
            row.push_back(at(c));
            back.push_back(at(r % 2 == 0 ? c : 3 - c));
        }
        PointFrame long_rows;
        for (int p = 0; p < 27; ++p) {
            long_rows.push_back({0.03 * (p % 9), -0.03 * (p / 9), 0.01 * std::sin(p + 0.1 * f)});
        }
        wide.push_back(long_rows);
        rows.push_back(row);
        snake.push_back(back);
    }
    EXPECT_TRUE(is_rope(rope));
    EXPECT_FALSE(is_rope(rows));
    EXPECT_FALSE(is_rope(snake));
    EXPECT_FALSE(is_rope(wide));
    std::vector<PointFrame> mixed = rope;
    for (PointFrame& frame : mixed) std::swap(frame[3], frame[9]);
    EXPECT_FALSE(is_rope(mixed));
    for (std::size_t i = 0; i < cable().size(); ++i) {
        EXPECT_NEAR(spacings_along(rope)[i], cable()[i], 1e-12);
    }
}

class RopeImport : public ::testing::Test {
  protected:
    // Noise of a millimetre, and now and then a point is not seen.
    void write(const std::filesystem::path& path, unsigned seed)
    {
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(0, 0.001);
        std::ofstream file(path);
        file << "time";
        for (int p = 0; p < 13; ++p) file << fmt::format(",x{0},y{0},z{0}", p);
        for (int f = 0; f < 200; ++f) {
            file << fmt::format("\n{}", 0.02 * f);
            for (const Vec3d& x : chain(cable(), 0.02 * f)) {
                if (random() % 50 == 0) {
                    file << ",,,";
                    continue;
                }
                file << fmt::format(",{},{},{}", x.x + noise(random), x.y + noise(random),
                                    x.z + noise(random));
            }
        }
        file << "\n";
    }
    ImportOptions options() const
    {
        ImportOptions options;
        options.mass = 0.05;
        options.driven = {"0", "12"};
        return options;
    }
    MotionHeader run(const ImportOptions& options)
    {
        std::filesystem::remove(folder / "motion.h5");
        return import_motion({folder / "take.csv"}, folder / "motion.h5", options).header;
    }

    TempFolder folder;
};

// Distances with 1 mm of noise at both ends are longer by sigma^2 / d = 0.05 mm for the shortest.
TEST_F(RopeImport, UnevenSpacingsAreMeasured)
{
    write(folder / "take.csv", 1);
    for (const bool stated : {false, true}) {
        ImportOptions asked = options();
        if (stated) asked.grid = Grid{1, 13};
        const MotionHeader header = run(asked);
        ASSERT_EQ(header.rest.size(), 13u);
        double along = 0;
        for (std::size_t p = 0; p < 13; ++p) {
            EXPECT_NEAR(header.rest[p].u, along, 0.002) << p;
            EXPECT_EQ(header.rest[p].v, header.sheet.width / 2);
            if (p < 12) along += cable()[p];
        }
        EXPECT_NEAR(header.sheet.length, along, 0.002);
        EXPECT_EQ(header.rest.back().u, header.sheet.length);
    }
}

TEST_F(RopeImport, AStatedLengthIsThatOfTheSheet)
{
    write(folder / "take.csv", 1);
    ImportOptions asked = options();
    asked.length = 1.05;
    const MotionHeader header = run(asked);
    EXPECT_EQ(header.sheet.length, 1.05);
    EXPECT_NEAR(header.rest[1].u / 1.05, 0.02 / 1.034, 0.001);
    asked.length = 2;
    const auto act = [&] { run(asked); };
    EXPECT_EQ(field_of(act), "length");
    asked.length.reset();
    asked.grid = Grid{1, 12};
    EXPECT_TRUE(mentions(error_of(act), {"13 points", "1x13 (a rope)"}));
}

TEST_F(RopeImport, FurtherTakesHaveTheSameRest)
{
    write(folder / "take.csv", 1);
    const MotionHeader first = run(options());
    std::filesystem::rename(folder / "motion.h5", folder / "first.h5");
    write(folder / "take.csv", 2);
    ImportOptions asked = options();
    asked.rest = folder / "first.h5";
    const MotionHeader second = run(asked);
    for (std::size_t p = 0; p < 13; ++p) EXPECT_EQ(second.rest[p].u, first.rest[p].u);
    EXPECT_EQ(second.sheet.length, first.sheet.length);
}

}  // namespace
}  // namespace springtime
