#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "springtime/report.h"

namespace springtime {

// sRGB, each 0 to 1.
struct Color {
    double r = 0, g = 0, b = 0;
};

Color mix(const Color& a, const Color& b, double share);
Color scaled(const Color& color, double factor);  // clipped to 1

// In pixels of the finished picture, y downward.
struct Point {
    double x = 0, y = 0;
};

// In whole pixels, so that the edges of panels stay sharp.
struct Box {
    int left = 0, top = 0, width = 0, height = 0;

    int right() const { return left + width; }
    int bottom() const { return top + height; }
};

// A picture in the making, with kSamples x kSamples samples a pixel. Whatever reaches beyond the
// canvas is cut off.
class Canvas {
  public:
    static constexpr int kSamples = 2;

    Canvas(int width, int height, const Color& background);

    int width() const { return width_; }    // [pixel]
    int height() const { return height_; }  // [pixel]

    // Column x and row y count samples, not pixels.
    void blend_sample(int x, int y, const Color& color, double opacity);

    void fill(const Box& box, const Color& top, const Color& bottom);
    // With round ends.
    void line(const Point& a, const Point& b, double thickness, const Color& color,
              double opacity = 1);
    // The part of the line within the box.
    void line_within(const Box& box, const Point& a, const Point& b, double thickness,
                     const Color& color, double opacity);
    // One dot of the font becomes dot x dot pixels.
    void text(const Point& top_left, std::string_view text, int dot, const Color& color);

    Picture finished() const;

  private:
    int width_, height_;
    std::vector<std::uint8_t> samples_;  // RGB
};

int text_width(std::string_view text, int dot);  // [pixel]

}  // namespace springtime
