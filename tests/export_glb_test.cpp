#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exports.h"
#include "formats/exports/motion_exporter.h"

namespace springtime {
namespace {

using nlohmann::json;

// The two chunks of a glb.
struct Glb {
    json gltf;
    std::string binary;
};

Glb read_glb(const std::filesystem::path& path)
{
    const std::string bytes = bytes_of(path);
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(value_at<std::uint32_t>(bytes, 4), 2u);
    EXPECT_EQ(value_at<std::uint32_t>(bytes, 8), bytes.size());
    const std::size_t text = value_at<std::uint32_t>(bytes, 12);
    EXPECT_EQ(text % 4, 0u);
    EXPECT_EQ(bytes.substr(16, 4), "JSON");
    const std::size_t binary = value_at<std::uint32_t>(bytes, 20 + text);
    EXPECT_EQ(binary % 4, 0u);
    EXPECT_EQ(bytes.substr(24 + text, 4), std::string("BIN\0", 4));
    EXPECT_EQ(28 + text + binary, bytes.size());
    Glb glb{json::parse(bytes.substr(20, text)), bytes.substr(28 + text)};
    EXPECT_EQ(glb.gltf["buffers"][0]["byteLength"], binary);
    return glb;
}

template <class T = float>
std::vector<T> accessor(const Glb& glb, std::size_t index)
{
    const json& found = glb.gltf["accessors"][index];
    const json& view = glb.gltf["bufferViews"][found["bufferView"].get<std::size_t>()];
    const std::string type = found["type"];
    const std::size_t width = type == "SCALAR" ? 1 : std::size_t(type.back() - '0');
    const std::size_t count = found["count"].get<std::size_t>() * width;
    const std::size_t offset = view["byteOffset"];
    EXPECT_EQ(offset % 4, 0u);
    EXPECT_EQ(view["byteLength"], 4 * count);
    EXPECT_LE(offset + 4 * count, glb.binary.size());
    const auto values = values_at<T>(glb.binary, offset, count);
    if (found.contains("min")) {
        for (std::size_t i = 0; i < width; ++i) {
            T low = values[i], high = values[i];
            for (std::size_t j = i; j < count; j += width) {
                low = std::min(low, values[j]);
                high = std::max(high, values[j]);
            }
            EXPECT_EQ(found["min"][i].get<double>(), double(low));
            EXPECT_EQ(found["max"][i].get<double>(), double(high));
        }
    }
    return values;
}

// At key frame f all weights are zero but that of target f - 1, and first frame plus displacement
// is the frame, up to the rounding of the difference and of the sum.
TEST(ExportGlb, MorphTargetsGiveTheFramesBack)
{
    const TempFolder folder;
    const Motion motion = small_motion();
    const Rollout rollout = motion.read(0, 0, 5);
    export_motion(motion, export_to(ExportFormat::glb, folder / "m.glb"));
    const Glb glb = read_glb(folder / "m.glb");
    const json& mesh = glb.gltf["meshes"][0];
    const json& primitive = mesh["primitives"][0];
    const auto base = accessor(glb, primitive["attributes"]["POSITION"]);
    EXPECT_EQ(base, frames_of(rollout, 0, 1).position);
    ASSERT_EQ(primitive["targets"].size(), 4u);
    EXPECT_EQ(mesh["weights"], std::vector<int>(4, 0));
    EXPECT_EQ(mesh["extras"]["targetNames"][0], "frame_000001");

    const json& animation = glb.gltf["animations"][0];
    EXPECT_EQ(animation["channels"][0]["target"]["path"], "weights");
    EXPECT_EQ(animation["samplers"][0]["interpolation"], "LINEAR");
    const std::size_t input = animation["samplers"][0]["input"];
    EXPECT_TRUE(glb.gltf["accessors"][input].contains("max"));
    EXPECT_EQ(accessor(glb, input), (std::vector<float>{0, 0.02f, 0.04f, 0.06f, 0.08f}));
    const auto weights = accessor(glb, animation["samplers"][0]["output"]);
    ASSERT_EQ(weights.size(), 20u);
    for (std::size_t f = 0; f < 5; ++f) {
        std::vector<double> frame(base.begin(), base.end());
        for (std::size_t t = 0; t < 4; ++t) {
            EXPECT_EQ(weights[4 * f + t], t + 1 == f ? 1 : 0);
            const std::size_t target = primitive["targets"][t]["POSITION"];
            EXPECT_TRUE(glb.gltf["accessors"][target].contains("min"));
            const auto shift = accessor(glb, target);
            for (std::size_t i = 0; i < 36; ++i) frame[i] += double(weights[4 * f + t]) * shift[i];
        }
        for (std::size_t i = 0; i < 36; ++i) {
            EXPECT_NEAR(frame[i], rollout.position[36 * f + i], 8 * 0x1p-24);  // places below 8 m
        }
    }
}

// The same triangles as elsewhere; the origin of images is at the upper left here.
TEST(ExportGlb, IndicesAndTextureCoordinates)
{
    const TempFolder folder;
    export_motion(small_motion(), export_to(ExportFormat::glb, folder / "m.glb"));
    const Glb glb = read_glb(folder / "m.glb");
    const json& primitive = glb.gltf["meshes"][0]["primitives"][0];
    const auto indices = accessor<std::uint32_t>(glb, primitive["indices"]);
    ASSERT_EQ(indices.size(), 36u);
    EXPECT_EQ(std::vector<std::uint32_t>(indices.begin(), indices.begin() + 6),
              (std::vector<std::uint32_t>{0, 4, 1, 4, 5, 1}));
    const auto texture = accessor(glb, primitive["attributes"]["TEXCOORD_0"]);
    ASSERT_EQ(texture.size(), 24u);
    EXPECT_EQ(texture[0], 0);
    EXPECT_EQ(texture[1], 0);
    EXPECT_EQ(texture[22], 1);
    EXPECT_EQ(texture[23], 1);
}

TEST(ExportGlb, AClothHasItsMapsAsAttributesAndOneAsColour)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    ClothExport options;
    options.format = ExportFormat::glb;
    options.out = folder / "c.glb";
    options.color = "shear";
    export_cloth(cloth, options);
    const Glb glb = read_glb(folder / "c.glb");
    EXPECT_FALSE(glb.gltf.contains("animations"));
    const json& mesh = glb.gltf["meshes"][0];
    const json& attributes = mesh["primitives"][0]["attributes"];
    for (const WeightMap& map : weight_maps(cloth)) {
        std::string name = "_" + map.name;
        for (char& c : name) c = char(std::toupper(c));
        EXPECT_EQ(accessor(glb, attributes[name]), map.weight);
        const json& range = mesh["extras"]["springtime"]["maps"][map.name];
        EXPECT_EQ(range["low"], map.low);
        EXPECT_EQ(range["high"], map.high);
        if (map.name != "shear") continue;
        const auto color = accessor(glb, attributes["COLOR_0"]);
        for (std::size_t i = 0; i < 27; ++i) EXPECT_EQ(color[i], map.weight[i / 3]);
    }
    options.color = "softness";
    options.overwrite = true;
    EXPECT_EQ(field_of([&] { export_cloth(cloth, options); }), "color");
}

TEST(ExportGlb, TooLongOrTooLargeIsAnErrorBeforeWriting)
{
    const TempFolder folder;
    EXPECT_EQ(
        error_of([&] {
            export_motion(small_motion(1025), export_to(ExportFormat::glb, folder / "m.glb"));
        }),
        "motion: 1025 frames; in a glb every frame is a morph target, and at most 1024 are "
        "written: take fewer with `rate` 49.9 or less, or `from` and `until`, or export usda");
    ExportScene scene;
    scene.source = "m";
    scene.rest.resize(1000000);
    scene.frame_count = 300;
    EXPECT_NO_THROW(check_glb_size(scene));  // 3.6 GB
    scene.frame_count = 360;
    EXPECT_EQ(error_of([&] { check_glb_size(scene); }),
              "m: 4.35 GB; a glb ends at 4 GiB: take fewer frames with `rate`, `from` and `until`, "
              "or export usda");
    EXPECT_FALSE(std::filesystem::exists(folder / "m.glb"));
}

}  // namespace
}  // namespace springtime
