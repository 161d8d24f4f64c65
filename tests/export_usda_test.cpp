#include <gtest/gtest.h>

#include "exports.h"

namespace springtime {
namespace {

// The numbers between two places of a text.
std::vector<float> numbers_after(const std::string& text, const std::string& start, char end)
{
    const std::size_t begin = text.find(start);
    if (begin == std::string::npos) return {};
    const std::size_t from = begin + start.size(), to = text.find(end, from);
    std::vector<float> numbers;
    for (const std::string& word : words_of(text.substr(from, to - from), "[](), \n")) {
        numbers.push_back(std::stof(word));
    }
    return numbers;
}

bool balanced(const std::string& text)
{
    std::string open;
    for (const char c : text) {
        if (c == '(' || c == '[' || c == '{') open.push_back(c);
        if (c != ')' && c != ']' && c != '}') continue;
        const char needed = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open.empty() || open.back() != needed) return false;
        open.pop_back();
    }
    return open.empty();
}

TEST(ExportUsda, TimeSamplesReadBackExactly)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    MotionExport options = export_to(ExportFormat::usda, folder / "m.usda");
    export_motion(motion, options);
    const std::string text = bytes_of(folder / "m.usda");
    EXPECT_TRUE(text.starts_with("#usda 1.0\n"));
    EXPECT_TRUE(balanced(text));
    for (const char* line :
         {"upAxis = \"Y\"", "metersPerUnit = 1", "timeCodesPerSecond = 50", "startTimeCode = 0",
          "endTimeCode = 4", "def Mesh \"cloth\"", "uniform token orientation = \"rightHanded\"",
          "uniform token subdivisionScheme = \"none\""}) {
        EXPECT_NE(text.find(line), std::string::npos) << line;
    }
    EXPECT_EQ(numbers_after(text, "faceVertexCounts = ", '\n'), std::vector<float>(6, 4));
    EXPECT_EQ(numbers_after(text, "faceVertexIndices = ", '\n').size(), 24u);
    EXPECT_EQ(numbers_after(text, "primvars:st = ", ']').size(), 24u);
    const std::string samples = text.substr(text.find("points.timeSamples"));
    const std::string extents = text.substr(text.find("extent.timeSamples"));
    for (std::size_t f = 0; f < 5; ++f) {
        const std::vector<float> frame = frames_of(rollout, f, 1).position;
        const std::string key = fmt::format("\n        {}: ", f);
        EXPECT_EQ(numbers_after(samples, key, ']'), frame);
        const auto extent = numbers_after(extents, key, ']');
        ASSERT_EQ(extent.size(), 6u);
        for (std::size_t i = 0; i < 36; ++i) {
            EXPECT_LE(extent[i % 3], frame[i]);
            EXPECT_GE(extent[i % 3 + 3], frame[i]);
        }
    }
}

TEST(ExportUsda, AClothIsAStillMeshWithPrimvars)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    ClothExport options;
    options.format = ExportFormat::usda;
    options.out = folder / "c.usda";
    export_cloth(cloth, options);
    const std::string text = bytes_of(folder / "c.usda");
    EXPECT_TRUE(balanced(text));
    EXPECT_EQ(text.find("timeSamples"), std::string::npos);
    EXPECT_EQ(text.find("TimeCode"), std::string::npos);
    EXPECT_EQ(numbers_after(text, "point3f[] points = ", '\n').size(), 27u);
    EXPECT_EQ(numbers_after(text, "float3[] extent = ", '\n'),
              (std::vector<float>{-1, 0, -1, 1, 0, 1}));
    for (const WeightMap& map : weight_maps(cloth)) {
        EXPECT_EQ(numbers_after(text, "primvars:" + map.name + " = ", ']'), map.weight);
        EXPECT_NE(text.find(fmt::format("double low = {}\n            double high = {}", map.low,
                                        map.high)),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace springtime
