#pragma once

#include <vector>

#include "draw/canvas.h"
#include "springtime/vec3.h"

namespace springtime {

// A perspective camera that looks down on the scene from the front right, y up.
class Camera {
  public:
    struct Projected {
        Point point;       // [pixel], relative to the panel
        double depth = 0;  // [m], along the view; positive in front of the camera
    };

    // As near as it can be with every point inside a panel of width x height pixels.
    Camera(const std::vector<Vec3d>& points, double width, double height);

    Projected project(const Vec3d& position) const;

    const Vec3d& eye() const { return eye_; }
    const Vec3d& right() const { return right_; }
    const Vec3d& up() const { return up_; }
    const Vec3d& back() const { return back_; }  // from the scene towards the viewer

  private:
    Vec3d eye_, right_, up_, back_;
    double width_, height_, focal_;  // [pixel]
};

// Height over width of the points as the camera sees them.
double seen_aspect(const std::vector<Vec3d>& points);

}  // namespace springtime
