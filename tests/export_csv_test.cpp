#include <gtest/gtest.h>

#include "exports.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

float number(const std::string& word)
{
    return std::stof(word);
}

// Every coordinate comes back to the bit: the text holds as many digits as a float needs.
TEST(ExportCsv, WideRowsReadBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    const ExportReport report =
        export_motion(motion, export_to(ExportFormat::csv, folder / "m.csv"));
    EXPECT_EQ(report.frame_count, 5u);
    EXPECT_EQ(report.files, std::vector<fs::path>{folder / "m.csv"});
    EXPECT_FALSE(fs::exists(folder / "m.csv.part"));

    const auto lines = lines_of_file(folder / "m.csv");
    ASSERT_EQ(lines.size(), 6u);
    EXPECT_TRUE(lines[0].starts_with("frame,time,x1,y1,z1,x2,y2,z2,"));
    EXPECT_TRUE(lines[0].ends_with(",x12,y12,z12"));
    for (std::size_t f = 0; f < 5; ++f) {
        const auto words = words_of(lines[f + 1], ",");
        ASSERT_EQ(words.size(), 2 + 36u);
        EXPECT_EQ(words[0], std::to_string(f));
        EXPECT_EQ(words[1], fmt::format("{:.2f}", 0.02 * double(f)).substr(0, words[1].size()));
        for (std::size_t i = 0; i < 36; ++i) {
            EXPECT_EQ(number(words[i + 2]), rollout.position[36 * f + i]);
        }
    }
}

TEST(ExportCsv, LongRowsReadBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    MotionExport options = export_to(ExportFormat::csv, folder / "m.csv");
    options.long_rows = true;
    export_motion(motion, options);
    const auto lines = lines_of_file(folder / "m.csv");
    ASSERT_EQ(lines.size(), 1 + 60u);
    EXPECT_EQ(lines[0], "frame,time,point,x,y,z");
    for (std::size_t row = 0; row < 60; ++row) {
        const auto words = words_of(lines[row + 1], ",");
        ASSERT_EQ(words.size(), 6u);
        EXPECT_EQ(words[0], std::to_string(row / 12));
        EXPECT_EQ(words[2], std::to_string(row % 12 + 1));
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_EQ(number(words[3 + axis]), rollout.position[3 * row + axis]);
        }
    }
}

TEST(ExportCsv, MissingLandmarksAreBlankCellsOrAbsentRows)
{
    const TempFolder folder;
    MotionHeader header = grid_header({3, 4});
    header.gaps = true;
    Rollout rollout = random_rollout(2, 12);
    hide(rollout, 1, 0);
    hide(rollout, 1, 11);
    const Motion motion = motion_of(header, {rollout});
    MotionExport options = export_to(ExportFormat::csv, folder / "wide.csv");
    const ExportReport report = export_motion(motion, options);
    EXPECT_EQ(report.filled, 0u);
    const auto wide = lines_of_file(folder / "wide.csv");
    EXPECT_TRUE(wide[2].starts_with("1,0.02,,,,"));
    EXPECT_TRUE(wide[2].ends_with(",,,"));
    EXPECT_EQ(words_of(wide[2], ",").size(), 2 + 30u);
    EXPECT_EQ(std::count(wide[2].begin(), wide[2].end(), ','), 1 + 36);

    options.out = folder / "long.csv";
    options.long_rows = true;
    export_motion(motion, options);
    const auto rows = lines_of_file(folder / "long.csv");
    ASSERT_EQ(rows.size(), 1 + 22u);
    EXPECT_TRUE(rows[13].starts_with("1,0.02,2,"));
    EXPECT_TRUE(rows[22].starts_with("1,0.02,11,"));
}

TEST(ExportCsv, LayoutIsForCsvAlone)
{
    const TempFolder folder;
    MotionExport options = export_to(ExportFormat::npz, folder / "m.npz");
    options.long_rows = true;
    EXPECT_EQ(field_of([&] { export_motion(small_motion(), options); }), "long_rows");
}

}  // namespace
}  // namespace springtime
