#pragma once

#include <algorithm>

#include "springtime/cloth.h"

namespace springtime::bench {

// The cloth of springs that all benchmarks of steps run.
inline Cloth spring_cloth(bool bending_springs = true)
{
    return make_grid_cloth({15.5, 15.5, 102.4}, {32, 32, true, true, true, bending_springs},
                           MaterialField::uniform(25), MaterialField::uniform(6));
}

// The same with all that the full law has; nothing in it is zero.
inline Cloth full_law_cloth(bool bending_springs)
{
    Cloth cloth = spring_cloth(bending_springs);
    set_law(cloth, law_named("full"));
    for (const Parameter& parameter : learned_parameters(cloth)) {
        for (double& value : values_of(cloth, parameter)) value = std::max(value, 0.05);
    }
    return cloth;
}

// The sheet of the finite-element benchmark.
inline Cloth reference_mesh()
{
    const Sheet sheet{15.5, 15.5, 30};
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, {31, 31}, MeshCut::alternating), {});
}

// The same with fibres.
inline Cloth woven_mesh()
{
    Cloth cloth = reference_mesh();
    cloth.triangles.warp_stiffness.assign(cloth.triangles.triangle_count(), 100);
    cloth.triangles.weft_stiffness = cloth.triangles.warp_stiffness;
    return cloth;
}

// Springs on the landmarks of that sheet that are coupled in the triangles of one cut.
inline Cloth coupled_cloth()
{
    Cloth cloth = make_grid_cloth({15.5, 15.5, 30}, {31, 31, true, true, false, false},
                                  MaterialField::uniform(100), MaterialField::uniform(0.3));
    set_law(cloth, law_named("coupled"));
    for (const Parameter& parameter : learned_parameters(cloth)) {
        for (double& value : values_of(cloth, parameter)) value = std::max(value, 0.05);
    }
    return cloth;
}

}  // namespace springtime::bench
