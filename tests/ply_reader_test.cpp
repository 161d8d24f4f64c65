#include "formats/ply_reader.h"

#include <gtest/gtest.h>

#include "error_of.h"
#include "tracks.h"

namespace springtime {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

std::string header(const std::string& format, const std::string& elements)
{
    return "ply\nformat " + format + " 1.0\ncomment by hand\n" + elements + "end_header\n";
}

constexpr const char* kPoints =
    "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
constexpr const char* kFaces = "element face 2\nproperty list uchar int vertex_indices\n";

std::string fault(const std::string& bytes)
{
    const std::string message = error_of([&] { parse_ply(bytes, "a.ply"); });
    EXPECT_TRUE(message.starts_with("a.ply:")) << message;
    return message.substr(std::min<std::size_t>(6, message.size()));
}

TEST(PlyReader, AsciiKeepsTheOrderOfVertices)
{
    const PlyMesh mesh = parse_ply(header("ascii", std::string(kPoints) + kFaces) +
                                       "0.1 -2.5e-3 3\n1 2 3\n+4 nan .5\n3 0 1 2\n3 2 1 0\n",
                                   "a.ply");
    ASSERT_EQ(mesh.position.size(), 9u);
    EXPECT_EQ(mesh.position[0], 0.1);
    EXPECT_EQ(mesh.position[1], -2.5e-3);
    EXPECT_EQ(mesh.position[6], 4);
    EXPECT_TRUE(std::isnan(mesh.position[7]));
    EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 2}, {2, 1, 0}}));
}

TEST(PlyReader, LinesMayEndAsOnWindows)
{
    std::string text = header("ascii", kPoints) + "0 1 2\n3 4 5\n6 7 8";
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
        text.insert(at, "\r");
    }
    EXPECT_EQ(parse_ply(text, "a.ply").position, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

// A comparison of each with all others took minutes.
TEST(PlyReader, EndlessHeadersAreRefusedEarly)
{
    std::string properties = kPoints, elements = kPoints;
    for (int i = 0; i < 40000; ++i) {
        properties += "property float p" + std::to_string(i) + "\n";
        elements += "element e" + std::to_string(i) + " 0\n";
    }
    EXPECT_TRUE(mentions(fault(header("ascii", properties)), {"more than 1000 properties"}));
    EXPECT_TRUE(mentions(fault(header("ascii", elements)), {"more than 100 elements"}));
}

class PlyReaderBinary : public testing::TestWithParam<bool> {
  protected:
    bool big() const { return GetParam(); }
    std::string format() const { return big() ? "binary_big_endian" : "binary_little_endian"; }
};
INSTANTIATE_TEST_SUITE_P(BothOrders, PlyReaderBinary, testing::Bool());

TEST_P(PlyReaderBinary, PackedFloats)
{
    const auto all = ramp(9);
    EXPECT_EQ(parse_ply(header(format(), kPoints) + array_bits<float>(all, big()), "a").position,
              all);
}

// x y z in any order and type, among other properties, among other elements with lists.
TEST_P(PlyReaderBinary, OtherThingsArePassedOver)
{
    const std::string elements =
        "element camera 2\nproperty list ushort double view\nproperty char kind\n"
        "element empty 123456789012345678\n"
        "element vertex 2\nproperty uchar red\nproperty double z\nproperty short x\n"
        "property uint32 y\nproperty int8 w\n"
        "element face 1\nproperty float area\nproperty list uint8 uint16 vertex_index\n"
        "property list uchar float texcoord\n"
        "element edge 1\nproperty int a\n";
    std::string body =
        bits(2, 2, big()) + bits(1.0, big()) + bits(2.0, big()) + "k" + bits(0, 2, big()) + "k";
    body += "r" + bits(0.125, big()) + bits(0xffff, 2, big()) + bits(4000000000u, 4, big()) + "w";
    body += "r" + bits(kGap, big()) + bits(7, 2, big()) + bits(8, 4, big()) + "w";
    body += bits(1.0f, big()) + "\x04" + bits(0, 2, big()) + bits(1, 2, big()) + bits(0, 2, big()) +
            bits(1, 2, big()) + "\x01" + bits(0.5f, big());
    body += bits(5, 4, big());
    const PlyMesh mesh = parse_ply(header(format(), elements) + body, "a.ply");
    ASSERT_EQ(mesh.position.size(), 6u);
    EXPECT_EQ(mesh.position[0], -1);
    EXPECT_EQ(mesh.position[1], 4e9);
    EXPECT_EQ(mesh.position[2], 0.125);
    EXPECT_EQ(mesh.position[3], 7);
    EXPECT_TRUE(std::isnan(mesh.position[5]));
    EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 0}, {0, 0, 1}}));
}

TEST_P(PlyReaderBinary, VerticesMayHaveLists)
{
    const std::string elements =
        "element vertex 2\nproperty double x\nproperty list int uchar tags\nproperty double y\n"
        "property double z\n";
    const std::string body = bits(1.0, big()) + bits(3, 4, big()) + "abc" + bits(2.0, big()) +
                             bits(3.0, big()) + bits(4.0, big()) + bits(0, 4, big()) +
                             bits(5.0, big()) + bits(6.0, big());
    EXPECT_EQ(parse_ply(header(format(), elements) + body, "a").position,
              (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_P(PlyReaderBinary, EveryCutIsAnError)
{
    const std::string whole = header(format(), std::string(kPoints) + kFaces) +
                              array_bits<float>(ramp(9), big()) + "\x03" + bits(0, 4, big()) +
                              bits(1, 4, big()) + bits(2, 4, big()) + "\x03" + bits(2, 4, big()) +
                              bits(1, 4, big()) + bits(0, 4, big());
    EXPECT_EQ(parse_ply(whole, "a.ply").triangles.size(), 2u);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_NE(fault(whole.substr(0, length)), "") << length;
    }
}

TEST(PlyReader, HeaderErrors)
{
    const std::string end = " is needed in the header of a PLY file; export it again";
    EXPECT_EQ(fault("plx\n"), " does not begin with the line 'ply'; a PLY file is needed");
    EXPECT_EQ(fault(""), " does not begin with the line 'ply'; a PLY file is needed");
    EXPECT_EQ(fault("ply\nformat ascii 1.0\n"),
              " the header of a PLY file ends at line 3 without 'end_header'; copy it or export it "
              "again");
    EXPECT_EQ(fault("ply\nend_header\n"),
              " no format line; 'format ascii 1.0' or a binary one is needed");
    EXPECT_EQ(fault(header("middle_endian", kPoints)),
              "2: format is 'middle_endian 1.0'; one of ascii, binary_little_endian or "
              "binary_big_endian 1.0, once," +
                  end);
    EXPECT_EQ(fault(header("ascii", "element vertex -1\n")),
              "4: element 'vertex' has the count '-1'; a name and a whole number, behind the "
              "format," +
                  end);
    EXPECT_EQ(
        fault(header("ascii", "element vertex 99999999999999999999\n")),
        "4: element 'vertex' has the count '99999999999999999999'; a name and a whole number, "
        "behind the format," +
            end);
    EXPECT_EQ(fault(header("ascii", "property float x\n")),
              "4: property of no element; an element line before it" + end);
    EXPECT_EQ(fault(header("ascii", "element vertex 1\nproperty half x\n")),
              "5: property of type 'half'; char, int, float, double ..." + end);
    EXPECT_EQ(fault(header("ascii", "element vertex 1\nproperty list float int x\n")),
              "5: list with a count of floats; a whole number" + end);
    EXPECT_EQ(fault(header("ascii", "element vertex 1\nproperty int x\nproperty int x\n")),
              "6: property 'x' comes twice or has no name; a name of its own" + end);
    EXPECT_EQ(fault(header("ascii", "vertex 1\n")),
              "4: begins with 'vertex'; format, element, property or comment" + end);
}

TEST(PlyReader, BodyErrors)
{
    EXPECT_EQ(fault(header("ascii", "element face 0\nproperty list int int vertex_indices\n")),
              " a PLY file without vertices; at least one is needed; export it again");
    EXPECT_EQ(fault(header("ascii", "element vertex 0\nproperty int x\n")),
              " a PLY file without vertices; at least one is needed; export it again");
    EXPECT_EQ(
        fault(header("ascii", "element vertex 1\nproperty int x\nproperty int y\n") + "1 2\n"),
        " its vertices have no z; x, y and z are needed; export it again");
    EXPECT_EQ(fault(header("ascii", kPoints) + "0 0 0 0 0 0 0 0\n"),
              " ends among its 3 of element vertex; copy it or export it again");
    EXPECT_EQ(fault(header("ascii", kPoints) + "0 0 0 0 zero 0 0 0 0\n"),
              " 'zero' among the numbers of element vertex; a number is needed; export it again");
    EXPECT_EQ(fault(header("ascii", kPoints) + "0 0 0 0 0 0 0 0 0 1\n"),
              " 3 bytes follow its last element; export it again");
    const std::string points =
        "element vertex 2147483647\nproperty char x\nproperty char y\n"
        "property char z\n";
    EXPECT_EQ(fault(header("binary_little_endian", points) + "abc"),
              " ends among its 2147483647 of element vertex; copy it or export it again");
    EXPECT_EQ(fault(header("ascii", "element vertex 2147483648\nproperty char x\n")),
              " 2147483648 vertices; 2147483647 are the most that can be read; export fewer");
    const auto face = [](const std::string& corners) {
        return fault(header("ascii", std::string(kPoints) +
                                         "element face 1\nproperty list int int vertex_indices\n") +
                     "0 0 0 0 0 0 0 0 0\n" + corners);
    };
    EXPECT_EQ(face("3 0 1 3\n"),
              " face 0 has corner 3; one of the 3 vertices, from 0, is needed; export it again");
    EXPECT_EQ(face("3 0 1 -1\n"),
              " face 0 has corner -1; one of the 3 vertices, from 0, is needed; export it again");
    EXPECT_EQ(face("2 0 1\n"), " face 0 has 2 corners; 3 are needed; export it again");
    EXPECT_EQ(face("-3 0 1 2\n"),
              " a list vertex_indices of element face says -3 values, which do not fit the file; "
              "copy it or export it again");
    EXPECT_EQ(
        face("1e18 0 1 2\n"),
        " a list vertex_indices of element face says 1e+18 values, which do not fit the file; "
        "copy it or export it again");
}

}  // namespace
}  // namespace springtime
