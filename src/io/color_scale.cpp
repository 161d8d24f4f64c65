#include "io/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/layout.h"

namespace springtime {

namespace {

// From soft to stiff, evenly spaced. Chosen by eye on a light ground; the CIE lightness is 29, 37,
// 48, 60, 73, 88: the dark end still shows shading, the light end still stands out.
constexpr std::array kStops{
    Color{0.192, 0.235, 0.545}, Color{0.420, 0.259, 0.620}, Color{0.714, 0.290, 0.553},
    Color{0.906, 0.420, 0.400}, Color{0.961, 0.631, 0.318}, Color{0.980, 0.863, 0.471},
};

// A round number nearer to an end than this share of the range would run into the end's own number.
constexpr double kTickRoom = 0.1;

}  // namespace

ColorScale::ColorScale(const std::vector<double>& values)
{
    if (values.empty()) return;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
    // Differences of rounding must not be drawn as if they were real.
    if (high_ - low_ <= 1e-9 * high_) {
        low_ = 0;
        high_ = high_ > 0 ? 2 * high_ : 1;
    }
}

Color ColorScale::color(double value) const
{
    const double share = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
    const double at = share * (kStops.size() - 1);
    const auto stop = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
    return mix(kStops[stop], kStops[stop + 1], at - static_cast<double>(stop));
}

std::vector<double> ColorScale::ticks(int count) const
{
    const double span = high_ - low_, rough = span / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    const double step = power * (digit <= 1.01 ? 1 : digit <= 2.01 ? 2 : digit <= 5.01 ? 5 : 10);
    std::vector<double> found{low_};
    // Whole multiples, so that the numbers carry no rounding of a running sum.
    for (double k = std::ceil(low_ / step); k * step < high_; ++k) {
        const double room = std::min(k * step - low_, high_ - k * step);
        if (room > kTickRoom * span) found.push_back(k * step);
    }
    found.push_back(high_);
    return found;
}

std::string stiffness_caption(const Cloth& cloth)
{
    return cloth.triangles.triangle_count() > 0 ? "shear stiffness [N/m]" : "stiffness [N/m]";
}

void draw_scale(Canvas& canvas, const Box& box, const ColorScale& scale, const std::string& caption)
{
    constexpr int kBar = 18;
    const int caption_width = text_width(caption, kTextDot) + 20;
    const Box bar{box.left + caption_width, box.top, box.width - caption_width, kBar};
    canvas.text({double(box.left), box.top + 1.0}, caption, kTextDot, kInk);
    for (int x = 0; x < bar.width; ++x) {
        const double share = (x + 0.5) / bar.width;
        const Color color = scale.color((1 - share) * scale.low() + share * scale.high());
        canvas.fill({bar.left + x, bar.top, 1, bar.height}, color, color);
    }
    for (const double tick : scale.ticks(6)) {
        const double share = (tick - scale.low()) / (scale.high() - scale.low());
        const double x = bar.left + share * bar.width;
        canvas.line({x, double(bar.bottom())}, {x, bar.bottom() + 6.0}, 1.5, kInk);
        const std::string number = fmt::format("{:.4g}", tick);
        canvas.text({x - text_width(number, kTextDot) / 2.0 + 1, bar.bottom() + 11.0}, number,
                    kTextDot, kInk);
    }
}

}  // namespace springtime
