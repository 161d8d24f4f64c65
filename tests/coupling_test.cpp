// Couplings of springs: the formula, where a law puts them, and what a sheet of them is.
#include "physics/coupling.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "backends.h"
#include "cloths.h"
#include "corners.h"
#include "error_of.h"
#include "sim/forces.h"
#include "sim/stability.h"

namespace springtime {

namespace {

using Three = Corners<3>;
constexpr double kRest1 = 0.9, kRest2 = 1.2, kCoupled = -40;

template <class T>
T energy_of_corners(const std::array<Vec3<T>, 3>& x)
{
    return coupling_energy(x[1] - x[0], x[2] - x[0], T(kRest1), T(kRest2), T(kCoupled));
}

Three coupling_forces_of(const Three& x)
{
    const auto f = coupling_force(x[1] - x[0], x[2] - x[0], kRest1, kRest2, kCoupled);
    return {-(f.on1 + f.on2), f.on1, f.on2};
}

TEST(CouplingForces, AreMinusTheEnergyGradientAndLeaveNothingOver)
{
    Random random(1);
    for (int i = 0; i < 50; ++i) {
        const Three x = random_corners<3>(random, 1);
        const Three f = coupling_forces_of(x),
                    expected = slope_by_dual<3>(x, energy_of_corners<Dual>);
        const double rounding = 50 * kEpsilon * (largest(f) + 40);
        EXPECT_LE(largest(difference(f, expected)), rounding);
        EXPECT_LE(length(sum(f)), rounding);
        EXPECT_LE(length(torque(x, f)), rounding * largest(x));
    }
}

TEST(CouplingForces, StayFiniteForCoincidentCorners)
{
    const auto f = coupling_force<float>({}, {}, 0.9f, 1.2f, 40);
    EXPECT_EQ(length(f.on1), 0);
    EXPECT_EQ(length(f.on2), 0);
}

// ---- Where a law puts them ----

Cloth coupled(Cloth cloth)
{
    set_law(cloth, {{}, false, false, true});
    return cloth;
}

TEST(CoupledLaw, CouplesTheEdgesOfEveryTriangle)
{
    // 4 x 6 cells: with both diagonals four triangles each, with one diagonal two, three couplings
    // in each.
    EXPECT_EQ(coupled(uneven_grid({5, 7})).couplings.coupling_count(), 24u * 12);
    EXPECT_EQ(coupled(uneven_grid({5, 7, true, true, false})).couplings.coupling_count(), 24u * 6);
    EXPECT_EQ(field_of([] { coupled(uneven_grid({5, 7, true, false, false})); }), "couplings");

    const Cloth cloth = coupled(uneven_grid({3, 3}));
    std::set<std::array<int, 3>> all;
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        const auto [apex, a, b] = cloth.couplings.corners[i];
        EXPECT_TRUE(all.insert({apex, std::min(a, b), std::max(a, b)}).second);
        EXPECT_EQ(cloth.couplings.stiffness[i], 0);
        const double du = cloth.rest[a].u - cloth.rest[apex].u;
        const double dv = cloth.rest[a].v - cloth.rest[apex].v;
        EXPECT_EQ(cloth.couplings.rest_length[i][0], std::hypot(du, dv));
    }
    check_cloth(cloth, "test");
}

TEST(CoupledLaw, OfAMeshNetworkHasTheTrianglesOfTheMesh)
{
    // A corner inside of three others: they are joined, too, but are no triangle of the mesh.
    const Sheet sheet{1, 1, 1};
    SheetMesh mesh;
    mesh.points = {{0, 0}, {1, 0}, {0.5, 1}, {0.5, 0.4}};
    mesh.triangles = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    Cloth cloth =
        make_mesh_network(sheet, mesh, MaterialField::uniform(10), MaterialField::uniform(0.1));
    set_law(cloth, law_named("coupled"));
    EXPECT_EQ(cloth.couplings.coupling_count(), 9u);
    EXPECT_EQ(cloth.bends.bend_count(), 0u);  // there are no lines of a grid
    EXPECT_EQ(field_of([&] { set_law(cloth, law_named("full")); }), "bends");
    set_law(cloth, law_named("published"));
    EXPECT_EQ(cloth.couplings.coupling_count(), 0u);
}

// ---- What they are ----

// Second derivatives of the elastic energy of the flat sheet at rest, by dual numbers of the
// forces.
std::vector<double> stiffness_matrix(const Cloth& cloth, const std::vector<Vec3d>& at)
{
    ForceTable<Dual> table(cloth, kEmptySpace);
    std::vector<double> matrix;
    for (std::size_t p = 0; p < at.size(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<Vec3<Dual>> x, still(at.size()), force(at.size());
            for (const Vec3d& v : at) x.push_back(vec3_cast<Dual>(v));
            x[p][axis].slope = 1;
            add_spring_forces(table, x, still, force);
            add_coupling_forces(table, x, force);
            add_triangle_forces<DampsDeformation>(table, x, still, force);
            for (const Vec3<Dual>& f : force) {
                for (int i = 0; i < 3; ++i) matrix.push_back(-f[i].slope);
            }
        }
    }
    return matrix;
}

// A triangle of springs and couplings that is a membrane for small strains. With the strain
// e = (e_uu, e_vv, 2 e_uv), an edge (u, v) of length L stretches by s = (u^2, v^2, u v).e / L, so
// three edges give s = B e, and the energy A/2 e.C e is s.K s/2 with K = A B^-T C B^-1: springs on
// its diagonal, couplings beside it.
Cloth membrane_of_springs(const std::array<SheetPoint, 3>& corners, const double (&c)[3][3])
{
    Cloth cloth;
    cloth.sheet = {2, 2, 1};
    cloth.rest.assign(corners.begin(), corners.end());
    cloth.mass.assign(3, 1.0 / 3);
    double b[3][3], lengths[3];
    const auto end = [](int edge) { return std::array{edge, (edge + 1) % 3}; };
    for (int i = 0; i < 3; ++i) {
        const auto [p, q] = end(i);
        const double u = corners[q].u - corners[p].u, v = corners[q].v - corners[p].v;
        lengths[i] = std::hypot(u, v);
        b[i][0] = u * u / lengths[i];
        b[i][1] = v * v / lengths[i];
        b[i][2] = u * v / lengths[i];
    }
    // The inverse by cofactors.
    double inverse[3][3], determinant = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int r = (i + 1) % 3, s = (i + 2) % 3, t = (j + 1) % 3, w = (j + 2) % 3;
            inverse[j][i] = b[r][t] * b[s][w] - b[r][w] * b[s][t];
        }
    }
    for (int j = 0; j < 3; ++j) determinant += b[0][j] * inverse[j][0];
    const double area =
        0.5 * std::abs((corners[1].u - corners[0].u) * (corners[2].v - corners[0].v) -
                       (corners[2].u - corners[0].u) * (corners[1].v - corners[0].v));
    double k[3][3] = {};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int r = 0; r < 3; ++r) {
                for (int s = 0; s < 3; ++s) {
                    k[i][j] += area * inverse[r][i] * c[r][s] * inverse[s][j] /
                               (determinant * determinant);
                }
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        const auto [p, q] = end(i);
        cloth.springs.ends.push_back({p, q});
        cloth.springs.family.push_back(SpringFamily::structural);
        cloth.springs.rest_length.push_back(lengths[i]);
        cloth.springs.stiffness.push_back(k[i][i]);
        cloth.springs.damping.push_back(0);
        // Edges i and i + 1 meet in the corner between them.
        const int next = (i + 1) % 3;
        cloth.couplings.corners.push_back({q, p, (q + 1) % 3});
        cloth.couplings.rest_length.push_back({lengths[i], lengths[next]});
        cloth.couplings.stiffness.push_back(k[i][next]);
    }
    return cloth;
}

TEST(CoupledTriangle, IsAnyMembraneForSmallStrain)
{
    const std::array<SheetPoint, 3> corners{{{0, 0}, {0.9, 0.1}, {0.3, 0.8}}};
    const double mu = 300, lambda = 450, warp = 200, weft = 70;
    const double c[3][3] = {
        {mu + lambda + warp, lambda - mu, 0}, {lambda - mu, mu + lambda + weft, 0}, {0, 0, mu}};
    const Cloth springs = membrane_of_springs(corners, c);
    Cloth membrane = springs;
    membrane.springs = {};
    membrane.couplings = {};
    membrane.triangles = {{{0, 1, 2}}, {mu}, {lambda}, {0}, {warp}, {weft}};
    const std::vector<Vec3d> flat{{0, 0, 0}, {0.9, 0.1, 0}, {0.3, 0.8, 0}};
    const auto found = stiffness_matrix(springs, flat), expected = stiffness_matrix(membrane, flat);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
    // They are no springs: C12 = C66 would be needed.
    for (const double coupling : springs.couplings.stiffness) EXPECT_GT(std::abs(coupling), 10);
}

Cloth uneven_coupled_grid(const Grid& grid)
{
    Cloth cloth = uneven_grid({grid.rows, grid.cols});
    add_uneven_law(cloth, law_named("coupled"));
    Random random(9);
    for (double& c : cloth.couplings.stiffness) c = 20 * random.uniform() - 10;
    return cloth;
}

TEST(CoupledBackends, AgreeWithTheReference)
{
    const Cloth cloth = uneven_coupled_grid({6, 9});
    const SimulationOptions options{1e-3, {{0, -9.81, 0}, 1, {1, 0, 0.5}}, Device::automatic};
    const State start = shaken_state(cloth, 4);
    const auto backends = all_backends();
    const State expected = advanced(backends[0], cloth, start, {{0, 8}, {}, {}}, options, 200);
    for (const Backend& backend : backends) {
        const State end = advanced(backend, cloth, start, {{0, 8}, {}, {}}, options, 200);
        // Rounding of 200 steps in float, as in simd_test.cpp.
        const double size = std::max(1.0, largest_length(expected.position));
        EXPECT_LE(largest_distance(end.position, expected.position),
                  4 * std::numeric_limits<float>::epsilon() * std::sqrt(200.0) * size)
            << backend.name;
    }
}

TEST(CoupledSpectrum, OfTheWorstShapeHoldsInRandomShapes)
{
    // The largest eigenvalue of M^-1 K of a shape by power iteration, shifted so that it is the
    // largest in size as well.
    const Cloth cloth = uneven_coupled_grid({4, 4});
    const double worst = worst_spectrum(cloth).stiffness;
    EXPECT_GE(worst, flat_spectrum(cloth).stiffness);
    const std::size_t n = 3 * cloth.particle_count();
    for (int seed = 1; seed <= 5; ++seed) {
        const State state = shaken_state(cloth, seed);
        const auto k = stiffness_matrix(cloth, state.position);
        std::vector<double> x(n, 1.0), next(n);
        Random random(seed);
        for (double& value : x) value = random.normal();
        double eigenvalue = 0;
        for (int iteration = 0; iteration < 200; ++iteration) {
            double square = 0;
            for (const double value : x) square += value * value;
            double along = 0;
            for (std::size_t i = 0; i < n; ++i) {
                next[i] = worst * x[i];
                for (std::size_t j = 0; j < n; ++j) {
                    next[i] +=
                        k[i * n + j] * x[j] / std::sqrt(cloth.mass[i / 3] * cloth.mass[j / 3]);
                }
                along += x[i] * next[i];
            }
            eigenvalue = along / square - worst;
            double largest = 0;
            for (const double value : next) largest = std::max(largest, std::abs(value));
            for (std::size_t i = 0; i < n; ++i) x[i] = next[i] / largest;
        }
        EXPECT_LE(eigenvalue, worst);
        EXPECT_GT(eigenvalue, 0.2 * worst);  // the bound is of use
    }
}

}  // namespace

}  // namespace springtime
