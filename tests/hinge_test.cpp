#include "physics/hinge.h"

#include <gtest/gtest.h>

#include "corners.h"

namespace springtime {

namespace {

const auto kShape = hinge_shape<double>(0.2, 0.25);
const HingeMaterial<double> kMaterial{0.7, 0.02}, kElastic{0.7, 0}, kViscous{0, 0.02};

using Four = Corners<4>;
const Four kStill{};

// An edge of 0.8 m, the corners across it at unequal places, folded by an angle about the edge.
// Triangles (0, 1, 2) and (1, 0, 3): seen against n1 = z the second turns down for theta > 0.
Four folded(double angle)
{
    return {Vec3d{0, 0, 0}, Vec3d{0.8, 0, 0}, Vec3d{0.3, 0.5, 0},
            Vec3d{0.6, -0.625 * std::cos(angle), -0.625 * std::sin(angle)}};
}

// Folded by any angle short of the half turn where it jumps, and bent out of shape.
Four any_shape(Random& random)
{
    Four x = folded(2.5 * (2 * random.uniform() - 1));
    for (Vec3d& corner : x) corner += 0.05 * random_vector(random);
    return placed(x, random);
}

double angle_of(const Four& x)
{
    return hinge_angle(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
}

template <class T>
T energy_of(const std::array<Vec3<T>, 4>& x)
{
    return hinge_energy(T(kMaterial.stiffness), x[1] - x[0], x[2] - x[0], x[3] - x[0]);
}

Four forces_of(const HingeMaterial<double>& material, const Four& x, const Four& v)
{
    const auto f = hinge_force(kShape, material, x[1] - x[0], x[2] - x[0], x[3] - x[0], v[1] - v[0],
                               v[2] - v[0], v[3] - v[0]);
    return {-(f.on1 + f.on2 + f.on3), f.on1, f.on2, f.on3};
}

TEST(HingeAngle, IsThatOfTheFold)
{
    Random random(1);
    for (double angle = -3.1; angle <= 3.1; angle += 0.1) {
        EXPECT_NEAR(angle_of(folded(angle)), angle, 20 * kEpsilon);
        EXPECT_NEAR(angle_of(placed(folded(angle), random)), angle, 200 * kEpsilon);
    }
}

TEST(HingeAngle, DoesNotDependOnWhichTriangleComesFirst)
{
    Random random(2);
    for (int i = 0; i < 20; ++i) {
        const Four x = any_shape(random);
        EXPECT_NEAR(angle_of(x), angle_of({x[1], x[0], x[3], x[2]}), 100 * kEpsilon);
    }
}

TEST(HingeForce, IsMinusTheEnergyGradient)
{
    // The third derivative of the energy is about K over a height cubed, some 10 N/m^2 here; h^2
    // of that, and the rounding of E = 1 J over h.
    const double h = 1e-5;
    Random random(3);
    for (int i = 0; i < 20; ++i) {
        const Four x = any_shape(random);
        const Four expected = slope_by_difference<4>(x, h, energy_of<double>);
        EXPECT_LE(largest(difference(forces_of(kMaterial, x, kStill), expected)),
                  1000 * h * h + 100 * kEpsilon / h);
    }
}

TEST(HingeForce, IsMinusTheEnergyGradientByDualNumbers)
{
    Random random(4);
    for (int i = 0; i < 20; ++i) {
        const Four x = any_shape(random);
        const Four f = forces_of(kMaterial, x, kStill);
        // Edges are differences of positions of some metres, over heights of half a metre.
        EXPECT_LE(largest(difference(f, slope_by_dual<4>(x, energy_of<Dual>))),
                  1000 * kEpsilon * (largest(f) + kMaterial.stiffness));
    }
}

TEST(HingeForce, VanishesWhenFlatHoweverItLies)
{
    Random random(5);
    for (int i = 0; i < 20; ++i) {
        const Four x = placed(folded(0), random);
        EXPECT_LE(largest(forces_of(kMaterial, x, kStill)), 1000 * kEpsilon * kMaterial.stiffness);
        EXPECT_LE(energy_of(x), 1e6 * kEpsilon * kEpsilon);
    }
}

TEST(HingeForce, IgnoresStretchInThePlane)
{
    Random random(6);
    for (int i = 0; i < 20; ++i) {
        Four x = folded(0), v = folded(0);
        for (Vec3d& corner : x) corner = {1.3 * corner.x + 0.2 * corner.y, 0.9 * corner.y, 0};
        EXPECT_LE(largest(forces_of(kMaterial, x, v)), 100 * kEpsilon);
    }
}

TEST(HingeForce, LeavesNoNetForceAndNoNetTorque)
{
    Random random(7);
    for (int i = 0; i < 50; ++i) {
        const Four x = any_shape(random), v = random_corners<4>(random, 1);
        for (const auto& material : {kElastic, kViscous}) {
            const Four f = forces_of(material, x, v);
            ASSERT_GT(largest(f), 0);
            EXPECT_LE(length(sum(f)), 8 * kEpsilon * largest(f));
            EXPECT_LE(length(torque(x, f)), 1000 * kEpsilon * largest(f) * largest(x));
        }
    }
}

TEST(HingeForce, DampingTakesTheSquareOfTheAngleRate)
{
    // P = -K tau thetadot^2, and thetadot by a central difference along the velocity.
    const double h = 1e-6;
    Random random(8);
    for (int i = 0; i < 50; ++i) {
        const Four x = any_shape(random), v = random_corners<4>(random, 1);
        Four up = x, down = x;
        for (int c = 0; c < 4; ++c) {
            up[c] += h * v[c];
            down[c] -= h * v[c];
        }
        const double rate = (angle_of(up) - angle_of(down)) / (2 * h);
        const double taken = power(forces_of(kViscous, x, v), v);
        EXPECT_LE(taken, 0);
        EXPECT_NEAR(taken, -kViscous.damping * rate * rate, 1e-6 * (1 + rate * rate));
    }
}

TEST(HingeForce, IgnoresRigidMotion)
{
    Random random(9);
    for (int i = 0; i < 50; ++i) {
        const Four x = any_shape(random);
        const Four v = rigid_motion(x, random_vector(random), random_vector(random));
        EXPECT_LE(largest(forces_of(kViscous, x, v)),
                  1000 * kEpsilon * kViscous.damping * (1 + largest(v)));
    }
}

TEST(HingeForce, BalancesAndTakesEnergyWhileATriangleCollapses)
{
    // Corner 3 comes down to the edge: at a hundredth of its height the forces have faded by
    // |n|^2 / least^2 = (0.01 / 0.1)^2 against 1/height, but still balance and still only damp.
    Random random(10);
    for (const double share : {0.05, 0.01, 1e-4, 1e-8}) {
        Four x = folded(0.7);
        x[3].y *= share;
        x[3].z *= share;
        x = placed(x, random);
        const Four v = random_corners<4>(random, 1);
        for (const auto& material : {kElastic, kViscous}) {
            const Four f = forces_of(material, x, v);
            EXPECT_LE(length(sum(f)), 8 * kEpsilon * largest(f));
            // The normal is a difference of numbers of some metres, so it is off by their rounding.
            EXPECT_LE(length(torque(x, f)), 1e4 * kEpsilon / share * largest(f) * largest(x));
            EXPECT_LE(largest(f), 20);
        }
        EXPECT_LE(power(forces_of(kViscous, x, v), v), 0);
    }
}

template <class Real>
void expect_finite_when_collapsed()
{
    const Vec3<Real> none{}, a{Real(0.5), 0, Real(-0.25)}, b{0, Real(0.5), Real(0.25)}, v{1, -2, 3};
    for (const auto& edge : {none, a}) {
        for (const auto& side2 : {none, a, b}) {
            for (const auto& side3 : {none, a, b, -b}) {
                const auto f = hinge_force<Real>(hinge_shape<Real>(0.2, 0.25), {1, 1}, edge, side2,
                                                 side3, v, -v, Real(2) * v);
                for (const Vec3<Real>& on : {f.on1, f.on2, f.on3}) {
                    // |dtheta/dx| is below a few times one over the least height.
                    EXPECT_LE(length(on), 1e4);
                }
            }
        }
    }
}

TEST(HingeForce, StaysFiniteForCoincidentCorners)
{
    expect_finite_when_collapsed<double>();
    expect_finite_when_collapsed<float>();
}

}  // namespace

}  // namespace springtime
