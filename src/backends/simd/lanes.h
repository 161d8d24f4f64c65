#pragma once

#include "backends/simd/kernels.h"
#include "backends/simd/pack.h"
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

// In element_kernels.cpp, grid_kernels.cpp and mesh_kernels.cpp.
void lane_element_forces(const SweepElements& elements, const LaneState& from, float* force);
void grid_step(const Air& air, const GridArrays& grid);
void mesh_step(const Air& air, const MeshArrays& mesh);

}  // namespace springtime::SPRINGTIME_ISA
