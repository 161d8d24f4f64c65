#include "springtime/cloth.h"
#include "error_of.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "cloths.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Cloth plain_grid(const GridOptions& options, const Sheet& sheet = {15.5, 15.5, 102.4})
{
    return make_grid_cloth(sheet, options, MaterialField::uniform(50), MaterialField::uniform(6));
}

std::map<SpringFamily, int> family_counts(const Cloth& cloth)
{
    std::map<SpringFamily, int> counts;
    for (const SpringFamily family : cloth.springs.family) ++counts[family];
    return counts;
}

// ---- Topology ----

TEST(GridCloth, ReferenceSizeHas5826Springs)
{
    const Cloth cloth = plain_grid({32, 32});
    auto counts = family_counts(cloth);
    EXPECT_EQ(cloth.particle_count(), 1024u);
    EXPECT_EQ(counts[SpringFamily::structural], 1984);
    EXPECT_EQ(counts[SpringFamily::diagonal], 961);
    EXPECT_EQ(counts[SpringFamily::antidiagonal], 961);
    EXPECT_EQ(counts[SpringFamily::bending], 1920);
    EXPECT_EQ(cloth.springs.spring_count(), 5826u);
}

TEST(GridCloth, EverySubsetOfFamiliesHasItsCount)
{
    // Edges R (C-1) + (R-1) C, each diagonal (R-1)(C-1), two apart R (C-2) + (R-2) C.
    for (const auto& [R, C] : {std::pair{2, 2}, {2, 5}, {7, 3}, {9, 16}}) {
        for (int subset = 0; subset < 16; ++subset) {
            const Cloth cloth = plain_grid(
                {R, C, bool(subset & 1), bool(subset & 2), bool(subset & 4), bool(subset & 8)});
            auto counts = family_counts(cloth);
            const int cells = (R - 1) * (C - 1);
            EXPECT_EQ(counts[SpringFamily::structural], subset & 1 ? R * (C - 1) + (R - 1) * C : 0);
            EXPECT_EQ(counts[SpringFamily::diagonal], subset & 2 ? cells : 0);
            EXPECT_EQ(counts[SpringFamily::antidiagonal], subset & 4 ? cells : 0);
            EXPECT_EQ(counts[SpringFamily::bending], subset & 8 ? R * (C - 2) + (R - 2) * C : 0);
        }
    }
}

TEST(GridCloth, SpringsLeadWhereTheirFamilySays)
{
    // Steps of a family in rows and columns; the antidiagonal runs from north-east to south-west.
    const int cols = 6;
    const Cloth cloth = plain_grid({5, cols});
    std::map<std::array<int, 2>, int> seen;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const std::array<int, 2> step{b / cols - a / cols, b % cols - a % cols};
        ++seen[{std::min(a, b), std::max(a, b)}];
        switch (cloth.springs.family[s]) {
            case SpringFamily::structural:
                EXPECT_TRUE(step == (std::array{0, 1}) || step == (std::array{1, 0}));
                break;
            case SpringFamily::diagonal:
                EXPECT_EQ(step, (std::array{1, 1}));
                break;
            case SpringFamily::antidiagonal:
                EXPECT_EQ(step, (std::array{1, -1}));
                break;
            case SpringFamily::bending:
                EXPECT_TRUE(step == (std::array{0, 2}) || step == (std::array{2, 0}));
                break;
        }
    }
    EXPECT_EQ(seen.size(), cloth.springs.spring_count());  // no pair is joined twice
}

TEST(GridCloth, RestLengthsAreDistancesInTheSheet)
{
    // Cells of 0.3 m x 0.4 m, with a diagonal of 0.5 m.
    const Cloth cloth = plain_grid({5, 6}, {1.5, 1.6, 3});
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const bool along_u = a / 6 == b / 6;
        double expected = 0.5;
        if (cloth.springs.family[s] == SpringFamily::structural) expected = along_u ? 0.3 : 0.4;
        if (cloth.springs.family[s] == SpringFamily::bending) expected = along_u ? 0.6 : 0.8;
        EXPECT_NEAR(cloth.springs.rest_length[s], expected, 1e-15 * 4);  // a few roundings of one
        EXPECT_EQ(cloth.springs.stiffness[s], 50);
        EXPECT_EQ(cloth.springs.damping[s], 6);
    }
}

TEST(GridCloth, CoversTheSheetAndSharesItsMass)
{
    const Cloth cloth = plain_grid({5, 6}, {1.5, 1.6, 3});
    EXPECT_EQ(cloth.rest.front().u, 0);
    EXPECT_EQ(cloth.rest.front().v, 0);
    EXPECT_EQ(cloth.rest.back().u, 1.5);
    EXPECT_EQ(cloth.rest.back().v, 1.6);
    EXPECT_NEAR(cloth.rest[8].u, 0.6, 1e-15);  // row 1, column 2
    EXPECT_NEAR(cloth.rest[8].v, 0.4, 1e-15);
    for (const double mass : cloth.mass) EXPECT_EQ(mass, 0.1);
    const double sum = std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0);
    EXPECT_NEAR(sum, 3, 30 * 4e-16);  // 30 additions
}

TEST(GridCloth, FlatStateIsLevelCentredAndAtRest)
{
    const Cloth cloth = plain_grid({5, 6}, {1.5, 1.6, 3});
    const State state = flat_state(cloth);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        EXPECT_EQ(state.position[p].x, cloth.rest[p].u - 0.75);
        EXPECT_EQ(state.position[p].y, 0);
        EXPECT_EQ(state.position[p].z, cloth.rest[p].v - 0.8);
    }
    EXPECT_EQ(largest_length(state.velocity), 0);
}

TEST(GridCloth, FamiliesHaveNames)
{
    EXPECT_EQ(name_of(SpringFamily::structural), "structural");
    EXPECT_EQ(name_of(SpringFamily::diagonal), "diagonal");
    EXPECT_EQ(name_of(SpringFamily::antidiagonal), "antidiagonal");
    EXPECT_EQ(name_of(SpringFamily::bending), "bending");
}

// ---- Names of particles ----

using Indices = std::vector<int>;

TEST(ParticlesNamed, OnASquareSheet)
{
    const Cloth cloth = plain_grid({3, 3}, {2, 2, 1});
    EXPECT_EQ(particles_named(cloth, "corner-nw"), (Indices{0}));
    EXPECT_EQ(particles_named(cloth, "corner-ne"), (Indices{2}));
    EXPECT_EQ(particles_named(cloth, "corner-sw"), (Indices{6}));
    EXPECT_EQ(particles_named(cloth, "corner-se"), (Indices{8}));
    EXPECT_EQ(particles_named(cloth, "center"), (Indices{4}));
    EXPECT_EQ(particles_named(cloth, "edge-north"), (Indices{0, 1, 2}));
    EXPECT_EQ(particles_named(cloth, "edge-south"), (Indices{6, 7, 8}));
    EXPECT_EQ(particles_named(cloth, "edge-west"), (Indices{0, 3, 6}));
    EXPECT_EQ(particles_named(cloth, "edge-east"), (Indices{2, 5, 8}));
    EXPECT_EQ(particles_named(cloth, "particle:7"), (Indices{7}));
    EXPECT_EQ(particles_named(cloth, "grid:1,2"), (Indices{5}));
}

TEST(ParticlesNamed, OnALongSheetWithEvenCounts)
{
    // 2 rows of 4: no particle is in the middle, the first of the four nearest stands for it.
    const Cloth cloth = plain_grid({2, 4}, {9, 0.5, 1});
    EXPECT_EQ(particles_named(cloth, "corner-nw"), (Indices{0}));
    EXPECT_EQ(particles_named(cloth, "corner-ne"), (Indices{3}));
    EXPECT_EQ(particles_named(cloth, "corner-sw"), (Indices{4}));
    EXPECT_EQ(particles_named(cloth, "corner-se"), (Indices{7}));
    EXPECT_EQ(particles_named(cloth, "center"), (Indices{1}));
    EXPECT_EQ(particles_named(cloth, "edge-north"), (Indices{0, 1, 2, 3}));
    EXPECT_EQ(particles_named(cloth, "edge-south"), (Indices{4, 5, 6, 7}));
    EXPECT_EQ(particles_named(cloth, "edge-west"), (Indices{0, 4}));
    EXPECT_EQ(particles_named(cloth, "edge-east"), (Indices{3, 7}));
    EXPECT_EQ(particles_named(cloth, "grid:1,0"), (Indices{4}));
}

TEST(ParticlesNamed, OnAChainThatIsNoGrid)
{
    const Cloth cloth = chain_cloth(5, 0.5, 0.1, 10, 0);
    EXPECT_EQ(particles_named(cloth, "edge-east"), (Indices{4}));
    EXPECT_EQ(particles_named(cloth, "particle:0"), (Indices{0}));
    EXPECT_EQ(error_of([&] { particles_named(cloth, "grid:0,1"); }),
              "pin 'grid:0,1': this cloth is no grid; use particle:INDEX");
}

TEST(ParticlesNamed, ErrorsSayWhatToDo)
{
    const Cloth cloth = plain_grid({3, 4});
    for (const std::string bad : {"particle:12", "particle:-1", "particle:", "particle:1x"}) {
        EXPECT_EQ(error_of([&] { particles_named(cloth, bad); }),
                  "pin '" + bad + "': no such particle; give particle:0 to particle:11");
    }
    for (const std::string bad : {"grid:3,0", "grid:0,4", "grid:-1,0", "grid:1", "grid:1,2,3"}) {
        EXPECT_EQ(error_of([&] { particles_named(cloth, bad); }),
                  "pin '" + bad +
                      "': not in the grid; give grid:ROW,COL with rows 0 to 2 and columns 0 to 3");
    }
    EXPECT_EQ(
        error_of([&] { particles_named(cloth, "top"); }),
        "pin 'top': unknown name; use corner-nw, corner-ne, corner-sw, corner-se, edge-north, "
        "edge-south, edge-west, edge-east, center, particle:INDEX or grid:ROW,COL");
}

// ---- Errors ----

TEST(ClothErrors, OfTheSheetAndTheGrid)
{
    const auto field_of = [](const Sheet& sheet) -> std::string {
        try {
            check_sheet(sheet);
        } catch (const Error& error) {
            return error.field();
        }
        return "(no error)";
    };
    EXPECT_EQ(field_of({.length = 1, .width = 1, .mass = 2}), "(no error)");
    EXPECT_EQ(field_of({}), "length");
    EXPECT_EQ(field_of({.length = 0, .width = 1, .mass = 2}), "length");
    EXPECT_EQ(field_of({.length = 3, .width = kNan, .mass = 2}), "width");
    EXPECT_EQ(field_of({.length = 3, .width = 1, .mass = -2}), "mass");
    EXPECT_TRUE(mentions(error_of([] { check_sheet({3, 1, -2}); }), {"mass", "-2 kg"}));
    EXPECT_EQ(plain_grid({1, 5}).springs.spring_count(), 4 + 3);  // a rope
    EXPECT_TRUE(mentions(error_of([] { plain_grid({1, 1}); }), {"1 x 1"}));
    EXPECT_TRUE(mentions(error_of([] { plain_grid({5, 5000}); }), {"5 x 5000", "4096"}));
    EXPECT_TRUE(mentions(error_of([] { plain_grid({}); }), {"0 x 0", "4096"}));
    EXPECT_TRUE(mentions(error_of([] {
                             make_grid_cloth({1, 1, 1}, {2, 2}, MaterialField::uniform(-1),
                                             MaterialField::uniform(0));
                         }),
                         {"layer 1", "-1"}));
}

// What check_cloth() says about a 2 x 2 grid after a change.
template <class Change>
std::string changed(Change change)
{
    Cloth cloth = plain_grid({2, 2, true, false, false, false});
    change(cloth);
    return error_of([&] { check_cloth(cloth, "a.json"); });
}

TEST(ClothErrors, OfParticles)
{
    EXPECT_EQ(changed([](Cloth&) {}), "(no error)");
    EXPECT_EQ(changed([](Cloth& c) {
                  c.rest.clear();
                  c.mass.clear();
              }),
              "a.json: no particles; a cloth needs at least one");
    EXPECT_EQ(changed([](Cloth& c) { c.mass.pop_back(); }),
              "a.json: 3 masses for 4 particles; give one mass each");
    EXPECT_EQ(changed([](Cloth& c) { c.grid->rows = 3; }),
              "a.json: grid 3 x 2 but 4 particles; make them agree or leave the grid out");
    EXPECT_EQ(changed([](Cloth& c) { c.mass[2] = 0; }),
              "a.json: particle 2 has mass 0 kg; it must be finite and positive");
    EXPECT_EQ(changed([](Cloth& c) { c.mass[2] = kNan; }),
              "a.json: particle 2 has mass nan kg; it must be finite and positive");
    EXPECT_EQ(changed([](Cloth& c) { c.rest[1].v = kNan; }),
              "a.json: particle 1 has a rest position that is not finite");
}

TEST(ClothErrors, OfSprings)
{
    for (const std::array<int, 2> ends : {std::array{0, 4}, {-1, 2}, {2, 2}}) {
        const std::string message = changed([&](Cloth& c) { c.springs.ends[1] = ends; });
        const std::string found = std::to_string(ends[0]) + ", " + std::to_string(ends[1]);
        EXPECT_TRUE(mentions(message, {"a.json", "spring 1", found, "0 to 3"}));
    }
    EXPECT_TRUE(mentions(changed([](Cloth& c) { c.springs.family.pop_back(); }),
                         {"a.json", "4 springs", "3 families"}));
    EXPECT_TRUE(mentions(changed([](Cloth& c) { c.springs.rest_length[3] = -0.5; }),
                         {"a.json", "spring 3", "rest length", "-0.5"}));
    EXPECT_TRUE(mentions(changed([](Cloth& c) { c.springs.damping.pop_back(); }),
                         {"a.json", "4 springs", "3 values of damping"}));
    EXPECT_TRUE(mentions(changed([](Cloth& c) { c.springs.stiffness[0] = kNan; }),
                         {"a.json", "stiffness of spring 0", "nan N/m"}));
    EXPECT_TRUE(mentions(changed([](Cloth& c) { c.springs.damping[2] = -1; }),
                         {"a.json", "damping of spring 2", "-1 N s/m", "at least 0"}));
}

TEST(ParticlesWithin, AreThoseInTheDiscOrTheNearest)
{
    const Cloth cloth = make_grid_cloth({4, 4, 1}, {.rows = 5, .cols = 5},
                                        MaterialField::uniform(1), MaterialField::uniform(0));
    EXPECT_EQ(particles_within(cloth, {1, 2}, 1), (std::vector<int>{6, 10, 11, 12, 16}));
    EXPECT_EQ(particles_within(cloth, {0, 0}, 1.01), (std::vector<int>{0, 1, 5}));
    EXPECT_EQ(particles_within(cloth, {3.4, 0.4}, 0.1), (std::vector<int>{3}));
}

TEST(SmallestSpacing, LooksAtSpringsAndTriangles)
{
    const MaterialField one = MaterialField::uniform(1);
    EXPECT_DOUBLE_EQ(smallest_spacing(make_grid_cloth({4, 2, 1}, {.rows = 5, .cols = 5}, one, one)),
                     0.5);
    EXPECT_DOUBLE_EQ(
        smallest_spacing(make_grid_cloth(
            {4, 2, 1}, {.rows = 5, .cols = 5, .structural = false, .diagonal = false}, one, one)),
        1);  // bending springs across two rows
    const Sheet sheet{4, 2, 1};
    EXPECT_DOUBLE_EQ(smallest_spacing(make_mesh_cloth(
                         sheet, make_grid_mesh(sheet, {3, 3}, MeshCut::diagonal), {})),
                     1);
}

}  // namespace

}  // namespace springtime
