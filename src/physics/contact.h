#pragma once

#include <cmath>

#include "physics/choose.h"
#include "springtime/vec3.h"

namespace springtime {

// Not below `low` nor above `high`; NaN counts as `low`, so that what follows may be an index.
template <class T>
SPRINGTIME_HD inline T clamped(const T& value, const T& low, const T& high)
{
    return choose(value > low, choose(value < high, value, high), low);
}

// The direction of d, or `spare` where d is too short to have one.
template <class T>
SPRINGTIME_HD inline Vec3<T> direction(const Vec3<T>& d, const Vec3<T>& spare)
{
    using std::sqrt;
    constexpr float kTiny = 1e-20f;  // [m^2]
    const T square = dot(d, d);
    const auto has_length = square > T(kTiny);
    return choose(has_length, (T(1.0f) / sqrt(choose(has_length, square, T(1.0f)))) * d, spare);
}

// ---- Where a solid is ----

// Where a solid is at a time, and how it moved there in the last step.
template <class T>
struct SolidPlacement {
    Vec3<T> axes[3];   // its own axes in the world
    Vec3<T> position;  // of its origin [m]
    // Velocity of the solid at its point y, seen in its own axes: drift + the rows of spin times y.
    Vec3<T> spin[3];  // [1/s]
    Vec3<T> drift;    // [m/s]

    SPRINGTIME_HD Vec3<T> to_own(const Vec3<T>& direction) const
    {
        return {dot(axes[0], direction), dot(axes[1], direction), dot(axes[2], direction)};
    }
    SPRINGTIME_HD Vec3<T> to_world(const Vec3<T>& own) const
    {
        return own.x * axes[0] + own.y * axes[1] + own.z * axes[2];
    }
    SPRINGTIME_HD Vec3<T> velocity(const Vec3<T>& y) const
    {
        return drift + Vec3<T>{dot(spin[0], y), dot(spin[1], y), dot(spin[2], y)};
    }
};

// ---- Distance to a solid and its gradient ----

// How far a point is from a solid [m], negative inside, and the direction in which that grows
// fastest: a unit vector everywhere, also where the distance has a kink.
template <class T>
struct Surface {
    T distance;
    Vec3<T> normal;
};

// Below a plane with a unit normal, whose points y have normal.y = offset.
template <class T>
SPRINGTIME_HD inline Surface<T> plane_surface(const Vec3<T>& y, const Vec3<T>& normal,
                                              const T& offset)
{
    return {dot(normal, y) - offset, normal};
}

// Within `radius` of the segment from a to a + axis. `inverse_square` is 1/|axis|^2, or zero for a
// sphere; `spare` is a unit vector across the axis, for points on it.
template <class T>
SPRINGTIME_HD inline Surface<T> capsule_surface(const Vec3<T>& y, const Vec3<T>& a,
                                                const Vec3<T>& axis, const T& inverse_square,
                                                const Vec3<T>& spare, const T& radius)
{
    const T along = clamped(dot(y - a, axis) * inverse_square, T(0.0f), T(1.0f));
    const Vec3<T> d = y - a - along * axis;
    return {length(d) - radius, direction(d, spare)};
}

// A rounded box along the axes: everything within `rounding` of the box whose half sides are
// `core`. Inside the core the nearest face counts, and the first of several as near.
template <class T>
SPRINGTIME_HD inline Surface<T> box_surface(const Vec3<T>& y, const Vec3<T>& center,
                                            const Vec3<T>& core, const T& rounding)
{
    const T zero(0.0f), one(1.0f);
    const auto side_of = [&](const T& value) { return choose(value < zero, -one, one); };
    const auto positive = [&](const T& value) { return choose(value > zero, value, zero); };
    const Vec3<T> d = y - center;
    const Vec3<T> side{side_of(d.x), side_of(d.y), side_of(d.z)};
    const Vec3<T> q{side.x * d.x - core.x, side.y * d.y - core.y, side.z * d.z - core.z};
    const Vec3<T> out{positive(q.x), positive(q.y), positive(q.z)};

    const auto y_before_z = q.y < q.z;
    const T larger = choose(y_before_z, q.z, q.y);
    const Vec3<T> face_yz = choose(y_before_z, Vec3<T>{zero, zero, one}, Vec3<T>{zero, one, zero});
    const auto x_is_less = q.x < larger;
    const T largest = choose(x_is_less, larger, q.x);
    const Vec3<T> face = choose(x_is_less, face_yz, Vec3<T>{one, zero, zero});

    const Vec3<T> n = direction(out, face);
    return {length(out) + choose(largest < zero, largest, zero) - rounding,
            {side.x * n.x, side.y * n.y, side.z * n.z}};
}

// A regular grid of points: `last` is the highest index along each axis.
template <class T>
struct GridBox {
    Vec3<T> origin, last;
    T spacing, inverse_spacing;
};

// The values around a cell: x is bit 0 of their index, y bit 1, z bit 2.
template <class T>
struct CellCorners {
    T value[8];
};

// Linear along each axis between the points of a grid; beyond it, the distance to its box is added
// to the value at the nearest point of it. `corners_at(cell)` gives the CellCorners of the cell
// whose whole-numbered place is `cell`. The normal is the direction of the gradient of the same
// interpolation.
template <class T, class Reader>
SPRINGTIME_HD inline Surface<T> grid_surface(const Vec3<T>& y, const GridBox<T>& box,
                                             const Reader& corners_at)
{
    using std::floor;
    const T zero(0.0f), one(1.0f);
    const Vec3<T> place = box.inverse_spacing * (y - box.origin);
    Vec3<T> inside, cell, beyond;
    for (int axis = 0; axis < 3; ++axis) {
        inside[axis] = clamped(place[axis], zero, box.last[axis]);
        cell[axis] = floor(clamped(inside[axis], zero, box.last[axis] - one));
        beyond[axis] = box.spacing * (place[axis] - inside[axis]);
    }
    const Vec3<T> f = inside - cell;
    const CellCorners<T> corners = corners_at(cell);
    const T* c = corners.value;
    T x_value[4], x_slope[4];
    for (int i = 0; i < 4; ++i) {
        x_slope[i] = c[2 * i + 1] - c[2 * i];
        x_value[i] = c[2 * i] + f.x * x_slope[i];
    }
    const T low = x_value[0] + f.y * (x_value[1] - x_value[0]);
    const T high = x_value[2] + f.y * (x_value[3] - x_value[2]);
    const T slope_low = x_slope[0] + f.y * (x_slope[1] - x_slope[0]);
    const T slope_high = x_slope[2] + f.y * (x_slope[3] - x_slope[2]);
    const T y_low = x_value[1] - x_value[0], y_high = x_value[3] - x_value[2];
    Vec3<T> slope{slope_low + f.z * (slope_high - slope_low), y_low + f.z * (y_high - y_low),
                  high - low};
    for (int axis = 0; axis < 3; ++axis) {  // the nearest point of the box stays where it is
        const auto is_beyond = beyond[axis] * beyond[axis] > zero;
        slope[axis] = choose(is_beyond, zero, box.inverse_spacing * slope[axis]);
    }
    const Vec3<T> away = direction(beyond, Vec3<T>{zero, zero, zero});
    return {low + f.z * (high - low) + length(beyond),
            direction(slope + away, Vec3<T>{zero, one, zero})};
}

// ---- What contact does ----

// How a contact changes position [m] and velocity [m/s] after a step.
template <class T>
struct ContactChange {
    Vec3<T> position, velocity;
};

// By how much the normal velocity changes [m/s] when something `depth` too deep and moving out at
// `speed` is put back: what took it there in this step is undone, no more than its inward speed.
// So position and velocity agree in resting contact, and what began deep inside is put outside
// without being thrown.
template <class T>
SPRINGTIME_HD inline T contact_push(const T& depth, const T& speed, const T& dt)
{
    const T inward = choose(speed < T(0.0f), -speed, T(0.0f)), needed = depth / dt;
    return choose(needed < inward, needed, inward);
}

// A particle after its semi-implicit Euler step, moving by `u` relative to the surface. With the
// depth d = max(h - phi, 0), the normal n, the parts u_n and u_t of u, and the push
// p = min(d/dt, max(-u_n, 0)):
//   v += p n - s u_t,   x += d n - dt s u_t,   s = min(1, mu p/|u_t|),
// Coulomb's friction with the normal impulse p, undoing at most the tangential motion of the step.
// It holds, on a slope of angle a under gravity g:
// - in rest every step brings u_n = -dt g cos a and d = -dt u_n, hence p = dt g cos a, and the
//   particle is put back to where it was. It holds there for tan a <= mu, since then s = 1, and
//   otherwise gains dt g (sin a - mu cos a) along the slope in each step.
// - distance: x + d n is at distance h. The distance to a convex solid is convex and n its
//   gradient, so that the tangential part never brings the particle closer: it ends at h or more.
//   In a notch between two solids the push out of one can lead into the other, by no more than it
//   is long; the next steps settle that.
// - seen from the surface, no energy is added: p is at most the inward speed, s at most one.
template <class T>
SPRINGTIME_HD inline ContactChange<T> contact_change(const Surface<T>& surface, const Vec3<T>& u,
                                                     const T& thickness, const T& friction,
                                                     const T& dt)
{
    const T zero(0.0f), one(1.0f);
    const T under = thickness - surface.distance;
    const T depth = choose(under > zero, under, zero);
    const T normal_speed = dot(u, surface.normal);
    const Vec3<T> tangential = u - normal_speed * surface.normal;
    const T push = contact_push(depth, normal_speed, dt);
    const T speed = length(tangential), brake = friction * push;
    const auto holds = brake >= speed;
    const T slow = choose(holds, one, brake / choose(holds, one, speed));
    return {depth * surface.normal - (dt * slow) * tangential,
            push * surface.normal - slow * tangential};
}

// Two particles of one cloth that are closer than `distance` are put apart along the line between
// them, and lose the speed at which they approach as in any contact. d = x_b - x_a and
// u = v_b - v_a; the result is for b per its own share: b changes by share_b times it, a by minus
// share_a times it. With the shares w/(w_a + w_b), w = 1/m, momentum and centre of mass stay.
template <class T>
SPRINGTIME_HD inline ContactChange<T> pair_change(const Vec3<T>& d, const Vec3<T>& u,
                                                  const T& distance, const T& dt)
{
    const T zero(0.0f);
    const Vec3<T> normal = direction(d, Vec3<T>{zero, T(1.0f), zero});
    const T under = distance - length(d);
    const T depth = choose(under > zero, under, zero);
    return {depth * normal, contact_push(depth, dot(u, normal), dt) * normal};
}

}  // namespace springtime
