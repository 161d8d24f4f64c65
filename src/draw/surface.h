#pragma once

#include <array>
#include <optional>
#include <vector>

#include "draw/camera.h"
#include "draw/canvas.h"
#include "draw/color_scale.h"

namespace springtime {

// A corner of what is drawn. Without a normal it is not shaded.
struct SurfaceVertex {
    Vec3d position;  // [m]
    Vec3d normal;    // of length one, or zero; either side may face the viewer
    double value = 0;
};

// Draws solid things into one panel of a canvas; what is nearer hides what is farther, whatever the
// order of drawing.
class SurfacePainter {
  public:
    SurfacePainter(Canvas& canvas, const Box& panel, const Camera& camera, const ColorScale& scale);

    // In the colours of the values, or all in one. What is all in one lies a little farther back
    // than it is. Nothing is drawn unless all corners lie in front of the camera.
    void triangle(const std::array<SurfaceVertex, 3>& corners,
                  const std::optional<Color>& plain = {});
    void line(const SurfaceVertex& a, const SurfaceVertex& b, double thickness);  // [pixel]

    // A grid and the shadows of the triangles, straight down on the plane y = height. Draw them
    // before anything else: they lie behind all that stands above the plane.
    void ground(double height, double size);
    void shadows(const std::vector<std::array<Vec3d, 3>>& triangles, double height);

  private:
    struct Corner {
        Point point;  // in samples, relative to the panel
        double depth;
        Vec3d normal;
        double value;
    };

    // How what is drawn looks, beside the values of its corners.
    struct Look {
        std::optional<Color> plain;  // instead of the colours of the values
        bool far_side = false;
    };

    Corner corner(const SurfaceVertex& vertex) const;
    void fill(const std::array<Corner, 3>& corners, const Look& look);
    void ground_line(const Vec3d& a, const Vec3d& b, double opacity);
    Color shaded(double value, const Vec3d& normal, const Look& look) const;

    Canvas& canvas_;
    Box panel_;
    const Camera& camera_;
    const ColorScale& scale_;
    int cols_, rows_;           // samples in the panel
    std::vector<float> depth_;  // one a sample
};

}  // namespace springtime
