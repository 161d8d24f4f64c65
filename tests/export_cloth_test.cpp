#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exports.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

ClothExport cloth_to(ExportFormat format, const fs::path& out)
{
    ClothExport options;
    options.format = format;
    options.out = out;
    options.source = "cloth";
    return options;
}

TEST(ExportCloth, CsvHasAColumnForEveryMapAndSaysItsRange)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    export_cloth(cloth, cloth_to(ExportFormat::csv, folder / "c.csv"));
    const auto maps = weight_maps(cloth);
    const auto lines = lines_of_file(folder / "c.csv");
    ASSERT_EQ(lines.size(), maps.size() + 1 + 9);
    for (std::size_t m = 0; m < maps.size(); ++m) {
        EXPECT_EQ(lines[m],
                  fmt::format("# {}: 0 is {:.6g} {}, 1 is {:.6g} {}, linear", maps[m].name,
                              maps[m].low, maps[m].unit, maps[m].high, maps[m].unit));
    }
    const auto names = words_of(lines[maps.size()], ",");
    ASSERT_EQ(names.size(), 3 + maps.size());
    EXPECT_EQ(names[0] + names[1] + names[2], "vertexuv");
    for (std::size_t p = 0; p < 9; ++p) {
        const auto words = words_of(lines[maps.size() + 1 + p], ",");
        EXPECT_EQ(words[0], std::to_string(p));
        EXPECT_EQ(std::stod(words[1]), cloth.rest[p].u);
        for (std::size_t m = 0; m < maps.size(); ++m) {
            EXPECT_EQ(names[3 + m], maps[m].name);
            EXPECT_EQ(std::stof(words[3 + m]), maps[m].weight[p]);
        }
    }
}

TEST(ExportCloth, RangesAreInOneFileForAllFormats)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    for (const ExportFormat format : {ExportFormat::csv, ExportFormat::glb, ExportFormat::npz,
                                      ExportFormat::ply, ExportFormat::png, ExportFormat::usda}) {
        const std::string name(name_of(format));
        ClothExport options = cloth_to(format, folder / (name + "." + name));
        options.scale = MapScale::logarithmic;
        options.size = 16;
        const ExportReport report = export_cloth(cloth, options);
        EXPECT_EQ(report.files.back(), folder / (name + "." + name + ".ranges.json"));
        const auto ranges = nlohmann::json::parse(bytes_of(report.files.back()));
        EXPECT_EQ(ranges["scale"], "log");
        EXPECT_EQ(ranges["maps"].size(), report.maps.size());
        for (const WeightMap& map : report.maps) {
            EXPECT_EQ(ranges["maps"][map.name]["low"], map.low);
            EXPECT_EQ(ranges["maps"][map.name]["high"], map.high);
            EXPECT_EQ(ranges["maps"][map.name]["unit"], map.unit);
        }
    }
}

TEST(ExportCloth, ObjIsTheFlatSheet)
{
    const TempFolder folder;
    const ExportReport report =
        export_cloth(numbered_grid(), cloth_to(ExportFormat::obj, folder / "c.obj"));
    const TriangleMesh mesh = read_obj(folder / "c.obj");
    ASSERT_EQ(mesh.points.size(), 9u);
    EXPECT_EQ(mesh.triangles.size(), 8u);
    EXPECT_EQ(length(mesh.points[2] - Vec3d{1, 0, -1}), 0);  // north-east
    EXPECT_FALSE(fs::exists(folder / "c.obj.ranges.json"));
    EXPECT_TRUE(report.remarks.front().starts_with("an OBJ file has no place for weight maps"));
}

TEST(ExportCloth, Errors)
{
    const TempFolder folder;
    const Cloth cloth = numbered_grid();
    EXPECT_EQ(error_of([&] { export_cloth(cloth, cloth_to(ExportFormat::mdd, folder / "c.mdd")); }),
              "cloth: mdd holds motion, and a cloth file has none; export a motion file, or the "
              "cloth to obj, ply, glb, csv, png, npz or usda");
    ClothExport picture = cloth_to(ExportFormat::png, folder / "c");
    picture.size = 1;
    EXPECT_EQ(field_of([&] { export_cloth(cloth, picture); }), "size");
    Cloth heap = chain_cloth(4, 0.5, 1, 10, 1);
    heap.rest.assign(4, {0, 0});
    EXPECT_EQ(error_of([&] { export_cloth(heap, cloth_to(ExportFormat::ply, folder / "c.ply")); }),
              "cloth: 4 particles at one place have no surface; export csv or npz");
    EXPECT_EQ(field_of([&] { export_format_named("fbx"); }), "format");
    EXPECT_TRUE(
        error_of([&] {
            export_format_named("fbx");
        }).ends_with("arcsim, blender, csv, glb, mdd, newton, npz, obj, pc2, ply, png, usda"));
    EXPECT_EQ(
        error_of([&] { export_cloth(cloth, cloth_to(ExportFormat::csv, folder / "no/c.csv")); }),
        fmt::format("{}: there is no directory {}; make it first or name another",
                    (folder / "no/c.csv").string(), (folder / "no").string()));
    EXPECT_TRUE(fs::is_empty((folder / "c").parent_path()));
}

TEST(ExportCloth, NamesBesideTheInput)
{
    EXPECT_EQ(default_export_path("a/m.h5", ExportFormat::usda, true), "a/m.usda");
    EXPECT_EQ(default_export_path("a/m.h5", ExportFormat::obj, true), "a/m-obj");
    EXPECT_EQ(default_export_path("a/m.cloth.json", ExportFormat::obj, false), "a/m.cloth.obj");
    EXPECT_EQ(default_export_path("run/cloth.json", ExportFormat::png, false), "run/cloth-png");
}

}  // namespace
}  // namespace springtime
