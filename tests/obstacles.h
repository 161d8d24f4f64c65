#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "springtime/obstacle.h"

namespace springtime {

inline Obstacle solid(std::vector<Shape> shapes, double friction = 0.3)
{
    Obstacle obstacle;
    obstacle.shapes = std::move(shapes);
    obstacle.friction = friction;
    return obstacle;
}

inline Shape sphere(const Vec3d& center, double radius)
{
    return CapsuleShape{center, center, radius};
}

// A distance at the points of a grid.
inline std::shared_ptr<DistanceGrid> sampled(std::array<int, 3> size, const Vec3d& origin,
                                             double spacing,
                                             const std::function<double(const Vec3d&)>& distance)
{
    auto grid = std::make_shared<DistanceGrid>(DistanceGrid{size, origin, spacing, {}});
    for (int z = 0; z < size[2]; ++z) {
        for (int y = 0; y < size[1]; ++y) {
            for (int x = 0; x < size[0]; ++x) {
                const Vec3d at = origin + spacing * Vec3d{double(x), double(y), double(z)};
                grid->distance.push_back(float(distance(at)));
            }
        }
    }
    return grid;
}

// A ball, a turning block and a sampled hill, one after the other under the sheet.
inline std::vector<Obstacle> landscape()
{
    Obstacle block = solid({BoxShape{{0.1, 0, 0}, {0.3, 0.2, 0.2}, 0.05}}, 0.5);
    block.key_time = {0, 0.1, 1};
    block.key_pose = {
        {{0.8, -0.3, 0}, {}}, {{0.8, -0.25, 0}, {0, 0.1, 0}}, {{0.9, -0.2, 0}, {0.2, 0, 0}}};
    const auto hill = [](const Vec3d& y) { return length(y) - 0.45; };
    Obstacle grid = solid({GridShape{sampled({24, 24, 24}, {-0.6, -0.6, -0.6}, 0.05, hill)}}, 0.1);
    grid.key_pose = {{{-0.8, -0.5, 0.2}, {0.3, 0.2, 0.1}}};
    return {solid({sphere({0, -0.5, 0}, 0.4), PlaneShape{{0, -0.4, 0}, {0, 1, 0}}}), block, grid};
}

}  // namespace springtime
