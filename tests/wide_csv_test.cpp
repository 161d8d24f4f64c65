#include <array>

#include "csv_tracks.h"

namespace springtime {
namespace {

using namespace std::string_literals;

class WideCsv : public CsvTracks {};

TEST_F(WideCsv, ComesBackExactly)
{
    std::vector<TrackFrame> frames = waving_sheet(3, 4, 6);
    std::fill_n(frames[2].position.begin() + 6, 3, kMissing);
    const AllTracks tracks = read(wide_text(frames));
    EXPECT_EQ(tracks.info.format, "wide CSV");
    EXPECT_EQ(tracks.info.source, name);
    EXPECT_EQ(tracks.info.point_count, 12u);
    EXPECT_EQ(tracks.info.names[11], "12");
    EXPECT_TRUE(tracks.info.times);
    EXPECT_FALSE(tracks.info.velocities);
    EXPECT_FALSE(tracks.info.unit);
    EXPECT_TRUE(tracks.info.remarks.empty());
    expect_frames(tracks.frames, frames);
}

// Two points: (1, 2, 3) and (4, 5, 6), then (1.5, 2, 3) and (4, 5, -6).
void expect_two_points(const AllTracks& tracks, double second_time)
{
    expect_frames(tracks.frames,
                  {{0, {1, 2, 3, 4, 5, 6}, {}}, {second_time, {1.5, 2, 3, 4, 5, -6}, {}}});
}

TEST_F(WideCsv, SeparatorsLineEndsAndQuotes)
{
    const std::string marked = "\xef\xbb\xbf";
    for (
        const std::string& text : {
            "t,x1,y1,z1,x2,y2,z2\n0,1,2,3,4,5,6\n0.5,1.5,2,3,4,5,-6\n"s,
            "t,x1,y1,z1,x2,y2,z2\n0,1,2,3,4,5,6\n0.5,1.5,2,3,4,5,-6"s,
            marked + "t,x1,y1,z1,x2,y2,z2\r\n0,1,2,3,4,5,6\r\n\r\n0.5,1.5,2,3,4,5,-6\r\n",
            "t\tx1\ty1\tz1\tx2\ty2\tz2\n0\t1\t2\t3\t4\t5\t6\n0.5\t1.5\t2\t3\t4\t5\t-6\n"s,
            "t;x1;y1;z1;x2;y2;z2\n0;1;2;3;4;5;6\n0,5;1,5;2,0;3;4;5;-6\n"s,
            "t\tx1\ty1\tz1\tx2\ty2\tz2\n0\t1\t2\t3\t4\t5\t6\n0,5\t1,5\t2\t3\t4\t5\t-6\n"s,
            "  t x1  y1 z1 x2 y2 z2 \n 0 1 2  3 4 5 6\n0.5\t1.5 2 3 4 5 -6  \n"s,
            "\"t\",\"x1\",\"y1\",z1,x2,y2,z2\n\"0\",\"1\", 2 ,+3,4,5,6\n0.5,15e-1,2,3,4,5,\"-6\"\n"s,
            "# made by hand\nt,x1,y1,z1,x2,y2,z2\n0,1,2,3,4,5,6\n # pause\n0.5,1.5,2,3,4,5,-6\n"s,
            "# t x1 y1 z1 x2 y2 z2\n0 1 2 3 4 5 6\n0.5 1.5 2 3 4 5 -6\n"s,
            "t,x1,y1,z1,x2,y2,z2\n0,1,2,3,4,5,6,\n0.5,1.5,2,3,4,5,-6,\n"s,
            "t,x1,y1,z1,x2,y2,z2,\n0,1,2,3,4,5,6,\n0.5,1.5,2,3,4,5,-6,\n"s,
        }) {
        SCOPED_TRACE(text);
        const AllTracks tracks = read(text);
        expect_two_points(tracks, 0.5);
        EXPECT_TRUE(tracks.info.times);
    }
}

TEST_F(WideCsv, DecimalCommasInQuotes)
{
    const std::string head = "time,x1,y1,z1\n";
    const AllTracks tracks =
        read(head + "\"0,00\",\"-184,76\",\"1200,234\",3\n\"0,5\",\"1,234\",,\"2,5e1\"\n");
    expect_frames(tracks.frames,
                  {{0, {-184.76, 1200.234, 3}, {}}, {0.5, {kMissing, kMissing, kMissing}, {}}});
    EXPECT_EQ(read(head + "\"0,125\",1,2,3\n").frames[0].time, 0.125);
    // These may be thousands.
    for (const char* row : {"1,\"1,200\",980,3\n", "0.5,\"1,2\",2,3\n"}) {
        EXPECT_NE(error(head + row).find("a number is needed"), std::string::npos) << row;
    }
}

TEST_F(WideCsv, NamesOfColumns)
{
    const std::string rows = "\n7,1,2,3,4,5,6\n8,1.5,2,3,4,5,-6\n";
    const auto names = [&](const std::string& header) {
        const AllTracks tracks = read(header + rows);
        expect_two_points(tracks, 1);  // numbers of frames, from the first on
        EXPECT_FALSE(tracks.info.times);
        EXPECT_TRUE(tracks.info.remarks.empty());
        return tracks.info.names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names("frame,x1,y1,z1,x2,y2,z2"), (Names{"1", "2"}));
    EXPECT_EQ(names("Frame,X_1,Y_1,Z_1,X_2,Y_2,Z_2"), (Names{"1", "2"}));
    EXPECT_EQ(names("frame,p1_x,p1_y,p1_z,p2_x,p2_y,p2_z"), (Names{"p1", "p2"}));
    EXPECT_EQ(names("frame,p1.x,p1.y,p1.z,p2.x,p2.y,p2.z"), (Names{"p1", "p2"}));
    EXPECT_EQ(names("frame,p1 x,p1 y,p1 z,p2 x,p2 y,p2 z"), (Names{"p1", "p2"}));
    EXPECT_EQ(names("frame,p1x,p1y,p1z,p2x,p2y,p2z"), (Names{"p1", "p2"}));
    EXPECT_EQ(names("frame,m1_TX,m1_TY,m1_TZ,m2_TX,m2_TY,m2_TZ"), (Names{"m1", "m2"}));
    EXPECT_EQ(names("frame,x[0],y[0],z[0],x[1],y[1],z[1]"), (Names{"0", "1"}));
    EXPECT_EQ(names("frame,left_x,left_y,left_z,Cloth:r_x,Cloth:r_y,Cloth:r_z"),
              (Names{"left", "Cloth:r"}));
    EXPECT_EQ(names("frame,a_pos_x,a_pos_y,a_pos_z,b_pos_x,b_pos_y,b_pos_z"), (Names{"a", "b"}));
    EXPECT_EQ(names("frame,x,y,z,x.1,y.1,z.1"), (Names{"", "1"}));
    EXPECT_EQ(names("frame,x,y,z,x,y,z"), Names{});
    EXPECT_EQ(names("frame_number,v_1_x,v_1_y,v_1_z,v_2_x,v_2_y,v_2_z"), (Names{"v_1", "v_2"}));
}

TEST_F(WideCsv, ColumnsMayComeInAnyOrder)
{
    const AllTracks tracks = read("z2,x1,note,y1,time,z1,x2,y2\n6,1,hello,2,3.5,3,4,5\n");
    EXPECT_EQ(tracks.info.names, (std::vector<std::string>{"2", "1"}));
    expect_frames(tracks.frames, {{3.5, {4, 5, 6, 1, 2, 3}, {}}});
    EXPECT_EQ(tracks.info.remarks, std::vector<std::string>{"Passed over: column 3 ('note')."});
}

TEST_F(WideCsv, UnitsOfColumns)
{
    const auto first = [&](const std::string& header) { return read(header + "\n250,1,2,3\n"); };
    const AllTracks tracks = first("time [ms],x1 [mm],y1 [mm],z1 [mm]");
    EXPECT_EQ(tracks.info.unit, 0.001);
    EXPECT_EQ(tracks.frames[0].time, 1e-3 * 250);
    EXPECT_EQ(tracks.frames[0].position, (std::vector<double>{1, 2, 3}));  // as in the file
    EXPECT_EQ(first("time_ms,x_cm,y_cm,z_cm").info.unit, 0.01);
    EXPECT_EQ(first("t (s),x (m),y (m),z (m)").info.unit, 1.0);
    EXPECT_EQ(first("t (s),x (m),y (m),z (m)").frames[0].time, 250);
    EXPECT_EQ(first("t (s),x1_m,y1_m,z1_m").info.names, std::vector<std::string>{"1"});
    EXPECT_EQ(first("t,x_m,y_m,z_m").info.unit, std::nullopt);  // a point called m
    EXPECT_EQ(error("x1 [mm],y1 [m],z1 [mm]\n1,2,3\n"),
              name +
                  ": column 1 ('x1 [mm]') and column 2 ('y1 [m]') are in different units; use"
                  " one for all");
}

// 2^60 ns, and 33 ms later, are whole multiples of 256 ns: exact doubles.
TEST_F(WideCsv, NanosecondsCountFromTheFirst)
{
    const std::string rows = "1152921504606846976,1,2,3\n1152921504639846912,1,2,3\n";
    const double second = 1e-9 * 32999936;
    for (const char* header : {"%time,field.p.x,field.p.y,field.p.z\n", "stamp,x,y,z\n", ""}) {
        const AllTracks tracks = read(header + rows);
        EXPECT_TRUE(tracks.info.times);
        EXPECT_EQ(tracks.frames[0].time, 0);
        EXPECT_EQ(tracks.frames[1].time, second);
    }
    // The name alone says so, too.
    EXPECT_EQ(read("%time,x,y,z\n5000000000,1,2,3\n6000000000,1,2,3\n").frames[1].time, 1);
    EXPECT_EQ(
        read("time,x,y,z\n1700000000000,1,2,3\n").info.remarks,
        std::vector<std::string>{"Times are so large that they were taken for milliseconds."});
}

TEST_F(WideCsv, WithoutHeader)
{
    const auto times = [&](const std::string& text) {
        const AllTracks tracks = read(text);
        EXPECT_EQ(tracks.info.point_count, 1u);
        EXPECT_EQ(tracks.frames[0].position, (std::vector<double>{1, 2, 3}));
        std::vector<double> found{tracks.info.times ? 1.0 : 0.0};
        for (const TrackFrame& frame : tracks.frames) found.push_back(frame.time);
        return found;
    };
    using List = std::vector<double>;
    EXPECT_EQ(times("1,2,3\n2,2,3\n"), (List{0, 0, 1}));
    EXPECT_EQ(times("5,1,2,3\n6,1,2,3\n8,1,2,3\n"), (List{0, 0, 1, 3}));
    EXPECT_EQ(times("0,1,2,3\n0.5,1,2,3\n"), (List{1, 0, 0.5}));
    EXPECT_EQ(times("5,0.25,1,2,3\n6,0.5,1,2,3\n"), (List{1, 0.25, 0.5}));
    EXPECT_EQ(times("0.25,5,1,2,3\n0.5,6,1,2,3\n"), (List{1, 0.25, 0.5}));
    EXPECT_EQ(times("0,1,2,3,\n0.5,1,2,3,\n"), (List{1, 0, 0.5}));
    EXPECT_EQ(times(",0,1,2\n0,1,2,3\n1,1,2,3\n"), (List{0, 0, 1}));  // numbered columns
}

TEST_F(WideCsv, MissingPoints)
{
    const std::string row = "0,1,2,3,4,5,6\n";
    const std::vector<double> gone = {kMissing, kMissing, kMissing, 4, 5, 6};
    for (const char* words :
         {",,", "NaN,nan,NAN", "null,NA,n/a", "-nan,None,  ", "1,,3", "1,2,NaN", "\"\",2,3"}) {
        SCOPED_TRACE(words);
        const AllTracks tracks =
            read("t,x1,y1,z1,x2,y2,z2\n" + row + "1," + words + ",4,5,6\n2,,,,,,\n");
        expect_frames(tracks.frames, {{0, {1, 2, 3, 4, 5, 6}, {}},
                                      {1, gone, {}},
                                      {2, std::vector<double>(6, kMissing), {}}});
    }
}

TEST_F(WideCsv, Velocities)
{
    for (const char* header :
         {"t,x1,y1,z1,vx1,vy1,vz1", "t,p_x,p_y,p_z,p_vx,p_vy,p_vz",
          "t,a_pos_x,a_pos_y,a_pos_z,a_vel_x,a_vel_y,a_vel_z",
          "t,x1 [mm],y1 [mm],z1 [mm],vx1 [mm/s],vy1 [mm/s],vz1 [mm/s]",
          "t,x_1,y_1,z_1,velocity_x_1,velocity_y_1,velocity_z_1", "t,x,y,z,v_x,v_y,v_z"}) {
        SCOPED_TRACE(header);
        const AllTracks tracks =
            read(header + "\n0,1,2,3,-1,-2,-3\n1,1,2,3,-1,,-3\n2,1,,3,-1,-2,-3\n"s);
        EXPECT_TRUE(tracks.info.velocities);
        const std::vector<double> gone(3, kMissing);
        expect_frames(tracks.frames,
                      {{0, {1, 2, 3}, {-1, -2, -3}}, {1, {1, 2, 3}, gone}, {2, gone, gone}}, true);
    }
}

TEST_F(WideCsv, OtherMeasurementsArePassedOver)
{
    const AllTracks tracks =
        read("t,a_x,a_y,a_z,a_qx,a_qy,a_qz,a_qw,a_rot_x,a_rot_y,a_rot_z\n0,1,2,3,0,0,0,1,9,9,9\n");
    expect_frames(tracks.frames, {{0, {1, 2, 3}, {}}});
    EXPECT_EQ(tracks.info.remarks, std::vector<std::string>{"Passed over: 7 columns, the first of"
                                                            " them column 5 ('a_qx')."});
}

// Blocks of 1 MiB begin within lines, cells and line ends; and lines may be longer than one.
TEST_F(WideCsv, FilesLargerThanTheBuffer)
{
    for (const auto& [rows, cols, frame_count] :
         {std::array{10, 10, 600}, std::array{200, 200, 3}}) {
        const std::vector<TrackFrame> frames = waving_sheet(rows, cols, frame_count);
        const std::string text = wide_text(frames);
        EXPECT_GT(text.size(), std::size_t(3) << 19);
        expect_frames(read(text).frames, frames);
    }
}

TEST_F(WideCsv, SharesGrow)
{
    write_bytes(path, wide_text(waving_sheet(2, 2, 100)));
    const auto reader = open_csv_tracks(path, {});
    TrackFrame frame;
    double before = reader->share();
    EXPECT_LT(before, 0.1);
    while (reader->next(frame)) {
        EXPECT_GT(reader->share(), before);
        before = reader->share();
    }
    EXPECT_EQ(before, 1);
}

TEST_F(WideCsv, NamesWhatIsWrong)
{
    const std::string head = "t,x1,y1,z1\n0,1,2,3\n";
    EXPECT_EQ(error(""), name + ": has no rows; a line of numbers for every frame is needed");
    EXPECT_EQ(error("# x\n\n"),
              name + ": has no rows; a line of numbers for every frame is needed");
    EXPECT_EQ(error("t,x1,y1,z1\n"),
              name +
                  ": has names of columns but no rows; a line of numbers for every frame is"
                  " needed");
    EXPECT_EQ(error(head + "1,2,3\n"),
              name +
                  ":3: 3 cells, but the header has 4; every row needs the same columns, blank"
                  " where a point is missing");
    EXPECT_EQ(error(head + "\n1,2,3,4,5\n"),
              name +
                  ":4: 5 cells, but the header has 4; every row needs the same columns, blank"
                  " where a point is missing");
    EXPECT_EQ(error(head + "1,2,up,4\n"),
              name +
                  ":3: column 3 ('y1') is 'up'; a number is needed, or a blank cell where it is"
                  " missing");
    EXPECT_EQ(error(head + "1,2,1.5.2,4\n"),
              name +
                  ":3: column 3 ('y1') is '1.5.2'; a number is needed, or a blank cell where it"
                  " is missing");
    EXPECT_EQ(error(head + "1,2,-inf,4\n"),
              name +
                  ":3: column 3 ('y1') is infinite ('-inf'); leave cells of missing points"
                  " blank");
    EXPECT_EQ(error(head + "1,2,1e999,4\n"),
              name +
                  ":3: column 3 ('y1') is '1e999', beyond what a double holds; correct it or"
                  " leave it blank");
    EXPECT_EQ(error(head + ",2,3,4\n"),
              name +
                  ":3: column 1 ('t') is blank, but every row needs its time; fill it in or"
                  " remove the row");
    EXPECT_EQ(error("\xff\xfet"), name + ": is UTF-16; save it as UTF-8 or plain ASCII");
    EXPECT_EQ(error("x\0y"s), name + ": is not text: it holds zero bytes; a CSV is needed");
    EXPECT_EQ(error("1,2,3\n", "tall"),
              "layout 'tall': not known; give wide, long, blocks or auto");
    EXPECT_EQ(error_of([&] { open_csv_tracks(folder / "no.csv", {}); }),
              (folder / "no.csv").string() + ": no such file; check the name");
}

TEST_F(WideCsv, NamesWrongColumns)
{
    EXPECT_EQ(error("t,x1,y1,z1,x2,y2\n0,1,2,3,4,5\n"),
              name +
                  ": column 5 ('x2') has no position along z beside it; every point needs"
                  " columns for x, y and z");
    EXPECT_EQ(error("t,x1,y1,z1,x1,y2,z2\n0,1,2,3,4,5,6\n"),
              name +
                  ": column 5 ('x1') has the name of column 2; give every column a name of its"
                  " own");
    EXPECT_EQ(error("x1,y1,z1,vx2,vy2,vz2\n1,2,3,4,5,6\n"),
              name +
                  ": column 4 ('vx2') is the velocity of a point without columns of its place;"
                  " add them or remove the velocity");
    EXPECT_EQ(error("x1,y1,z1,x2,y2,z2,vx2,vy2,vz2\n1,2,3,4,5,6,7,8,9\n"),
              name + ": 1 of 2 points have velocities; give them for all or for none");
    EXPECT_EQ(error("a,b,c\n1,2,3\n"),
              name +
                  ": no coordinates among the columns, the first of which is 'a'; name them"
                  " x1,y1,z1,x2,... or frame,point,x,y,z");
    EXPECT_EQ(error("9,2,3,4\n1,2,3,4\n"),
              name +
                  ": 4 columns, which is not a multiple of 3, and column 1 does not ascend as"
                  " frames or times do; x, y and z are needed for every point");
    EXPECT_EQ(error("1,2\n2,4\n"),
              name +
                  ": 0 columns of coordinates; x, y and z are needed for every point, which"
                  " makes a multiple of 3");
    EXPECT_EQ(error("1,2,3\n2,2\n"),
              name +
                  ":2: 2 cells, but the first row has 3; every row needs the same columns, blank"
                  " where a point is missing");
}

// A row of gaps alone without its time says nothing; it cannot be placed and is left out.
TEST_F(WideCsv, RowsOfNothing)
{
    const AllTracks tracks = read("t,x,y,z\n0,1,2,3\nnan,nan,nan,nan\n2,1,2,3\n");
    expect_frames(tracks.frames, {{0, {1, 2, 3}, {}}, {2, {1, 2, 3}, {}}});
}

TEST_F(WideCsv, RefusesLinesWithoutEnd)
{
    const std::string endless((std::size_t(64) << 20) + 1, '1');
    EXPECT_EQ(error("x,y,z\n" + endless),
              name +
                  ":2: a line of more than 64 MiB; a text with one frame or point a line is"
                  " needed");
}

TEST_F(WideCsv, SurvivesAnyBytes)
{
    const std::string whole = "frame,x1,y1,z1\n0,0.5,1e3,-7\n1,,nan,3\n\"2\",1,2,3\n";
    expect_sound_refusals(whole, 11, 3);
}

}  // namespace
}  // namespace springtime
