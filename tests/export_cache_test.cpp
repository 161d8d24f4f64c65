#include <gtest/gtest.h>

#include "exports.h"
#include "formats/exports/motion_exporter.h"

namespace springtime {
namespace {

void expect_rest(const std::filesystem::path& path, const MotionHeader& header)
{
    const TriangleMesh rest = read_obj(path);
    ASSERT_EQ(rest.points.size(), header.rest.size());
    for (std::size_t p = 0; p < header.rest.size(); ++p) {
        // Level and centred on the origin, rounded to float.
        EXPECT_EQ(float(rest.points[p].x), float(header.rest[p].u - header.sheet.length / 2));
        EXPECT_EQ(rest.points[p].y, 0);
        EXPECT_EQ(float(rest.points[p].z), float(header.rest[p].v - header.sheet.width / 2));
    }
    EXPECT_EQ(rest.triangles.size(), 12u);
}

TEST(ExportMdd, ReadsBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    const ExportReport report =
        export_motion(motion, export_to(ExportFormat::mdd, folder / "m.mdd"));
    EXPECT_EQ(report.files.back(), folder / "m.mdd.rest.obj");
    const std::string bytes = bytes_of(folder / "m.mdd");
    ASSERT_EQ(bytes.size(), 8 + 5 * 4 + 5 * 12 * 12u);
    EXPECT_EQ(values_at<std::int32_t>(bytes, 0, 2, true), (std::vector<std::int32_t>{5, 12}));
    EXPECT_EQ(values_at<float>(bytes, 8, 5, true),
              (std::vector<float>{0, 0.02f, 0.04f, 0.06f, 0.08f}));
    EXPECT_EQ(values_at<float>(bytes, 28, 180, true), rollout.position);
    expect_rest(folder / "m.mdd.rest.obj", motion.header);
}

TEST(ExportPc2, ReadsBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    export_motion(motion, export_to(ExportFormat::pc2, folder / "m.pc2"));
    const std::string bytes = bytes_of(folder / "m.pc2");
    ASSERT_EQ(bytes.size(), 32 + 5 * 12 * 12u);
    EXPECT_EQ(bytes.substr(0, 12), std::string("POINTCACHE2\0", 12));
    EXPECT_EQ(value_at<std::int32_t>(bytes, 12), 1);
    EXPECT_EQ(value_at<std::int32_t>(bytes, 16), 12);
    EXPECT_EQ(value_at<float>(bytes, 20), 0);
    EXPECT_EQ(value_at<float>(bytes, 24), 1);
    EXPECT_EQ(value_at<std::int32_t>(bytes, 28), 5);
    EXPECT_EQ(values_at<float>(bytes, 32, 180), motion.read(0, 0, 5).position);
    expect_rest(folder / "m.pc2.rest.obj", motion.header);
}

// A cache that begins later still begins at frame 0: it is played from there.
TEST(ExportMdd, TimesBeginAtZero)
{
    const TempFolder folder;
    MotionExport options = export_to(ExportFormat::mdd, folder / "m.mdd");
    options.from = 0.04;
    export_motion(small_motion(), options);
    const std::string bytes = bytes_of(folder / "m.mdd");
    EXPECT_EQ(values_at<float>(bytes, 8, 3, true), (std::vector<float>{0, 0.02f, 0.04f}));
}

TEST(ExportMdd, MoreThanItCanCountIsAnError)
{
    EXPECT_NO_THROW(check_cache_size(2147483647, 2147483647, "m"));
    EXPECT_EQ(error_of([] { check_cache_size(2147483648, 7, "m"); }),
              "m: 2147483648 frames of 7 points; a point cache counts up to 2147483647 of each, "
              "export usda or npz, or fewer frames with `rate`, `from` and `until`");
}

TEST(ExportMdd, AnExistingRestFileIsNotReplacedUnasked)
{
    const TempFolder folder;
    write_bytes(folder / "m.mdd.rest.obj", "mine");
    EXPECT_EQ(error_of([&] {
                  export_motion(small_motion(), export_to(ExportFormat::mdd, folder / "m.mdd"));
              }),
              (folder / "m.mdd.rest.obj").string() +
                  ": exists already; replace it with `overwrite`, or give another `out`");
    EXPECT_EQ(bytes_of(folder / "m.mdd.rest.obj"), "mine");
}

}  // namespace
}  // namespace springtime
