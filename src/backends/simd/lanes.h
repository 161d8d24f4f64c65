#pragma once

#include <type_traits>

#include "backends/simd/kernels.h"
#include "backends/simd/pack.h"
#include "physics/triangle.h"
#include "springtime/vec3.h"

// What the kernels of one instruction set share.
namespace springtime::SPRINGTIME_ISA {

using Vec = Vec3<Pack>;

// Gravity, wind, drag and step, the same in every lane.
struct AirPacks {
    Vec gravity, wind;
    Pack drag, dt;

    explicit AirPacks(const Air& air)
        : gravity{Pack(air.gravity[0]), Pack(air.gravity[1]), Pack(air.gravity[2])},
          wind{Pack(air.wind[0]), Pack(air.wind[1]), Pack(air.wind[2])},
          drag(air.drag),
          dt(air.dt)
    {
    }
};

// A particle in an array of [particle][xyz][lane].
inline Vec load_lanes(const float* array, int particle)
{
    const float* from = array + 3 * kWidth * particle;
    return {Pack::load(from), Pack::load(from + kWidth), Pack::load(from + 2 * kWidth)};
}

inline void store_lanes(float* array, int particle, const Vec& value)
{
    float* to = array + 3 * kWidth * particle;
    value.x.store(to);
    value.y.store(to + kWidth);
    value.z.store(to + 2 * kWidth);
}

// Calls run<Damping, Material>() with what the triangles of a cloth are made of, so that it does
// not pay for what it has not.
template <class Run>
void with_triangles(bool damps_strain, bool woven, const Run& run)
{
    using Plain = TriangleMaterial<Pack>;
    using Woven = WovenMaterial<Pack>;
    if (damps_strain) {
        woven ? run.template operator()<DampsStrain, Woven>()
              : run.template operator()<DampsStrain, Plain>();
    } else {
        woven ? run.template operator()<DampsDeformation, Woven>()
              : run.template operator()<DampsDeformation, Plain>();
    }
}

// The material whose numbers are those of TriangleMaterial, then those of WovenMaterial.
template <class Material, class Number>
Material triangle_material(Number number)
{
    const TriangleMaterial<Pack> plain{number(0), number(1), number(2)};
    if constexpr (std::is_same_v<Material, WovenMaterial<Pack>>) {
        return {plain, number(3), number(4)};
    } else {
        return plain;
    }
}

// In element_kernels.cpp, grid_kernels.cpp and mesh_kernels.cpp.
void lane_element_forces(const SweepElements& elements, const LaneState& from, float* force);
void lane_element_adjoints(const SweepElements& elements, const LaneState& from,
                           const LaneAdjoint& adjoint);
void grid_step(const Air& air, const GridArrays& grid);
void mesh_step(const Air& air, const MeshArrays& mesh);

}  // namespace springtime::SPRINGTIME_ISA
