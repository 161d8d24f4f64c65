#include <gtest/gtest.h>

#include "exports.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

TEST(ExportObj, FramesReadBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    const ExportReport report =
        export_motion(motion, export_to(ExportFormat::obj, folder / "m-obj"));
    EXPECT_EQ(report.face_count, 6u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "m-obj"), {}), 5);
    EXPECT_FALSE(fs::exists(folder / "m-obj.part"));
    for (std::size_t f = 0; f < 5; ++f) {
        const TriangleMesh mesh = read_obj(folder / "m-obj" / fmt::format("frame_{:06}.obj", f));
        ASSERT_EQ(mesh.points.size(), 12u);
        EXPECT_EQ(mesh.triangles.size(), 12u);  // six cells
        for (std::size_t i = 0; i < 36; ++i) {
            EXPECT_EQ(float(mesh.points[i / 3][int(i % 3)]), rollout.position[36 * f + i]);
        }
    }
}

// North-west is at the left and at the top of an image; the front of a level sheet looks up.
TEST(ExportObj, TextureCoordinatesAndFaces)
{
    const TempFolder folder;
    export_motion(small_motion(1), export_to(ExportFormat::obj, folder / "m"));
    const auto lines = lines_of_file(folder / "m" / "frame_000000.obj");
    ASSERT_EQ(lines.size(), 12 + 12 + 6u);
    EXPECT_EQ(lines[12], "vt 0 1");  // (0, 0)
    EXPECT_EQ(lines[15], "vt 1 1");  // (length, 0)
    EXPECT_EQ(lines[20], "vt 0 0");  // (0, width)
    EXPECT_EQ(lines[24], "f 1/1 5/5 6/6 2/2");
    EXPECT_EQ(lines[29], "f 7/7 11/11 12/12 8/8");
}

TEST(ExportObj, FoldersAreReplacedOnlyWhenAskedAndOnlyOurs)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    MotionExport options = export_to(ExportFormat::obj, folder / "m");
    export_motion(motion, options);
    EXPECT_EQ(error_of([&] { export_motion(motion, options); }),
              (folder / "m").string() +
                  ": exists already; replace it with `overwrite`, or give another `out`");
    options.overwrite = true;
    options.until = 0.04;
    export_motion(motion, options);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "m"), {}), 3);
    write_bytes(folder / "m/thesis.txt", "years of work");
    EXPECT_EQ(
        error_of([&] { export_motion(motion, options); }),
        (folder / "m").string() +
            ": holds thesis.txt, which is not a .obj file, so it is not replaced; name another "
            "folder");
    EXPECT_EQ(bytes_of(folder / "m/thesis.txt"), "years of work");
}

TEST(ExportObj, AnInterruptedExportLeavesNothing)
{
    const TempFolder folder;
    const MotionExport options = export_to(ExportFormat::obj, folder / "m");
    const Progress progress([](const ProgressUpdate& now) { return now.done < 3; });
    EXPECT_THROW(export_motion(small_motion(), options, progress), Cancelled);
    EXPECT_TRUE(fs::is_empty(options.out.parent_path()));
}

}  // namespace
}  // namespace springtime
