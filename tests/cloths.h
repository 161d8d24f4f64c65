#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/random.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

inline constexpr Environment kEmptySpace{{0, 0, 0}, 0, {0, 0, 0}};

// The values of learned parameter number k.
inline std::vector<double>& learned(Cloth& cloth, std::size_t k)
{
    return values_of(cloth, learned_parameters(cloth)[k]);
}
inline const std::vector<double>& learned(const Cloth& cloth, std::size_t k)
{
    return values_of(cloth, learned_parameters(cloth)[k]);
}
inline int learned_count(const Cloth& cloth)
{
    return static_cast<int>(learned_parameters(cloth).size());
}

// Particles in a line along u, each joined to the next.
inline Cloth chain_cloth(int count, double spacing, double mass, double stiffness, double damping,
                         std::optional<Grid> grid = std::nullopt)
{
    Cloth cloth;
    cloth.sheet = {spacing * std::max(count - 1, 1), spacing, mass * count};
    cloth.grid = grid;
    cloth.mass.assign(count, mass);
    for (int p = 0; p < count; ++p) cloth.rest.push_back({spacing * p, 0});
    for (int p = 0; p + 1 < count; ++p) cloth.springs.ends.push_back({p, p + 1});
    cloth.springs.family.assign(count - 1, SpringFamily::structural);
    cloth.springs.rest_length.assign(count - 1, spacing);
    cloth.springs.stiffness.assign(count - 1, stiffness);
    cloth.springs.damping.assign(count - 1, damping);
    return cloth;
}

// The same chain as a loose list, as one row and as one column of a grid: a grid may be run by
// other code than a list.
inline std::vector<std::optional<Grid>> chain_grids(int count)
{
    return {std::nullopt, Grid{1, count}, Grid{count, 1}};
}

// A grid with 0.5 m cells on which no two particles and no two springs are alike.
inline Cloth uneven_grid(const GridOptions& options)
{
    const Sheet sheet{0.5 * std::max(options.cols - 1, 1), 0.5 * std::max(options.rows - 1, 1),
                      0.1 * options.rows * options.cols};
    Cloth cloth =
        make_grid_cloth(sheet, options, MaterialField::uniform(50), MaterialField::uniform(0.5));
    Random random(7);
    const auto vary = [&](std::vector<double>& values, double part) {
        for (double& value : values) value *= 1 + part * (2 * random.uniform() - 1);
    };
    vary(cloth.mass, 0.5);
    vary(cloth.springs.rest_length, 0.05);
    vary(cloth.springs.stiffness, 0.9);
    vary(cloth.springs.damping, 0.9);
    return cloth;
}

// A law with four stiffnesses of springs, and all else that there is.
inline SpringLaw manifold_law()
{
    return {{-0.15, 0, 0.1}, true, true};
}

// Gives a grid a law on which no two elements are alike.
inline void add_uneven_law(Cloth& cloth, const SpringLaw& law = manifold_law())
{
    set_law(cloth, law);
    Random random(8);
    for (StiffnessRange& range : cloth.springs.ranges) {
        for (double& k : range.stiffness) k *= 0.2 + 1.2 * random.uniform();
    }
    for (double& c : cloth.springs.isotropic_damping) c = 0.2 * random.uniform();
    for (double& kappa : cloth.bends.stiffness) kappa = 2 * random.uniform();
    for (double& eta : cloth.bends.damping) eta = 0.02 * random.uniform();
}

// A finite-element sheet with 0.5 m cells on which no two particles and no two elements are alike.
inline Cloth uneven_mesh(const Grid& grid, MeshCut cut, TriangleDamping kind)
{
    const Sheet sheet{0.5 * (grid.cols - 1), 0.5 * (grid.rows - 1), 0.1 * grid.rows * grid.cols};
    MeshMaterial material;
    material.bending = MaterialField::uniform(0.5);
    material.damping_kind = kind;
    Cloth cloth = make_mesh_cloth(sheet, make_grid_mesh(sheet, grid, cut), material);
    Random random(11);
    for (auto* values :
         {&cloth.mass, &cloth.triangles.shear_stiffness, &cloth.triangles.area_stiffness,
          &cloth.triangles.damping, &cloth.hinges.stiffness, &cloth.hinges.damping}) {
        for (double& value : *values) value *= 0.5 + random.uniform();
    }
    return cloth;
}

// Gives triangles fibres, no two alike.
inline void add_uneven_fibres(Cloth& cloth)
{
    Random random(12);
    for (auto* values : {&cloth.triangles.warp_stiffness, &cloth.triangles.weft_stiffness}) {
        values->resize(cloth.triangles.triangle_count());
        for (double& value : *values) value = 200 * random.uniform();
    }
}

// The flat sheet with every coordinate shifted by up to 0.1 m and velocities up to 1 m/s.
inline State shaken_state(const Cloth& cloth, int seed)
{
    State state = flat_state(cloth);
    Random random(seed);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            state.position[p][axis] += 0.1 * (2 * random.uniform() - 1);
            state.velocity[p][axis] = 2 * random.uniform() - 1;
        }
    }
    return state;
}

// Largest distance between particles of the same number.
inline double largest_distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b)
{
    double largest = 0;
    for (std::size_t p = 0; p < a.size(); ++p) {
        const double distance = length(a[p] - b[p]);
        if (!(distance <= largest)) largest = distance;  // written so that NaN is kept
    }
    return largest;
}

inline double largest_length(const std::vector<Vec3d>& a)
{
    return largest_distance(a, std::vector<Vec3d>(a.size()));
}

}  // namespace springtime
