#include <gtest/gtest.h>

#include "springtime/files.h"
#include "temp_folder.h"

namespace springtime {
namespace {

class ObjFile : public testing::Test {
  protected:
    TriangleMesh read(const std::string& text)
    {
        write_bytes(path_, text);
        return read_obj(path_);
    }
    // What follows the path in the message.
    std::string fault(const std::string& text)
    {
        const std::string message = error_of([&] { read(text); });
        EXPECT_TRUE(message.starts_with(path_.string())) << message;
        return message.substr(std::min(path_.string().size(), message.size()));
    }

    TempFolder folder_;
    std::filesystem::path path_ = folder_ / "mesh.obj";
};

constexpr const char* kSquare = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST_F(ObjFile, PointsKeepTheirOrderAndAllDigits)
{
    const TriangleMesh mesh = read(
        "# made by hand\r\no thing\r\nv 0.1 -2.5e-3 3 \r\nv 1 2 3 1.0\nv\t4 5 .5\nvn 0 0 1\n"
        "vt 0 0\ng part\nusemtl none\ns off\nf 1/1/1 2//1 3/1\n");
    ASSERT_EQ(mesh.points.size(), 3u);
    EXPECT_EQ(mesh.points[0].x, 0.1);
    EXPECT_EQ(mesh.points[0].y, -2.5e-3);
    EXPECT_EQ(mesh.points[1].z, 3);
    EXPECT_EQ(mesh.points[2].z, 0.5);
    EXPECT_EQ(mesh.triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}}));
}

TEST_F(ObjFile, OnlyNewlinesEndALine)
{
    const TriangleMesh mesh = read("v\r1 2 3\nv 4\r5 6\nv 7 8 9\r\nf 1 2\r3\n");
    EXPECT_EQ(mesh.points.size(), 3u);
    EXPECT_EQ(mesh.points[1].y, 5);
    EXPECT_EQ(mesh.triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}}));
    using namespace std::string_literals;
    EXPECT_EQ(read(kSquare + "o a\0\0v 1 1 1\nf 1 2 3\n"s).points.size(), 4u);
}

TEST_F(ObjFile, IndicesMayCountBackwards)
{
    const TriangleMesh mesh = read(std::string(kSquare) + "f -4 -3 -2\nv 9 9 9\nf -5 -3 -2\n");
    EXPECT_EQ(mesh.triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}}));
}

TEST_F(ObjFile, PolygonsBecomeTriangles)
{
    // The reflex corner stands below the face that has it.
    const TriangleMesh mesh = read("v 0 0 0\nv 2 0 0\nv 2 2 0\nf 1 2 3 4\nv 1.5 0.5 0\n");
    EXPECT_EQ(mesh.triangles, (std::vector<std::array<int, 3>>{{3, 0, 1}, {3, 1, 2}}));
}

TEST_F(ObjFile, SeveralObjectsAreOneMesh)
{
    const TriangleMesh mesh = read(std::string("o a\n") + kSquare + "f 1 2 3\no b\nf 1 3 4\n");
    EXPECT_EQ(mesh.triangles.size(), 2u);
}

TEST_F(ObjFile, Errors)
{
    EXPECT_EQ(error_of([&] { read_obj(folder_ / "none.obj"); }),
              (folder_ / "none.obj").string() + ": no such file; check the name");
    EXPECT_EQ(fault(""), ": no faces; an OBJ file with v and f lines is needed");
    EXPECT_EQ(fault(kSquare), ": no faces; an OBJ file with v and f lines is needed");
    EXPECT_EQ(fault("v 0 0 0\nv 1 nan 0\nf 1 2 1\n"),
              ":2: y of a point is 'nan'; a finite number is needed");
    EXPECT_EQ(fault("v 0 0 1e999\nf 1 1 1\n"),
              ":1: z of a point is '1e999'; a finite number is needed");
    EXPECT_EQ(fault("v 0 x 0\nf 1 1 1\n"), ":1: y of a point is 'x'; a finite number is needed");
    EXPECT_EQ(fault("v 0 0\nf 1 1 1\n"), ":1: z of a point is ''; a finite number is needed");
    const std::string range = "; a point from 1 to 4, or from -1 to -4, is needed";
    for (const std::string bad : {"5", "0", "-5", "1.5", "a", "99999999999999999999", "/1"}) {
        EXPECT_EQ(fault(std::string(kSquare) + "f 1 2 " + bad + "\n"),
                  ":5: a face has corner '" + bad + "'" + range);
    }
    EXPECT_EQ(fault(std::string(kSquare) + "f 1 2\n"), ":5: a face has 2 corners; 3 are needed");
    std::string face = "f";
    for (int i = 0; i < 1025; ++i) face += " 1";
    EXPECT_EQ(fault(std::string(kSquare) + face),
              ":5: a face has 1025 corners; 1024 at most are taken; export triangles");
}

TEST_F(ObjFile, AByteOrderMarkIsPassedOver)
{
    EXPECT_EQ(read(std::string("\xEF\xBB\xBF") + kSquare + "f 1 2 3\n").points.size(), 4u);
}

TEST_F(ObjFile, SignsAndRemarksAreAllowed)
{
    const TriangleMesh mesh = read("v +1 0 0 # first\nv 0 +1e0 0\nv 0 0 1\nf 1 2 3 # side\n");
    EXPECT_EQ(mesh.points[0].x, 1);
    EXPECT_EQ(mesh.points[1].y, 1);
    EXPECT_EQ(mesh.triangles.size(), 1u);
}

}  // namespace
}  // namespace springtime
