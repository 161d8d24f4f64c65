#include "springtime/cloth.h"
#include "springtime/geometry.h"
#include "springtime/simulation.h"

#include "springtime/error.h"

namespace springtime {

TriangleMesh surface_of(const Cloth& cloth, const State& state)
{
    TriangleMesh surface{state.position, surface_triangles(cloth)};
    if (surface.triangles.empty()) {
        throw Error("surface: this cloth has neither triangles nor a grid; give it one of them");
    }
    return surface;
}

}  // namespace springtime
