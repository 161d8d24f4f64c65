#pragma once

#include <vector>

#include "physics/contact.h"

namespace springtime {

struct Obstacle;

// A solid in the axes of its obstacle, in the numbers of its formula in physics/contact.h: what
// kernels in float read, on every kind of machine.
enum class ContactKind { plane, capsule, box, grid };
struct ContactShape {
    ContactKind kind;
    // plane: normal, offset; capsule: a, axis, 1/|axis|^2, spare, radius;
    // box: center, core, rounding; grid: origin, last, spacing, 1/spacing
    float numbers[11];
    const float* distance;  // of a grid; x runs fastest
    int row, layer;         // numbers from one y or z to the next
};

// A box in the axes of an obstacle, outside of which nothing is in contact.
struct ContactBounds {
    float low[3], high[3];

    friend bool operator==(const ContactBounds&, const ContactBounds&) = default;
};

// The distances of grids stay where the obstacle has them.
std::vector<ContactShape> contact_shapes(const Obstacle& obstacle);
ContactBounds contact_bounds(const Obstacle& obstacle, double thickness);

// Three numbers that every lane of T has.
template <class T>
SPRINGTIME_HD inline Vec3<T> contact_vector(const float* numbers)
{
    return {T(numbers[0]), T(numbers[1]), T(numbers[2])};
}

// `corners_at` as grid_surface() asks for it.
template <class T, class CornersAt>
SPRINGTIME_HD inline Surface<T> contact_surface(const ContactShape& shape, const Vec3<T>& y,
                                                const CornersAt& corners_at)
{
    const float* n = shape.numbers;
    switch (shape.kind) {
        case ContactKind::plane:
            return plane_surface(y, contact_vector<T>(n), T(n[3]));
        case ContactKind::capsule:
            return capsule_surface(y, contact_vector<T>(n), contact_vector<T>(n + 3), T(n[6]),
                                   contact_vector<T>(n + 7), T(n[10]));
        case ContactKind::box:
            return box_surface(y, contact_vector<T>(n), contact_vector<T>(n + 3), T(n[6]));
        case ContactKind::grid:
            return grid_surface(
                y, GridBox<T>{contact_vector<T>(n), contact_vector<T>(n + 3), T(n[6]), T(n[7])},
                corners_at);
    }
    return {};
}

// Whether something at y, in the axes of the obstacle, may be in contact. False for NaN.
template <class T>
SPRINGTIME_HD inline auto within(const ContactBounds& bounds, const Vec3<T>& y)
{
    const Vec3<T> low = contact_vector<T>(bounds.low), high = contact_vector<T>(bounds.high);
    return (y.x > low.x) & (y.x < high.x) & (y.y > low.y) & (y.y < high.y) & (y.z > low.z) &
           (y.z < high.z);
}

}  // namespace springtime
