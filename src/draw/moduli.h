#pragma once

// Moduli of a sheet from its stiffness at small strain. T is a number, or one with slopes.
namespace springtime {

// Contraction across over extension along the first direction, while nothing pulls across.
template <class T>
T poisson_ratio(const T& c12, const T& c22)
{
    return c12 / c22;
}

// Young's modulus times thickness along the first direction [N/m].
template <class T>
T young_modulus(const T& c11, const T& c12, const T& c22)
{
    return c11 - c12 * poisson_ratio(c12, c22);
}

// A hinge of ours has K = 3 B |e|^2 / (A1 + A2). A sheet of them that is curved along the rows or
// columns of a grid has the rigidity D = 3 B.
inline constexpr double kRigidityOfBending = 3;

// A hinge of ARCSim has the energy k |e|^2 / (8 (A1 + A2)) theta^2, so its K is that of B = k/12,
// and D = k/4.
inline constexpr double kArcsimRigidity = kRigidityOfBending / 12;

}  // namespace springtime
