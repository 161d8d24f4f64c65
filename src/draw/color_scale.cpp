#include "draw/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/layout.h"

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

ColorScale::ColorScale(const std::vector<double>& values, Spacing spacing) : spacing_(spacing)
{
    std::vector<double> shown = values;
    if (spacing == Spacing::logarithmic) {
        std::erase_if(shown, [](double value) { return !(value > 0) || std::isinf(value); });
        low_ = 0.1;
    }
    if (shown.empty()) return;
    const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
    if (spacing == Spacing::logarithmic) {
        constexpr double kRounding = 1e-9;  // of a decade
        const double first = std::floor(std::log10(*low) + kRounding);
        low_ = std::pow(10, first);
        high_ = std::pow(10, std::max(first + 1, std::ceil(std::log10(*high) - kRounding)));
        return;
    }
    low_ = *low;
    high_ = *high;
    // Differences of rounding must not be drawn as if they were real.
    if (high_ - low_ <= 1e-9 * high_) {
        low_ = 0;
        high_ = high_ > 0 ? 2 * high_ : 1;
    }
}

double ColorScale::share(double value) const
{
    if (spacing_ == Spacing::linear) return (value - low_) / (high_ - low_);
    return std::log(value / low_) / std::log(high_ / low_);
}

double ColorScale::value(double share) const
{
    if (spacing_ == Spacing::linear) return (1 - share) * low_ + share * high_;
    return low_ * std::pow(high_ / low_, share);
}

Color ColorScale::color(double value) const
{
    const double at = std::clamp(share(value), 0.0, 1.0) * (kStops.size() - 1);
    const auto stop = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
    return mix(kStops[stop], kStops[stop + 1], at - static_cast<double>(stop));
}

std::vector<double> ColorScale::round_numbers(int count) const
{
    std::vector<double> found;
    if (spacing_ == Spacing::linear) {
        const double rough = (high_ - low_) / count;
        const double power = std::pow(10, std::floor(std::log10(rough)));
        const double digit = rough / power;
        const double step = power * (digit <= 1.01   ? 1
                                     : digit <= 2.01 ? 2
                                     : digit <= 5.01 ? 5
                                                     : 10);
        // Whole multiples, so that the numbers carry no rounding of a running sum.
        for (double k = std::ceil(low_ / step); k * step < high_; ++k) found.push_back(k * step);
        return found;
    }
    const double decades = std::log10(high_ / low_);
    const double step = std::max(1.0, std::ceil(decades / count));
    for (double k = std::round(std::log10(low_)); k <= std::log10(high_); k += step) {
        found.push_back(std::pow(10, k));
        if (3 * decades > count) continue;  // no room for 2 and 5
        found.push_back(2 * std::pow(10, k));
        found.push_back(5 * std::pow(10, k));
    }
    return found;
}

std::vector<double> ColorScale::ticks(int count) const
{
    std::vector<double> found{low_};
    for (const double number : round_numbers(count)) {
        const double at = share(number);
        if (std::min(at, 1 - at) > kTickRoom) found.push_back(number);
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
        const Color color = scale.color(scale.value((x + 0.5) / bar.width));
        canvas.fill({bar.left + x, bar.top, 1, bar.height}, color, color);
    }
    for (const double tick : scale.ticks(6)) {
        const double x = bar.left + scale.share(tick) * bar.width;
        canvas.line({x, double(bar.bottom())}, {x, bar.bottom() + 6.0}, 1.5, kInk);
        const std::string number = fmt::format("{:.4g}", tick);
        canvas.text({x - text_width(number, kTextDot) / 2.0 + 1, bar.bottom() + 11.0}, number,
                    kTextDot, kInk);
    }
}

}  // namespace springtime
