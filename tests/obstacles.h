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

}  // namespace springtime
