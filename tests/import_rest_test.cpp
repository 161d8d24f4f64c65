#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "springtime/files.h"
#include "springtime/import.h"
#include "temp_folder.h"

// Where points lie in the flat sheet, and in which unit.
namespace springtime {
namespace {

constexpr int kRows = 5, kCols = 7;
constexpr int kCount = kRows * kCols;

// Off a grid of 0.06 m by a bit, so that nothing is regular but nothing is far from it.
SheetPoint scattered(int p)
{
    return {0.06 * (p % kCols) + 0.006 * std::sin(7.0 * p),
            0.06 * (p / kCols) + 0.006 * std::cos(5.0 * p)};
}

// A sheet rolled around an upright cylinder of 0.3 m that swings about its north edge: neighbours
// keep their distance.
Vec3d rolled(int p, double time)
{
    const auto [u, v] = scattered(p);
    const double angle = 0.3 * std::sin(4 * time), r = 0.3;
    const Vec3d shape{r * std::sin(u / r), -v, r * std::cos(u / r)};
    return {shape.x, 1 + shape.y * std::cos(angle) - shape.z * std::sin(angle),
            shape.y * std::sin(angle) + shape.z * std::cos(angle)};
}

struct Facing {
    double degrees = 0;  // about the vertical
    double unit = 1;     // [m]
    double noise = 0;    // [m]
    bool z_up = false;
    int stray = -1;  // frame in which the middle point is 0.2 m off
};

void write_take(const std::filesystem::path& path, const Facing& facing, int count = kCount)
{
    const double c = std::cos(facing.degrees * std::numbers::pi / 180);
    const double s = std::sin(facing.degrees * std::numbers::pi / 180);
    std::ofstream file(path);
    file << "time";
    for (int p = 0; p < count; ++p) file << fmt::format(",p{0}_x,p{0}_y,p{0}_z", p);
    for (int f = 0; f < 40; ++f) {
        file << fmt::format("\n{}", f / 50.0);
        for (int p = 0; p < count; ++p) {
            Vec3d x = rolled(p, f / 50.0) + facing.noise * Vec3d{std::sin(11.0 * p + 3.0 * f),
                                                                 std::sin(13.0 * p + 7.0 * f),
                                                                 std::sin(17.0 * p + 5.0 * f)};
            if (f == facing.stray && p == kCount / 2) x.x += 0.2;
            x = (1 / facing.unit) * Vec3d{c * x.x + s * x.z, x.y, c * x.z - s * x.x};
            if (facing.z_up) x = {x.x, -x.z, x.y};
            file << fmt::format(",{},{},{}", x.x, x.y, x.z);
        }
    }
}

// The flat sheet, level, as a mesh without faces.
void write_mesh(const std::filesystem::path& path, double unit, int step = 1)
{
    std::ofstream file(path);
    for (int i = 0; i < kCount; ++i) {
        const auto [u, v] = scattered(i * step % kCount);
        file << fmt::format("v {} 0 {}\n", u / unit, v / unit);
    }
}

ImportOptions cloth_options()
{
    ImportOptions options;
    options.mass = 0.03;
    options.driven = {"p0", "p6"};
    return options;
}

void expect_has(const std::string& text, const std::string& part)
{
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

double worst_difference(const std::vector<SheetPoint>& a, const std::vector<SheetPoint>& b)
{
    EXPECT_EQ(a.size(), b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::hypot(a[i].u - b[i].u, a[i].v - b[i].v));
    }
    return worst;
}

// As it is stored: from the origin.
std::vector<SheetPoint> scattered_sheet()
{
    double u = HUGE_VAL, v = HUGE_VAL;
    for (int p = 0; p < kCount; ++p) {
        u = std::min(u, scattered(p).u);
        v = std::min(v, scattered(p).v);
    }
    std::vector<SheetPoint> sheet;
    for (int p = 0; p < kCount; ++p) sheet.push_back({scattered(p).u - u, scattered(p).v - v});
    return sheet;
}

class ImportRest : public ::testing::Test {
  protected:
    ImportReport run(const ImportOptions& options)
    {
        return import_motion({folder / "take.csv"}, folder / "motion.h5", options);
    }
    // The field that is wrong and the message.
    std::string refusal(const ImportOptions& options)
    {
        const auto act = [&] { run(options); };
        return fmt::format("{}: {}", field_of(act), error_of(act));
    }

    TempFolder folder;
};

TEST_F(ImportRest, SheetsAreTheSameWhicheverWayTheClothFaced)
{
    write_take(folder / "take.csv", {});
    const std::vector<SheetPoint> straight = run(cloth_options()).header.rest;
    for (const double degrees : {90, 135, 180, 250}) {
        write_take(folder / "take.csv", {degrees});
        // Rounding, and where relaxing stops; a mirrored sheet is off by its size, 0.36 m.
        EXPECT_LT(worst_difference(run(cloth_options()).header.rest, straight), 1e-5) << degrees;
        write_take(folder / "take.csv", {degrees, 1, 0.001});
        // Noise of 1 mm moves places by a few millimetres: the smallest rectangle turns with it.
        EXPECT_LT(worst_difference(run(cloth_options()).header.rest, straight), 0.01) << degrees;
    }
}

TEST_F(ImportRest, AStrayPointDoesNotBendTheSheet)
{
    write_take(folder / "take.csv", {});
    const std::vector<SheetPoint> sheet = run(cloth_options()).header.rest;
    for (const int stray : {0, 1}) {
        write_take(folder / "take.csv", {.stray = stray});
        const ImportReport report = run(cloth_options());
        expect_has(report.rest_reason, fmt::format("frame {}", stray == 0 ? 1 : 2));
        EXPECT_LT(worst_difference(report.header.rest, sheet), 1e-5);
    }
}

TEST_F(ImportRest, AMotionFileLendsItsRestPlaces)
{
    write_take(folder / "take.csv", {});
    const MotionHeader first = run(cloth_options()).header;
    std::filesystem::rename(folder / "motion.h5", folder / "first.h5");
    write_take(folder / "take.csv", {70, 0.001, 0.002});
    ImportOptions options = cloth_options();
    options.rest = folder / "first.h5";
    const ImportReport report = run(options);
    EXPECT_EQ(worst_difference(report.header.rest, first.rest), 0);
    EXPECT_EQ(report.header.sheet.length, first.sheet.length);
    EXPECT_EQ(report.header.sheet.width, first.sheet.width);
    EXPECT_EQ(report.unit, 0.001);  // of the points; the motion file is in metres
    EXPECT_EQ(report.rest_reason, "those of " + (folder / "first.h5").string());
}

TEST_F(ImportRest, AMotionFileOfOtherPointsIsRefused)
{
    write_take(folder / "take.csv", {});
    ImportOptions options = cloth_options();
    options.dropped = {"p20"};
    run(options);
    std::filesystem::rename(folder / "motion.h5", folder / "first.h5");
    options.rest = folder / "first.h5";
    run(options);  // the same are left out
    options.dropped.clear();
    const std::string count = refusal(options);
    expect_has(count, "34 rest places, but");
    expect_has(count, "has 35 points");
    expect_has(count, "`dropped`");
    options.dropped = {"p20"};
    options.length = 1.3 * MotionReader(folder / "first.h5").header().sheet.length;
    expect_has(refusal(options), "length: ");
    options.length.reset();
    options.rest_unit = 1;
    expect_has(refusal(options), "leave it out");
}

TEST_F(ImportRest, AnotherOrderIsToldFromAWrongUnit)
{
    write_take(folder / "take.csv", {});
    write_mesh(folder / "rest.obj", 0.001, 8);  // 8 and 35 have no common part: all are listed
    ImportOptions options = cloth_options();
    options.rest = folder / "rest.obj";
    expect_has(refusal(options), "same points in the same order");
    options.trust = true;
    run(options);
    std::filesystem::rename(folder / "motion.h5", folder / "first.h5");
    options.trust = false;
    options.rest = folder / "first.h5";
    expect_has(refusal(options), "same points in the same order");
}

// As many vertices, but of a long strip: the order is not what is wrong.
TEST_F(ImportRest, AnotherMeshIsToldFromAnotherOrder)
{
    write_take(folder / "take.csv", {});
    std::ofstream mesh(folder / "rest.obj");
    for (int p = 0; p < 35; ++p)
        mesh << fmt::format("v {} 0 {}\n", 0.06 * (p % 18), 0.06 * (p / 18));
    mesh.close();
    ImportOptions options = cloth_options();
    options.rest = folder / "rest.obj";
    const std::string text = refusal(options);
    expect_has(text, "another mesh");
    EXPECT_EQ(text.find("same order"), std::string::npos) << text;
}

TEST_F(ImportRest, AMeshMayHaveAnotherUnitThanThePoints)
{
    for (const double points : {1.0, 0.01, 0.001}) {
        for (const double mesh : {1.0, 0.01, 0.001}) {
            for (const bool z_up : {false, true}) {
                write_take(folder / "take.csv", {0, points, 0, z_up});
                write_mesh(folder / "rest.obj", mesh);
                ImportOptions options = cloth_options();
                options.rest = folder / "rest.obj";
                options.up = z_up ? "z" : "y";
                options.unit = points;
                const ImportReport stated = run(options);
                EXPECT_LT(worst_difference(stated.header.rest, scattered_sheet()), 1e-9);
                options.unit.reset();
                options.rest_unit = mesh;
                const ImportReport found = run(options);
                EXPECT_LT(worst_difference(found.header.rest, scattered_sheet()), 1e-9);
                EXPECT_EQ(found.unit, points);
                options.rest_unit.reset();
                options.length = stated.header.sheet.length;
                EXPECT_EQ(run(options).unit, points);
            }
        }
    }
}

TEST_F(ImportRest, AMeshOfAnotherUnitIsSaidInWords)
{
    write_take(folder / "take.csv", {0, 0.001});
    write_mesh(folder / "rest.obj", 1);
    ImportOptions options = cloth_options();
    options.rest = folder / "rest.obj";
    ImportReport report = run(options);
    EXPECT_EQ(report.unit, 0.001);
    expect_has(report.unit_reason, "millimetres, which fit the rest shape");
    expect_has(report.rest_reason, "(metres, assumed)");
    options.unit = 0.001;
    expect_has(run(options).rest_reason, "(metres, which fit the points)");
    options.unit = 1;
    expect_has(refusal(options), "give `unit` mm");
    options.unit = options.rest_unit = 0.001;
    const std::string text = refusal(options);
    expect_has(text, "-fold");
    expect_has(text, "check `rest_unit`");
}

// Nothing says whether 400 are millimetres or centimetres: it is asked for, not guessed.
TEST_F(ImportRest, TwoUnknownUnitsAreAskedFor)
{
    write_take(folder / "take.csv", {0, 0.001});
    write_mesh(folder / "rest.obj", 0.001);
    ImportOptions options = cloth_options();
    options.rest = folder / "rest.obj";
    expect_has(refusal(options), "give `rest_unit` m, cm or mm");
    options.rest.clear();
    expect_has(refusal(options), "give `unit` m, cm or mm");
    write_take(folder / "take.csv", {0, 0.01});  // 38 long: no cloth of 38 m
    expect_has(refusal(options), "give `unit` m, cm or mm");
}

// In inches the sides are 39.37 times those in metres, which is no step between usual units.
TEST_F(ImportRest, AUnitThatFitsNothingNamesTheOrderAsWell)
{
    write_take(folder / "take.csv", {});
    write_mesh(folder / "rest.obj", 0.0254);
    ImportOptions options = cloth_options();
    options.rest = folder / "rest.obj";
    const std::string text = refusal(options);
    expect_has(text, "which no units explain");
    expect_has(text, "in the order of the points");
    options.rest_unit = 0.0254;
    EXPECT_LT(worst_difference(run(options).header.rest, scattered_sheet()), 1e-9);
}

TEST_F(ImportRest, FlagsThatContradictAreRefused)
{
    write_take(folder / "take.csv", {});
    write_mesh(folder / "rest.obj", 1);
    ImportOptions options = cloth_options();
    options.rest_unit = 1;
    expect_has(refusal(options), "rest_unit: ");
    options.rest = folder / "rest.obj";
    options.rest_frame = 3;
    expect_has(refusal(options), "rest_frame: `rest`");
}

TEST_F(ImportRest, AColumnOrderThatIsWrongIsNamed)
{
    write_take(folder / "take.csv", {});
    ImportOptions options = cloth_options();
    options.grid = Grid{kRows, kCols};
    options.length = 0.36;
    options.width = 0.24;
    options.column_order = true;
    expect_has(refusal(options), "fit `grid` 5x7, without `column_order`");
}

TEST_F(ImportRest, MillimetresForMetresAreWarnedOf)
{
    write_take(folder / "take.csv", {0, 0.001});
    ImportOptions options = cloth_options();
    options.grid = Grid{kRows, kCols};
    options.length = 360;
    options.width = 240;
    const ImportReport report = run(options);
    ASSERT_EQ(report.warnings.size(), 2u);
    expect_has(report.warnings[0], "360 x 240 m");
    expect_has(report.warnings[0], "kilograms");
    expect_has(report.warnings[1], "kg/m^2");
}

}  // namespace
}  // namespace springtime
