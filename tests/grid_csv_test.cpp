#include <algorithm>
#include <random>

#include "csv_tracks.h"

namespace springtime {
namespace {

class GridCsv : public CsvTracks {};

enum class Order { wide, blocks };

// Rows of numbers alone: times where `with_time`, places, and velocities where wanted.
std::string number_text(const std::vector<TrackFrame>& frames, Order order, bool with_velocity,
                        bool with_time = true)
{
    std::string text;
    const std::size_t points = frames[0].position.size() / 3;
    for (const TrackFrame& frame : frames) {
        std::string row = with_time ? cell(frame.time) : "";
        for (const auto* numbers : {&frame.position, &frame.velocity}) {
            if (numbers == &frame.velocity && !with_velocity) continue;
            for (std::size_t i = 0; i < 3 * points; ++i) {
                const std::size_t at = order == Order::wide ? i : 3 * (i % points) + i / points;
                row += fmt::format("{}{}", row.empty() ? "" : ",", cell((*numbers)[at]));
            }
        }
        text += row + "\n";
    }
    return text;
}

// All x, all y, all z, then velocities likewise, as numbered columns.
std::string block_header(std::size_t points, bool with_velocity)
{
    std::string header = "time";
    for (const char* axis : {"x", "y", "z", "vx", "vy", "vz"}) {
        if (axis[0] == 'v' && !with_velocity) break;
        for (std::size_t p = 0; p < points; ++p) header += fmt::format(",{}{}", axis, p);
    }
    return header + "\n";
}

TEST_F(GridCsv, NamedColumnsInBlocks)
{
    const std::vector<TrackFrame> frames = waving_sheet(3, 5, 4);
    const AllTracks tracks =
        read(block_header(15, true) + number_text(frames, Order::blocks, true));
    EXPECT_EQ(tracks.info.format, "grid CSV");
    EXPECT_EQ(tracks.info.point_count, 15u);
    EXPECT_EQ(tracks.info.names[14], "14");
    EXPECT_TRUE(tracks.info.velocities);
    EXPECT_TRUE(tracks.info.remarks.empty());
    expect_frames(tracks.frames, frames, true);
}

TEST_F(GridCsv, IsTheSameMotionAsWide)
{
    const std::vector<TrackFrame> frames = waving_sheet(4, 3, 5);
    const AllTracks wide = read(wide_text(frames));
    expect_frames(read(block_header(12, false) + number_text(frames, Order::blocks, false)).frames,
                  wide.frames);
    expect_frames(read(number_text(frames, Order::blocks, false)).frames, wide.frames);
    expect_frames(read(number_text(frames, Order::wide, false)).frames, wide.frames);
}

// A sheet lies in one of the planes, anywhere, and its points are listed along rows or columns.
std::vector<TrackFrame> placed(std::vector<TrackFrame> frames, int turn, double offset)
{
    for (TrackFrame& frame : frames) {
        for (auto* numbers : {&frame.position, &frame.velocity}) {
            for (std::size_t i = 0; i < numbers->size(); i += 3) {
                std::rotate(numbers->begin() + std::ptrdiff_t(i),
                            numbers->begin() + std::ptrdiff_t(i) + turn,
                            numbers->begin() + std::ptrdiff_t(i) + 3);
            }
        }
        for (double& x : frame.position) x += offset;
    }
    return frames;
}

TEST_F(GridCsv, FindsOrderAndVelocitiesOfNumbersAlone)
{
    for (const auto& [rows, cols] : {std::pair{2, 2}, {3, 3}, {2, 8}, {9, 3}, {5, 6}, {15, 15}}) {
        for (const int turn : {0, 1, 2}) {
            for (const double offset : {0.0, -3.0}) {
                const auto frames = placed(waving_sheet(rows, cols, 30), turn, offset);
                for (const Order order : {Order::wide, Order::blocks}) {
                    for (const bool velocity : {false, true}) {
                        SCOPED_TRACE(fmt::format("{} x {}, turn {}, offset {}, {}, {}", rows, cols,
                                                 turn, offset, int(order), velocity));
                        const AllTracks tracks = read(number_text(frames, order, velocity));
                        EXPECT_EQ(tracks.info.velocities, velocity);
                        expect_frames(tracks.frames, frames, velocity);
                    }
                }
            }
        }
    }
}

// 1 mm of noise on places, 60 frames per second: the velocities are still those of the places.
TEST_F(GridCsv, FindsVelocitiesOfNoisyPlaces)
{
    std::vector<TrackFrame> frames = waving_sheet(5, 5, 60, 1.0 / 60);
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, 0.001);
    for (TrackFrame& frame : frames) {
        for (double& x : frame.position) x += noise(random);
    }
    const AllTracks tracks = read(number_text(frames, Order::blocks, true));
    EXPECT_TRUE(tracks.info.velocities);
    expect_frames(tracks.frames, frames, true);
}

// Velocities that a tracker made of differences of its own noisy places, of uneven times; many rows
// repeat the one before, and some points are missing.
TEST_F(GridCsv, FindsVelocitiesThatAreDifferences)
{
    for (const bool backward : {true, false}) {
        std::mt19937 random(9);
        std::normal_distribution<double> noise(0, 0.01);
        std::uniform_real_distribution<double> step(0.06, 0.14);
        std::vector<TrackFrame> places = waving_sheet(8, 8, 41), frames;
        for (TrackFrame& frame : places) {
            for (double& x : frame.position) x += noise(random);
            std::fill_n(frame.position.begin() + 3 * (random() % 64), 3, kMissing);
        }
        for (std::size_t f = 1; f + 1 < places.size(); ++f) {
            TrackFrame frame = places[f];
            const auto& from = places[backward ? f - 1 : f].position;
            const auto& to = places[backward ? f : f + 1].position;
            const double interval = step(random);
            for (std::size_t i = 0; i < from.size(); ++i) {
                frame.velocity[i] = (to[i] - from[i]) / interval;
            }
            for (std::size_t repeat = 0; repeat < 1 + random() % 3; ++repeat) {
                frame.time = 0.05 * double(frames.size());
                frames.push_back(frame);
            }
        }
        const AllTracks tracks = read(number_text(frames, Order::blocks, true), "blocks");
        EXPECT_TRUE(tracks.info.velocities) << backward;
        EXPECT_EQ(tracks.info.point_count, 64u);
        // Places alone, twice as many, are none.
        std::vector<TrackFrame> alone = frames;
        for (TrackFrame& frame : alone) frame.velocity.clear();
        EXPECT_FALSE(read(number_text(alone, Order::blocks, false)).info.velocities);
    }
}

TEST_F(GridCsv, VelocitiesMayBeStated)
{
    // Nothing in common with the places: random numbers.
    std::mt19937 random(2);
    std::normal_distribution<double> noise(0, 1);
    std::vector<TrackFrame> frames = waving_sheet(3, 4, 20);
    for (TrackFrame& frame : frames) {
        for (double& v : frame.velocity) v = noise(random);
    }
    write_bytes(path, number_text(frames, Order::blocks, true));
    TrackHints hints;
    hints.layout = "blocks";
    EXPECT_EQ(open_csv_tracks(path, hints)->info().point_count, 24u);
    hints.with_velocities = true;
    const AllTracks tracks = read_tracks(*open_csv_tracks(path, hints));
    expect_frames(tracks.frames, frames, true);
    write_bytes(path, number_text(waving_sheet(3, 3, 5), Order::blocks, false));
    const auto act = [&] { open_csv_tracks(path, hints); };
    EXPECT_EQ(field_of(act), "with_velocities");
}

// Points that fall together have places that grow with the way they fell, but are no velocities.
TEST_F(GridCsv, FallingPointsAreNoVelocities)
{
    std::vector<TrackFrame> frames = waving_sheet(4, 5, 60);
    for (TrackFrame& frame : frames) {
        for (std::size_t i = 0; i < frame.position.size(); i += 3) {
            frame.position[i + 1] -= 1.5 + 4.9 * frame.time * frame.time;
            frame.velocity[i + 1] -= 9.8 * frame.time;
        }
    }
    for (const Order order : {Order::wide, Order::blocks}) {
        expect_frames(read(number_text(frames, order, false)).frames, frames);
        expect_frames(read(number_text(frames, order, true)).frames, frames, true);
    }
}

TEST_F(GridCsv, SaysWhatWasAssumed)
{
    const std::vector<TrackFrame> frames = waving_sheet(4, 4, 5);
    EXPECT_EQ(read(number_text(frames, Order::blocks, true)).info.remarks,
              std::vector<std::string>{
                  "Columns have no names: they were taken for 16 points, all x, then all y, then"
                  " all z, then velocities; give `csv_layout` wide or name the columns if that is "
                  "wrong."});
    EXPECT_EQ(read(number_text(frames, Order::wide, false)).info.remarks,
              std::vector<std::string>{
                  "Columns have no names: they were taken for 16 points, x, y, z of one after the"
                  " other; give `csv_layout` blocks or name the columns if that is wrong."});
}

TEST_F(GridCsv, TheHintDecides)
{
    const std::vector<TrackFrame> frames = waving_sheet(4, 4, 5);
    const std::string text = number_text(frames, Order::blocks, false);
    const AllTracks blocks = read(text, "blocks"), wide = read(text, "wide");
    EXPECT_TRUE(blocks.info.remarks.empty());
    expect_frames(blocks.frames, frames);
    EXPECT_EQ(wide.info.format, "wide CSV");
    // The first three columns are x of points 0, 1 and 2.
    EXPECT_EQ(wide.frames[0].position[2], frames[0].position[6]);
}

// As rostopic writes an array: the header numbers what it does not name.
TEST_F(GridCsv, NumberedColumnsOfRos)
{
    const std::vector<TrackFrame> frames = waving_sheet(3, 3, 4);
    std::string header = "%time,field.header.seq,field.header.stamp,field.header.frame_id";
    for (int i = 0; i < 27; ++i) header += fmt::format(",field.data{}", i);
    std::string text = header + "\n";
    for (std::size_t f = 0; f < frames.size(); ++f) {
        text += fmt::format("{0},{1},{0},map,", 1600000000000000000 + 40000000 * f, f);
        text += number_text({frames[f]}, Order::blocks, false, false);
    }
    const AllTracks tracks = read(text);
    EXPECT_TRUE(tracks.info.times);
    ASSERT_EQ(tracks.frames.size(), 4u);
    for (std::size_t f = 0; f < frames.size(); ++f) {
        // 1.6e18 and its multiples of 4e7 are exact: both are multiples of 256.
        EXPECT_EQ(tracks.frames[f].time, 1e-9 * (40000000.0 * double(f)));
        EXPECT_TRUE(same_numbers(tracks.frames[f].position, frames[f].position));
    }
}

// Frames that come twice stay; rows of gaps stay as frames where nothing is seen.
TEST_F(GridCsv, DuplicatesAndRowsOfGaps)
{
    std::vector<TrackFrame> frames = waving_sheet(4, 4, 6);
    frames[3] = frames[2];
    for (auto* numbers :
         {&frames[0].position, &frames[0].velocity, &frames[4].position, &frames[4].velocity}) {
        std::fill(numbers->begin(), numbers->end(), kMissing);
    }
    expect_frames(read(block_header(16, true) + number_text(frames, Order::blocks, true)).frames,
                  frames, true);
    expect_frames(read(number_text(frames, Order::blocks, true)).frames, frames, true);
}

// When nothing tells the order, that is said.
TEST_F(GridCsv, OrderThatDoesNotShow)
{
    const AllTracks tracks = read("nan,nan,nan,nan,nan,nan\n1,1,1,1,1,1\n");
    EXPECT_EQ(tracks.info.remarks,
              std::vector<std::string>{
                  "Columns have no names and the first rows do not show their order: they were"
                  " taken for 2 points, x, y, z of one after the other; give `csv_layout` blocks"
                  " or name the columns if that is wrong."});
}

TEST_F(GridCsv, NamesWhatIsWrong)
{
    EXPECT_EQ(error("time,x0,x1,y0,y1,z0\n0,1,2,3,4,5\n"),
              name +
                  ": column 3 ('x1') has no position along z beside it; every point needs"
                  " columns for x, y and z");
    EXPECT_EQ(error("time,data0,data1,data2,data3\n0,1,2,3,4\n"),
              name +
                  ": 4 columns of coordinates; x, y and z are needed for every point, which"
                  " makes a multiple of 3");
}

}  // namespace
}  // namespace springtime
