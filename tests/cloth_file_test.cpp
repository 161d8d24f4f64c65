#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "cloths.h"
#include "core/atomic_file.h"
#include "error_of.h"
#include "file_size_limit.h"
#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "temp_folder.h"

namespace springtime {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Three particles, two springs, and numbers that no short decimal stands for.
Cloth small_cloth()
{
    Cloth cloth;
    cloth.sheet = {2.0, 1.0 / 3, 0.1 + 0.2};
    cloth.rest = {{-0.0, 0}, {std::nextafter(2.0, 1), 1e-300}, {1 / 7.0, 1 / 3.0}};
    cloth.mass = {0.1, 0.2, std::numeric_limits<double>::min()};
    cloth.springs.ends = {{0, 1}, {2, 0}};
    cloth.springs.family = {SpringFamily::bending, SpringFamily::diagonal};
    cloth.springs.rest_length = {M_PI, std::numeric_limits<double>::denorm_min()};
    cloth.springs.stiffness = {std::numeric_limits<double>::max(), 1e22};
    cloth.springs.damping = {0, 123456789.123456789};
    return cloth;
}

void expect_same(const Cloth& a, const Cloth& b)
{
    EXPECT_EQ(a.sheet.length, b.sheet.length);
    EXPECT_EQ(a.sheet.width, b.sheet.width);
    EXPECT_EQ(a.sheet.mass, b.sheet.mass);
    ASSERT_EQ(a.grid.has_value(), b.grid.has_value());
    if (a.grid) {
        EXPECT_EQ(a.grid->rows, b.grid->rows);
        EXPECT_EQ(a.grid->cols, b.grid->cols);
    }
    ASSERT_EQ(a.rest.size(), b.rest.size());
    for (std::size_t p = 0; p < a.rest.size(); ++p) {
        EXPECT_EQ(a.rest[p].u, b.rest[p].u);
        EXPECT_EQ(a.rest[p].v, b.rest[p].v);
        EXPECT_EQ(std::signbit(a.rest[p].u), std::signbit(b.rest[p].u));
    }
    EXPECT_EQ(a.mass, b.mass);
    EXPECT_EQ(a.springs.ends, b.springs.ends);
    EXPECT_EQ(a.springs.family, b.springs.family);
    EXPECT_EQ(a.springs.rest_length, b.springs.rest_length);
    EXPECT_EQ(a.springs.stiffness, b.springs.stiffness);
    EXPECT_EQ(a.springs.damping, b.springs.damping);
    ASSERT_EQ(a.springs.ranges.size(), b.springs.ranges.size());
    for (std::size_t j = 0; j < a.springs.ranges.size(); ++j) {
        EXPECT_EQ(a.springs.ranges[j].from, b.springs.ranges[j].from);
        EXPECT_EQ(a.springs.ranges[j].to, b.springs.ranges[j].to);
        EXPECT_EQ(a.springs.ranges[j].stiffness, b.springs.ranges[j].stiffness);
    }
    EXPECT_EQ(a.springs.isotropic_damping, b.springs.isotropic_damping);
    ASSERT_EQ(a.errors.has_value(), b.errors.has_value());
    if (a.errors) {
        EXPECT_EQ(a.errors->force, b.errors->force);
        EXPECT_EQ(a.errors->parameters, b.errors->parameters);
    }
    EXPECT_EQ(a.triangles.corners, b.triangles.corners);
    EXPECT_EQ(a.triangles.shear_stiffness, b.triangles.shear_stiffness);
    EXPECT_EQ(a.triangles.area_stiffness, b.triangles.area_stiffness);
    EXPECT_EQ(a.triangles.damping, b.triangles.damping);
    EXPECT_EQ(a.triangles.damping_kind, b.triangles.damping_kind);
    EXPECT_EQ(a.hinges.corners, b.hinges.corners);
    EXPECT_EQ(a.hinges.stiffness, b.hinges.stiffness);
    EXPECT_EQ(a.hinges.damping, b.hinges.damping);
}

// A 6 x 5 grid with parameters of full precision.
Cloth grid_cloth()
{
    Cloth cloth;
    cloth.sheet = {1.1, 0.9, 0.3};
    cloth.grid = Grid{6, 5};
    for (int p = 0; p < 30; ++p) {
        cloth.rest.push_back({1.1 * (p % 5) / 4, 0.9 * (p / 5) / 5});
    }
    cloth.mass.assign(30, 0.01);
    for (int p = 0; p + 1 < 30; ++p) {
        cloth.springs.ends.push_back({p, p + 1});
        cloth.springs.family.push_back(kSpringFamilies[p % 4]);
        cloth.springs.rest_length.push_back(std::sqrt(p + 1.0));
        cloth.springs.stiffness.push_back(25 * std::exp(p / 3.0));
        cloth.springs.damping.push_back(1.0 / (p + 3));
    }
    return cloth;
}

// Triangles and hinges of a 3 x 4 grid; shear stiffness varies, area stiffness does not.
Cloth mesh_cloth()
{
    const Sheet sheet{1.1, 0.9, 0.3};
    MeshMaterial material;
    material.shear_stiffness.paint({MaterialField::Patch{{0.3, 1}, {0, 1}}, 1.0 / 3, true});
    material.damping_kind = TriangleDamping::strain;
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, {3, 4}, MeshCut::alternating), material);
}

TEST(ClothFile, GivesBackEveryDoubleExactly)
{
    expect_same(cloth_from_json(cloth_to_json(mesh_cloth()), "text"), mesh_cloth());
    expect_same(cloth_from_json(cloth_to_json(small_cloth()), "text"), small_cloth());
    expect_same(cloth_from_json(cloth_to_json(grid_cloth()), "text"), grid_cloth());
}

TEST(ClothFile, RoundTripOfFiles)
{
    const TempFolder folder;
    write_cloth(folder / "cloth.json", grid_cloth());
    expect_same(read_cloth(folder / "cloth.json"), grid_cloth());
    EXPECT_FALSE(std::filesystem::exists(folder / "cloth.json.part"));
    const std::string before = bytes_of(folder / "cloth.json");
    write_cloth(folder / "cloth.json", grid_cloth());
    EXPECT_EQ(bytes_of(folder / "cloth.json"), before);
}

TEST(ClothFile, HoldsWhatTheFormatSays)
{
    const json found = json::parse(cloth_to_json(grid_cloth()));
    EXPECT_EQ(found["format"], "springtime-cloth");
    EXPECT_EQ(found["version"], 1);
    EXPECT_EQ(found["units"], "m, kg, s, N");
    EXPECT_EQ(found["sheet"]["width"], 0.9);
    EXPECT_EQ(found["grid"]["rows"], 6);
    EXPECT_EQ(found["particles"]["count"], 30);
    EXPECT_EQ(found["particles"]["mass"], 0.01);  // one number, since all are equal
    EXPECT_EQ(found["springs"]["count"], 29);
    EXPECT_EQ(found["springs"]["ends"][28], (json{28, 29}));
    EXPECT_EQ(found["springs"]["family_names"][found["springs"]["family"][3].get<int>()],
              "bending");
    EXPECT_FALSE(json::parse(cloth_to_json(small_cloth())).contains("grid"));
    EXPECT_EQ(json::parse(cloth_to_json(small_cloth()))["particles"]["mass"].size(), 3u);
}

TEST(ClothFile, HoldsTrianglesAndHinges)
{
    const json found = json::parse(cloth_to_json(mesh_cloth()));
    EXPECT_EQ(found["version"], 2);  // so that a reader of version 1 does not lose them
    EXPECT_FALSE(found.contains("springs"));
    const json &triangles = found["triangles"], &hinges = found["hinges"];
    // 2 x 3 cells; of their edges 3 * 3 + 2 * 4 are straight and 6 diagonal, and 10 lie outside.
    EXPECT_EQ(triangles["count"], 12);
    EXPECT_EQ(hinges["count"], 17 + 6 - 10);
    EXPECT_EQ(triangles["corners"][0], (json{0, 4, 5}));
    EXPECT_EQ(triangles["shear_stiffness"].size(), 12u);
    EXPECT_EQ(triangles["area_stiffness"], 300);  // one number, since all are equal
    EXPECT_EQ(triangles["damping_kind"], "strain");
    EXPECT_EQ(hinges["corners"][0].size(), 4u);
    EXPECT_EQ(hinges["stiffness"].size(), 13u);
}

TEST(ClothFile, MixesElements)
{
    Cloth cloth = mesh_cloth();
    cloth.springs = grid_cloth().springs;
    for (auto& [a, b] : cloth.springs.ends) a %= 6, b = 6 + b % 6;
    expect_same(cloth_from_json(cloth_to_json(cloth), "text"), cloth);
    cloth.triangles = {};
    expect_same(cloth_from_json(cloth_to_json(cloth), "text"), cloth);
    EXPECT_EQ(cloth_file_version(cloth), 2);
    cloth.hinges = {};
    EXPECT_EQ(cloth_file_version(cloth), 1);
    EXPECT_EQ(json::parse(cloth_to_json(cloth))["version"], 1);
}

TEST(ClothFile, OneNumberStandsForAll)
{
    json document = json::parse(cloth_to_json(mesh_cloth()));
    document["triangles"]["damping"] = 0.7;
    document["hinges"]["stiffness"] = 2;
    const Cloth cloth = cloth_from_json(document.dump(), "text");
    EXPECT_EQ(cloth.triangles.damping, std::vector<double>(12, 0.7));
    EXPECT_EQ(cloth.hinges.stiffness, std::vector<double>(13, 2.0));
}

TEST(ClothFile, ReadsTheExampleOfTheFormatPage)
{
    const std::string page = read_text(SPRINGTIME_SOURCE_DIR "/docs/formats.md");
    const auto example = [&](const std::string& title) {
        const std::string fence = "```json\n";
        const std::size_t begin = page.find(fence, page.find(title)) + fence.size();
        return cloth_from_json(page.substr(begin, page.find("```", begin) - begin), "page");
    };
    const Cloth cloth = example("A cloth of two particles");
    EXPECT_EQ(cloth.mass, (std::vector<double>{0.1, 0.1}));
    ASSERT_EQ(cloth.springs.spring_count(), 1u);
    EXPECT_EQ(cloth.springs.stiffness[0], 25);
    EXPECT_EQ(cloth.springs.family[0], SpringFamily::structural);
    EXPECT_FALSE(cloth.grid.has_value());
    const Cloth softer = example("The first cloth with a spring that is softer");
    EXPECT_EQ(softer.springs.ranges[0].stiffness[0], 5);
    EXPECT_EQ(softer.springs.isotropic_damping[0], 0.02);
    EXPECT_EQ(softer.errors->parameters, (ParameterValues{{0.3}, {0.01}, {kInfinity}, {0.005}}));
    const Cloth bent = example("A row of three particles that resists bending");
    EXPECT_EQ(bent.bends.particles, (std::vector<std::array<int, 3>>{{0, 1, 2}}));
    EXPECT_EQ(bent.bends.stiffness, std::vector<double>{0.5});
    const Cloth fabric = example("The same square with a fabric");
    EXPECT_EQ(fabric.triangles.weft_stiffness, (std::vector<double>{400, 420}));
    EXPECT_EQ(fabric.errors->parameters[3], (std::vector<double>{3, 2}));
    EXPECT_EQ(fabric.errors->parameters[5], std::vector<double>{kInfinity});
    // The square of two triangles is what make_mesh_cloth() makes of it.
    const Cloth square = example("A square of two triangles");
    const Sheet sheet{1, 1, 0.2};
    const Cloth made = make_mesh_cloth(sheet, make_grid_mesh(sheet, {2, 2}, MeshCut::diagonal), {});
    EXPECT_EQ(square.triangles.corners, made.triangles.corners);
    EXPECT_EQ(square.triangles.area_stiffness, made.triangles.area_stiffness);
    EXPECT_EQ(square.triangles.damping_kind, TriangleDamping::strain);
    EXPECT_EQ(square.hinges.corners, made.hinges.corners);
    EXPECT_NEAR(square.hinges.stiffness[0], made.hinges.stiffness[0], 1e-15);
    EXPECT_NEAR(square.hinges.damping[0], made.hinges.damping[0], 1e-18);
}

TEST(ClothFile, LinesAreFilledButNotLong)
{
    const std::string text = cloth_to_json(grid_cloth());
    std::size_t lines = 0, longest = 0;
    for (std::size_t at = 0; at < text.size(); ++lines) {
        const std::size_t end = text.find('\n', at);
        longest = std::max(longest, end - at);
        at = end + 1;
    }
    EXPECT_LE(longest, 100u);
    EXPECT_LT(lines, text.size() / 40);  // 176 entries, so far fewer lines than numbers
}

TEST(ClothFile, RefusesToWriteABadCloth)
{
    Cloth cloth = grid_cloth();
    cloth.springs.stiffness[3] = std::nan("");
    EXPECT_TRUE(mentions(error_of([&] { cloth_to_json(cloth); }),
                         {"cloth", "stiffness of spring 3", "nan"}));
}

// The message for a cloth after `change`.
template <class Change>
std::string error_after(Change change, const Cloth& cloth = grid_cloth())
{
    json document = json::parse(cloth_to_json(cloth));
    change(document);
    return error_of([&] { cloth_from_json(document.dump(), "a.json"); });
}

TEST(ClothFile, NamesWhatIsNoClothFile)
{
    const auto error = [](std::string_view text) {
        return error_of([&] { cloth_from_json(text, "a.json"); });
    };
    EXPECT_EQ(error(""), "a.json: is empty; a cloth file is needed, make it again");
    EXPECT_EQ(
        error("hello"),
        "a.json: is not JSON, from line 1 on; a cloth file is needed, copy it or make it again");
    EXPECT_EQ(
        error("{\"format\":\n\"springtime-cloth\",\n\"version\": 1,,}"),
        "a.json: is not JSON, from line 3 on; a cloth file is needed, copy it or make it again");
    const std::string other =
        "a.json: JSON without \"format\": \"springtime-cloth\"; a cloth file is needed "
        "(docs/formats.md)";
    for (const char* text :
         {"{}", "[]", "3", "null", "{\"format\": 1}", "{\"format\": \"gltf\"}"}) {
        EXPECT_EQ(error(text), other);
    }
}

TEST(ClothFile, NamesANewerVersion)
{
    EXPECT_EQ(error_after([](json& d) { d["version"] = 7; }),
              std::string("a.json: cloth file version 7, but springtime ") + kVersion +
                  " reads versions 1 to 6; update springtime");
}

// The small cloth with ranges, an isotropic dashpot and standard errors.
Cloth law_cloth()
{
    Cloth cloth = small_cloth();
    cloth.springs.ranges = {{-kInfinity, -0.1, {1.0 / 3, 0}}, {0.1 + 0.2, kInfinity, {M_PI, 7}}};
    cloth.springs.isotropic_damping = {0.7, 1e-300};
    cloth.errors =
        StandardErrors{{{1, kInfinity}, {0, 2}, {0.1, 3}, {kInfinity, kInfinity}, {4, 5}}, 1.0 / 7};
    return cloth;
}

TEST(ClothFile, LawsAndErrorsComeBack)
{
    const Cloth cloth = law_cloth();
    const std::string text = cloth_to_json(cloth);
    const json document = json::parse(text);
    EXPECT_EQ(document["version"], 3);
    EXPECT_TRUE(document["springs"]["ranges"][0]["from"].is_null());
    EXPECT_TRUE(document["springs"]["errors"]["stiffness"][1].is_null());
    expect_same(cloth_from_json(text, "a.json"), cloth);

    Cloth ranges = cloth;  // each of them alone
    ranges.springs.isotropic_damping.clear();
    ranges.errors.reset();
    expect_same(cloth_from_json(cloth_to_json(ranges), "a.json"), ranges);
    Cloth isotropic = cloth;
    isotropic.springs.ranges.clear();
    isotropic.errors.reset();
    EXPECT_EQ(json::parse(cloth_to_json(isotropic))["version"], 3);
    expect_same(cloth_from_json(cloth_to_json(isotropic), "a.json"), isotropic);
    Cloth errors = small_cloth();
    errors.errors = StandardErrors{{{1, 2}, {3, 4}}, 0};
    EXPECT_EQ(json::parse(cloth_to_json(errors))["version"], 1);  // what it needs to run is there
    expect_same(cloth_from_json(cloth_to_json(errors), "a.json"), errors);
}

TEST(ClothFile, BendsComeBack)
{
    Cloth cloth = uneven_grid({4, 5});
    add_uneven_law(cloth);
    cloth.errors = StandardErrors{parameters_of(cloth), 0.5};
    const json document = json::parse(cloth_to_json(cloth));
    EXPECT_EQ(document["version"], 4);
    EXPECT_EQ(document["bends"]["count"], cloth.bends.bend_count());
    const Cloth back = cloth_from_json(document.dump(), "a.json");
    EXPECT_EQ(back.bends.particles, cloth.bends.particles);
    EXPECT_EQ(back.bends.family, cloth.bends.family);
    EXPECT_EQ(parameters_of(back), parameters_of(cloth));
    EXPECT_EQ(back.errors->parameters, cloth.errors->parameters);
    const auto error = [&](auto change) {
        json changed = document;
        change(changed);
        return error_of([&] { cloth_from_json(changed.dump(), "a.json"); });
    };
    EXPECT_TRUE(mentions(error([](json& d) { d["version"] = 3; }),
                         {"a.json", "'bends.bending_stiffness'", "version 3", "version 4"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["bends"]["family_names"][0] = "curly"; }),
                         {"a.json", "bend family", "curly", "straight, diagonal"}));
    EXPECT_TRUE(mentions(error([](json& d) { d.erase("grid"); }), {"a.json", "bends", "grid"}));
    EXPECT_TRUE(
        mentions(error([](json& d) { d["bends"].erase("bending_damping"); }), {"bending_damping"}));
}

// The mesh as orthotropic fabric with springs' couplings and standard errors of everything.
Cloth fabric_cloth()
{
    Cloth cloth = mesh_cloth();
    for (std::size_t t = 0; t < cloth.triangles.triangle_count(); ++t) {
        cloth.triangles.warp_stiffness.push_back(500 + 1.0 / (t + 3));
        cloth.triangles.weft_stiffness.push_back(200);
    }
    cloth.couplings = {{{0, 1, 4}, {5, 4, 6}}, {{1.0 / 3, 0.2}, {0.7, 1e-300}}, {-M_PI, 2}};
    ParameterValues errors = parameters_of(cloth);
    for (auto& values : errors) {
        for (double& value : values) value = std::abs(value) / 7;
    }
    errors[0][3] = kInfinity;
    cloth.errors = StandardErrors{errors, 0.5};
    return cloth;
}

TEST(ClothFile, FabricsComeBack)
{
    const Cloth cloth = fabric_cloth();
    const json document = json::parse(cloth_to_json(cloth));
    EXPECT_EQ(document["version"], 6);
    EXPECT_EQ(document["triangles"]["warp_stiffness"].size(), 12u);
    EXPECT_EQ(document["triangles"]["weft_stiffness"], 200);
    EXPECT_EQ(document["triangles"]["errors"]["force"], 0.5);
    EXPECT_TRUE(document["triangles"]["errors"]["shear_stiffness"][3].is_null());
    EXPECT_FALSE(document["hinges"]["errors"].contains("force"));
    EXPECT_EQ(document["couplings"]["coupling"], (json{-M_PI, 2}));
    const Cloth back = cloth_from_json(document.dump(), "a.json");
    expect_same(back, cloth);
    EXPECT_EQ(back.triangles.warp_stiffness, cloth.triangles.warp_stiffness);
    EXPECT_EQ(back.triangles.weft_stiffness, cloth.triangles.weft_stiffness);
    EXPECT_EQ(back.couplings.corners, cloth.couplings.corners);
    EXPECT_EQ(back.couplings.rest_length, cloth.couplings.rest_length);
    EXPECT_EQ(back.couplings.stiffness, cloth.couplings.stiffness);

    Cloth springs = cloth;  // beside springs, the noise stands with them
    springs.springs = small_cloth().springs;
    springs.errors->parameters.insert(springs.errors->parameters.begin(), {{1, 2}, {3, 4}});
    const json both = json::parse(cloth_to_json(springs));
    EXPECT_EQ(both["springs"]["errors"]["force"], 0.5);
    EXPECT_FALSE(both["triangles"]["errors"].contains("force"));
    expect_same(cloth_from_json(both.dump(), "a.json"), springs);
}

// Files that were written when springs alone had errors.
TEST(ClothFile, NothingIsKnownOfAGroupWithoutErrors)
{
    json document = json::parse(cloth_to_json(fabric_cloth()));
    document["hinges"].erase("errors");
    const Cloth cloth = cloth_from_json(document.dump(), "a.json");
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const bool hinge = parameters[i].kind->element == Element::hinge;
        EXPECT_EQ(std::isinf(cloth.errors->parameters[i][0]), hinge) << i;
    }
}

TEST(ClothFile, NamesDefectsOfFabrics)
{
    const auto error = [](auto change) { return error_after(change, fabric_cloth()); };
    EXPECT_EQ(error([](json& d) { d["version"] = 5; }),
              "a.json: has 'triangles.warp_stiffness', but says it is of version 5; make it "
              "version 6");
    EXPECT_TRUE(mentions(error([](json& d) { d["triangles"]["weft_stiffness"] = -1; }),
                         {"a.json", "weft stiffness of triangle 0", "-1"}));
    EXPECT_EQ(error([](json& d) { d["triangles"]["errors"].erase("weft_stiffness"); }),
              "a.json: 'triangles.errors.weft_stiffness' is missing; write it as docs/formats.md "
              "says");
    EXPECT_EQ(error([](json& d) { d["triangles"]["errors"].erase("force"); }),
              "a.json: 'triangles.errors.force' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error([](json& d) { d["hinges"]["errors"]["damping"].push_back(1); }),
              "a.json: 'hinges.errors.damping' has 14 entries for 13 hinges; give one each");
    EXPECT_EQ(error([](json& d) { d["couplings"]["rest_length"].push_back(1); }),
              "a.json: 'couplings.rest_length' has 3 entries for 2 couplings; give one each");
    EXPECT_EQ(error([](json& d) {
                  d["couplings"]["rest_length"][1] = {1, 2, 3};
              }),
              "a.json: 'couplings.rest_length[1]' has 3 entries; two are needed");
    EXPECT_TRUE(mentions(error([](json& d) { d["couplings"]["rest_length"][1][0] = 0; }),
                         {"a.json", "coupling 1", "rest length 0"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["couplings"]["corners"][0][1] = 0; }),
                         {"a.json", "coupling 0", "0, 0, 4"}));
}

TEST(ClothFile, NamesDefectsOfLawsAndErrors)
{
    const auto error = [](auto change) { return error_after(change, law_cloth()); };
    EXPECT_EQ(error([](json& d) { d["version"] = 2; }),
              "a.json: has 'springs.ranges', but says it is of version 2; make it version 3");
    EXPECT_TRUE(mentions(error([](json& d) { d["springs"]["ranges"][1]["from"] = -0.2; }),
                         {"a.json", "range 1", "from strain -0.2 to inf"}));
    EXPECT_EQ(error([](json& d) { d["springs"]["ranges"][0]["to"] = "half"; }),
              "a.json: 'springs.ranges[0].to' is text; a number is needed");
    EXPECT_EQ(error([](json& d) { d["springs"]["ranges"][0].erase("from"); }),
              "a.json: 'springs.ranges[0].from' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error([](json& d) { d["springs"]["ranges"][1]["stiffness"].push_back(1); }),
              "a.json: 'springs.ranges[1].stiffness' has 3 entries for 2 springs; give one each");
    EXPECT_TRUE(mentions(error([](json& d) { d["springs"]["ranges"][1]["stiffness"][1] = -1; }),
                         {"a.json", "stiffness from strain", "of spring 1", "-1"}));
    EXPECT_TRUE(mentions(error([](json& d) { d["springs"]["isotropic_damping"][0] = -0.5; }),
                         {"a.json", "isotropic damping of spring 0", "-0.5"}));
    EXPECT_EQ(error([](json& d) { d["springs"]["errors"].erase("force"); }),
              "a.json: 'springs.errors.force' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error([](json& d) { d["springs"]["errors"]["ranges"].erase(0); }),
              "a.json: 'springs.errors.ranges' has 1 entries for 2 stiffness ranges; give one "
              "each");
    EXPECT_TRUE(mentions(error([](json& d) { d["springs"]["errors"]["damping"][0] = -1; }),
                         {"a.json", "standard error of damping of spring 0", "-1"}));
    EXPECT_EQ(error([](json& d) { d["springs"]["errors"]["force"] = -1; }),
              "a.json: force noise of -1 N s^(1/2); it must be finite and not negative");
}

TEST(ClothFile, NamesDefectsOfTrianglesAndHinges)
{
    const auto error = [](auto change) { return error_after(change, mesh_cloth()); };
    EXPECT_TRUE(mentions(error([](json& d) { d["version"] = 1; }),
                         {"a.json", "'triangles.shear_stiffness'", "version 1", "version 2"}));
    EXPECT_TRUE(mentions(error([](json& d) {
                             d["version"] = 1;
                             d.erase("triangles");
                         }),
                         {"a.json", "'hinges.stiffness'", "version 1", "version 2"}));
    EXPECT_EQ(error([](json& d) { d["triangles"].erase("damping_kind"); }),
              "a.json: 'triangles.damping_kind' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error([](json& d) { d["triangles"]["damping_kind"] = "wet"; }),
              "a.json: unknown damping kind \"wet\"; use deformation or strain");
    EXPECT_EQ(error([](json& d) { d["triangles"]["damping_kind"] = 1; }),
              "a.json: 'triangles.damping_kind' is a number; text is needed");
    EXPECT_EQ(error([](json& d) { d["triangles"]["count"] = 11; }),
              "a.json: 'triangles.corners' has 12 entries for 11 triangles; give one each");
    EXPECT_EQ(error([](json& d) {
                  d["triangles"]["corners"][3] = {0, 1};
              }),
              "a.json: 'triangles.corners[3]' has 2 entries; three are needed");
    EXPECT_EQ(error([](json& d) { d["triangles"]["corners"][3][1] = 12; }),
              "a.json: 'triangles.corners[3][1]' is 12; 0 to 11 is needed");
    EXPECT_EQ(error([](json& d) {
                  d["triangles"]["corners"][3] = {0, 1, 2};
              }),
              "a.json: triangle 3 has no area at rest; remove it");
    EXPECT_EQ(error([](json& d) { d["triangles"]["shear_stiffness"].push_back(1); }),
              "a.json: 'triangles.shear_stiffness' has 13 entries for 12 triangles; give one each");
    EXPECT_EQ(error([](json& d) { d["triangles"]["area_stiffness"] = "300"; }),
              "a.json: 'triangles.area_stiffness' is text; a number is needed");
    EXPECT_TRUE(mentions(error([](json& d) { d["triangles"]["damping"] = -1; }),
                         {"a.json", "damping of triangle 0", "-1"}));
    EXPECT_EQ(error([](json& d) { d["hinges"].erase("damping"); }),
              "a.json: 'hinges.damping' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error([](json& d) {
                  d["hinges"]["corners"][2] = {0, 1, 2};
              }),
              "a.json: 'hinges.corners[2]' has 3 entries; four are needed");
    EXPECT_TRUE(mentions(error([](json& d) {
                             d["hinges"]["corners"][2] = {0, 1, 2, 1};
                         }),
                         {"a.json", "hinge 2", "0, 1, 2, 1", "0 to 11"}));
    EXPECT_EQ(error([](json& d) { d["hinges"]["stiffness"][4] = nullptr; }),
              "a.json: 'hinges.stiffness[4]' is null; a number is needed");
}

TEST(ClothFile, NamesMissingKeys)
{
    EXPECT_EQ(error_after([](json& d) { d.erase("version"); }),
              "a.json: 'version' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error_after([](json& d) { d["sheet"].erase("mass"); }),
              "a.json: 'sheet.mass' is missing; write it as docs/formats.md says");
    EXPECT_EQ(error_after([](json& d) { d["springs"].erase("damping"); }),
              "a.json: 'springs.damping' is missing; write it as docs/formats.md says");
}

TEST(ClothFile, NamesWrongTypes)
{
    EXPECT_EQ(error_after([](json& d) { d["sheet"]["length"] = "2 m"; }),
              "a.json: 'sheet.length' is text; a number is needed");
    EXPECT_EQ(error_after([](json& d) { d["springs"] = 3; }),
              "a.json: 'springs' is a number; an object is needed");
    EXPECT_EQ(error_after([](json& d) { d["springs"]["stiffness"][4] = nullptr; }),
              "a.json: 'springs.stiffness[4]' is null; a number is needed");
    EXPECT_EQ(error_after([](json& d) {
                  d["springs"]["ends"][4] = {1, 2, 3};
              }),
              "a.json: 'springs.ends[4]' has 3 entries; two are needed");
    EXPECT_EQ(error_after([](json& d) { d["springs"]["ends"][4][1] = 2.5; }),
              "a.json: 'springs.ends[4][1]' is a number; an integer is needed");
    EXPECT_EQ(error_after([](json& d) { d["particles"]["rest"] = true; }),
              "a.json: 'particles.rest' is true or false; an array is needed");
}

TEST(ClothFile, NamesWrongValues)
{
    EXPECT_EQ(error_after([](json& d) { d["units"] = "cm"; }),
              "a.json: 'units' is \"cm\"; convert all numbers to \"m, kg, s, N\"");
    EXPECT_EQ(error_after([](json& d) { d["sheet"]["mass"] = -1; }),
              "a.json: 'sheet.mass' is -1; it must be positive");
    EXPECT_EQ(error_after([](json& d) { d["particles"]["count"] = 31; }),
              "a.json: 'particles.rest' has 30 entries for 31 particles; give one each");
    EXPECT_EQ(error_after([](json& d) { d["particles"]["count"] = 18446744073709551615u; }),
              "a.json: 'particles.count' is 18446744073709551615; 0 to 2147483647 is needed");
    EXPECT_EQ(error_after([](json& d) { d["springs"]["damping"].push_back(1); }),
              "a.json: 'springs.damping' has 30 entries for 29 springs; give one each");
    EXPECT_EQ(error_after([](json& d) {
                  d["springs"]["ends"][2] = {30, 1};
              }),
              "a.json: 'springs.ends[2][0]' is 30; 0 to 29 is needed");
    EXPECT_EQ(error_after([](json& d) { d["springs"]["family"][2] = 4; }),
              "a.json: 'springs.family[2]' is 4; 0 to 3 is needed");
    EXPECT_EQ(
        error_after([](json& d) { d["springs"]["family_names"][1] = "twisted"; }),
        "a.json: unknown spring family \"twisted\"; use structural, diagonal, antidiagonal or "
        "bending");
    EXPECT_EQ(error_after([](json& d) { d["grid"]["rows"] = -6; }),
              "a.json: 'grid.rows' is -6; 1 to 2147483647 is needed");
    EXPECT_EQ(error_after([](json& d) { d["grid"]["rows"] = 7; }),
              "a.json: grid 7 x 5 but 30 particles; make them agree or leave the grid out");
    EXPECT_TRUE(mentions(error_after([](json& d) { d["springs"]["stiffness"][0] = -5; }),
                         {"a.json", "stiffness of spring 0", "-5"}));
}

// Text of any kind gives a cloth or an Error; sanitisers watch the rest.
bool reads(const std::string& text)
{
    try {
        cloth_from_json(text, "text");
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST(ClothFile, SurvivesEveryTruncation)
{
    const std::string whole = cloth_to_json(small_cloth());
    const std::string mesh = cloth_to_json(mesh_cloth());
    for (std::size_t size = 0; size + 1 < mesh.size(); size += 7) {
        EXPECT_FALSE(reads(mesh.substr(0, size))) << size;
    }
    // The last two bytes are the closing brace and a newline; all before are needed.
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
        EXPECT_FALSE(reads(whole.substr(0, size))) << size;
    }
    EXPECT_TRUE(reads(whole));
}

TEST(ClothFile, SurvivesFlippedBytes)
{
    for (const std::string& whole : {cloth_to_json(small_cloth()), cloth_to_json(fabric_cloth())}) {
        std::mt19937 random(3);
        int refused = 0;
        for (int trial = 0; trial < 5000; ++trial) {
            std::string text = whole;
            text[random() % text.size()] = char(random());
            refused += reads(text) ? 0 : 1;
        }
        EXPECT_GT(refused, 2500);  // half the bytes are structure; a blank or a digit may well pass
    }
}

TEST(ClothFile, SurvivesHostileText)
{
    EXPECT_FALSE(reads(std::string(200'000, '[')));
    EXPECT_FALSE(reads(std::string(200'000, '[') + std::string(200'000, ']')));
    EXPECT_FALSE(reads(std::string("{\"format\": \"springtime-cloth\", \"version\": 1e999}")));
    EXPECT_FALSE(reads(std::string("{\"format\": \"\xff\xfe\"}")));
    EXPECT_FALSE(reads(std::string(1000, '\0')));
}

TEST(TextFile, NamesWhatCannotBeRead)
{
    const TempFolder folder;
    const std::string lost = (folder / "lost.json").string();
    EXPECT_EQ(error_of([&] { read_cloth(lost); }), lost + ": no such file; check the name");
    EXPECT_EQ(error_of([&] { read_cloth(folder / ""); }),
              (folder / "").string() + ": is a directory; name a file in it");
}

TEST(TextFile, NamesWhatCannotBeWritten)
{
    const TempFolder folder;
    const std::string lost = (folder / "no" / "a.txt").string();
    EXPECT_EQ(error_of([&] { write_text(lost, "x"); }), lost + ": there is no directory " +
                                                            (folder / "no").string() +
                                                            "; make it first or name another");
    EXPECT_EQ(error_of([&] { write_text("", "x"); }), "output file: the name is empty; give one");
    // Where the part cannot be made, the old file stays.
    const std::filesystem::path kept = folder / "kept.txt";
    write_text(kept, "old");
    std::filesystem::create_directory(part_path(kept));
    EXPECT_EQ(failure_of([&] { write_text(kept, "new"); }),
              kept.string() +
                  ": cannot be written (Is a directory); check permissions and free "
                  "space, or name another");
    EXPECT_EQ(read_text(kept), "old");
}

TEST(TextFile, NamesAFullDisk)
{
    const TempFolder folder;
    const std::filesystem::path path = folder / "a.txt";
    const FileSizeLimit limit(1000);
    EXPECT_EQ(failure_of([&] { write_text(path, std::string(2000, 'x')); }),
              path.string() +
                  ": cannot be written (File too large); check permissions and free space, or "
                  "name another");
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(part_path(path)));
}

}  // namespace
}  // namespace springtime
