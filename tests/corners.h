#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/random.h"
#include "dual.h"
#include "springtime/vec3.h"

// What the tests of triangles and hinges share: N corners that move, and the forces on them.
namespace springtime {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

template <std::size_t N>
using Corners = std::array<Vec3d, N>;

inline Vec3d random_vector(Random& random)
{
    return {random.normal(), random.normal(), random.normal()};
}

template <std::size_t N>
Corners<N> random_corners(Random& random, double size)
{
    Corners<N> corners;
    for (Vec3d& corner : corners) corner = size * random_vector(random);
    return corners;
}

// v + sin(t) axis x v + (1 - cos(t)) axis x (axis x v), with an axis of length one.
inline Vec3d turned(const Vec3d& v, const Vec3d& axis, double angle)
{
    const Vec3d once = cross(axis, v);
    return v + std::sin(angle) * once + (1 - std::cos(angle)) * cross(axis, once);
}

// Turned and shifted anyhow, all corners alike.
template <std::size_t N>
Corners<N> placed(Corners<N> x, Random& random)
{
    const Vec3d axis = random_vector(random), shift = random_vector(random);
    const double angle = 6 * random.uniform();
    for (Vec3d& corner : x) corner = turned(corner, (1 / length(axis)) * axis, angle) + shift;
    return x;
}

// Velocities of a rigid motion.
template <std::size_t N>
Corners<N> rigid_motion(const Corners<N>& position, const Vec3d& velocity, const Vec3d& spin)
{
    Corners<N> result;
    for (std::size_t i = 0; i < N; ++i) result[i] = velocity + cross(spin, position[i]);
    return result;
}

template <std::size_t N>
Vec3d sum(const Corners<N>& vectors)
{
    Vec3d total;
    for (const Vec3d& v : vectors) total += v;
    return total;
}

template <std::size_t N>
Vec3d torque(const Corners<N>& position, const Corners<N>& force)
{
    Vec3d total;
    for (std::size_t i = 0; i < N; ++i) total += cross(position[i], force[i]);
    return total;
}

template <std::size_t N>
double power(const Corners<N>& force, const Corners<N>& velocity)
{
    double total = 0;
    for (std::size_t i = 0; i < N; ++i) total += dot(force[i], velocity[i]);
    return total;
}

template <std::size_t N>
double largest(const Corners<N>& vectors)
{
    double most = 0;
    for (const Vec3d& v : vectors) most = length(v) <= most ? most : length(v);  // keeps NaN
    return most;
}

template <std::size_t N>
Corners<N> difference(const Corners<N>& a, const Corners<N>& b)
{
    Corners<N> result;
    for (std::size_t i = 0; i < N; ++i) result[i] = a[i] - b[i];
    return result;
}

// Minus the gradient of an energy of corners, by central differences.
template <std::size_t N, class EnergyOf>
Corners<N> slope_by_difference(const Corners<N>& at, double h, EnergyOf energy)
{
    Corners<N> result;
    for (std::size_t i = 0; i < N; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            Corners<N> up = at, down = at;
            up[i][axis] += h;
            down[i][axis] -= h;
            result[i][axis] = -(energy(up) - energy(down)) / (2 * h);
        }
    }
    return result;
}

// The same by dual numbers: exact but for rounding.
template <std::size_t N, class EnergyOf>
Corners<N> slope_by_dual(const Corners<N>& at, EnergyOf energy)
{
    std::array<Vec3<Dual>, N> dual;
    for (std::size_t i = 0; i < N; ++i) dual[i] = {Dual(at[i].x), Dual(at[i].y), Dual(at[i].z)};
    Corners<N> result;
    for (std::size_t i = 0; i < N; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            dual[i][axis].slope = 1;
            result[i][axis] = -energy(dual).slope;
            dual[i][axis].slope = 0;
        }
    }
    return result;
}

}  // namespace springtime
