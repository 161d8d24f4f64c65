#include "physics/spring.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/random.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kStiffness = 40, kDamping = 3, kRestLength = 0.9;
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

TEST(SpringForce, IsMinusTheEnergyGradient)
{
    // On b the force is -dE/dd, on a it is the opposite. The error of a central difference is
    // E''' h^2 / 6, with E''' about 3 k L / l^2 = 100, plus rounding of E = 2 over h.
    const double h = 1e-5;
    Random random(1);
    for (int i = 0; i < 20; ++i) {
        const Vec3d d = random_vector(random);
        const double third = 3 * kStiffness * kRestLength / dot(d, d);
        const double energy = spring_energy(d, kRestLength, kStiffness);
        const double tolerance = third * h * h + 2 * kEpsilon * (energy + kStiffness) / h;
        const Vec3d f = spring_force(d, kZero, kRestLength, kStiffness, kDamping);
        for (int axis = 0; axis < 3; ++axis) {
            const double up = spring_energy(d + h * unit(axis), kRestLength, kStiffness);
            const double down = spring_energy(d - h * unit(axis), kRestLength, kStiffness);
            EXPECT_NEAR(f[axis], (up - down) / (2 * h), tolerance);
        }
    }
}

TEST(SpringForce, DashpotNeverAddsEnergy)
{
    // With k = 0 the power of both ends is f.v_a - f.v_b = -f.v = -b (v.d)^2 / l^2 <= 0.
    Random random(2);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d = random_vector(random), v = random_vector(random);
        const Vec3d f = spring_force(d, v, kRestLength, 0.0, kDamping);
        const double expected = -kDamping * dot(v, d) * dot(v, d) / dot(d, d);
        EXPECT_LE(-dot(f, v), 0);
        EXPECT_NEAR(-dot(f, v), expected, 20 * kEpsilon * kDamping * dot(v, v));  // ~10 operations
    }
}

TEST(SpringForce, DashpotIgnoresTurningAndSidewaysMotion)
{
    const Vec3d d{0.6, 0, 0}, sideways{0, 2, -1};
    const Vec3d still = spring_force(d, kZero, kRestLength, kStiffness, kDamping);
    const Vec3d turning = spring_force(d, sideways, kRestLength, kStiffness, kDamping);
    for (int axis = 0; axis < 3; ++axis)
        EXPECT_EQ(turning[axis], still[axis]);  // v.d is exactly zero
}

TEST(SpringForce, IsOppositeSeenFromTheOtherEnd)
{
    Random random(3);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d = random_vector(random), v = random_vector(random);
        const Vec3d f = spring_force(d, v, kRestLength, kStiffness, kDamping);
        const Vec3d g = spring_force(-d, -v, kRestLength, kStiffness, kDamping);
        for (int axis = 0; axis < 3; ++axis)
            EXPECT_EQ(f[axis], -g[axis]);  // only signs differ, so every rounding is the same
    }
}

TEST(SpringForce, PointsAlongTheSpring)
{
    Random random(4);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d = random_vector(random), v = random_vector(random);
        const Vec3d f = spring_force(d, v, kRestLength, kStiffness, kDamping);
        EXPECT_LE(length(cross(f, d)), 4 * kEpsilon * length(f) * length(d));  // 2 products each
    }
}

TEST(SpringForce, PullsWhenStretchedAndPushesWhenCompressed)
{
    // f = k (l - L) along d, by hand: 40 (1.2 - 0.9) = 12 and 40 (0.5 - 0.9) = -16.
    const Vec3d stretched = spring_force({0, 1.2, 0}, kZero, kRestLength, kStiffness, kDamping);
    const Vec3d compressed = spring_force({0, 0.5, 0}, kZero, kRestLength, kStiffness, kDamping);
    EXPECT_NEAR(stretched.y, 12, 100 * kEpsilon);  // 12 and ~8 operations
    EXPECT_NEAR(compressed.y, -16, 100 * kEpsilon);
    // Ends that part at 0.25 m/s add the dashpot's b v = 0.75.
    const Vec3d parting =
        spring_force({0, 1.2, 0}, {0, 0.25, 0}, kRestLength, kStiffness, kDamping);
    EXPECT_NEAR(parting.y, 12.75, 100 * kEpsilon);
}

TEST(SpringForce, IsZeroAtRest)
{
    Random random(5);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d = random_vector(random);
        const Vec3d f = spring_force(d, kZero, length(d), kStiffness, kDamping);
        // 1 - L/l is off by a rounding or two of one.
        EXPECT_LE(length(f), 2 * kEpsilon * kStiffness * length(d));
        EXPECT_EQ(spring_energy(d, length(d), kStiffness), 0);
    }
}

template <class Real>
void expect_zero_at_coincident_ends()
{
    const Vec3<Real> zero{}, v{Real(1), Real(-2), Real(3)};
    const Vec3<Real> f = spring_force(zero, v, Real(0.9), Real(40), Real(3));
    for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(f[axis], Real(0));  // NaN would differ
}

TEST(SpringForce, IsZeroForCoincidentEnds)
{
    expect_zero_at_coincident_ends<double>();
    expect_zero_at_coincident_ends<float>();
}

TEST(SpringForce, StaysBoundedNearCoincidentEnds)
{
    // |f| <= k L + b |v| in the limit l -> 0, where the direction is undefined.
    for (const float l : {1e-3f, 1e-6f, 1e-9f, 1e-12f, 1e-20f, 1e-30f}) {
        const Vec3f f = spring_force({l, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, 0.9f, 40.0f, 3.0f);
        EXPECT_LE(length(f), (40 * 0.9f + 3) * 1.00001f) << "l = " << l;
    }
}

}  // namespace

}  // namespace springtime
