#include "error_of.h"
#include "springtime/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "draw/camera.h"
#include "draw/canvas.h"
#include "draw/color_scale.h"
#include "draw/font.h"
#include "draw/layout.h"
#include "draw/surface.h"
#include "springtime/cloth.h"
#include "springtime/error.h"

namespace springtime {
namespace {

using Rgb = std::array<int, 3>;

Rgb pixel(const Picture& picture, int x, int y)
{
    const auto* p = &picture.rgb[3 * (std::size_t(y) * picture.width + x)];
    return {p[0], p[1], p[2]};
}

Rgb bytes(const Color& color)
{
    return {int(std::lround(255 * color.r)), int(std::lround(255 * color.g)),
            int(std::lround(255 * color.b))};
}

// A cloth of 2 x 2 particles and a soft or stiff set of springs.
Cloth small_cloth(double stiffness = 10)
{
    GridOptions options;
    options.rows = options.cols = 2;
    return make_grid_cloth({2, 2, 1}, options, MaterialField::uniform(stiffness),
                           MaterialField::uniform(0));
}

// The position of one panel on the page of draw_frames with a single frame.
constexpr int kPanelLeft = kMargin, kPanelTop0 = kMargin + kTitleHeight;

TEST(Canvas, BlendsSamplesAndAveragesThemToPixels)
{
    Canvas canvas(3, 2, {0, 0, 0});
    canvas.blend_sample(2, 2, {1, 0.4, 0}, 1);  // one of the four samples of pixel (1, 1)
    const Picture picture = canvas.finished();
    EXPECT_EQ(pixel(picture, 1, 1), (Rgb{64, 26, 0}));  // 255 / 4 and 102 / 4, rounded
    EXPECT_EQ(pixel(picture, 0, 0), (Rgb{0, 0, 0}));
    canvas.blend_sample(-1, 0, {1, 1, 1}, 1);  // outside: cut off
    canvas.blend_sample(0, 99, {1, 1, 1}, 1);
    EXPECT_EQ(canvas.finished().rgb, picture.rgb);
}

TEST(Canvas, ALineHasTheAreaOfItsThickness)
{
    Canvas canvas(100, 100, {0, 0, 0});
    const Point a{20, 30}, b{80, 74};
    canvas.line(a, b, 4, {1, 1, 1});
    const Picture picture = canvas.finished();
    double ink = 0;
    for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
        ink += picture.rgb[i] / 255.0;
    }
    // A rectangle and two half discs; the soft edge is symmetric and keeps the area.
    const double expected = 4 * std::hypot(60, 44) + M_PI * 4;
    EXPECT_NEAR(ink, expected, 0.01 * expected);  // seen: 0.002 of it
    EXPECT_EQ(pixel(picture, 50, 52), (Rgb{255, 255, 255}));
    EXPECT_EQ(pixel(picture, 50, 60), (Rgb{0, 0, 0}));
}

TEST(Canvas, EveryLetterThatPicturesUseHasItsOwnShape)
{
    const auto shape = [](char letter) {
        std::string dots;
        for (int i = 0; i < kGlyphRows * kGlyphCols; ++i) {
            dots += glyph_dot(letter, i / kGlyphCols, i % kGlyphCols) ? '#' : '.';
        }
        return dots;
    };
    std::vector<std::string> shapes{shape('\x01')};  // the box of a missing letter
    for (const char letter : std::string("0123456789abcdefghijklmnopqrstuvwxyzN .,-+=/()[]:")) {
        shapes.push_back(shape(letter));
    }
    const std::size_t count = shapes.size();
    std::sort(shapes.begin(), shapes.end());
    EXPECT_EQ(std::unique(shapes.begin(), shapes.end()) - shapes.begin(), std::ptrdiff_t(count));
    EXPECT_EQ(shape('1').substr(0, 5), "..#..");
    EXPECT_EQ(shape('1').substr(30, 5), "#####");
}

TEST(ColorScale, LightnessRisesWithTheValue)
{
    // Relative luminance of sRGB (IEC 61966-2-1).
    const auto luminance = [](const Color& c) {
        const auto linear = [](double s) {
            return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
    };
    const ColorScale scale({10, 60});
    for (int i = 0; i < 100; ++i) {
        EXPECT_LT(luminance(scale.color(10 + 0.5 * i)), luminance(scale.color(10.5 + 0.5 * i)));
    }
    EXPECT_EQ(bytes(scale.color(-1e9)), bytes(scale.color(10)));
    EXPECT_EQ(bytes(scale.color(1e9)), bytes(scale.color(60)));
}

TEST(ColorScale, TicksAreTheEndsAndRoundNumbersBetween)
{
    EXPECT_EQ(ColorScale({25, 100}).ticks(6), (std::vector<double>{25, 40, 60, 80, 100}));
    EXPECT_EQ(ColorScale({0, 50, 30}).ticks(6), (std::vector<double>{0, 10, 20, 30, 40, 50}));
    // 50 would run into the 45 of the end.
    EXPECT_EQ(ColorScale({45, 300}).ticks(6), (std::vector<double>{45, 100, 150, 200, 250, 300}));
    const ColorScale single({25, 25});
    EXPECT_EQ(single.low(), 0);
    EXPECT_EQ(single.high(), 50);
    EXPECT_EQ(ColorScale({0, 0}).high(), 1);
}

TEST(ColorScale, ALogarithmicOneSpacesDecadesEvenly)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const ColorScale scale({0.01, 100, 1, 0, infinity}, Spacing::logarithmic);
    EXPECT_EQ(scale.low(), 0.01);
    EXPECT_EQ(scale.high(), 100);
    EXPECT_NEAR(scale.share(1), 0.5, 1e-15);
    EXPECT_NEAR(scale.value(0.75), 10, 1e-13);
    EXPECT_EQ(bytes(scale.color(0)), bytes(scale.color(0.01)));
    const std::vector<double> ticks = scale.ticks(6), expected{0.01, 0.1, 1, 10, 100};
    ASSERT_EQ(ticks.size(), expected.size());
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        EXPECT_NEAR(ticks[i], expected[i], 1e-12 * expected[i]);
    }
    // Whole decades, with room for 2 and 5 where they are few.
    EXPECT_EQ(ColorScale({3, 30}, Spacing::logarithmic).ticks(6),
              (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
    EXPECT_EQ(ColorScale({4, 4}, Spacing::logarithmic).ticks(6),
              (std::vector<double>{1, 2, 5, 10}));
    EXPECT_EQ(ColorScale({10, 10}, Spacing::logarithmic).high(), 100);
    EXPECT_EQ(ColorScale({infinity}, Spacing::logarithmic).high(), 1);
}

TEST(Camera, SeesEveryPointInTheMiddleAndTouchesTheMargin)
{
    const std::vector<Vec3d> points{{-3, 1, 2}, {4, -6, 0.5}, {0, 2, -7}, {1, 1, 9}, {2, 8, 1}};
    for (const double height : {200.0, 400.0, 900.0}) {
        const Camera camera(points, 400, height);
        double widest = 0;
        Point low{1, 1}, high{0, 0};
        for (const Vec3d& p : points) {
            const auto seen = camera.project(p);
            EXPECT_GT(seen.depth, 0);
            widest = std::max({widest, std::abs(seen.point.x / 400 - 0.5) * 2,
                               std::abs(seen.point.y / height - 0.5) * 2});
            low = {std::min(low.x, seen.point.x / 400), std::min(low.y, seen.point.y / height)};
            high = {std::max(high.x, seen.point.x / 400), std::max(high.y, seen.point.y / height)};
        }
        EXPECT_NEAR(widest, 0.88, 1e-12);  // the share of a panel in use: nearest camera that fits
        EXPECT_NEAR(low.x + high.x, 1, 1e-9);  // in the middle of the panel
        EXPECT_NEAR(low.y + high.y, 1, 1e-9);
    }
}

TEST(Camera, IsRightHandedWithYUp)
{
    const Camera camera({{-1, -1, -1}, {1, 1, 1}}, 100, 100);
    EXPECT_NEAR(length(cross(camera.right(), camera.up()) - camera.back()), 0, 1e-15);
    EXPECT_LT(camera.project({0, 0.5, 0}).point.y, camera.project({0, 0, 0}).point.y);
    EXPECT_GT(camera.project({0.5, 0, 0}).point.x, camera.project({0, 0, 0}).point.x);
    EXPECT_LT(camera.project({0, 0, 0.5}).depth, camera.project({0, 0, 0}).depth);
}

TEST(Camera, PointsInOnePlaceStayInFront)
{
    for (const double at : {0.0, 5.0, 1e9}) {
        const Camera camera({{at, at, at}}, 100, 50);
        const auto seen = camera.project({at, at, at});
        EXPECT_GT(seen.depth, 0);
        EXPECT_NEAR(seen.point.x, 50, 1e-3);
        EXPECT_NEAR(seen.point.y, 25, 1e-3);
    }
}

// A square that faces the camera at a distance along its view.
std::array<SurfaceVertex, 4> facing_square(const Camera& camera, double nearer, double value)
{
    const Vec3d centre = nearer * camera.back();
    const Vec3d r = camera.right(), u = camera.up();
    return {SurfaceVertex{centre - r - u, {}, value}, SurfaceVertex{centre + r - u, {}, value},
            SurfaceVertex{centre + r + u, {}, value}, SurfaceVertex{centre - r + u, {}, value}};
}

void paint_square(SurfacePainter& painter, const std::array<SurfaceVertex, 4>& square)
{
    painter.triangle({square[0], square[1], square[2]});
    painter.triangle({square[0], square[2], square[3]});
}

TEST(Surface, TheNearerSheetHidesTheFartherInAnyOrder)
{
    const std::vector<Vec3d> room{{-3, -3, -3}, {3, 3, 3}};
    const Camera camera(room, 100, 100);
    const ColorScale scale({0, 1});
    const auto seen = camera.project({0, 0, 0}).point;
    for (const bool near_first : {true, false}) {
        Canvas canvas(100, 100, kPaper);
        SurfacePainter painter(canvas, {0, 0, 100, 100}, camera, scale);
        const auto near_square = facing_square(camera, 0.5, 1);
        const auto far_square = facing_square(camera, -0.5, 0);
        paint_square(painter, near_first ? near_square : far_square);
        paint_square(painter, near_first ? far_square : near_square);
        const Picture picture = canvas.finished();
        EXPECT_EQ(pixel(picture, int(seen.x), int(seen.y)), bytes(scale.color(1)));
        EXPECT_EQ(pixel(picture, 2, 2), bytes(kPaper));
    }
}

TEST(Surface, ATriangleCoversItsProjectedArea)
{
    const std::array<Vec3d, 3> corners{Vec3d{-1.5, 0, 1}, Vec3d{1.5, 0.3, 0}, Vec3d{0, 1.5, -1}};
    const Camera camera({corners.begin(), corners.end()}, 300, 300);
    const ColorScale scale({0, 1});
    Canvas canvas(300, 300, {0, 0, 0});
    SurfacePainter painter(canvas, {0, 0, 300, 300}, camera, scale);
    painter.triangle({SurfaceVertex{corners[0], {}, 0}, SurfaceVertex{corners[1], {}, 0},
                      SurfaceVertex{corners[2], {}, 0}});
    const Picture picture = canvas.finished();
    double ink = 0;
    for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
        ink += picture.rgb[i + 2] / double(bytes(scale.color(0))[2]);
    }
    const Point a = camera.project(corners[0]).point, b = camera.project(corners[1]).point;
    const Point c = camera.project(corners[2]).point;
    const double area = std::abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2;
    EXPECT_GT(area, 2000);
    EXPECT_NEAR(ink, area, 0.005 * area);  // edges cross about 300 pixels, errors of 1/4 cancel
}

TEST(Surface, ValuesAreInterpolatedInPerspective)
{
    // A long strip into the depth: the middle of the strip in space is not the middle on screen.
    const Camera camera({{-1, 0, -9}, {1, 0, 9}, {0, 3, 0}}, 400, 400);
    const ColorScale scale({0, 1});
    Canvas canvas(400, 400, kPaper);
    SurfacePainter painter(canvas, {0, 0, 400, 400}, camera, scale);
    painter.triangle({SurfaceVertex{{-1, 0, -9}, {}, 0}, SurfaceVertex{{1, 0, -9}, {}, 0},
                      SurfaceVertex{{0, 0, 9}, {}, 1}});
    const Point middle = camera.project({0, 0, 0}).point;  // halfway from far edge to near corner
    const Rgb found = pixel(canvas.finished(), int(middle.x), int(middle.y));
    const Rgb expected = bytes(scale.color(0.5));
    for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(found[i], expected[i], 4);  // a pixel spans about 1/100 of the strip
    }
}

TEST(DrawFrames, TheClothIsWhereTheCameraProjectsIt)
{
    const Cloth cloth = small_cloth();
    const State state = flat_state(cloth);
    const Picture picture = draw_frames(cloth, {state});
    EXPECT_EQ(picture.width, kPageWidth);
    ASSERT_EQ(picture.rgb.size(), std::size_t(3) * picture.width * picture.height);

    const int width = kPageWidth - 2 * kMargin;
    const double aspect = std::clamp(seen_aspect(state.position), 0.6, 0.75);
    const Camera camera(state.position, width, std::lround(aspect * width));
    const Point centre = camera.project({0, 0, 0}).point;
    const Rgb cloth_pixel = pixel(picture, kPanelLeft + int(centre.x), kPanelTop0 + int(centre.y));
    // Uniform stiffness lies in the middle of the scale; shading multiplies all channels alike.
    const Rgb middle = bytes(ColorScale({10, 10}).color(10));
    const double brightness = double(cloth_pixel[0]) / middle[0];
    EXPECT_GT(brightness, 0.5);
    EXPECT_LT(brightness, 1.1);
    EXPECT_NEAR(cloth_pixel[1], brightness * middle[1], 1.5);
    EXPECT_NEAR(cloth_pixel[2], brightness * middle[2], 1.5);
    // The corner of the panel is background: grey with a hint of blue, never the cloth.
    const Rgb corner = pixel(picture, kPanelLeft + 3, kPanelTop0 + 3);
    EXPECT_EQ(corner, bytes(mix(kPanelTop, kPanelBottom, 3.5 / std::lround(aspect * width))));
}

TEST(DrawFrames, AllFramesShareOneCamera)
{
    const Cloth cloth = small_cloth();
    State low = flat_state(cloth), high = flat_state(cloth);
    for (Vec3d& x : high.position) {
        x.y += 2;
    }
    const Picture both = draw_frames(cloth, {low, high});
    const Picture swapped = draw_frames(cloth, {high, low});
    const int width = (kPageWidth - 3 * kMargin) / 2, second = 2 * kMargin + width;
    int different = 0;
    for (int y = kPanelTop0; y < both.height - kScaleHeight - 2 * kMargin; ++y) {
        for (int x = 0; x < width; ++x) {
            different += pixel(both, kMargin + x, y) != pixel(swapped, second + x, y);
        }
    }
    EXPECT_EQ(different, 0);
    EXPECT_NE(both.rgb, swapped.rgb);
}

TEST(DrawFrames, AClothWithoutGridIsDrawnAsSprings)
{
    Cloth cloth = small_cloth();
    cloth.grid.reset();
    const State state = flat_state(cloth);
    const Picture picture = draw_frames(cloth, {state});
    const int width = kPageWidth - 2 * kMargin;
    const double aspect = std::clamp(seen_aspect(state.position), 0.6, 0.75);
    const Camera camera(state.position, width, std::lround(aspect * width));
    const auto found = [&](const Vec3d& p) {
        const Point seen = camera.project(p).point;
        return pixel(picture, kPanelLeft + int(seen.x), kPanelTop0 + int(seen.y));
    };
    const Rgb line = found({0, 0, 0});  // the diagonals cross here
    const Rgb expected = bytes(ColorScale({10, 10}).color(10));
    EXPECT_EQ(line, expected);
    const Rgb gap = found({0, 0, 0.55});  // between springs
    EXPECT_GT(gap[1], 180);
}

// Where a page of one frame shows a place.
class Seen {
  public:
    Seen(const Picture& picture, const std::vector<Vec3d>& points)
        : picture_(picture),
          width_(kPageWidth - 2 * kMargin),
          camera_(points, width_, std::lround(std::clamp(seen_aspect(points), 0.6, 0.75) * width_))
    {
    }
    Rgb at(const Vec3d& place) const
    {
        const Point seen = camera_.project(place).point;
        return pixel(picture_, kPanelLeft + int(seen.x), kPanelTop0 + int(seen.y));
    }

  private:
    const Picture& picture_;
    int width_;
    Camera camera_;
};

// True when the colour is a shade of the given one: shading multiplies all channels alike.
bool is_shade(const Rgb& found, const Rgb& color)
{
    const double brightness = double(found[0]) / color[0];
    return brightness > 0.4 && brightness < 1.2 &&
           std::abs(found[1] - brightness * color[1]) < 2.5 &&
           std::abs(found[2] - brightness * color[2]) < 2.5;
}

TEST(DrawFrames, AMeshIsASurfaceInTheColoursOfItsShearStiffness)
{
    // Without a grid, so that only its triangles can make a surface of it.
    SheetMesh mesh = make_grid_mesh({2, 2, 1}, {9, 9}, MeshCut::alternating);
    mesh.grid.reset();
    MeshMaterial material;
    Cloth cloth = make_mesh_cloth({2, 2, 1}, mesh, material);
    for (std::size_t t = 0; t < cloth.triangles.triangle_count(); ++t) {
        const double u = cloth.rest[cloth.triangles.corners[t][0]].u;
        cloth.triangles.shear_stiffness[t] = u < 1 ? 10 : 90;
    }
    const State state = flat_state(cloth);
    const Picture picture = draw_frames(cloth, {state});
    const Seen seen(picture, state.position);
    const ColorScale scale({10, 90});
    EXPECT_TRUE(is_shade(seen.at({-0.55, 0, 0.1}), bytes(scale.color(10))));
    EXPECT_TRUE(is_shade(seen.at({0.6, 0, 0.1}), bytes(scale.color(90))));
}

TEST(DrawFrames, ObstaclesHideAndAreHidden)
{
    const Cloth cloth = small_cloth();
    const State state = flat_state(cloth);
    // A ball that the level sheet cuts in half: its upper half stands before the sheet.
    Obstacle ball;
    ball.shapes = {CapsuleShape{{}, {}, 0.5}};
    const Picture picture = draw_frames(cloth, {state}, {ball});
    std::vector<Vec3d> points = state.position;
    for (int i = 0; i < 8; ++i) {
        points.push_back(0.5 * Vec3d{i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.});
    }
    const Seen seen(picture, points);
    const Rgb grey = bytes({0.66, 0.67, 0.69}), color = bytes(ColorScale({10, 10}).color(10));
    EXPECT_TRUE(is_shade(seen.at({0, 0.45, 0.1}), grey));
    EXPECT_TRUE(is_shade(seen.at({0, -0.3, 0.3}), color));  // its lower half is behind the sheet
    EXPECT_TRUE(is_shade(seen.at({0.8, 0, 0.8}), color));
    // A ball that moves is drawn where it is at the time of the frame.
    ball.key_time = {0, 1};
    ball.key_pose = {Pose{{0, 3, 0}, {}}, Pose{{0, 0, 0}, {}}};
    ball.key_pose[1].position = {0, -3, 0};
    State later = state;
    later.time = 1;
    const Picture moved = draw_frames(cloth, {later}, {ball});
    std::vector<Vec3d> below = state.position;
    for (std::size_t p = state.position.size(); p < points.size(); ++p) {
        below.push_back(points[p] - Vec3d{0, 3, 0});
    }
    EXPECT_TRUE(is_shade(Seen(moved, below).at({0.1, -2.9, 0.4}), grey));
    EXPECT_TRUE(is_shade(Seen(moved, below).at({0, 0, 0}), color));
}

TEST(DrawFrames, AFloorIsTheGroundAndHidesWhatIsBelow)
{
    const Cloth cloth = small_cloth();
    State state = flat_state(cloth);
    state.position[0].y = state.position[1].y = -0.5;  // the north edge hangs through the floor
    state.position[2].y = state.position[3].y = 0.5;
    Obstacle floor;
    floor.shapes = {PlaneShape{}};
    const Picture bare = draw_frames(cloth, {state});
    const Picture picture = draw_frames(cloth, {state}, {floor});
    const Seen before(bare, state.position), seen(picture, state.position);
    const Rgb color = bytes(ColorScale({10, 10}).color(10));
    EXPECT_TRUE(is_shade(before.at({0.1, -0.4, -0.8}), color));
    EXPECT_FALSE(is_shade(seen.at({0.1, -0.4, -0.8}), color));
    EXPECT_TRUE(is_shade(seen.at({0.1, 0.3, 0.6}), color));
    EXPECT_EQ(error_of([&] { draw_frames(cloth, {state}, {Obstacle{}}); }),
              "picture: obstacle: no shapes; give at least one");
}

TEST(DrawFrames, Errors)
{
    const Cloth cloth = small_cloth();
    State state = flat_state(cloth);
    state.time = 0.25;
    EXPECT_EQ(error_of([&] { draw_frames(cloth, {}); }),
              "picture: 0 frames; choose 1 to 60 of them");
    EXPECT_EQ(error_of([&] { draw_frames(cloth, std::vector<State>(61, state)); }),
              "picture: 61 frames; choose 1 to 60 of them");
    State bad = state;
    bad.position[2].y = std::numeric_limits<double>::infinity();
    EXPECT_EQ(
        error_of([&] {
            draw_frames(cloth, {state, bad});
        }),
        "picture: frame 1 at 0.25 s has particle 2 at (-1, inf, 1) m; draw frames from before "
        "the cloth blew up");
    bad.position.pop_back();
    EXPECT_EQ(
        error_of([&] { draw_frames(cloth, {bad}); }),
        "picture: frame 0 has 3 positions, but the cloth has 4 particles; give frames of this "
        "cloth");
}

TEST(DrawStiffness, EverySpringShowsItsColourInThePanelOfItsFamily)
{
    GridOptions options;
    options.rows = options.cols = 3;
    Cloth cloth =
        make_grid_cloth({2, 2, 1}, options, MaterialField::uniform(10), MaterialField::uniform(0));
    // One stiff spring: from the north-west particle to the east.
    ASSERT_EQ(cloth.springs.ends[0], (std::array{0, 1}));
    cloth.springs.stiffness[0] = 90;
    const Picture picture = draw_stiffness(cloth);
    const ColorScale scale({10, 90});
    // Sheet coordinates 0 to 2 fill a panel but for 22 pixels on each side.
    const int width = (kPageWidth - 4 * kMargin) / 3, top = kMargin + kTitleHeight;
    const auto at = [&](int panel, double u, double v) {
        const double zoom = (width - 44) / 2.0;
        return pixel(picture, int(kMargin + panel * (width + kMargin) + 22 + zoom * u),
                     int(top + 22 + zoom * v));
    };
    EXPECT_EQ(at(0, 0.5, 0), bytes(scale.color(90)));
    EXPECT_EQ(at(0, 1.5, 0), bytes(scale.color(10)));
    EXPECT_EQ(at(0, 1, 1.5), bytes(scale.color(10)));
    EXPECT_EQ(at(1, 0.5, 0.5), bytes(scale.color(10)));
    EXPECT_GT(at(0, 0.5, 0.5)[1], 200);  // the middle of a cell is empty
    EXPECT_GT(at(1, 0.5, 0)[2], 200);    // the stiff spring is drawn in one panel only
}

TEST(DrawBending, EveryBendShowsItsColourFromEndToEnd)
{
    Cloth cloth =
        make_grid_cloth({2, 2, 1}, {3, 3}, MaterialField::uniform(10), MaterialField::uniform(0));
    EXPECT_TRUE(mentions(error_of([&] { draw_bending(cloth); }), {"neither bends nor hinges"}));
    set_law(cloth, {{}, false, true});
    for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
        cloth.bends.stiffness[i] = cloth.bends.family[i] == BendFamily::diagonal ? 9 : 1;
    }
    const Picture picture = draw_bending(cloth);
    const ColorScale scale({1, 9});
    // Two panels, that of the diagonals first.
    const int width = std::min((kPageWidth - 3 * kMargin) / 2, 900);
    const int left = (kPageWidth - 2 * width - kMargin) / 2;
    const auto at = [&](double u, double v) {
        const double zoom = (width - 44) / 2.0;
        return pixel(picture, int(left + 22 + zoom * u),
                     int(kMargin + kTitleHeight + 22 + zoom * v));
    };
    EXPECT_EQ(at(0.5, 0.5), bytes(scale.color(9)));
    EXPECT_EQ(at(1.5, 0.5), bytes(scale.color(1)));
    EXPECT_GT(at(1, 0.3)[1], 200);  // between the two
}

TEST(DrawStiffness, TrianglesAreFilledInTheColourOfTheirShearStiffness)
{
    const SheetMesh mesh = make_grid_mesh({2, 2, 1}, {2, 2}, MeshCut::diagonal);
    Cloth cloth = make_mesh_cloth({2, 2, 1}, mesh, {});
    ASSERT_EQ(cloth.triangles.corners[0], (std::array{0, 2, 3}));  // the south-west half
    cloth.triangles.shear_stiffness = {10, 90};
    const Picture picture = draw_stiffness(cloth);
    const ColorScale scale({10, 90});
    const auto at = [&](double u, double v) {  // one panel of 900 pixels in the middle of the page
        const double zoom = (900 - 44) / 2.0;
        return pixel(picture, int((kPageWidth - 900) / 2 + 22 + zoom * u),
                     int(kMargin + kTitleHeight + 22 + zoom * v));
    };
    EXPECT_EQ(at(0.5, 1.5), bytes(scale.color(10)));
    EXPECT_EQ(at(0.02, 1.98), bytes(scale.color(10)));
    EXPECT_EQ(at(1.5, 0.5), bytes(scale.color(90)));
    EXPECT_GT(at(-0.03, 1)[1], 200);  // beside the sheet
}

TEST(DrawStiffness, ShowsOnlyFamiliesThatExist)
{
    GridOptions options{3, 3, true, false, false, false};
    Cloth cloth =
        make_grid_cloth({2, 2, 1}, options, MaterialField::uniform(10), MaterialField::uniform(0));
    EXPECT_EQ(draw_stiffness(cloth).height,
              kMargin + kTitleHeight + 900 + kMargin + kScaleHeight + kMargin / 2);
    cloth.springs = {};
    EXPECT_EQ(error_of([&] { draw_stiffness(cloth); }),
              "picture: the cloth has neither springs nor triangles; give one that has");
}

TEST(DrawStiffness, SheetsSideBySideShareOneScale)
{
    GridOptions options;
    options.rows = options.cols = 3;
    const auto cloth = [&](double stiffness) {
        return make_grid_cloth({2, 2, 1}, options, MaterialField::uniform(stiffness),
                               MaterialField::uniform(0));
    };
    const Picture picture = draw_stiffness({{"soft", cloth(10), {}}, {"stiff", cloth(90), {}}});
    const ColorScale scale({10, 90});
    // Two panels of 480 pixels, three rows; the first spring lies along the north edge.
    const int north = kMargin + kTitleHeight + 22, quarter = 22 + (480 - 44) / 4;
    EXPECT_EQ(picture.width, 2 * (480 + kMargin) + kMargin);
    EXPECT_EQ(pixel(picture, kMargin + quarter, north), bytes(scale.color(10)));
    EXPECT_EQ(pixel(picture, 2 * kMargin + 480 + quarter, north), bytes(scale.color(90)));
    EXPECT_THROW(draw_stiffness(std::vector<DrawnCloth>{}), Error);
}

TEST(DrawFrames, RowsOfTheSameClothAreTheSame)
{
    const Cloth cloth = small_cloth();
    State state = flat_state(cloth), later = state;
    later.time = 0.5;
    for (Vec3d& x : later.position) x.y -= 0.5;
    const Picture picture =
        draw_frames({{"one", cloth, {state, later}}, {"two", cloth, {state, later}}});
    // Below the titles, which differ, both rows show the same; how high a panel is follows from
    // the height of the page.
    const int pitch = (picture.height - kMargin - kScaleHeight - kMargin / 2) / 2;
    for (int y = kMargin + kTitleHeight; y < pitch; ++y) {
        for (int x = 0; x < picture.width; x += 7) {
            ASSERT_EQ(pixel(picture, x, y), pixel(picture, x, y + pitch)) << x << ", " << y;
        }
    }
    EXPECT_THROW(draw_frames({{"one", cloth, {state, later}}, {"two", cloth, {state}}}), Error);
    EXPECT_THROW(draw_frames(std::vector<DrawnCloth>{}), Error);
}

TEST(DrawCurves, ValuesLieOnALogarithmicScale)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const Picture picture =
        draw_curves({{"a", {1, 1, 1}}, {"b", {100, infinity, 100}}, {"c", {10, 10, 10}}}, 0.5,
                    "time [s]", "rmse [m]");
    // The scale spans 1 to 100, so that 10 lies half way between the top and the bottom.
    const int top = 2 * kMargin + kTitleHeight, height = 560, x = 130 + 200;
    const auto is_line = [&](int y) {
        const Rgb color = pixel(picture, x, y);
        const auto [low, high] = std::minmax_element(color.begin(), color.end());
        return *high - *low > 40;  // panel and grid are grey
    };
    EXPECT_TRUE(is_line(top + height / 2));
    EXPECT_TRUE(is_line(top + height - 1));
    EXPECT_FALSE(is_line(top + height / 4));
    EXPECT_FALSE(is_line(top));  // next to a value that is not finite
    EXPECT_THROW(draw_curves({}, 0.5, "", ""), Error);
}

TEST(DrawDetermination, EverySpringShowsHowWellItIsKnown)
{
    GridOptions options{3, 3, true, false, false, false};
    Cloth cloth =
        make_grid_cloth({2, 2, 1}, options, MaterialField::uniform(10), MaterialField::uniform(1));
    EXPECT_NE(error_of([&] { draw_determination(cloth); }).find("no elements with standard errors"),
              std::string::npos);
    const std::size_t count = cloth.springs.spring_count();
    cloth.errors = StandardErrors{{std::vector(count, 0.1), std::vector(count, 0.1)}, 1};
    ASSERT_EQ(cloth.springs.ends[0], (std::array{0, 1}));
    ASSERT_EQ(cloth.springs.ends[1], (std::array{1, 2}));
    cloth.errors->parameters[0][0] = 5;
    cloth.errors->parameters[0][1] = std::numeric_limits<double>::infinity();
    const Picture picture = draw_determination(cloth);
    const ColorScale scale({1, 100}, Spacing::logarithmic);  // percent of 10 N/m
    const auto at = [&](double u, double v) {  // one panel of 900 pixels in the middle of the page
        const double zoom = (900 - 44) / 2.0;
        return pixel(picture, int((kPageWidth - 900) / 2 + 22 + zoom * u),
                     int(kMargin + kTitleHeight + 22 + zoom * v));
    };
    EXPECT_EQ(at(0.5, 0), bytes(scale.color(50)));
    EXPECT_EQ(at(0.5, 1), bytes(scale.color(1)));
    const Rgb unseen = at(1.5, 0);  // grey: on no colour of the scale
    EXPECT_LT(std::abs(unseen[0] - unseen[2]), 20);
    EXPECT_LT(unseen[0], 200);
}

}  // namespace
}  // namespace springtime
