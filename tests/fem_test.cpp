// Sheets of triangles and hinges: every backend against the reference, and the mechanics of whole
// sheets against closed forms.
#include <cmath>
#include <limits>

#include "backends.h"
#include "backends/simd/grid_stepper.h"
#include "cloths.h"
#include "error_of.h"
#include "sim/forces.h"
#include "sim/tape.h"
#include "springtime/energy.h"
#include "springtime/mesh.h"

namespace springtime {

namespace {

// ---- Backends ----

const SimulationOptions kOptions{1e-3, {{0, -9.81, 0}, 1, {1, 0, 0.5}}, Device::automatic};

// Rounding of 200 steps in float, as in simd_test.cpp. Seen: a third of this.
double rounding(const State& state)
{
    const double size = std::max(1.0, largest_length(state.position));
    return 4 * std::numeric_limits<float>::epsilon() * std::sqrt(200.0) * size;
}

void expect_all_backends_agree(const Cloth& cloth, const Handles& handles)
{
    EXPECT_FALSE(GridStepper::fits(cloth));
    const State start = shaken_state(cloth, 4);
    const auto backends = all_backends();
    const State expected = advanced(backends[0], cloth, start, handles, kOptions, 200);
    for (const Backend& backend : backends) {
        const State end = advanced(backend, cloth, start, handles, kOptions, 200);
        EXPECT_LE(largest_distance(end.position, expected.position), rounding(expected))
            << backend.name;
        EXPECT_EQ(end.time, expected.time);
    }
}

TEST(FemBackends, AgreeWithTheReference)
{
    for (const TriangleDamping kind : kTriangleDampings) {
        for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
            for (const Grid grid : {Grid{2, 2}, Grid{3, 8}, Grid{16, 16}}) {
                expect_all_backends_agree(uneven_mesh(grid, cut, kind), {{0, 1}, {}, {}});
            }
        }
    }
}

TEST(FemBackends, AgreeOnAMeshWithoutAGridInAnyOrder)
{
    Cloth cloth = uneven_mesh({6, 7}, MeshCut::alternating, TriangleDamping::strain);
    cloth.grid.reset();
    std::reverse(cloth.triangles.corners.begin(), cloth.triangles.corners.end());
    for (auto& [a, b, c] : cloth.triangles.corners) std::swap(a, b), std::swap(b, c);
    for (auto& [a, b, c, d] : cloth.hinges.corners) std::swap(a, b), std::swap(c, d);
    expect_all_backends_agree(cloth, {{0, 6}, {}, {}});
}

TEST(FemBackends, AgreeOnASheetOfSpringsAndTriangles)
{
    Cloth cloth = uneven_grid({7, 9});
    const Cloth mesh = uneven_mesh({7, 9}, MeshCut::diagonal, TriangleDamping::deformation);
    cloth.triangles = mesh.triangles;
    cloth.hinges = mesh.hinges;
    expect_all_backends_agree(cloth, {{0, 8}, {}, {}});
    // The forces add up: those of both are those of each.
    const State state = shaken_state(cloth, 2);
    Cloth springs = cloth;
    springs.triangles = {};
    springs.hinges = {};
    Cloth triangles = cloth;
    triangles.springs = {};
    const auto of = [&](const Cloth& some) {
        return acceleration(ForceTable<double>(some, kEmptySpace), {}, state);
    };
    const auto both = of(cloth), one = of(springs), other = of(triangles);
    for (std::size_t p = 0; p < both.size(); ++p) {
        EXPECT_LE(
            length(both[p] - (one[p] + other[p])),
            10 * std::numeric_limits<double>::epsilon() * (length(one[p]) + length(other[p])));
    }
}

TEST(FemBackends, FollowMovingHandles)
{
    const Cloth cloth = uneven_mesh({5, 6}, MeshCut::alternating, TriangleDamping::deformation);
    const State start = shaken_state(cloth, 4);
    const Vec3d a = start.position[0], b = start.position[29];
    expect_all_backends_agree(
        cloth, {{0, 29}, {0, 0.1, 0.2}, {a, b, a + Vec3d{0, 0.2, 0}, b, a, b + Vec3d{0.2, 0, 0}}});
}

TEST(FemBackends, BitsDoNotDependOnTheLane)
{
    const Cloth cloth = uneven_mesh({5, 6}, MeshCut::diagonal, TriangleDamping::strain);
    for (const KernelSet& set : instruction_sets()) {
        const auto batch = make_simd_batch(cloth, kOptions, set);
        for (int lane = 0; lane < batch->lane_count(); ++lane) {
            batch->load(lane, shaken_state(cloth, 1 + lane % 2), {});
        }
        batch->advance(50);
        State first = flat_state(cloth), second = first, third = first;
        batch->store(0, first);
        batch->store(1, second);
        batch->store(2, third);
        EXPECT_EQ(largest_distance(first.position, third.position), 0) << set.name;
        EXPECT_GT(largest_distance(first.position, second.position), 0) << set.name;
    }
}

TEST(FemBackends, CollapsedSheetStaysFinite)
{
    // All particles in one place, and all on one line: no triangle has a normal.
    const Cloth cloth = uneven_mesh({4, 5}, MeshCut::alternating, TriangleDamping::deformation);
    for (const double spread : {0.0, 1.0}) {
        State start = flat_state(cloth);
        for (Vec3d& x : start.position) x = {spread * x.x, 0, 0};
        for (const Backend& backend : all_backends()) {
            const State end = advanced(backend, cloth, start, {}, kOptions, 20);
            // Nothing can be faster than the stress of a flattened sheet makes it: at most
            // 2 (mu + lambda) times an edge on a light particle for 20 ms.
            EXPECT_LE(largest_length(end.velocity), 2 * 900 * 0.7 / 0.02 * 0.02) << backend.name;
        }
    }
}

TEST(FemBackends, TapesRefuseTriangles)
{
    const Cloth cloth = uneven_mesh({2, 2}, MeshCut::diagonal, TriangleDamping::strain);
    const std::string expected =
        "cloth: 2 triangles and 1 hinges, but gradients are for springs alone; learn a grid of "
        "springs from the motion of this cloth";
    EXPECT_EQ(error_of([&] { make_reference_tape(cloth, kOptions); }), expected);
    EXPECT_EQ(error_of([&] { make_fast_tape(cloth, kOptions); }), expected);
}

}  // namespace

}  // namespace springtime
