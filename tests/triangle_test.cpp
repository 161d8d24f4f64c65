#include "physics/triangle.h"

#include <gtest/gtest.h>

#include "corners.h"

namespace springtime {

namespace {

// A triangle of 0.3 m^2 without equal sides, and a material that makes every term count.
constexpr double kEdges[4] = {0.8, 0.1, -0.2, 0.725};
const auto kShape = triangle_shape<double>(0.8, 0.1, -0.2, 0.725);
const TriangleMaterial<double> kPlain{300, 450, 0.7};
const WovenMaterial<double> kMaterial{kPlain, 250, 100}, kElastic{{300, 450, 0}, 250, 100},
    kViscous{{0, 0, 0.7}, 0, 0};
// Sizes of forces: stiffness and damping times a length, one metre here.
constexpr double kStiff = 1000, kDamped = 1.4;

using Three = Corners<3>;
const Three kStill{};

Three flat_corners()
{
    return {Vec3d{}, Vec3d{kEdges[0], kEdges[1], 0}, Vec3d{kEdges[2], kEdges[3], 0}};
}

template <class T>
T energy_of(const std::array<Vec3<T>, 3>& x)
{
    const auto& m = kShape.inverse;
    return triangle_energy(
        TriangleShape<T>{T(kShape.area), {{T(m[0][0]), T(m[0][1])}, {T(m[1][0]), T(m[1][1])}}},
        WovenMaterial<T>{{T(kMaterial.shear), T(kMaterial.area), T(kMaterial.damping)},
                         T(kMaterial.warp),
                         T(kMaterial.weft)},
        x[1] - x[0], x[2] - x[0]);
}

template <class Damping, class Material>
Three forces_of(const Material& material, const Three& x, const Three& v)
{
    const auto f = triangle_force<Damping>(kShape, material, x[1] - x[0], x[2] - x[0], v[1] - v[0],
                                           v[2] - v[0]);
    return {-(f.on1 + f.on2), f.on1, f.on2};
}

// Everything that must hold for both kinds of damping.
template <class Damping>
class TriangleForces : public testing::Test {
};
using Dampings = testing::Types<DampsDeformation, DampsStrain>;
TYPED_TEST_SUITE(TriangleForces, Dampings);

TEST(TriangleShape, HasAreaAndInverse)
{
    // det = 0.8 * 0.725 + 0.2 * 0.1 = 0.6, so the area is 0.3 whichever way the corners turn.
    EXPECT_NEAR(kShape.area, 0.3, 4 * kEpsilon);
    EXPECT_NEAR(triangle_shape<double>(-0.2, 0.725, 0.8, 0.1).area, 0.3, 4 * kEpsilon);
    // F of the rest shape is the unit matrix.
    const auto f = deformation(kShape, flat_corners()[1], flat_corners()[2]);
    EXPECT_LE(length(f.u - Vec3d{1, 0, 0}), 8 * kEpsilon);
    EXPECT_LE(length(f.v - Vec3d{0, 1, 0}), 8 * kEpsilon);
}

TEST(TriangleEnergy, IsTheClassicFormUpToAConstant)
{
    // A [mu/2 |F|^2 + lambda/2 (J - 1 - mu/lambda)^2] - E = A [mu + mu^2/(2 lambda)] - 0 at rest.
    const double mu = kPlain.shear, lambda = kPlain.area;
    Random random(1);
    for (int i = 0; i < 20; ++i) {
        const Three x = random_corners<3>(random, 0.7);
        const auto f = deformation(kShape, x[1] - x[0], x[2] - x[0]);
        const double j = length(cross(x[1] - x[0], x[2] - x[0])) / (2 * kShape.area);
        const double classic =
            kShape.area * (mu / 2 * (dot(f.u, f.u) + dot(f.v, f.v)) +
                           lambda / 2 * (j - 1 - mu / lambda) * (j - 1 - mu / lambda));
        const double constant = kShape.area * (mu + mu * mu / (2 * lambda));
        EXPECT_NEAR(triangle_energy(kShape, kPlain, x[1] - x[0], x[2] - x[0]), classic - constant,
                    20 * kEpsilon * (classic + constant));
    }
}

TYPED_TEST(TriangleForces, AreMinusTheEnergyGradient)
{
    // A central difference is off by E''' h^2 / 6 and by the rounding of E over h. The third
    // derivative is at most a few times the stiffness over the height of the triangle.
    const double h = 1e-5;
    Random random(2);
    for (int i = 0; i < 20; ++i) {
        const Three x = random_corners<3>(random, 1);
        const Three expected = slope_by_difference<3>(x, h, energy_of<double>);
        const Three f = forces_of<TypeParam>(kMaterial, x, kStill);
        const double height = length(cross(x[1] - x[0], x[2] - x[0])) /
                              std::max(length(x[1] - x[0]), length(x[2] - x[0]));
        const double third = 100 * kStiff / (height * height);
        EXPECT_LE(largest(difference(f, expected)),
                  third * h * h + 10 * kEpsilon * (energy_of(x) + kStiff) / h);
    }
}

TYPED_TEST(TriangleForces, AreMinusTheEnergyGradientByDualNumbers)
{
    Random random(3);
    for (int i = 0; i < 20; ++i) {
        const Three x = random_corners<3>(random, 1);
        const Three expected = slope_by_dual<3>(x, energy_of<Dual>);
        const Three f = forces_of<TypeParam>(kMaterial, x, kStill);
        // Some 50 operations on numbers as large as the force.
        EXPECT_LE(largest(difference(f, expected)), 50 * kEpsilon * (largest(f) + kStiff));
    }
}

TYPED_TEST(TriangleForces, VanishAtRestHoweverItLies)
{
    Random random(4);
    for (int i = 0; i < 20; ++i) {
        const Three x = placed(flat_corners(), random);
        EXPECT_LE(largest(forces_of<TypeParam>(kMaterial, x, kStill)), 50 * kEpsilon * kStiff);
        EXPECT_LE(std::abs(energy_of(x)), 50 * kEpsilon * kStiff);
    }
}

TYPED_TEST(TriangleForces, LeaveNoNetForceAndNoNetTorque)
{
    Random random(5);
    for (int i = 0; i < 50; ++i) {
        const Three x = random_corners<3>(random, 1), v = random_corners<3>(random, 1);
        for (const auto& material : {kElastic, kViscous}) {
            const Three f = forces_of<TypeParam>(material, x, v);
            ASSERT_GT(largest(f), 0);
            EXPECT_LE(length(sum(f)), 4 * kEpsilon * largest(f));
        }
        const Three f = forces_of<TypeParam>(kElastic, x, kStill);
        EXPECT_LE(length(torque(x, f)), 50 * kEpsilon * (largest(f) + kStiff) * largest(x));
    }
}

TYPED_TEST(TriangleForces, AreTheSameWithoutFibresAndWithFibresOfNoStiffness)
{
    const WovenMaterial<double> slack{kPlain, 0, 0};
    Random random(9);
    for (int i = 0; i < 20; ++i) {
        const Three x = random_corners<3>(random, 1), v = random_corners<3>(random, 1);
        const Three with = forces_of<TypeParam>(slack, x, v);
        EXPECT_EQ(largest(difference(with, forces_of<TypeParam>(kPlain, x, v))), 0);
    }
}

TYPED_TEST(TriangleForces, OfAStretchAlongOneFibreAreLinear)
{
    // F = diag(s, 1), so J = s: E/A = mu/2 (s^2 - 1) - mu (s - 1) + (lambda + w)/2 (s - 1)^2, and
    // the slope by s is (mu + lambda + w)(s - 1) at any stretch. It is what the forces do along the
    // way X_u of the stretch. The same along v with f.
    for (const double s : {0.6, 0.99, 1.01, 1.7}) {
        Three x = flat_corners(), along_u, along_v, wide = x, tall = x;
        for (int i = 0; i < 3; ++i) {
            along_u[i] = {x[i].x, 0, 0};
            along_v[i] = {0, x[i].y, 0};
            wide[i].x *= s;
            tall[i].y *= s;
        }
        const double plain = kMaterial.shear + kMaterial.area;
        const double u = power(forces_of<TypeParam>(kMaterial, wide, kStill), along_u);
        const double v = power(forces_of<TypeParam>(kMaterial, tall, kStill), along_v);
        EXPECT_NEAR(u, -kShape.area * (plain + kMaterial.warp) * (s - 1), 50 * kEpsilon * kStiff);
        EXPECT_NEAR(v, -kShape.area * (plain + kMaterial.weft) * (s - 1), 50 * kEpsilon * kStiff);
    }
}

TEST(TriangleDampingForce, OfStrainLeavesNoNetTorque)
{
    Random random(6);
    for (int i = 0; i < 50; ++i) {
        const Three x = random_corners<3>(random, 1), v = random_corners<3>(random, 1);
        const Three f = forces_of<DampsStrain>(kViscous, x, v);
        EXPECT_LE(length(torque(x, f)), 50 * kEpsilon * (largest(f) + kDamped) * largest(x));
    }
}

TEST(TriangleDampingForce, OfStrainIgnoresRigidMotionAndOfDeformationDoesNot)
{
    Random random(7);
    for (int i = 0; i < 20; ++i) {
        const Three x = random_corners<3>(random, 1);
        const Vec3d spin = random_vector(random);
        const Three shifting = rigid_motion(x, random_vector(random), {});
        const Three turning = rigid_motion(x, random_vector(random), spin);
        const double rounding = 100 * kEpsilon * kDamped * (1 + length(spin)) * 30;
        EXPECT_LE(largest(forces_of<DampsStrain>(kViscous, x, turning)), rounding);
        EXPECT_LE(largest(forces_of<DampsDeformation>(kViscous, x, shifting)), rounding);
        // Power of a rotation: -gamma A |W F|^2, with W F the columns spin x F.
        const auto f = deformation(kShape, x[1] - x[0], x[2] - x[0]);
        const Vec3d u = cross(spin, f.u), v = cross(spin, f.v);
        const double expected = -kViscous.damping * kShape.area * (dot(u, u) + dot(v, v));
        EXPECT_NEAR(power(forces_of<DampsDeformation>(kViscous, x, turning), turning), expected,
                    1e-12 * std::abs(expected));
    }
}

TYPED_TEST(TriangleForces, DampingOnlyTakesEnergy)
{
    Random random(8);
    for (int i = 0; i < 100; ++i) {
        const Three x = random_corners<3>(random, 1), v = random_corners<3>(random, 1);
        EXPECT_LE(power(forces_of<TypeParam>(kViscous, x, v), v), 0);
    }
}

TYPED_TEST(TriangleForces, DampAStretchAtRestByTwiceGamma)
{
    // Fdot = diag(r, 0) at F = I: Fdot and Gdot are the same, Jdot = r. The power is
    // -gamma A (r^2 + r^2) whichever the kind.
    const Three x = flat_corners();
    const double r = 0.3;
    Three v;
    for (int i = 0; i < 3; ++i) v[i] = {r * x[i].x, 0, 0};
    EXPECT_NEAR(power(forces_of<TypeParam>(kViscous, x, v), v),
                -2 * kViscous.damping * kShape.area * r * r, 20 * kEpsilon);
}

template <class Damping, class Real>
void expect_finite_when_collapsed()
{
    const auto shape = triangle_shape<Real>(0.8, 0.1, -0.2, 0.725);
    const WovenMaterial<Real> material{{300, 450, Real(0.7)}, 250, 100};
    const Vec3<Real> none{}, some{Real(0.5), 0, Real(-0.25)}, v{1, -2, 3};
    const Vec3<Real> half = Real(0.5) * some;
    const std::array<std::array<Vec3<Real>, 2>, 4> cases{
        {{none, none}, {some, none}, {some, some}, {some, half}}};
    for (const auto& [a, b] : cases) {
        const auto f = triangle_force<Damping>(shape, material, a, b, v, -v);
        for (int axis = 0; axis < 3; ++axis) {
            // The stress is at most (mu + lambda + w) |F| + w + gamma |Fdot| (1 + 2 |F|^2).
            EXPECT_LE(std::abs(f.on1[axis]), 1500);
            EXPECT_LE(std::abs(f.on2[axis]), 1500);
        }
    }
}

TYPED_TEST(TriangleForces, StayFiniteWhenItCollapses)
{
    expect_finite_when_collapsed<TypeParam, double>();
    expect_finite_when_collapsed<TypeParam, float>();
}

}  // namespace

}  // namespace springtime
