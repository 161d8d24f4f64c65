#include <gtest/gtest.h>

#include "formats/tracks/open_tracks.h"
#include "temp_folder.h"
#include "tracks.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

class MeshTracks : public testing::Test {
  protected:
    fs::path put(const std::string& name, const std::string& bytes)
    {
        write_bytes(folder_ / name, bytes);
        return folder_ / name;
    }
    std::string fault(const std::vector<fs::path>& paths)
    {
        return error_of([&] { all_frames(*open_mesh_tracks(paths)); });
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    TempFolder folder_;
};

constexpr const char* kPly =
    "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float "
    "z\nend_header\n";

// Two points at one place, and one without a face: read_obj() keeps all, and so does a sequence.
TEST_F(MeshTracks, ObjKeepsEveryPointInOrder)
{
    const auto reader = open_mesh_tracks(
        {put("a.obj",
             "o thing\nv 0.1 0 0 # first\r\nv 0.1 0 0\nvt 1 2\nv 1 1 1\nv 5 6 7\n"
             "f 1/1 2//3 3 -1 # all\nf -4 -3 -2\n"),
         put("b.obj", "v 1 2 3\nv 4 5 6\nv 7 8 9\nv +1 nan 0\nf this is not looked at\n")});
    const TrackInfo& info = reader->info();
    EXPECT_EQ(info.format, "OBJ sequence");
    EXPECT_EQ(info.source, path("a.obj") + " to " + path("b.obj"));
    EXPECT_EQ(info.point_count, 4u);
    EXPECT_EQ(info.triangles, (std::vector<std::array<int, 3>>{{2, 3, 0}, {2, 0, 1}, {0, 1, 2}}));
    EXPECT_FALSE(info.times || info.rate || info.unit || info.up);
    EXPECT_EQ(reader->share(), 0);
    const auto frames = all_frames(*reader);
    EXPECT_EQ(reader->share(), 1);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].position, (std::vector<double>{0.1, 0, 0, 0.1, 0, 0, 1, 1, 1, 5, 6, 7}));
    EXPECT_EQ(frames[1].time, 1);
    EXPECT_EQ(frames[1].position[8], 9);
    for (std::size_t i = 9; i < 12; ++i) EXPECT_TRUE(std::isnan(frames[1].position[i]));
}

TEST_F(MeshTracks, PlyFramesAndTrianglesOfTheFirst)
{
    const std::string faces =
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    std::string first = kPly;
    first.replace(first.find("end_header\n"), 11, faces);
    const auto reader = open_mesh_tracks({put("1.ply", first + "1 2 3\n4 5 6\n3 0 1 0\n"),
                                          put("2.PLY", kPly + std::string("7 8 9 nan 1 2\n"))});
    EXPECT_EQ(reader->info().format, "PLY sequence");
    EXPECT_EQ(reader->info().triangles, (std::vector<std::array<int, 3>>{{0, 1, 0}}));
    const auto frames = all_frames(*reader);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].position, (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(frames[1].position[0], 7);
    EXPECT_TRUE(std::isnan(frames[1].position[4]));
}

TEST_F(MeshTracks, OneFrameWithoutFacesWillDo)
{
    const auto reader = open_mesh_tracks({put("a.obj", "v 1 2 3")});
    EXPECT_EQ(reader->info().source, path("a.obj"));
    EXPECT_TRUE(reader->info().triangles.empty());
    EXPECT_EQ(all_frames(*reader).size(), 1u);
}

// The times of frames in files of these names.
std::vector<double> times(TrackReader& reader)
{
    std::vector<double> found;
    for (const TrackFrame& frame : all_frames(reader)) found.push_back(frame.time);
    return found;
}

TEST_F(MeshTracks, NumbersOfFilesCountFrames)
{
    const auto numbered = [&](const std::vector<std::string>& names) {
        std::vector<fs::path> paths;
        for (const std::string& name : names) paths.push_back(put(name + ".obj", "v 1 2 3\n"));
        return open_mesh_tracks(paths);
    };
    using Times = std::vector<double>;
    EXPECT_EQ(times(*numbered({"f_018", "f_019", "f_022", "f_023"})), (Times{0, 1, 4, 5}));
    EXPECT_EQ(times(*numbered({"f0", "f2", "f4", "f8"})), (Times{0, 1, 2, 4}));  // every second
    EXPECT_EQ(times(*numbered({"f98", "f99", "f0100"})), (Times{0, 1, 2}));
    EXPECT_EQ(times(*numbered({"f1", "f2000000000", "f18446744073709551615"})).size(), 3u);
    // Times in the names, or no numbers: one after the other, and it is said.
    for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
             {"t1", "t34", "t68", "t101"}, {"e_a", "e_b", "e_c", "e_d"}}) {
        const auto reader = numbered(names);
        EXPECT_EQ(times(*reader), (Times{0, 1, 2, 3}));
        EXPECT_EQ(reader->info().remarks.size(), 1u);
    }
    EXPECT_EQ(numbered({"f1", "f2"})->info().remarks.size(), 0u);
    EXPECT_EQ(
        error_of([&] {
            numbered({"f7", "f07"});
        }),
        path("f07.obj") + ": has the same number as " + path("f7.obj") + "; one frame is one file");
    EXPECT_EQ(error_of([&] {
                  numbered({"f1", "f18446744073709551616"});
              }),
              path("f18446744073709551616.obj") +
                  ": a number of 20 digits; number the frames of a sequence 1, 2, 3 and so on");
}

TEST_F(MeshTracks, Errors)
{
    EXPECT_EQ(fault({}), "mesh sequence: no files; name at least one");
    EXPECT_EQ(fault({folder_ / "none.obj"}), path("none.obj") + ": no such file; check the name");
    EXPECT_EQ(fault({put("a.obj", "")}),
              path("a.obj") + ": no points; an OBJ file with v lines is needed");
    fs::resize_file(put("huge.obj", ""),
                    (std::uintmax_t(1) << 32) + 1);  // takes no room on the disk
    EXPECT_EQ(fault({folder_ / "huge.obj"}),
              path("huge.obj") +
                  ": 4294967297 bytes, but 4294967296 are the most that is read at "
                  "once; export less");
    EXPECT_EQ(fault({put("a.obj", "v 1 2\n")}),
              path("a.obj") + ":1: z of a point is ''; a finite number is needed");
    EXPECT_EQ(fault({put("a.obj", "v 1 2 3\nv 1 2 inf\n")}),
              path("a.obj") + ":2: z of a point is 'inf'; a finite number is needed");
    EXPECT_EQ(fault({put("a.obj", "v 1 2 3\nf 1 1 2\n")}),
              path("a.obj") +
                  ":2: a face has corner '2'; a point from 1 to 1, or from -1 to -1, is needed");
    EXPECT_EQ(fault({put("a.obj", "v 1 2 3\n"), put("b.obj", "v 1 2 3\nv 1 2 3\n")}),
              path("b.obj") + ": 2 points, but " + path("a.obj") +
                  " has 1; all frames of a sequence need the same; export them without changing "
                  "the mesh");
    EXPECT_EQ(fault({put("a.ply", "v 1 2 3\n")}),
              path("a.ply") + ": does not begin with the line 'ply'; a PLY file is needed");
    EXPECT_EQ(fault({put("a.ply", kPly + std::string("1 2 3 4 inf 6"))}),
              path("a.ply") +
                  ": frame 0, point 1: position 4 inf 6 is infinite; finite numbers, or NaN where "
                  "it was not seen, are needed");
}

}  // namespace
}  // namespace springtime
