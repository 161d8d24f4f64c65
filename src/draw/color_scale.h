#pragma once

#include <string>
#include <vector>

#include "draw/canvas.h"
#include "springtime/cloth.h"

namespace springtime {

enum class Spacing { linear, logarithmic };

// Colours for the values from low to high. Lightness rises all the way, so that the order survives
// grey-scale print and colour-blind eyes.
class ColorScale {
  public:
    // Spans the values given; a single value lies in the middle of a range from zero. A logarithmic
    // scale spans whole decades, and passes over what has no finite logarithm.
    explicit ColorScale(const std::vector<double>& values, Spacing spacing = Spacing::linear);

    double low() const { return low_; }
    double high() const { return high_; }
    // Where a value lies between low, 0, and high, 1, and the value that lies there.
    double share(double value) const;
    double value(double share) const;
    Color color(double value) const;

    // Both ends, and about `count` round numbers between them.
    std::vector<double> ticks(int count) const;

  private:
    std::vector<double> round_numbers(int count) const;

    Spacing spacing_ = Spacing::linear;
    double low_ = 0, high_ = 1;
};

// What the colours of a cloth mean.
std::string stiffness_caption(const Cloth& cloth);

// A bar with numbers beneath it, and the caption to its left.
void draw_scale(Canvas& canvas, const Box& box, const ColorScale& scale,
                const std::string& caption);

}  // namespace springtime
