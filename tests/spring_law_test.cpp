// Springs with more than one stiffness, and with a dashpot against all relative velocity.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "backends.h"
#include "cloths.h"
#include "dual.h"
#include "error_of.h"
#include "physics/spring.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRestLength = 0.9;
constexpr Vec3d kZero{};

Vec3d unit(int axis)
{
    Vec3d e{};
    e[axis] = 1;
    return e;
}

Vec3d random_vector(Random& random)
{
    return {random.normal(), random.normal(), random.normal()};
}

// Ranges on both sides of rest, one that ends beside it, and a gap; more than one beyond.
constexpr std::array<SpringRange<double>, 4> kRanges{
    {{-kInfinity, -0.3, 5}, {-0.3, 0, 15}, {0.1, 0.4, 90}, {0.6, kInfinity, 25}}};
constexpr RangeLaw<double> kLaw{4, kRanges.data(), 0.7};
constexpr double kStiffness = 40, kDamping = 3;

// ---- Formulas

TEST(SpringLaw, ForceByHandInEveryRange)
{
    // Slopes from rest outwards: 40 to 0.1, 90 to 0.4, 40 to 0.6, then 25; and 15 to -0.3, then 5.
    const double cases[][2] = {{0, 0},       {0.05, 2},    {0.1, 4},    {0.3, 22},
                               {0.4, 31},    {0.5, 35},    {0.6, 39},   {1, 49},
                               {-0.1, -1.5}, {-0.3, -4.5}, {-0.5, -5.5}};
    for (const auto& [stretch, expected] : cases) {
        const Vec3d d{0, kRestLength + stretch, 0};
        const Vec3d f = spring_force(d, kZero, kRestLength, kStiffness, kDamping, kLaw);
        EXPECT_NEAR(f.y, expected, 20 * kEpsilon * 90) << stretch;  // ~20 operations up to 90
        EXPECT_EQ(f.x, 0);
    }
    // Ends that part askew: the dashpots add (b + c) v along the spring and c v across it.
    const Vec3d f =
        spring_force({0, kRestLength, 0}, {2, 5, 0}, kRestLength, kStiffness, kDamping, kLaw);
    EXPECT_NEAR(f.x, 0.7 * 2, 1e-14);
    EXPECT_NEAR(f.y, 3.7 * 5, 1e-13);
}

TEST(SpringLaw, ForceIsMinusTheEnergyGradient)
{
    // As for the plain law; where a knot lies within h, the difference is off by the jump of the
    // slope times h/2.
    const double h = 1e-5;
    Random random(1);
    for (int i = 0; i < 200; ++i) {
        const Vec3d d = random_vector(random);
        const double third = 3 * 90 * kRestLength / dot(d, d);
        const double energy = spring_energy(d, kRestLength, kStiffness, kLaw);
        const double tolerance = third * h * h + 4 * kEpsilon * (energy + 90) / h;
        const Vec3d f = spring_force(d, kZero, kRestLength, kStiffness, kDamping, kLaw);
        for (int axis = 0; axis < 3; ++axis) {
            const auto at = [&](double step) {
                return spring_energy(d + step * unit(axis), kRestLength, kStiffness, kLaw);
            };
            EXPECT_NEAR(f[axis], (at(h) - at(-h)) / (2 * h), tolerance);
        }
    }
}

TEST(SpringLaw, RangesOfEqualStiffnessAreThePlainLaw)
{
    auto equal = kRanges;
    for (auto& range : equal) range.stiffness = kStiffness;
    const RangeLaw<double> law{4, equal.data(), 0};
    Random random(2);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d = random_vector(random), v = random_vector(random);
        const Vec3d s = random_vector(random);
        EXPECT_EQ(spring_energy(d, kRestLength, kStiffness, law),
                  spring_energy(d, kRestLength, kStiffness));
        const Vec3d f = spring_force(d, v, kRestLength, kStiffness, kDamping, law);
        const Vec3d plain = spring_force(d, v, kRestLength, kStiffness, kDamping);
        EXPECT_EQ(length(f - plain), 0);  // what is added is exactly zero
        double by_k = 0;
        const auto back =
            spring_adjoint(d, v, kRestLength, kStiffness, kDamping, law, s, [&](int j, double by) {
                if (j < 4) by_k += by;
            });
        const auto plain_back = spring_adjoint(d, v, kRestLength, kStiffness, kDamping, s);
        EXPECT_EQ(length(back.d - plain_back.d), 0);
        // All stiffnesses together are the one of the plain law.
        EXPECT_NEAR(back.stiffness + by_k, plain_back.stiffness, 1e-14 * length(s));
    }
}

TEST(SpringLaw, WithOneRangeBelowRestIsThatOfCompression)
{
    const SpringRange<double> below{-kInfinity, 0, 15};
    const RangeLaw<double> ranges{1, &below, 0.7};
    const CompressionLaw<double> law{{15}, 0.7};
    Random random(4);
    for (int i = 0; i < 200; ++i) {
        const Vec3d d = random_vector(random), v = random_vector(random), s = random_vector(random);
        // Some 20 operations; the largest terms are k (1 + L/l), and 2 b |v| / l of the adjoint.
        const double l = length(d),
                     tolerance = 20 * kEpsilon * (length(s) + l) * (1 + length(v)) *
                                 (kStiffness * (1 + kRestLength / l) + 2 * kDamping / l);
        EXPECT_LE(length(spring_force(d, v, kRestLength, kStiffness, kDamping, law) -
                         spring_force(d, v, kRestLength, kStiffness, kDamping, ranges)),
                  tolerance);
        std::array<double, 2> by{}, expected{};
        const auto back = spring_adjoint(d, v, kRestLength, kStiffness, kDamping, law, s,
                                         [&](int j, double value) { by[std::size_t(j)] = value; });
        const auto other =
            spring_adjoint(d, v, kRestLength, kStiffness, kDamping, ranges, s,
                           [&](int j, double value) { expected[std::size_t(j)] = value; });
        EXPECT_LE(length(back.d - other.d), tolerance);
        EXPECT_LE(length(back.v - other.v), tolerance);
        EXPECT_NEAR(back.stiffness, other.stiffness, tolerance);
        EXPECT_NEAR(back.damping, other.damping, tolerance);
        EXPECT_NEAR(by[0], expected[0], tolerance);
        EXPECT_NEAR(by[1], expected[1], tolerance);
    }
}

TEST(SpringLaw, AdjointIsTheTransposeOfTheDualDerivative)
{
    Random random(3);
    for (int i = 0; i < 500; ++i) {
        const Vec3d direction = random_vector(random);
        const Vec3d d = (0.3 + 1.5 * random.uniform()) / length(direction) * direction;
        const Vec3d v = random_vector(random), s = random_vector(random);
        const Vec3d ud = random_vector(random), uv = random_vector(random);
        const double uk = random.normal(), ub = random.normal(), uc = random.normal();
        std::array<SpringRange<Dual>, 4> ranges;
        std::array<double, 4> uj;
        for (std::size_t j = 0; j < 4; ++j) {
            uj[j] = random.normal();
            ranges[j] = {Dual(kRanges[j].from), Dual(kRanges[j].to),
                         Dual(kRanges[j].stiffness, uj[j])};
        }
        const RangeLaw<Dual> law{4, ranges.data(), Dual(0.7, uc)};
        const auto along = [](const Vec3d& value, const Vec3d& slope) {
            return Vec3<Dual>{{value.x, slope.x}, {value.y, slope.y}, {value.z, slope.z}};
        };
        const Vec3<Dual> f = spring_force(along(d, ud), along(v, uv), Dual(kRestLength),
                                          Dual(kStiffness, uk), Dual(kDamping, ub), law);
        const double expected = s.x * f.x.slope + s.y * f.y.slope + s.z * f.z.slope;
        double found = 0;
        const auto back = spring_adjoint(
            d, v, kRestLength, kStiffness, kDamping, kLaw, s,
            [&](int j, double by) { found += by * (j < 4 ? uj[std::size_t(j)] : uc); });
        found += dot(back.d, ud) + dot(back.v, uv) + back.stiffness * uk + back.damping * ub;
        // Some 100 operations; the largest terms are (k + kL/l + 4 b|v|/l) |s||u|.
        const double l = length(d);
        const double size = (90 * (1 + kRestLength / l) + 4 * (1 + 4 * length(v) / l)) * length(s) *
                            (length(ud) + length(uv) + 6);
        EXPECT_NEAR(found, expected, 10 * kEpsilon * size);
    }
}

TEST(SpringLaw, IsFiniteForCoincidentEndsAndWithoutLength)
{
    for (const double rest : {0.9, 0.0}) {
        const Vec3d f = spring_force(kZero, kZero, rest, kStiffness, kDamping, kLaw);
        EXPECT_EQ(length(f), 0);
        const auto back = spring_adjoint(kZero, kZero, rest, kStiffness, kDamping, kLaw,
                                         Vec3d{1, 2, 3}, [](int, double by) { EXPECT_EQ(by, 0); });
        EXPECT_TRUE(std::isfinite(length(back.d)));
    }
}

// ---- Cloths

TEST(SetLaw, LeavesTheStiffnessAboveRestAndMakesRangesOfTheOthers)
{
    Cloth cloth = chain_cloth(3, 1, 1, 20, 1);
    set_law(cloth, {{-0.2, 0, 0.1}, true});
    const auto& ranges = cloth.springs.ranges;
    ASSERT_EQ(ranges.size(), 3u);
    const double ends[][2] = {{-kInfinity, -0.2}, {-0.2, 0}, {0.1, kInfinity}};
    for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(ranges[j].from, ends[j][0]);
        EXPECT_EQ(ranges[j].to, ends[j][1]);
        EXPECT_EQ(ranges[j].stiffness, cloth.springs.stiffness);
    }
    EXPECT_EQ(cloth.springs.isotropic_damping, (std::vector<double>{0, 0}));
    set_law(cloth, {});
    EXPECT_TRUE(cloth.springs.ranges.empty());
    EXPECT_TRUE(cloth.springs.isotropic_damping.empty());
    EXPECT_NE(error_of([&] {
                  set_law(cloth, {{0.1, 0.1}, false});
              }).find("knots at strains 0.1, 0.1"),
              std::string::npos);
}

TEST(LawErrors, AreNamed)
{
    const auto changed = [](auto change) {
        Cloth cloth = chain_cloth(3, 1, 1, 20, 1);
        set_law(cloth, {{0}, true});
        cloth.errors = StandardErrors{ParameterValues(4, std::vector<double>{1, kInfinity}), 0.5};
        change(cloth);
        return error_of([&] { check_cloth(cloth, "a.json"); });
    };
    const double nan = std::nan("");
    const auto expect = [&](const std::string& values, auto change) {
        EXPECT_NE(changed(change).find(values), std::string::npos) << changed(change);
    };
    EXPECT_EQ(changed([](Cloth&) {}), "(no error)");
    // Every complaint names the file, the parameter and the values.
    expect("a.json: stiffness range 0 is from strain -inf to nan",
           [&](Cloth& c) { c.springs.ranges[0].to = nan; });
    expect("a.json: 2 springs, but 1 values of stiffness from strain -inf to 0",
           [](Cloth& c) { c.springs.ranges[0].stiffness.pop_back(); });
    expect("a.json: stiffness from strain -inf to 0 of spring 1 is inf",
           [](Cloth& c) { c.springs.ranges[0].stiffness[1] = kInfinity; });
    expect("a.json: 2 springs, but 1 values of isotropic damping",
           [](Cloth& c) { c.springs.isotropic_damping.pop_back(); });
    expect("a.json: standard errors of 3 parameters, but the cloth has 4",
           [](Cloth& c) { c.errors->parameters.pop_back(); });
    expect("a.json: 1 standard errors of isotropic damping for 2 springs",
           [](Cloth& c) { c.errors->parameters[3].pop_back(); });
    expect("the standard error of stiffness from strain -inf to 0 of spring 0 is nan",
           [&](Cloth& c) { c.errors->parameters[2][0] = nan; });
    expect("a.json: force noise of inf", [](Cloth& c) { c.errors->force = kInfinity; });
}

TEST(LawStability, CountsTheLargestStiffnessAndBothDashpots)
{
    // Two particles: w^2 = 2 k / m and c = 2 (b + c) / m along the spring, h^2 w^2 + 2 h c <= 4.
    const double m = 0.2, b = 0.7, c = 0.4;
    Cloth cloth = chain_cloth(2, 1, m, 30, b);
    set_law(cloth, {{0}, true});
    cloth.springs.ranges[0].stiffness = {50};
    cloth.springs.isotropic_damping = {c};
    const double w2 = 2 * 50 / m, rate = 2 * (b + c) / m;
    const double expected = 4 / (rate + std::sqrt(rate * rate + 4 * w2));
    EXPECT_NEAR(largest_stable_step(cloth, kEmptySpace), expected, 1e-12);
    cloth.springs.ranges[0].stiffness = {10};  // now the other is the largest
    const double softer = 4 / (rate + std::sqrt(rate * rate + 4 * 2 * 30 / m));
    EXPECT_NEAR(largest_stable_step(cloth, kEmptySpace), softer, 1e-12);
}

TEST(LawStability, CountsBendsInAllDirections)
{
    // Three particles with a bend alone: its matrix kappa (1, -2, 1)(1, -2, 1)^T has the eigenvalue
    // 6 kappa, and 6 eta is that of its damping. On the flat sheet and in the worst shape alike.
    const double m = 0.2, kappa = 5, eta = 0.03;
    Cloth cloth = chain_cloth(3, 1, m, 0, 0, Grid{1, 3});
    set_law(cloth, {{}, false, true});
    cloth.bends.stiffness = {kappa};
    cloth.bends.damping = {eta};
    const double w2 = 6 * kappa / m, rate = 6 * eta / m;
    const double expected = 4 / (rate + std::sqrt(rate * rate + 4 * w2));
    EXPECT_NEAR(largest_stable_step(cloth, kEmptySpace), expected, 1e-9 * expected);
    EXPECT_NEAR(safe_step(cloth, kEmptySpace), 0.97 * expected, 1e-9 * expected);
}

// ---- Every backend

class LawBackends : public testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Springs, LawBackends, testing::ValuesIn(all_backends()), backend_name);

Vec3d momentum(const Cloth& cloth, const State& state)
{
    Vec3d sum{};
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        sum += cloth.mass[p] * state.velocity[p];
    }
    return sum;
}

// About the origin.
Vec3d angular_momentum(const Cloth& cloth, const State& state)
{
    Vec3d sum{};
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        sum += cloth.mass[p] * cross(state.position[p], state.velocity[p]);
    }
    return sum;
}

TEST_P(LawBackends, RangesKeepBothMomentaAndIsotropicDampingOnlyTheLinearOne)
{
    const SimulationOptions options{1e-3, kEmptySpace, Device::automatic};
    const int steps = 200;
    for (const bool isotropic : {false, true}) {
        Cloth cloth = uneven_grid({5, 7, true, true, true, true});
        add_uneven_law(cloth);
        if (!isotropic) {
            cloth.springs.isotropic_damping.clear();
            for (double& eta : cloth.bends.damping) eta = 0;
        }
        State start = shaken_state(cloth, 2);
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            start.velocity[p] += cross(Vec3d{0, 2, 0}, start.position[p]);  // it turns as a whole
        }
        const State end = advanced(GetParam(), cloth, start, {}, options, steps);
        // Every step rounds some 35 momenta of about 1 kg m/s and lever arms of 3 m, at random.
        const double size = 35 * GetParam().epsilon * std::sqrt(double(steps));
        EXPECT_LE(length(momentum(cloth, end) - momentum(cloth, start)), size);
        const Vec3d before = angular_momentum(cloth, start);
        const double lost = length(angular_momentum(cloth, end) - before);
        if (isotropic) {
            EXPECT_GE(lost, 0.01 * length(before));
        } else {
            EXPECT_LE(lost, 3 * size);
        }
    }
}

TEST_P(LawBackends, SpringWithTwoStiffnessesSwingsByTheDiscreteScheme)
{
    // One free end on a pinned spring of length L with masses m: v += -h F(x - L)/m, x += h v with
    // F of slope k above and k_j below. The scheme itself, in double.
    const double k = 40, soft = 8, m = 0.1, h = 1e-3;
    for (const auto& grid : chain_grids(2)) {
        Cloth cloth = chain_cloth(2, 1, m, k, 0, grid);
        set_law(cloth, {{0}, false});
        cloth.springs.ranges[0].stiffness = {soft};
        State start = flat_state(cloth);
        const Vec3d along = start.position[1] - start.position[0];
        start.position[1] += 0.1 * along;
        const int steps = 400;  // a swing and more: half a period is pi sqrt(m/k) = 157 steps
        const State end = advanced(GetParam(), cloth, start, {{0}, {}, {}},
                                   {h, kEmptySpace, Device::automatic}, steps);
        double x = 1.1, v = 0, lowest = x;
        for (int i = 0; i < steps; ++i) {
            const double stretch = x - 1;
            v -= h * (stretch > 0 ? k : soft) * stretch / m;
            x += h * v;
            lowest = std::min(lowest, x);
        }
        EXPECT_LT(lowest, 0.9);  // softer below: it goes further than it came
        const double found = length(end.position[1] - end.position[0]);
        EXPECT_NEAR(found, x, 4 * GetParam().epsilon * std::sqrt(double(steps)) * 10);
    }
}

TEST(LawEnergy, IsNeverGainedAndIsKeptWithoutDamping)
{
    // The scheme keeps an energy that is off by O(h w) of the elastic one, so with h halved the
    // drift halves; with the dashpots it falls.
    Cloth cloth = uneven_grid({5, 7, true, true, true, true});
    add_uneven_law(cloth);
    Cloth lossless = cloth;
    for (double& b : lossless.springs.damping) b = 0;
    lossless.springs.isotropic_damping.clear();
    for (double& eta : lossless.bends.damping) eta = 0;
    const State start = shaken_state(cloth, 3);
    const auto change = [&](const Cloth& of, double h) {
        Simulation run(of, start, {}, {h, kEmptySpace, Device::reference});
        EXPECT_FALSE(run.advance(int(std::lround(0.2 / h))));
        const auto total = [&](const State& state) {
            const Energy energy = energy_of(of, kEmptySpace, state);
            return energy.kinetic + energy.elastic;
        };
        return total(run.state()) / total(start) - 1;
    };
    const double coarse = change(lossless, 1e-4), fine = change(lossless, 5e-5);
    EXPECT_LE(std::abs(coarse), 0.01);
    EXPECT_NEAR(fine / coarse, 0.5, 0.1);
    EXPECT_LT(change(cloth, 1e-4), -0.1);
}

}  // namespace

}  // namespace springtime
