#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/geometry.h"
#include "springtime/obstacle.h"
#include "springtime/simulation.h"

namespace springtime {

// 8-bit RGB, row by row from the top.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
};

// The cloth at several times, side by side under one camera, coloured by stiffness: of springs, or
// against shear for a cloth of triangles. Obstacles are grey.
Picture draw_frames(const Cloth& cloth, const std::vector<State>& frames,
                    const std::vector<Obstacle>& obstacles = {});

// The flat sheet with every spring drawn in the colour of its stiffness, every triangle in that of
// its stiffness against shear, and a scale.
Picture draw_stiffness(const Cloth& cloth);

// The flat sheet with every spring in the colour of the standard error of its stiffness, relative
// to the stiffness; grey where the motion said nothing.
Picture draw_determination(const Cloth& cloth);

void write_png(const std::filesystem::path& path, const Picture& picture);

// The part of an endless plane that a picture shows: a square of `side` around the point of the
// plane that is nearest to `middle`.
struct PlaneCut {
    Vec3d middle;
    double side = 10;  // [m]
};

// The surface of an obstacle at a time, for pictures: shapes are sampled at about a hundred points
// along the longest side, and smoothed by that.
TriangleMesh obstacle_surface(const Obstacle& obstacle, double time, const PlaneCut& cut = {});

}  // namespace springtime
