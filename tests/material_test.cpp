#include "springtime/cloth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "error_of.h"
#include "springtime/files.h"

namespace springtime {
namespace {

const MapReader kNoMaps;

MaterialField parse(std::string_view text)
{
    return parse_material(text, kNoMaps);
}

// Share of the unit square with the given value, sampled at the centres of count x count cells.
double share_of(const MaterialField& field, double value, int count = 100)
{
    int hits = 0;
    for (int i = 0; i < count * count; ++i) {
        hits += field.at((i % count + 0.5) / count, (i / count + 0.5) / count) == value;
    }
    return double(hits) / (count * count);
}

std::string message_of(std::string_view text, const MapReader& read_map = kNoMaps)
{
    try {
        parse_material(text, read_map);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr const char* kForms =
    "; write layers separated by ';', each of them VALUE, columns U0-U1 ... = VALUE, "
    "rows V0-V1 ... = VALUE, patch U0-U1 V0-V1 = VALUE, checker N = VALUE, "
    "map FILE.png LOW-HIGH or map FILE.csv, where xVALUE multiplies what lies beneath";

// A stand-in for files: a ramp of 3 x 4 cells, value 1 + column + 10 row.
ValueMap ramp_map(const std::string&, const std::optional<MaterialField::Range>&)
{
    ValueMap map{3, 4, {}};
    for (int i = 0; i < 12; ++i) {
        map.values.push_back(1 + i % 4 + 10 * (i / 4));
    }
    return map;
}

TEST(Material, ANumberCoversEverything)
{
    const MaterialField field = parse(" 25 ");
    EXPECT_EQ(share_of(field, 25), 1);
    EXPECT_EQ(field.at(0, 0), 25);
    EXPECT_EQ(field.at(1, 1), 25);
    EXPECT_EQ(MaterialField::uniform(3).at(0.2, 0.9), 3);
    EXPECT_EQ(parse("1.5e-3").at(0.5, 0.5), 1.5e-3);
}

TEST(Material, StripesCoverTheirShareOfTheSheet)
{
    const MaterialField columns = parse("25; columns 0.10-0.30 0.70-0.90 = 50");
    EXPECT_EQ(share_of(columns, 50), 0.4);  // 0.2 + 0.2, edges on the sampling cells
    EXPECT_EQ(share_of(columns, 25), 0.6);
    EXPECT_EQ(columns.at(0.2, 0.99), 50);
    EXPECT_EQ(columns.at(0.99, 0.2), 25);
    const MaterialField rows = parse("25; rows 0.85-0.95 = 50");
    EXPECT_EQ(share_of(rows, 50), 0.1);
    EXPECT_EQ(rows.at(0.1, 0.9), 50);
    EXPECT_EQ(rows.at(0.9, 0.1), 25);
}

TEST(Material, APatchIsTheProductOfItsRanges)
{
    const MaterialField field = parse("1; patch 0.20-0.45 0.50-0.90 = 100");
    EXPECT_EQ(share_of(field, 100), 0.25 * 0.40);
    EXPECT_EQ(field.at(0.3, 0.7), 100);
    EXPECT_EQ(field.at(0.7, 0.3), 1);
}

TEST(Material, ACheckerAlternatesFromTheNorthWest)
{
    const MaterialField even = parse("1; checker 4 = 50"), odd = parse("1; checker 5 = 50");
    EXPECT_EQ(share_of(even, 50), 0.5);
    EXPECT_EQ(share_of(odd, 50), 13.0 / 25);
    for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 4; ++c) {
            const double expected = (r + c) % 2 == 0 ? 50 : 1;
            EXPECT_EQ(even.at((c + 0.5) / 4, (r + 0.5) / 4), expected) << r << ", " << c;
        }
    }
    EXPECT_EQ(even.at(1, 1), 50);  // the edge belongs to the last square
    EXPECT_EQ(even.at(1, 0), 1);
}

TEST(Material, LaterLayersCoverEarlierOnesAndXMultiplies)
{
    const MaterialField field =
        parse("25; columns 0.10-0.30 = 50; rows 0-0.5 = x2; patch 0.2-0.4 0.4-0.6 = 7; x10");
    EXPECT_EQ(field.at(0.05, 0.95), 250);
    EXPECT_EQ(field.at(0.15, 0.95), 500);
    EXPECT_EQ(field.at(0.05, 0.10), 500);
    EXPECT_EQ(field.at(0.15, 0.10), 1000);
    EXPECT_EQ(field.at(0.25, 0.45), 70);
}

TEST(Material, BandsAreHalfOpenButTheLastOwnsTheEdge)
{
    const MaterialField field = parse("0; columns 0-0.5 = 1; columns 0.5-1 = 2; rows 0.5-1 = x10");
    EXPECT_EQ(field.at(0, 0), 1);
    EXPECT_EQ(field.at(0.5, 0), 2);
    EXPECT_EQ(field.at(1, 0), 2);
    EXPECT_EQ(field.at(1, 1), 20);
    EXPECT_EQ(parse("1; columns 0.2-0.4 = 2").at(0.4, 0), 1);
    // Neighbours that multiply would show a point that both or neither of them claims.
    const MaterialField tiled = parse("1; columns 0-0.3 0.7-1 = x2; columns 0.3-0.7 = x2");
    for (int i = 0; i <= 1000; ++i) {
        EXPECT_EQ(tiled.at(i / 1000.0, 0), 2) << i;
    }
}

TEST(Material, RoundingOnAnEdgeDoesNotChooseTheBand)
{
    const MaterialField field = parse("1; columns 0.1-0.3 = 2");
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(field.at(std::nextafter(0.1, -inf), 0), 2);
    EXPECT_EQ(field.at(std::nextafter(0.3, -inf), 0), 1);
    EXPECT_EQ(field.at(0.1 + 0.2, 0), 1);
}

TEST(Material, GridSpringsTakeTheValueAtTheirMidpoint)
{
    GridOptions options{3, 5, true, false, false, false};
    const Cloth cloth = make_grid_cloth({4, 2, 1}, options, parse("10; columns 0.5-1 = 40"),
                                        MaterialField::uniform(0));
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const double u = (cloth.rest[a].u + cloth.rest[b].u) / 8;
        EXPECT_EQ(cloth.springs.stiffness[s], u >= 0.5 ? 40 : 10) << u;
    }
}

TEST(Material, AMapReproducesALinearRamp)
{
    // Cell centres lie at u = (c + 1/2) / 4 and v = (r + 1/2) / 3, so that the ramp
    // 1 + c + 10 r is 1 + (4 u - 1/2) + 10 (3 v - 1/2): bilinear interpolation is exact on it.
    const MaterialField field = parse_material("map ramp.csv", ramp_map);
    for (int i = 0; i <= 20; ++i) {
        for (int j = 0; j <= 20; ++j) {
            const double u = 0.125 + 0.75 * i / 20, v = 1.0 / 6 + j / 30.0;
            const double expected = 1 + (4 * u - 0.5) + 10 * (3 * v - 0.5);
            EXPECT_NEAR(field.at(u, v), expected, 1e-13);  // a few roundings of 24
        }
    }
    EXPECT_EQ(field.at(0, 0), 1);  // constant beyond the outermost centres
    EXPECT_EQ(field.at(1, 1), 24);
    EXPECT_EQ(field.at(0, 1), 21);
}

TEST(Material, AMapOfOneCellIsUniform)
{
    const auto one = [](const std::string&, const std::optional<MaterialField::Range>&) {
        return ValueMap{1, 1, {6}};
    };
    const MaterialField field = parse_material("map one.csv", one);
    EXPECT_EQ(share_of(field, 6, 10), 1);
    EXPECT_EQ(field.at(1, 1), 6);
}

TEST(Material, AMapCanMultiplyAndBeScaled)
{
    EXPECT_EQ(parse_material("5; map a b.csv = x", ramp_map).at(0, 0), 5);
    EXPECT_EQ(parse_material("5; map a b.csv = x", ramp_map).at(1, 1), 5 * 24);
    EXPECT_EQ(parse_material("5; map a.csv = x2", ramp_map).at(1, 1), 5 * 2 * 24);
    EXPECT_EQ(parse_material("5; map a.csv = 2", ramp_map).at(1, 1), 2 * 24);
}

TEST(Material, TheReaderOfMapsReceivesPathAndRange)
{
    std::string seen;
    const auto record = [&](const std::string& path,
                            const std::optional<MaterialField::Range>& range) {
        seen = path + (range ? fmt::format("|{}|{}", range->from, range->to) : "|none");
        return ValueMap{1, 1, {1}};
    };
    parse_material("map  my folder/a-b.png  10-2.5e2 ", record);
    EXPECT_EQ(seen, "my folder/a-b.png|10|250");
    parse_material("map wear.csv", record);
    EXPECT_EQ(seen, "wear.csv|none");
    parse_material("1; map wear.png 1e-3-2 = x", record);  // the first '-' belongs to the number
    EXPECT_EQ(seen, "wear.png|0.001|2");
}

TEST(MaterialError, QuotesTheLayerAndSaysWhatIsWrong)
{
    const auto expect = [](std::string_view text, std::string_view layer, std::string_view fault) {
        EXPECT_EQ(message_of(text), fmt::format("material layer '{}': {}{}", layer, fault, kForms));
    };
    expect("1; stripes 0-1 = 5", "stripes 0-1 = 5", "unknown region 'stripes'");
    expect("-1", "-1", "value -1 must be finite and not negative");
    expect("1; checker 2 = x-3", "checker 2 = x-3", "value -3 must be finite and not negative");
    expect("inf", "inf", "value inf must be finite and not negative");
    expect("nan", "nan", "value nan must be finite and not negative");
    expect("soft", "soft", "'soft' is no value");
    expect("1; rows 0-1 = 2 N/m", "rows 0-1 = 2 N/m", "'2 N/m' is no value");
    expect("1; rows 0-1 =", "rows 0-1 =", "'' is no value");
    expect("1; rows 0-1", "rows 0-1", "a region needs '= VALUE'");
    expect("1; = 3", "= 3", "no region stands before '='");
    expect("1; columns = 3", "columns = 3", "no band is given");
    expect("1; columns 0.3 = 3", "columns 0.3 = 3", "'0.3' is no range FROM-TO");
    expect("1; columns 0.3-0.5x = 3", "columns 0.3-0.5x = 3", "'0.3-0.5x' is no range FROM-TO");
    expect("1; columns 0.5-0.3 = 3", "columns 0.5-0.3 = 3",
           "range 0.5-0.3 must ascend and lie within 0-1");
    expect("1; rows 0.2-0.2 = 3", "rows 0.2-0.2 = 3",
           "range 0.2-0.2 must ascend and lie within 0-1");
    expect("1; rows 0.2-1.2 = 3", "rows 0.2-1.2 = 3",
           "range 0.2-1.2 must ascend and lie within 0-1");
    expect("1; rows 0-nan = 3", "rows 0-nan = 3", "range 0-nan must ascend and lie within 0-1");
    expect("1; patch 0-0.1 -0.1-0.2 = 3", "patch 0-0.1 -0.1-0.2 = 3",
           "range -0.1-0.2 must ascend and lie within 0-1");
    expect("1; patch 0-0.5 = 3", "patch 0-0.5 = 3", "a patch needs 2 ranges, not 1");
    expect("1; checker = 3", "checker = 3", "a checker needs one number of squares a side");
    expect("1; checker 2.5 = 3", "checker 2.5 = 3", "'2.5' is no whole number of squares");
    expect("1; checker 0 = 3", "checker 0 = 3",
           "a checker of 0 squares a side must have 1 to 4096");
    expect("1; map", "map", "a map needs a file");
    expect("1; map 2-3", "map 2-3", "a map needs a file");
    expect("1; map a.png 0--3", "map a.png 0--3", "range 0--3 must hold finite values >= 0");
    expect("map a.csv", "map a.csv", "maps cannot be read here");
    expect("rows 0-0.5 = 3", "rows 0-0.5 = 3",
           "nothing lies beneath the first layer, begin with a value for everywhere");
    expect("x3", "x3", "nothing lies beneath the first layer, begin with a value for everywhere");
}

TEST(MaterialError, EmptyLayersAreCounted)
{
    EXPECT_EQ(message_of(""), fmt::format("material '': layer 1 is empty{}", kForms));
    EXPECT_EQ(message_of("25; "), fmt::format("material '25; ': layer 2 is empty{}", kForms));
    EXPECT_EQ(message_of("25;;3"), fmt::format("material '25;;3': layer 2 is empty{}", kForms));
}

TEST(MaterialError, AZeroByteDoesNotHideTheRestOfTheMessage)
{
    EXPECT_EQ(error_of([] { read_material(std::string_view("map a\0b 1-2", 11)); }),
              "a?b: unknown kind of map ''; give a .png image or a .csv table");
}

TEST(MaterialError, AMapIsCheckedCellByCell)
{
    const auto negative = [](const std::string&, const std::optional<MaterialField::Range>&) {
        return ValueMap{2, 2, {1, 2, 3, -4}};
    };
    EXPECT_EQ(
        message_of("map a.csv", negative),
        fmt::format("material layer 'map a.csv': the map holds -4 in row 2, column 2, and must "
                    "hold finite values >= 0{}",
                    kForms));
    const auto ragged = [](const std::string&, const std::optional<MaterialField::Range>&) {
        return ValueMap{2, 2, {1, 2, 3}};
    };
    EXPECT_EQ(
        message_of("map a.csv", ragged),
        fmt::format("material layer 'map a.csv': a map of 2 x 2 cells holds 3 values, and must "
                    "hold one a cell{}",
                    kForms));
}

TEST(MaterialError, PaintRefusesWhatTheTextRefuses)
{
    MaterialField field = MaterialField::uniform(1);
    EXPECT_THROW(field.paint({MaterialField::Checker{0}, 1, false}), Error);
    EXPECT_THROW(field.paint({MaterialField::Everywhere{}, -1, false}), Error);
    EXPECT_THROW(field.at(std::numeric_limits<double>::quiet_NaN(), 0), Error);
    EXPECT_EQ(field.at(0.5, 0.5), 1);  // the refused layers left no trace
}

}  // namespace
}  // namespace springtime
