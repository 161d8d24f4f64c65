#include <gtest/gtest.h>

#include "exports.h"

namespace springtime {
namespace {

// The text before end_header, and the bytes after it.
std::pair<std::string, std::string> parts_of(const std::string& bytes)
{
    const std::string end = "end_header\n";
    const std::size_t at = bytes.find(end) + end.size();
    return {bytes.substr(0, at), bytes.substr(at)};
}

TEST(ExportPly, FramesReadBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    export_motion(motion, export_to(ExportFormat::ply, folder / "m"));
    for (std::size_t f = 0; f < 5; ++f) {
        const auto [header, body] =
            parts_of(bytes_of(folder / fmt::format("m/frame_{:06}.ply", f)));
        EXPECT_EQ(header,
                  "ply\nformat binary_little_endian 1.0\nelement vertex 12\n"
                  "property float x\nproperty float y\nproperty float z\n"
                  "property float s\nproperty float t\n"
                  "element face 6\nproperty list uchar int vertex_indices\nend_header\n");
        ASSERT_EQ(body.size(), 12 * 20 + 6 * 17u);
        for (std::size_t p = 0; p < 12; ++p) {
            const auto point = values_at<float>(body, 20 * p, 5);
            for (std::size_t i = 0; i < 3; ++i) {
                EXPECT_EQ(point[i], rollout.position[36 * f + 3 * p + i]);
            }
            EXPECT_EQ(point[3], float(double(p % 4) / 3));
            EXPECT_EQ(point[4], float(1 - double(p / 4) / 2));
        }
        for (std::size_t face = 0; face < 6; ++face) {
            const std::size_t at = 12 * 20 + 17 * face;
            const int nw = int(face / 3 * 4 + face % 3);
            EXPECT_EQ(body[at], 4);
            EXPECT_EQ(values_at<int>(body, at + 1, 4),
                      (std::vector<int>{nw, nw + 4, nw + 5, nw + 1}));
        }
    }
}

// Weight maps of a cloth become properties of the points, with their ranges in comments.
TEST(ExportPly, MapsGoAlong)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    MotionHeader header = grid_header({3, 3});
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    MotionExport options = export_to(ExportFormat::ply, folder / "m");
    options.maps = cloth;
    const ExportReport report = export_motion(motion_of(header, {random_rollout(2, 9)}), options);
    const auto [text, body] = parts_of(bytes_of(folder / "m/frame_000001.ply"));
    const auto maps = weight_maps(cloth);
    ASSERT_EQ(report.maps.size(), maps.size());
    ASSERT_EQ(body.size(), 9 * 4 * (5 + maps.size()) + 4 * 17);
    for (std::size_t m = 0; m < maps.size(); ++m) {
        EXPECT_NE(text.find("property float " + maps[m].name + "\n"), std::string::npos);
        EXPECT_NE(text.find("comment " + maps[m].name + ": 0 is "), std::string::npos);
        for (std::size_t p = 0; p < 9; ++p) {
            EXPECT_EQ(value_at<float>(body, 4 * (p * (5 + maps.size()) + 5 + m)),
                      maps[m].weight[p]);
        }
    }
    EXPECT_TRUE(std::filesystem::exists(folder / "m.ranges.json"));
}

TEST(ExportPly, MapsNeedTheSameParticles)
{
    const TempFolder folder;
    MotionExport options = export_to(ExportFormat::ply, folder / "m");
    options.maps = numbered_grid();
    const auto act = [&] { export_motion(small_motion(), options); };
    EXPECT_EQ(field_of(act), "maps");
    EXPECT_NE(error_of(act).find("9 particles"), std::string::npos);
    EXPECT_NE(error_of(act).find("12 landmarks"), std::string::npos);
    options.format = ExportFormat::obj;
    EXPECT_EQ(field_of(act), "maps");
    EXPECT_TRUE(error_of(act).starts_with("obj "));
}

}  // namespace
}  // namespace springtime
