#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/quantile.h"
#include "draw/color_scale.h"
#include "draw/layout.h"
#include "draw/triangle_samples.h"
#include "springtime/error.h"
#include "springtime/identify.h"
#include "springtime/report.h"

namespace springtime {

namespace {

constexpr double kInset = 22;  // [pixel], between the sheet and the edge of its panel
constexpr Color kUnseen{0.68, 0.70, 0.73};
constexpr double kMaxRise = 14;  // [pixel], of an arc; stays within the inset

// Families that cross but do not cover each other share a panel. One without families shows the
// triangles.
struct FamilyPanel {
    std::string title;
    std::vector<SpringFamily> families;
    std::vector<std::size_t> springs;
};

std::vector<FamilyPanel> panels_of(const Cloth& cloth)
{
    if (cloth.triangles.triangle_count() > 0) return {{"triangles", {}, {}}};
    std::vector<FamilyPanel> panels{
        {"structural", {SpringFamily::structural}, {}},
        {"diagonal + antidiagonal", {SpringFamily::diagonal, SpringFamily::antidiagonal}, {}},
        {"bending", {SpringFamily::bending}, {}},
    };
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        for (FamilyPanel& panel : panels) {
            const auto& families = panel.families;
            if (std::count(families.begin(), families.end(), cloth.springs.family[s]) > 0) {
                panel.springs.push_back(s);
            }
        }
    }
    std::erase_if(panels, [](const FamilyPanel& panel) { return panel.springs.empty(); });
    return panels;
}

// From the flat sheet [m] to the page [pixel]; north is at the top.
class SheetView {
  public:
    SheetView(const Cloth& cloth, const Box& box)
    {
        const auto by_u = [](SheetPoint a, SheetPoint b) { return a.u < b.u; };
        const auto by_v = [](SheetPoint a, SheetPoint b) { return a.v < b.v; };
        const auto [west, east] = std::minmax_element(cloth.rest.begin(), cloth.rest.end(), by_u);
        const auto [north, south] = std::minmax_element(cloth.rest.begin(), cloth.rest.end(), by_v);
        centre_ = {(west->u + east->u) / 2, (north->v + south->v) / 2};
        middle_ = {box.left + box.width / 2.0, box.top + box.height / 2.0};
        const double length = std::max(east->u - west->u, 1e-9 * cloth.sheet.length);
        const double width = std::max(south->v - north->v, 1e-9 * cloth.sheet.width);
        zoom_ = std::min((box.width - 2 * kInset) / length, (box.height - 2 * kInset) / width);
    }

    Point point(const SheetPoint& p) const
    {
        return {middle_.x + zoom_ * (p.u - centre_.u), middle_.y + zoom_ * (p.v - centre_.v)};
    }

  private:
    SheetPoint centre_;
    Point middle_;
    double zoom_ = 1;  // [pixel/m]
};

double distance(const Point& a, const Point& b)
{
    return std::hypot(b.x - a.x, b.y - a.y);
}

double median_length(const Cloth& cloth, const SheetView& view,
                     const std::vector<std::size_t>& springs)
{
    std::vector<double> lengths;
    for (const std::size_t s : springs) {
        const auto [a, b] = cloth.springs.ends[s];
        lengths.push_back(distance(view.point(cloth.rest[a]), view.point(cloth.rest[b])));
    }
    return quantile(lengths, 0.5);
}

// Bending springs follow each other along a line, each over half of the one before: arcs to
// alternating sides keep them apart.
double arc_side(const Cloth& cloth, int first_end)
{
    const int place = cloth.grid && cloth.grid->cols > 0
                          ? first_end / cloth.grid->cols + first_end % cloth.grid->cols
                          : first_end;
    return place % 2 == 0 ? 1 : -1;
}

// A parabola that rises to `rise` in the middle.
void draw_arc(Canvas& canvas, const Point& a, const Point& b, double rise, double thickness,
              const Color& color)
{
    constexpr int kPieces = 8;
    const double size = distance(a, b);
    if (size == 0) return;
    const Point normal{-(b.y - a.y) / size, (b.x - a.x) / size};
    const auto at = [&](int piece) {
        const double t = double(piece) / kPieces, height = 4 * rise * t * (1 - t);
        return Point{a.x + t * (b.x - a.x) + height * normal.x,
                     a.y + t * (b.y - a.y) + height * normal.y};
    };
    for (int i = 0; i < kPieces; ++i) {
        canvas.line(at(i), at(i + 1), thickness, color);
    }
}

void fill_triangle(Canvas& canvas, const std::array<Point, 3>& corners, const Color& color)
{
    std::array<Point, 3> p = corners;
    for (Point& point : p) point = {Canvas::kSamples * point.x, Canvas::kSamples * point.y};
    for_each_sample(p[0], p[1], p[2], Canvas::kSamples * canvas.width(),
                    Canvas::kSamples * canvas.height(),
                    [&](int x, int y, const auto&) { canvas.blend_sample(x, y, color, 1); });
}

void draw_triangles(Canvas& canvas, const Box& box, const Cloth& cloth,
                    const std::vector<Color>& colors)
{
    canvas.fill(box, kPanelTop, kPanelBottom);
    const SheetView view(cloth, box);
    const TriangleSet& set = cloth.triangles;
    for (std::size_t t = 0; t < set.triangle_count(); ++t) {
        const auto& [a, b, c] = set.corners[t];
        fill_triangle(
            canvas,
            {view.point(cloth.rest[a]), view.point(cloth.rest[b]), view.point(cloth.rest[c])},
            colors[t]);
    }
}

void draw_family(Canvas& canvas, const Box& box, const Cloth& cloth, const FamilyPanel& panel,
                 const std::vector<Color>& colors)
{
    canvas.fill(box, kPanelTop, kPanelBottom);
    const SheetView view(cloth, box);
    const double cell = median_length(cloth, view, panel.springs);
    const double thickness = std::clamp(0.22 * cell, 0.75, 6.0);
    for (const std::size_t s : panel.springs) {
        const auto [i, j] = cloth.springs.ends[s];
        const Point a = view.point(cloth.rest[i]), b = view.point(cloth.rest[j]);
        if (cloth.springs.family[s] == SpringFamily::bending) {
            const double rise = std::min(0.09 * distance(a, b), kMaxRise) * arc_side(cloth, i);
            draw_arc(canvas, a, b, rise, 0.4 * thickness, colors[s]);
        } else {
            canvas.line(a, b, thickness, colors[s]);
        }
    }
}

void check_elements(const Cloth& cloth)
{
    check_cloth(cloth, "picture: cloth");
    if (!panels_of(cloth).empty()) return;
    throw Error("picture: the cloth has neither springs nor triangles; give one that has");
}

const std::vector<double>& stiffness_of(const Cloth& cloth)
{
    const bool mesh = cloth.triangles.triangle_count() > 0;
    return mesh ? cloth.triangles.shear_stiffness : cloth.springs.stiffness;
}

std::vector<Color> colors_of(const Cloth& cloth, const ColorScale& scale)
{
    std::vector<Color> colors;
    for (const double value : stiffness_of(cloth)) colors.push_back(scale.color(value));
    return colors;
}

void draw_element_panel(Canvas& canvas, const Box& box, const Cloth& cloth,
                        const FamilyPanel& panel, const std::vector<Color>& colors)
{
    if (cloth.triangles.triangle_count() > 0) {
        draw_triangles(canvas, box, cloth, colors);
    } else {
        draw_family(canvas, box, cloth, panel, colors);
    }
}

// The flat sheet with every spring, or every triangle, in its colour, and what the colours mean.
Picture draw_elements(const Cloth& cloth, const std::vector<Color>& colors, const ColorScale& scale,
                      const std::string& caption, const std::string& title = {})
{
    auto panels = panels_of(cloth);
    if (!title.empty()) panels.front().title = title;
    const int count = static_cast<int>(panels.size());
    const int width = std::min((kPageWidth - kMargin * (count + 1)) / count, 900);
    const double aspect = std::clamp(cloth.sheet.width / cloth.sheet.length, 0.4, 1.6);
    const int height = static_cast<int>(std::lround(aspect * width));
    const int top = kMargin + kTitleHeight, below = top + height + kMargin;
    const int left = (kPageWidth - count * width - (count - 1) * kMargin) / 2;

    Canvas canvas(kPageWidth, below + kScaleHeight + kMargin / 2, kPaper);
    for (int p = 0; p < count; ++p) {
        const Box box{left + p * (width + kMargin), top, width, height};
        canvas.text({double(box.left), double(kMargin)}, panels[p].title, kTextDot, kInk);
        draw_element_panel(canvas, box, cloth, panels[p], colors);
    }
    const Box bar{kPageWidth / 2 - kScaleWidth / 2, below, kScaleWidth, kScaleHeight};
    draw_scale(canvas, bar, scale, caption);
    return canvas.finished();
}

SpringFamily drawn_family(BendFamily family)
{
    switch (family) {
        case BendFamily::straight:
            break;
        case BendFamily::diagonal:
            return SpringFamily::diagonal;
        case BendFamily::antidiagonal:
            return SpringFamily::antidiagonal;
    }
    return SpringFamily::bending;
}

}  // namespace

Picture draw_stiffness(const Cloth& cloth)
{
    check_elements(cloth);
    const ColorScale scale(stiffness_of(cloth));
    return draw_elements(cloth, colors_of(cloth, scale), scale, stiffness_caption(cloth));
}

// The hinges are drawn as springs along their edges.
Picture draw_hinges(const Cloth& cloth)
{
    Cloth drawn = cloth;
    drawn.springs = {};
    drawn.triangles = {};
    const std::vector<double> shapes = hinge_shapes(cloth);
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        drawn.springs.ends.push_back({cloth.hinges.corners[h][0], cloth.hinges.corners[h][1]});
        drawn.springs.family.push_back(SpringFamily::structural);
        drawn.springs.stiffness.push_back(cloth.hinges.stiffness[h] / shapes[h]);
    }
    const ColorScale scale(drawn.springs.stiffness);
    return draw_elements(drawn, colors_of(drawn, scale), scale, "bending in N m", "hinges");
}

// The bends are drawn as springs from end to end: the straight ones as the arcs of bending springs.
Picture draw_bending(const Cloth& cloth)
{
    check_cloth(cloth, "picture: cloth");
    if (cloth.bends.bend_count() == 0 && cloth.hinges.hinge_count() > 0) return draw_hinges(cloth);
    if (cloth.bends.bend_count() == 0) {
        throw Error("picture: the cloth has neither bends nor hinges; give one that has");
    }
    Cloth drawn = cloth;
    drawn.springs = {};
    drawn.triangles = {};
    for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
        const auto [a, middle, b] = cloth.bends.particles[i];
        drawn.springs.ends.push_back({a, b});
        drawn.springs.family.push_back(drawn_family(cloth.bends.family[i]));
    }
    drawn.springs.stiffness = cloth.bends.stiffness;
    const ColorScale scale(drawn.springs.stiffness);
    return draw_elements(drawn, colors_of(drawn, scale), scale, "bending stiffness in N/m");
}

Picture draw_stiffness(const std::vector<DrawnCloth>& cloths)
{
    std::vector<double> all;
    for (const DrawnCloth& drawn : cloths) {
        check_elements(drawn.cloth);
        const std::vector<double>& values = stiffness_of(drawn.cloth);
        all.insert(all.end(), values.begin(), values.end());
        if (panels_of(drawn.cloth).size() == panels_of(cloths.front().cloth).size()) continue;
        throw Error("picture: {} has other kinds of elements than {}; draw them one by one",
                    drawn.title, cloths.front().title);
    }
    if (cloths.empty() || cloths.size() > 4) {
        throw Error("picture: {} sheets side by side; give 1 to 4", cloths.size());
    }
    const ColorScale scale(all);
    const Sheet& sheet = cloths.front().cloth.sheet;
    const int columns = int(cloths.size()), rows = int(panels_of(cloths.front().cloth).size());
    const int width = std::min((kPageWidth - kMargin * (columns + 1)) / columns, 480);
    const int height = int(std::lround(std::clamp(sheet.width / sheet.length, 0.4, 1.6) * width));
    const int pitch = kTitleHeight + height + kMargin, below = kMargin + rows * pitch;
    const int page = std::max(columns * (width + kMargin) + kMargin, kScaleWidth + 2 * kMargin);
    const int first = (page - columns * (width + kMargin) + kMargin) / 2;
    Canvas canvas(page, below + kScaleHeight + kMargin / 2, kPaper);
    for (int c = 0; c < columns; ++c) {
        const Cloth& cloth = cloths[c].cloth;
        const std::vector<FamilyPanel> panels = panels_of(cloth);
        const std::vector<Color> colors = colors_of(cloth, scale);
        for (int r = 0; r < rows; ++r) {
            const int left = first + c * (width + kMargin), top = kMargin + r * pitch;
            canvas.text({double(left), double(top)}, cloths[c].title + ": " + panels[r].title,
                        kTextDot, kInk);
            draw_element_panel(canvas, {left, top + kTitleHeight, width, height}, cloth, panels[r],
                               colors);
        }
    }
    draw_scale(canvas, {page / 2 - kScaleWidth / 2, below, kScaleWidth, kScaleHeight}, scale,
               stiffness_caption(cloths.front().cloth));
    return canvas.finished();
}

Picture draw_determination(const Cloth& cloth)
{
    check_cloth(cloth, "picture: cloth");
    if (main_element(cloth) == Element::spring && cloth.triangles.triangle_count() > 0) {
        throw Error(
            "picture: errors of springs and triangles do not go into one picture; give a "
            "cloth of one of them");
    }
    std::vector<double> percent = relative_errors(cloth)[0];
    for (double& error : percent) error *= 100;
    // Beyond 100 percent nothing is known, however little.
    std::vector<double> shown = percent;
    for (double& error : shown) error = std::min(error, 100.0);
    const ColorScale scale(shown, Spacing::logarithmic);
    std::vector<Color> colors;
    for (const double error : percent) {
        colors.push_back(std::isinf(error) ? kUnseen : scale.color(error));
    }
    return draw_elements(cloth, colors, scale, "error of stiffness in percent, grey: unseen");
}

}  // namespace springtime
