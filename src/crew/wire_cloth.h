#pragma once

#include <tuple>

#include "core/wire.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

// Cloths, states and what holds them as bytes. Every struct is taken apart in full, so that a new
// member cannot be forgotten here: it does not compile.
namespace springtime {

template <>
inline constexpr bool kPlain<SheetPoint> = true;
template <>
inline constexpr bool kPlain<Sheet> = true;
template <>
inline constexpr bool kPlain<Grid> = true;
template <>
inline constexpr bool kPlain<Environment> = true;
template <>
inline constexpr bool kPlain<Rod::Clamp> = true;

inline auto fields(StiffnessRange& range)
{
    auto& [from, to, stiffness] = range;
    return std::tie(from, to, stiffness);
}
inline auto fields(SpringSet& springs)
{
    auto& [ends, family, rest_length, stiffness, damping, ranges, isotropic] = springs;
    return std::tie(ends, family, rest_length, stiffness, damping, ranges, isotropic);
}
inline auto fields(BendSet& bends)
{
    auto& [particles, family, stiffness, damping] = bends;
    return std::tie(particles, family, stiffness, damping);
}
inline auto fields(TriangleSet& triangles)
{
    auto& [corners, shear, area, damping, warp, weft, kind] = triangles;
    return std::tie(corners, shear, area, damping, warp, weft, kind);
}
inline auto fields(HingeSet& hinges)
{
    auto& [corners, stiffness, damping] = hinges;
    return std::tie(corners, stiffness, damping);
}
inline auto fields(CouplingSet& couplings)
{
    auto& [corners, rest_length, stiffness] = couplings;
    return std::tie(corners, rest_length, stiffness);
}
inline auto fields(Rod& rod)
{
    auto& [bending, bending_damping, twisting, curvature, first, last] = rod;
    return std::tie(bending, bending_damping, twisting, curvature, first, last);
}
// What was learned beside the cloth stays behind: no run looks at it.
inline auto fields(Cloth& cloth)
{
    auto& [sheet, grid, rest, mass, springs, bends, triangles, hinges, couplings, rod, errors,
           globals] = cloth;
    static_cast<void>(errors);
    static_cast<void>(globals);
    return std::tie(sheet, grid, rest, mass, springs, bends, triangles, hinges, couplings, rod);
}
inline auto fields(State& state)
{
    auto& [time, position, velocity] = state;
    return std::tie(time, position, velocity);
}
inline auto fields(Handles& handles)
{
    auto& [particles, key_time, key_position] = handles;
    return std::tie(particles, key_time, key_position);
}
inline auto fields(StepReport& report)
{
    auto& [particle, step, time, lane] = report;
    return std::tie(particle, step, time, lane);
}
// Of runs without contact.
inline auto fields(SimulationOptions& options)
{
    auto& [dt, environment, device, obstacles, thickness, self_distance, substeps] = options;
    static_cast<void>(obstacles);
    return std::tie(dt, environment, device, thickness, self_distance, substeps);
}

}  // namespace springtime
