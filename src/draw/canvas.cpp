#include "draw/canvas.h"

#include <algorithm>
#include <cmath>

#include "draw/font.h"

namespace springtime {

namespace {

constexpr int kSide = Canvas::kSamples;

std::uint8_t byte_of(double channel)
{
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(channel, 0.0, 1.0)));
}

std::uint8_t blended(std::uint8_t beneath, double channel, double opacity)
{
    return byte_of((1 - opacity) * beneath / 255 + opacity * channel);
}

double distance_to_segment(const Point& p, const Point& a, const Point& b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    const double along = square > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0;
    const double t = std::clamp(along, 0.0, 1.0);
    return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Samples [first, last) that a span of the picture can touch, limited to [low, high).
struct Span {
    int first, last;
};

Span span_of(double from, double to, int low, int high)
{
    // Limited before the conversion: a coordinate may exceed any integer.
    const double first = std::clamp(std::floor(from), double(low), double(high));
    const double last = std::clamp(std::ceil(to), double(low), double(high));
    return {static_cast<int>(first), static_cast<int>(last)};
}

}  // namespace

Color mix(const Color& a, const Color& b, double share)
{
    return {a.r + share * (b.r - a.r), a.g + share * (b.g - a.g), a.b + share * (b.b - a.b)};
}

Color scaled(const Color& color, double factor)
{
    return {std::min(1.0, factor * color.r), std::min(1.0, factor * color.g),
            std::min(1.0, factor * color.b)};
}

Canvas::Canvas(int width, int height, const Color& background)
    : width_(width), height_(height), samples_(std::size_t(3) * kSide * kSide * width * height)
{
    fill({0, 0, width, height}, background, background);
}

void Canvas::blend_sample(int x, int y, const Color& color, double opacity)
{
    if (x < 0 || y < 0 || x >= kSide * width_ || y >= kSide * height_) return;
    std::uint8_t* sample = &samples_[3 * (std::size_t(y) * kSide * width_ + x)];
    sample[0] = blended(sample[0], color.r, opacity);
    sample[1] = blended(sample[1], color.g, opacity);
    sample[2] = blended(sample[2], color.b, opacity);
}

void Canvas::fill(const Box& box, const Color& top, const Color& bottom)
{
    for (int y = kSide * box.top; y < kSide * box.bottom(); ++y) {
        const double share = (y - kSide * box.top + 0.5) / (kSide * box.height);
        const Color color = mix(top, bottom, share);
        for (int x = kSide * box.left; x < kSide * box.right(); ++x) {
            blend_sample(x, y, color, 1);
        }
    }
}

void Canvas::line(const Point& a, const Point& b, double thickness, const Color& color,
                  double opacity)
{
    line_within({0, 0, width_, height_}, a, b, thickness, color, opacity);
}

void Canvas::line_within(const Box& box, const Point& a, const Point& b, double thickness,
                         const Color& color, double opacity)
{
    const Point from{kSide * a.x, kSide * a.y}, to{kSide * b.x, kSide * b.y};
    // A line thinner than a sample becomes fainter instead, or it would break into dots.
    const double wanted = kSide * thickness, drawn = std::max(wanted, 1.0);
    const double strength = opacity * wanted / drawn, reach = drawn / 2 + 0.5;
    const Span rows = span_of(std::min(from.y, to.y) - reach, std::max(from.y, to.y) + reach,
                              kSide * box.top, kSide * box.bottom());
    const Span cols = span_of(std::min(from.x, to.x) - reach, std::max(from.x, to.x) + reach,
                              kSide * box.left, kSide * box.right());
    for (int y = rows.first; y < rows.last; ++y) {
        // Samples of this row within reach are within reach of this part of the line, left and
        // right as well.
        const auto part_at = [&](double row) {
            return from.y == to.y ? row > from.y : (row - from.y) / (to.y - from.y);
        };
        const double s = std::clamp(part_at(y + 0.5 - reach), 0.0, 1.0);
        const double t = std::clamp(part_at(y + 0.5 + reach), 0.0, 1.0);
        const double one = from.x + s * (to.x - from.x), other = from.x + t * (to.x - from.x);
        const Span near = span_of(std::min(one, other) - reach, std::max(one, other) + reach,
                                  cols.first, cols.last);
        for (int x = near.first; x < near.last; ++x) {
            const double distance = distance_to_segment({x + 0.5, y + 0.5}, from, to);
            const double coverage = std::clamp(reach - distance, 0.0, 1.0);
            if (coverage > 0) blend_sample(x, y, color, strength * coverage);
        }
    }
}

void Canvas::text(const Point& top_left, std::string_view text, int dot, const Color& color)
{
    int left = static_cast<int>(std::lround(top_left.x));
    const int top = static_cast<int>(std::lround(top_left.y));
    for (const char letter : text) {
        for (int row = 0; row < kGlyphRows; ++row) {
            for (int col = 0; col < kGlyphCols; ++col) {
                if (!glyph_dot(letter, row, col)) continue;
                fill({left + dot * col, top + dot * row, dot, dot}, color, color);
            }
        }
        left += dot * (kGlyphCols + 1);
    }
}

Picture Canvas::finished() const
{
    Picture picture{width_, height_, std::vector<std::uint8_t>(std::size_t(3) * width_ * height_)};
    for (int y = 0; y < height_; ++y) {
        for (int x = 0; x < 3 * width_; ++x) {
            const int channel = x % 3, first = 3 * kSide * (x / 3) + channel;
            int sum = 0;
            for (int s = 0; s < kSide * kSide; ++s) {
                const std::size_t row = std::size_t(kSide) * y + s / kSide;
                sum += samples_[row * 3 * kSide * width_ + first + 3 * (s % kSide)];
            }
            const int count = kSide * kSide;
            picture.rgb[std::size_t(3) * width_ * y + x] =
                static_cast<std::uint8_t>((sum + count / 2) / count);
        }
    }
    return picture;
}

int text_width(std::string_view text, int dot)
{
    return static_cast<int>(text.size()) * dot * (kGlyphCols + 1);
}

}  // namespace springtime
