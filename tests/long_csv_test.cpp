#include <algorithm>
#include <random>

#include "csv_tracks.h"

namespace springtime {
namespace {

class LongCsv : public CsvTracks {};

// A row for every point that is there, in any order within a frame.
std::string long_text(const std::vector<TrackFrame>& frames, bool with_velocity)
{
    std::mt19937 random(3);
    std::string text = with_velocity ? "frame,time,point,x,y,z,vx,vy,vz\n" : "time,id,x,y,z\n";
    for (std::size_t f = 0; f < frames.size(); ++f) {
        std::vector<std::size_t> order;
        for (std::size_t p = 0; p < frames[f].position.size() / 3; ++p) {
            if (!std::isnan(frames[f].position[3 * p])) order.push_back(p);
        }
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t p : order) {
            if (with_velocity) text += fmt::format("{},", 100 + f);
            text += fmt::format("{},{}", frames[f].time, p + 1);
            for (std::size_t i = 3 * p; i < 3 * p + 3; ++i)
                text += fmt::format(",{}", cell(frames[f].position[i]));
            for (std::size_t i = 3 * p; with_velocity && i < 3 * p + 3; ++i) {
                text += fmt::format(",{}", cell(frames[f].velocity[i]));
            }
            text += "\n";
        }
    }
    return text;
}

TEST_F(LongCsv, IsTheSameMotionAsWide)
{
    std::vector<TrackFrame> frames = waving_sheet(3, 4, 6);
    std::fill_n(frames[2].position.begin() + 6, 3, kMissing);
    std::fill_n(frames[2].velocity.begin() + 6, 3, kMissing);
    const AllTracks tracks = read(long_text(frames, false)), wide = read(wide_text(frames));
    EXPECT_EQ(tracks.info.format, "long CSV");
    EXPECT_EQ(tracks.info.names, wide.info.names);
    EXPECT_TRUE(tracks.info.times);
    expect_frames(tracks.frames, wide.frames);
    const AllTracks moving = read(long_text(frames, true));
    EXPECT_TRUE(moving.info.velocities);
    expect_frames(moving.frames, frames, true);
}

TEST_F(LongCsv, PointsByNumberOrByName)
{
    const auto names = [&](const std::string& text) { return read(text).info.names; };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names("frame,point,x,y,z\n0,10,1,2,3\n0,9,4,5,6\n1,11,1,1,1\n"),
              (Names{"9", "10", "11"}));
    EXPECT_EQ(names("frame,marker,x,y,z\n0,right,1,2,3\n0,left,4,5,6\n1,7,1,1,1\n"),
              (Names{"right", "left", "7"}));
    EXPECT_EQ(names("frame,landmark,x,y,z\n0,1.0,1,2,3\n0,02,4,5,6\n1,1,1,1,1\n1,2.0,1,1,1\n"),
              (Names{"1", "2"}));
    EXPECT_EQ(names("frame,name,x,y,z\n0,\"a, b\",1,2,3\n"), Names{"a, b"});
}

// Rows of points that are named by letters: "AC|ABC" are two frames.
std::string letters(const std::string& frames)
{
    std::string text = "marker,frame,x,y,z\n";
    int frame = 0;
    for (const char c : frames) {
        if (c == '|') {
            ++frame;
        } else {
            text += fmt::format("{},{},1,2,3\n", c, frame);
        }
    }
    return text;
}

TEST_F(LongCsv, PointsThatAreHiddenAtFirstKeepTheirPlace)
{
    const auto order = [&](const std::string& frames) {
        std::string names;
        for (const std::string& point : read(letters(frames)).info.names) names += point;
        return names;
    };
    EXPECT_EQ(order("ACD|ABCD"), "ABCD");
    EXPECT_EQ(order("BC|ABC"), "ABC");           // first in its frame
    EXPECT_EQ(order("ABE|CE|BC|CDE"), "ABCDE");  // told by several frames together
    EXPECT_EQ(order("ABD|CEF|ABDC"), "ABDCEF");  // a frame that shares no point with the first
    EXPECT_EQ(order("AD|AC|AB|"), "ADCB");       // open: as they were seen
    EXPECT_EQ(order("BCA|ABC|DAB"), "BCAD");     // contradicting: likewise
    EXPECT_EQ(order("CAB|CAB"), "CAB");          // not by name
}

// A fifth of all points is hidden at any time: 600 frames show each two neighbours together.
TEST_F(LongCsv, AnOrderIsFoundAmongGaps)
{
    constexpr int kPoints = 200;
    std::mt19937 random(11);
    std::string text = "frame,name,x,y,z\n";
    std::vector<std::string> names;
    for (int p = 0; p < kPoints; ++p) names.push_back(fmt::format("{:x}_m", (p * 77) % 256));
    for (int f = 0; f < 600; ++f) {
        for (int p = 0; p < kPoints; ++p) {
            if (random() % 5 != 0) text += fmt::format("{},{},{},2,3\n", f, names[p], p);
        }
    }
    const AllTracks tracks = read(text);
    EXPECT_EQ(tracks.info.names, names);
    for (int p = 0; p < kPoints; ++p) {
        const double x = tracks.frames[300].position[3 * std::size_t(p)];
        EXPECT_TRUE(std::isnan(x) || x == p);
    }
}

// Each frame in another order: pairs are as many as rows, and no order is found among them.
TEST_F(LongCsv, PointsInNoOrderStayAsTheyWereSeen)
{
    std::mt19937 random(12);
    std::vector<std::string> names, shuffled;
    for (int p = 0; p < 400; ++p) names.push_back(fmt::format("{:x}_m", p));
    shuffled = names;
    std::string text = "frame,name,x,y,z\n";
    for (int f = 0; f < 60; ++f) {
        for (const std::string& point : shuffled) text += fmt::format("{},{},1,2,3\n", f, point);
        std::shuffle(shuffled.begin(), shuffled.end(), random);
    }
    EXPECT_EQ(read(text).info.names, names);
}

TEST_F(LongCsv, FramesCountFromTheFirstAndMayBeSkipped)
{
    const AllTracks tracks = read("frame;id;x;y;z\n5;1;1,5;2;3\n5;2;4;5;6\n8;2;7;8;9\n");
    EXPECT_FALSE(tracks.info.times);
    EXPECT_FALSE(tracks.info.velocities);
    expect_frames(tracks.frames, {{0, {1.5, 2, 3, 4, 5, 6}, {}},
                                  {3, {kMissing, kMissing, kMissing, 7, 8, 9}, {}}});
}

TEST_F(LongCsv, WithoutHeader)
{
    const std::vector<TrackFrame> frames = {{0, {1, 2, 3, 4, 5, 6}, {}},
                                            {1, {1, 2, 4, 4, 5, 7}, {}}};
    for (const char* text : {"0,1,1,2,3\n0,2,4,5,6\n1,1,1,2,4\n1,2,4,5,7\n",
                             "0,a,1,2,3\n0,b,4,5,6\n1,a,1,2,4\n1,b,4,5,7\n",
                             "7,0,1,1,2,3\n7,0,2,4,5,6\n8,1,1,1,2,4\n8,1,2,4,5,7\n",
                             "0 a 1 2 3\n0 b 4 5 6\n1 a 1 2 4\n1 b 4 5 7\n"}) {
        SCOPED_TRACE(text);
        const AllTracks tracks = read(text);
        EXPECT_EQ(tracks.info.format, "long CSV");
        expect_frames(tracks.frames, frames);
    }
    // One point in every frame could be either; the hint says.
    EXPECT_EQ(read("0,1,1,2,3\n1,1,1,2,4\n").info.format, "wide CSV");
    EXPECT_EQ(read("0,1,1,2,3\n1,1,1,2,4\n", "long").info.format, "long CSV");
    EXPECT_EQ(read("0.5,1,1,2,3\n0.75,1,1,2,4\n", "long").frames[1].time, 0.75);
}

TEST_F(LongCsv, UnitsAndFurtherColumns)
{
    const AllTracks tracks =
        read("time [ms],marker,x [mm],y [mm],z [mm],quality\n10,a,1,2,3,good\n30,a,1,2,4,bad\n");
    EXPECT_EQ(tracks.info.unit, 0.001);
    expect_frames(tracks.frames, {{1e-3 * 10, {1, 2, 3}, {}}, {1e-3 * 30, {1, 2, 4}, {}}});
}

TEST_F(LongCsv, RowsThatComeTwice)
{
    const std::string head = "frame,point,x,y,z\n0,1,1,2,3\n0,2,4,5,6\n";
    expect_frames(read(head + "0,1,1,2,3\n").frames, {{0, {1, 2, 3, 4, 5, 6}, {}}});
    EXPECT_EQ(error(head + "0,1,1,2,3.5\n"),
              name +
                  ":4: point '1' is in this frame already, in line 2, at another place; keep one"
                  " of the rows");
    EXPECT_EQ(error(head + "0,1,,,\n"),
              name +
                  ":4: point '1' is in this frame already, in line 2, at another place; keep one"
                  " of the rows");
}

TEST_F(LongCsv, FilesLargerThanTheBuffer)
{
    const std::vector<TrackFrame> frames = waving_sheet(20, 20, 120);
    const std::string text = long_text(frames, false);
    EXPECT_GT(text.size(), std::size_t(2) << 20);
    expect_frames(read(text).frames, frames);
}

TEST_F(LongCsv, NamesWhatIsWrong)
{
    const std::string head = "frame,point,x,y,z\n3,1,1,2,3\n";
    EXPECT_EQ(error(head + "2,1,1,2,3\n"),
              name + ":3: column 1 ('frame') goes back from 3 to 2; sort the rows by it");
    EXPECT_EQ(error(head + "4,,1,2,3\n"),
              name + ":3: column 2 ('point') is blank; every row needs it");
    EXPECT_EQ(error(head + ",1,1,2,3\n"),
              name + ":3: column 1 ('frame') is blank; every row needs it");
    EXPECT_EQ(error(head + "4,1,1,2\n"),
              name +
                  ":3: 4 cells, but the header has 5; every row needs the same columns, blank"
                  " where a point is missing");
    EXPECT_EQ(error(head + "4,1,1,2,3,4\n"),
              name +
                  ":3: 6 cells, but the header has 5; every row needs the same columns, blank"
                  " where a point is missing");
    EXPECT_EQ(error(head + "4,1,1,2,low\n"),
              name +
                  ":3: column 5 ('z') is 'low'; a number is needed, or a blank cell where it is"
                  " missing");
    EXPECT_EQ(error("frame,point,x,y\n0,1,1,2\n"),
              name + ": no column z; a long CSV needs frame,point,x,y,z");
    EXPECT_EQ(error("point,x,y,z\n1,1,2,3\n"),
              name + ": no column of frames or times; a long CSV needs frame,point,x,y,z");
    EXPECT_EQ(error("frame,point,x,y,z\n1,,1,2,3\n"),
              name +
                  ": column 2 ('point') is blank throughout; give every row the name or number"
                  " of its point");
    EXPECT_EQ(error("frame,point,x [mm],y [m],z [mm]\n1,1,1,2,3\n"),
              name +
                  ": column 4 ('y [m]') is in another unit than the columns before; use one for"
                  " all");
    EXPECT_EQ(error("1,2,3\n", "long"),
              name +
                  ": 3 columns; a long CSV without names of columns has frame,point,x,y,z or"
                  " frame,time,point,x,y,z");
}

// 2000 frames with a point of their own each would take 2000 x 2000 places.
TEST_F(LongCsv, RefusesPointsThatNeverComeAgain)
{
    std::string text = "frame,point,x,y,z\n";
    for (int f = 0; f < 2000; ++f) text += fmt::format("{},p{},1,2,3\n", f, f);
    EXPECT_TRUE(error(text).starts_with(
        name + ": 2000 rows for 2000 points in 2000 frames; is column 2 ('point')"));
}

TEST_F(LongCsv, SurvivesAnyBytes)
{
    const std::string whole = "frame,point,x,y,z\n0,a,1,2,3\n0,\"b\",4,5,6\n1,a,1,2,\n";
    expect_sound_refusals(whole, 12, 3);
}

}  // namespace
}  // namespace springtime
