#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/color_scale.h"
#include "draw/layout.h"
#include "springtime/error.h"
#include "springtime/report.h"

namespace springtime {

namespace {

constexpr int kLeft = 130, kHeight = 560;  // [pixel], room for numbers, and of the panel
constexpr double kLineWidth = 3;           // [pixel]
constexpr Color kGrid{0.80, 0.82, 0.85};
// Far apart in hue and in lightness.
constexpr std::array kCurveColors{Color{0.75, 0.22, 0.17}, Color{0.20, 0.29, 0.57},
                                  Color{0.10, 0.55, 0.45}, Color{0.60, 0.60, 0.60}};

// From steps and values to the page.
struct Axes {
    Box box;
    double steps;  // across
    ColorScale scale;

    Point at(double step, double value) const
    {
        return {box.left + step / steps * box.width,
                box.bottom() - scale.share(value) * box.height};
    }
};

void draw_axes(Canvas& canvas, const Axes& axes, double interval)
{
    const Box& box = axes.box;
    canvas.fill(box, kPanelTop, kPanelBottom);
    for (const double tick : axes.scale.ticks(6)) {
        const double y = axes.at(0, tick).y;
        canvas.line({double(box.left), y}, {double(box.right()), y}, 1, kGrid);
        const std::string number = fmt::format("{:.4g}", tick);
        canvas.text({box.left - text_width(number, kTextDot) - 10.0, y - 7}, number, kTextDot,
                    kInk);
    }
    for (const double tick : ColorScale({0, axes.steps * interval}).ticks(6)) {
        const double x = axes.at(tick / interval, axes.scale.low()).x;
        canvas.line({x, double(box.top)}, {x, double(box.bottom())}, 1, kGrid);
        const std::string number = fmt::format("{:.4g}", tick);
        canvas.text({x - text_width(number, kTextDot) / 2.0, box.bottom() + 10.0}, number, kTextDot,
                    kInk);
    }
}

void draw_curve(Canvas& canvas, const Axes& axes, const std::vector<double>& values,
                const Color& color)
{
    const auto shown = [&](std::size_t i) { return std::isfinite(values[i]) && values[i] > 0; };
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (!shown(i - 1) || !shown(i)) continue;
        canvas.line(axes.at(double(i - 1), values[i - 1]), axes.at(double(i), values[i]),
                    kLineWidth, color);
    }
}

}  // namespace

Picture draw_curves(const std::vector<DrawnCurve>& curves, double interval,
                    const std::string& across, const std::string& up)
{
    std::vector<double> all;
    std::size_t steps = 0;
    for (const DrawnCurve& curve : curves) {
        all.insert(all.end(), curve.values.begin(), curve.values.end());
        steps = std::max(steps, curve.values.size());
    }
    if (curves.empty() || curves.size() > kCurveColors.size() || steps < 2 || !(interval > 0)) {
        throw Error("picture: {} curves of {} values; give 1 to {}, of 2 values at least",
                    curves.size(), steps, kCurveColors.size());
    }
    std::erase_if(all, [](double value) { return !std::isfinite(value); });
    const int top = 2 * kMargin + kTitleHeight;
    const Axes axes{{kLeft, top, kPageWidth - kLeft - 2 * kMargin, kHeight},
                    double(steps - 1),
                    ColorScale(all, Spacing::logarithmic)};
    Canvas canvas(kPageWidth, top + kHeight + 3 * kMargin, kPaper);
    draw_axes(canvas, axes, interval);
    canvas.text({double(kMargin), double(kMargin)}, up, kTextDot, kInk);
    double left = kMargin + text_width(up, kTextDot) + 2 * kMargin;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        draw_curve(canvas, axes, curves[c].values, kCurveColors[c]);
        canvas.line({left, kMargin + 7.0}, {left + 40, kMargin + 7.0}, 5, kCurveColors[c]);
        canvas.text({left + 52, double(kMargin)}, curves[c].title, kTextDot, kInk);
        left += 52 + text_width(curves[c].title, kTextDot) + 2 * kMargin;
    }
    canvas.text({double(axes.box.right() - text_width(across, kTextDot)),
                 axes.box.bottom() + 10.0 + kMargin},
                across, kTextDot, kInk);
    return canvas.finished();
}

}  // namespace springtime
