
#include "csv_tracks.h"

namespace springtime {
namespace {

class MotiveCsv : public CsvTracks {
  protected:
    // Rows of the fixture, made by hand in the exact layout: see the comment in motive_csv.cpp.
    std::string fixture = bytes_of(SPRINGTIME_SOURCE_DIR "/tests/fixtures/motive.csv");

    std::string changed(const std::string& from, const std::string& to) const
    {
        std::string text = fixture;
        const auto at = text.find(from);
        if (at == std::string::npos) throw Error("the fixture has no '{}'", from);
        return text.replace(at, from.size(), to);
    }
};

TEST_F(MotiveCsv, ReadsTheFixture)
{
    const AllTracks tracks = read(fixture);
    const TrackInfo& info = tracks.info;
    EXPECT_EQ(info.format, "Motive CSV");
    EXPECT_EQ(info.point_count, 4u);
    EXPECT_EQ(info.names, (std::vector<std::string>{"Cloth:Marker 001", "Cloth:Marker 002",
                                                    "Cloth:Marker 003", "Cloth:Marker 004"}));
    EXPECT_EQ(info.unit, 0.001);
    EXPECT_EQ(info.up, 'y');
    EXPECT_EQ(info.rate, 120.0);
    EXPECT_TRUE(info.times);
    EXPECT_FALSE(info.velocities);
    EXPECT_EQ(info.remarks,
              (std::vector<std::string>{
                  "Passed over: columns of type Rigid Body.",
                  "Passed over: columns of type Rigid Body Marker.",
                  "Passed over: 2 unlabeled markers; label them in Motive where they belong to the"
                  " cloth."}));
    // Marker i of frame f is at (100 (i % 2), 1000 + 10 f, 100 (i / 2) + f / 2), and the third is
    // not seen in frames 2 and 3.
    const std::vector<double> times = {0, 0.008333, 0.016667, 0.025, 0.033333, 0.041667};
    std::vector<TrackFrame> wanted(6);
    for (int f = 0; f < 6; ++f) {
        wanted[std::size_t(f)].time = times[std::size_t(f)];
        for (int i = 0; i < 4; ++i) {
            const bool seen = i != 2 || (f != 2 && f != 3);
            for (const double x : {100.0 * (i % 2), 1000.0 + 10 * f, 100.0 * (i / 2) + 0.5 * f}) {
                wanted[std::size_t(f)].position.push_back(seen ? x : kMissing);
            }
        }
    }
    expect_frames(tracks.frames, wanted);
}

TEST_F(MotiveCsv, Units)
{
    EXPECT_EQ(read(changed("Millimeters", "Meters")).info.unit, 1.0);
    EXPECT_EQ(read(changed("Millimeters", "Centimeters")).info.unit, 0.01);
    EXPECT_EQ(read(changed("Length Units,Millimeters,", "")).info.unit, std::nullopt);
    EXPECT_EQ(error(changed("Millimeters", "Inches")),
              name + ": Length Units are 'Inches'; export Meters, Centimeters or Millimeters");
}

TEST_F(MotiveCsv, RateOfTheExportBeforeThatOfTheCapture)
{
    EXPECT_EQ(read(changed("Export Frame Rate,120.000000", "Export Frame Rate,60.5")).info.rate,
              60.5);
    EXPECT_EQ(read(changed("Export Frame Rate,120.000000,", "")).info.rate, 120.0);
    EXPECT_EQ(error(changed("Export Frame Rate,120.000000", "Export Frame Rate,0")),
              name + ": Export Frame Rate is '0'; a positive number is needed");
}

const std::string kAbout = "Format Version,1.22,Take Name,t,Length Units,Meters\n\n";
const std::string kRows = "0,0.5,1,2,3\n1,0.75,4,,6\n";

// Without a row of parents; with nothing in the second column; with time codes.
TEST_F(MotiveCsv, OtherVersions)
{
    const std::vector<double> gone(3, kMissing);
    const std::vector<TrackFrame> frames = {{0.5, {1, 2, 3}, {}}, {0.75, gone, {}}};
    const std::string axes = "Frame,Time (Seconds),X,Y,Z\n";
    for (const char* header :
         {",Type,Marker,Marker,Marker\n,Name,C:a,C:a,C:a\n,ID,1,1,1\n,,Position,Position,"
          "Position\n",
          ",,Marker,Marker,Marker\n,,C:a,C:a,C:a\n,,1,1,1\n,,Position,Position,Position\n"}) {
        const AllTracks tracks = read(kAbout + header + axes + kRows);
        EXPECT_EQ(tracks.info.names, std::vector<std::string>{"C:a"});
        EXPECT_TRUE(tracks.info.remarks.empty());
        expect_frames(tracks.frames, frames);
    }
    const AllTracks coded = read(kAbout +
                                 ",Type,,Marker,Marker,Marker\n,Name,,C:a,C:a,C:a\n"
                                 ",,,Position,Position,Position\n"
                                 "Frame,Time (Seconds),TimeCode,X,Y,Z\n"
                                 "0,0.5,15:26:46:12.02,1,2,3\n1,0.75,15:26:46:12.03,,,\n");
    expect_frames(coded.frames, frames);
}

TEST_F(MotiveCsv, MarkersOfRigidBodiesWhereThereAreNoOthers)
{
    const AllTracks tracks = read(kAbout +
                                  ",Type,Rigid Body Marker,Rigid Body Marker,Rigid Body Marker\n"
                                  ",Name,B:a,B:a,B:a\n,ID,1,1,1\n,,Position,Position,Position\n"
                                  "Frame,Time (Seconds),X,Y,Z\n" +
                                  kRows);
    EXPECT_EQ(tracks.info.names, std::vector<std::string>{"B:a"});
    EXPECT_EQ(tracks.frames[0].position, (std::vector<double>{1, 2, 3}));
}

TEST_F(MotiveCsv, IsTheSameMotionAsWide)
{
    const std::vector<TrackFrame> frames = waving_sheet(3, 4, 5);
    std::string type = ",Type", names = ",Name", measure = ",", axes = "Frame,Time (Seconds)";
    for (std::size_t i = 0; i < frames[0].position.size(); ++i) {
        type += ",Marker";
        names += fmt::format(",{}", i / 3 + 1);
        measure += ",Position";
        axes += fmt::format(",{}", "XYZ"[i % 3]);
    }
    std::string text = kAbout + type + "\n" + names + "\n" + measure + "\n" + axes + "\n";
    for (std::size_t f = 0; f < frames.size(); ++f) {
        text += fmt::format("{},{}", f, frames[f].time);
        for (const double x : frames[f].position) text += fmt::format(",{}", cell(x));
        text += "\n";
    }
    const AllTracks motive = read(text), wide = read(wide_text(frames));
    EXPECT_EQ(motive.info.names, wide.info.names);
    expect_frames(motive.frames, wide.frames);
}

TEST_F(MotiveCsv, NamesWhatIsWrong)
{
    const std::string head =
        ",Type,Marker,Marker,Marker\n,Name,a,a,a\n,,Position,Position,Position\n";
    const std::string axes = "Frame,Time (Seconds),X,Y,Z\n";
    EXPECT_EQ(error(kAbout), name +
                                 ": starts like an export of Motive, but has no row"
                                 " Frame,Time (Seconds),X,Y,Z...; export it again with header"
                                 " information");
    EXPECT_EQ(error(kAbout + axes + kRows),
              name +
                  ": starts like an export of Motive, but has no row ,Type...; export it again"
                  " with header information");
    EXPECT_EQ(error(kAbout + head + axes),
              name + ": an export of Motive without frames; export a range that has some");
    EXPECT_EQ(error(kAbout + head + "Frame,Clock,X,Y,Z\n" + kRows),
              name + ": no column 'Time (Seconds)' beside 'Frame'; export it again with times");
    EXPECT_EQ(error(kAbout + head + "Frame,Time (Seconds),X,Y\n" + kRows),
              name +
                  ": marker 'a' has X in column 3, but not Y and Z behind it; export positions"
                  " of markers in full");
    EXPECT_EQ(error(kAbout +
                    ",Type,Marker,Marker,Marker\n,Name,Unlabeled 1,Unlabeled 1,Unlabeled 1\n"
                    ",,Position,Position,Position\n" +
                    axes + kRows),
              name +
                  ": no labeled markers, but 1 unlabeled; label them in Motive and export with"
                  " Markers");
    EXPECT_EQ(error(kAbout + head + axes + "0,0.5,1,2\n"),
              name +
                  ":7: 4 cells, but the header has 5; every row needs the same columns, blank"
                  " where a point is missing");
    EXPECT_EQ(error(kAbout + head + axes + "0,0.5,1,up,2\n"),
              name +
                  ":7: column 4 ('a Y') is 'up'; a number is needed, or a blank cell where it is"
                  " missing");
}

TEST_F(MotiveCsv, SurvivesAnyBytes)
{
    expect_sound_refusals(fixture, 13, 4);
}

}  // namespace
}  // namespace springtime
