// Bending that is quadratic in positions: its formulas, and cloths that have it.
#include "physics/bend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cloths.h"
#include "dual.h"
#include "error_of.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kStiffness = 40, kDamping = 3;
constexpr Vec3d kZero{};

Vec3d random_place(Random& random)
{
    return {random.normal(), random.normal(), random.normal()};
}

struct Line {
    Vec3d a, m, b;

    explicit Line(Random& random)
        : a(random_place(random)), m(random_place(random)), b(random_place(random))
    {
    }
    Vec3d difference() const { return second_difference(a, m, b); }
};

// ---- Formulas

TEST(BendForce, IsMinusTheEnergyGradient)
{
    // The energy is quadratic, so a central difference is exact to rounding of E over h.
    const double h = 1e-3;
    Random random(1);
    for (int i = 0; i < 50; ++i) {
        const Line line(random);
        const Vec3d f = bend_force(line.difference(), kZero, kStiffness, kDamping);
        const double energy = bend_energy(line.difference(), kStiffness);
        const auto expect_force = [&](Vec3d Line::*particle, const Vec3d& force) {
            for (int axis = 0; axis < 3; ++axis) {
                const auto at = [&](double step) {
                    Line moved = line;
                    (moved.*particle)[axis] += step;
                    return bend_energy(moved.difference(), kStiffness);
                };
                EXPECT_NEAR(force[axis], -(at(h) - at(-h)) / (2 * h),
                            8 * kEpsilon * (energy + kStiffness) / h);
            }
        };
        expect_force(&Line::a, f);
        expect_force(&Line::m, -2.0 * f);
        expect_force(&Line::b, f);
    }
}

TEST(BendForce, KeepsMomentumAndExertsNoTorque)
{
    Random random(2);
    for (int i = 0; i < 50; ++i) {
        const Line x(random), v(random);
        const Vec3d f = bend_force(x.difference(), kZero, kStiffness, kDamping);
        const Vec3d torque = cross(x.a, f) - 2.0 * cross(x.m, f) + cross(x.b, f);
        // Some 20 roundings of lever arms and forces.
        const double size = (length(x.a) + 2 * length(x.m) + length(x.b)) * length(f);
        EXPECT_LE(length(torque), 20 * kEpsilon * size);
        // Its damping loses energy: the power is -eta |e'|^2.
        const Vec3d slow = bend_force(kZero, v.difference(), kStiffness, kDamping);
        const double power = dot(slow, v.a) - 2 * dot(slow, v.m) + dot(slow, v.b);
        const double expected = -kDamping * dot(v.difference(), v.difference());
        EXPECT_NEAR(
            power, expected,
            20 * kEpsilon * length(slow) * 4 * length(v.difference()) + 1e-13 * std::abs(expected));
    }
}

TEST(BendForce, IsZeroOnAStraightLineOfEqualSteps)
{
    const Vec3d a{1, 2, 3}, step{0.5, -0.25, 0.125};  // exact in binary
    const Vec3d e = second_difference(a, a + step, a + 2.0 * step);
    EXPECT_EQ(length(bend_force(e, kZero, kStiffness, kDamping)), 0);
}

TEST(BendAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(3);
    const auto dual = [](const Vec3d& value, const Vec3d& slope) {
        return Vec3<Dual>{{value.x, slope.x}, {value.y, slope.y}, {value.z, slope.z}};
    };
    for (int i = 0; i < 100; ++i) {
        const Line x(random), v(random), s(random), ux(random), uv(random);
        const double uk = random.normal(), un = random.normal();
        const Vec3<Dual> f =
            bend_force(second_difference(dual(x.a, ux.a), dual(x.m, ux.m), dual(x.b, ux.b)),
                       second_difference(dual(v.a, uv.a), dual(v.m, uv.m), dual(v.b, uv.b)),
                       Dual(kStiffness, uk), Dual(kDamping, un));
        const Vec3d slope{f.x.slope, f.y.slope, f.z.slope};
        const double expected = dot(s.a, slope) - 2 * dot(s.m, slope) + dot(s.b, slope);
        const auto back =
            bend_adjoint(x.difference(), v.difference(), kStiffness, kDamping, s.difference());
        const double found = dot(back.e, ux.a - 2.0 * ux.m + ux.b) +
                             dot(back.rate, uv.a - 2.0 * uv.m + uv.b) + back.stiffness * uk +
                             back.damping * un;
        // Some 50 operations on terms up to kappa |s||u|, with |s| and |u| below 20.
        EXPECT_NEAR(found, expected, 50 * kEpsilon * kStiffness * 400);
    }
}

// ---- Cloths

TEST(SetLaw, GivesAGridBendsAlongRowsColumnsAndDiagonals)
{
    Cloth cloth =
        make_grid_cloth({3, 2, 1}, {3, 4}, MaterialField::uniform(20), MaterialField::uniform(1));
    set_law(cloth, law_named("full"));
    // Rows have 4 - 2 triples each and columns 3 - 2; a diagonal needs both.
    ASSERT_EQ(cloth.bends.bend_count(), std::size_t(3 * 2 + 4 * 1 + 2 + 2));
    std::vector<std::size_t> counts;
    for (const ElementFamily& family : families_of(cloth, Element::bend)) {
        counts.push_back(family.members.size());
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{10, 2, 2}));
    for (const auto& [a, m, b] : cloth.bends.particles) {
        const SheetPoint pa = cloth.rest[a], pm = cloth.rest[m], pb = cloth.rest[b];
        EXPECT_NEAR(pa.u - 2 * pm.u + pb.u, 0, 4 * kEpsilon * 3);
        EXPECT_NEAR(pa.v - 2 * pm.v + pb.v, 0, 4 * kEpsilon * 3);
        EXPECT_TRUE(a < m && m < b);
    }
    check_cloth(cloth, "a.json");
    EXPECT_EQ(cloth.bends.stiffness, std::vector<double>(14, 0.0));
    EXPECT_EQ(cloth.bends.damping, std::vector<double>(14, 0.0));
    EXPECT_EQ(cloth.springs.ranges.size(), 1u);
    EXPECT_FALSE(cloth.springs.isotropic_damping.empty());
    set_law(cloth, law_named("published"));
    EXPECT_EQ(cloth.bends.bend_count(), 0u);
    EXPECT_TRUE(cloth.springs.ranges.empty() && cloth.springs.isotropic_damping.empty());
}

TEST(SetLaw, GivesARopeBendsAlongItsRow)
{
    for (const Grid grid : {Grid{1, 5}, Grid{5, 1}}) {
        Cloth rope = chain_cloth(5, 1, 1, 20, 1, grid);
        set_law(rope, {{}, false, true});
        EXPECT_EQ(rope.bends.particles,
                  (std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}}));
    }
}

TEST(SetLaw, RefusesBendsOffTheGridAndUnknownLaws)
{
    Cloth list = chain_cloth(5, 1, 1, 20, 1);
    EXPECT_EQ(field_of([&] { set_law(list, {{}, false, true}); }), "bends");
    EXPECT_EQ(field_of([] { law_named("hooke"); }), "law");
}

// ---- A clamped strip

// Three rows of n + 1 particles 1 m apart along u, with bends along u alone. The first two
// particles of every row are held, so that the strip leaves its clamp level.
Cloth strip_cloth(int n, double mass, double kappa)
{
    Cloth cloth = make_grid_cloth({double(n), 2, 3 * (n + 1) * mass}, {3, n + 1},
                                  MaterialField::uniform(50), MaterialField::uniform(0.5));
    set_law(cloth, {{}, false, true});
    for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
        const auto [a, middle, b] = cloth.bends.particles[i];
        if (middle == a + 1) cloth.bends.stiffness[i] = kappa;
    }
    return cloth;
}

// What the end of a row sinks by when every particle has the weight f. The moments E_j = kappa e_j
// obey E_(j-1) - 2 E_j + E_(j+1) = f and are zero at the end and beyond, so with i = n - j they are
// f i (i + 1)/2. The end lies lower by the sum of i e_j:
//   f/(2 kappa) sum_(i < n) i^2 (i + 1) = f/(2 kappa) [(n (n - 1)/2)^2 + n (n - 1)(2 n - 1)/6].
double end_deflection(int n, double f, double kappa)
{
    const double pairs = n * (n - 1.0) / 2;
    return f / (2 * kappa) * (pairs * pairs + pairs * (2 * n - 1.0) / 3);
}

double settled_deflection(int n, Device device, double f, double kappa)
{
    const double mass = 0.1;
    const Cloth cloth = strip_cloth(n, mass, kappa);
    // The slowest swing has w^2 = 12.4 kappa/(m n^4); drag of twice w stops it soonest.
    const double slowest = 3.52 * std::sqrt(kappa / mass) / (n * n);
    Handles clamp;
    for (int row = 0; row < 3; ++row) {
        clamp.particles.push_back(row * (n + 1));
        clamp.particles.push_back(row * (n + 1) + 1);
    }
    const State start = flat_state(cloth);
    const double dt = 0.01;
    Simulation run(cloth, start, clamp, {dt, {{0, -f / mass, 0}, 2 * slowest, {0, 0, 0}}, device});
    EXPECT_FALSE(run.advance(int(std::lround(20 / slowest / dt))));  // e^-20 is left
    return start.position[n].y - run.state().position[n].y;
}

TEST(ClampedStrip, SinksByTheDiscreteClosedForm)
{
    const double kappa = 20;
    for (const Device device : {Device::reference, Device::cpu}) {
        const int n = 8;
        const double f = 1e-4, expected = end_deflection(n, f, kappa);  // 2.3 mm
        const double found = settled_deflection(n, device, f, kappa);
        // Springs lie level to first order; to second they resist a slope of 4e-4. In float,
        // positions up to 8 m are rounded by 5e-7 m.
        EXPECT_NEAR(found, expected, device == Device::cpu ? 0.01 * expected : 1e-4 * expected);
    }
}

TEST(ClampedStrip, ApproachesTheBeamAsTheGridBecomesFiner)
{
    // A beam of rigidity D under the load w per length sinks by w L^4/(8 D) at its end. A row of
    // spacing h = 1 m has w = f/h, L = n h and D = kappa h^3; the rest is 2/(3 n) in first order.
    const double kappa = 20, f = 1e-5;
    double last = 1;
    for (const int n : {4, 8, 16}) {
        const double beam = f * std::pow(n, 4) / (8 * kappa);
        const double missing = 1 - settled_deflection(n, Device::reference, f, kappa) / beam;
        EXPECT_NEAR(missing * n, 2.0 / 3, 1.0 / n) << n;
        EXPECT_LT(missing, 0.6 * last) << n;
        last = missing;
    }
}

TEST(BendErrors, AreNamed)
{
    const auto changed = [](auto change) {
        Cloth cloth = make_grid_cloth({3, 2, 1}, {3, 4}, MaterialField::uniform(20),
                                      MaterialField::uniform(1));
        set_law(cloth, {{}, false, true});
        change(cloth);
        return error_of([&] { check_cloth(cloth, "a.json"); });
    };
    const auto expect = [&](const std::string& values, auto change) {
        EXPECT_NE(changed(change).find(values), std::string::npos) << changed(change);
    };
    EXPECT_EQ(changed([](Cloth&) {}), "(no error)");
    expect("a.json: 14 bends, but the particles are not a grid", [](Cloth& c) { c.grid.reset(); });
    expect("a.json: 14 bends, but 13 families", [](Cloth& c) { c.bends.family.pop_back(); });
    expect("a.json: bend 0 joins particles 2, 1, 0", [](Cloth& c) {
        c.bends.particles[0] = {2, 1, 0};
    });
    expect("a.json: bend 0 joins particles 2, 3, 4",  // around the end of a row
           [](Cloth& c) {
               c.bends.particles[0] = {2, 3, 4};
           });
    expect("a.json: bend 0 joins particles 0, 1, 12", [](Cloth& c) {
        c.bends.particles[0] = {0, 1, 12};
    });
    expect("a.json: 14 bends, but 13 values of bending stiffness",
           [](Cloth& c) { c.bends.stiffness.pop_back(); });
    expect("a.json: bending damping of bend 2 is -1", [](Cloth& c) { c.bends.damping[2] = -1; });
}

}  // namespace

}  // namespace springtime
