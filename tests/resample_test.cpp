#include "springtime/motion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <string>

#include "core/random.h"
#include "error_of.h"
#include "sheet_points.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();
// Weights come from a few double operations on coordinates of order one. Triangles as thin as
// 1 : 100 and weights up to 1e-9 that are taken for zero leave this much.
constexpr double kWeightRounding = 3e-9;

Points scattered(int count, double length, double width, std::uint64_t seed)
{
    Random random(seed);
    Points points;
    for (int i = 0; i < count; ++i)
        points.push_back({length * random.uniform(), width * random.uniform()});
    return points;
}

// Three tight heaps: most particles lie between them.
Points clustered()
{
    Random random(5);
    Points points;
    for (const SheetPoint center : {SheetPoint{1, 1}, SheetPoint{14, 3}, SheetPoint{6, 14}})
        for (int i = 0; i < 60; ++i)
            points.push_back({center.u + 0.3 * random.normal(), center.v + 0.3 * random.normal()});
    return points;
}

double cross(const SheetPoint& o, const SheetPoint& a, const SheetPoint& b)
{
    return (a.u - o.u) * (b.v - o.v) - (a.v - o.v) * (b.u - o.u);
}

double distance(const SheetPoint& a, const SheetPoint& b)
{
    return std::hypot(a.u - b.u, a.v - b.v);
}

// Andrew's monotone chain, counterclockwise.
Points convex_hull(Points points)
{
    std::sort(points.begin(), points.end(), [](const SheetPoint& a, const SheetPoint& b) {
        return a.u != b.u ? a.u < b.u : a.v < b.v;
    });
    Points hull;
    for (int pass = 0; pass < 2; ++pass) {
        const std::size_t base = hull.size();
        for (const SheetPoint& x : points) {
            while (hull.size() >= base + 2 && cross(hull[hull.size() - 2], hull.back(), x) <= 0)
                hull.pop_back();
            hull.push_back(x);
        }
        hull.pop_back();
        std::reverse(points.begin(), points.end());
    }
    return hull;
}

// How deep x lies in the hull [m]; negative outside.
double depth(const Points& hull, const SheetPoint& x)
{
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < hull.size(); ++i) {
        const SheetPoint &a = hull[i], &b = hull[(i + 1) % hull.size()];
        least = std::min(least, cross(a, b, x) / distance(a, b));
    }
    return least;
}

// Sum of the weights is one and the weighted places give the particle, so any affine motion is
// reproduced: sum w_i (A x_i + t) = A x + t.
void expect_affine(const Resampler& resampler, const Points& landmarks, const Points& particles)
{
    ASSERT_EQ(resampler.particle_count(), particles.size());
    ASSERT_EQ(resampler.landmark_count(), landmarks.size());
    for (std::size_t p = 0; p < particles.size(); ++p) {
        const auto& [landmark, weight] = resampler.weights()[p];
        double sum = 0, u = 0, v = 0, size = 1;
        for (int j = 0; j < 3; ++j) {
            const SheetPoint x = landmarks.at(landmark[j]);
            sum += weight[j];
            u += weight[j] * x.u;
            v += weight[j] * x.v;
            size = std::max(size, std::abs(weight[j]) * std::hypot(x.u, x.v));
        }
        EXPECT_NEAR(sum, 1, 4e-16 * size) << "particle " << p;
        EXPECT_NEAR(u, particles[p].u, kWeightRounding * size) << "particle " << p;
        EXPECT_NEAR(v, particles[p].v, kWeightRounding * size) << "particle " << p;
    }
}

// Inside the hull no weight is negative beyond rounding.
int expect_inside_weights(const Resampler& resampler, const Points& landmarks,
                          const Points& particles)
{
    const Points hull = convex_hull(landmarks);
    int inside = 0;
    for (std::size_t p = 0; p < particles.size(); ++p) {
        if (depth(hull, particles[p]) < 0) continue;
        ++inside;
        for (const double w : resampler.weights()[p].weight) {
            EXPECT_GE(w, -1e-9) << "particle " << p;
            EXPECT_LE(w, 1 + 1e-9) << "particle " << p;
        }
    }
    return inside;
}

// The farthest landmark that counts, over all particles [m].
double reach(const Resampler& resampler, const Points& landmarks, const Points& particles)
{
    double farthest = 0;
    for (std::size_t p = 0; p < particles.size(); ++p) {
        const auto& [landmark, weight] = resampler.weights()[p];
        for (int j = 0; j < 3; ++j)
            if (weight[j] != 0)
                farthest = std::max(farthest, distance(landmarks[landmark[j]], particles[p]));
    }
    return farthest;
}

double error_bound(const Points& landmarks, const Resampler::Weights& weights, const SheetPoint& x)
{
    double sum = 0;
    for (int j = 0; j < 3; ++j)
        sum +=
            std::abs(weights.weight[j]) * std::pow(distance(landmarks[weights.landmark[j]], x), 2);
    return sum;
}

// The least error bound of all triangles of landmarks that is allowed at all, by trying every one.
double least_error_bound(const Points& landmarks, const SheetPoint& x, bool inside)
{
    const int count = static_cast<int>(landmarks.size());
    double least = std::numeric_limits<double>::infinity();
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < a; ++b) {
            for (int c = 0; c < b; ++c) {
                const SheetPoint &xa = landmarks[a], &xb = landmarks[b], &xc = landmarks[c];
                const double area = cross(xa, xb, xc);
                if (std::abs(area) < 1e-9) continue;
                const Resampler::Weights weights{
                    {a, b, c},
                    {cross(x, xb, xc) / area, cross(xa, x, xc) / area, cross(xa, xb, x) / area}};
                if (inside && *std::min_element(weights.weight.begin(), weights.weight.end()) < 0)
                    continue;
                least = std::min(least, error_bound(landmarks, weights, x));
            }
        }
    }
    return least;
}

std::string message(const Points& landmarks, const Points& particles)
{
    try {
        Resampler(landmarks, particles);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Resample, GridsGiveInterpolationNearby)
{
    struct Case {
        int landmark_rows, landmark_cols, rows, cols;
        double length, width;
    };
    const Case cases[] = {
        {31, 31, 32, 32, 15.5, 15.5}, {16, 16, 32, 32, 15.5, 15.5}, {32, 32, 8, 8, 15.5, 15.5},
        {61, 61, 32, 32, 15.5, 15.5}, {31, 31, 32, 32, 3.0, 0.7},   {7, 40, 32, 20, 2.0, 1.0},
        {2, 2, 5, 5, 1.0, 1.0},       {2, 50, 9, 9, 1.0, 1.0},      {61, 61, 31, 31, 1e-3, 2e-3}};
    for (const Case& c : cases) {
        SCOPED_TRACE(
            fmt::format("{} x {} to {} x {}", c.landmark_rows, c.landmark_cols, c.rows, c.cols));
        const Points landmarks = grid(c.landmark_rows, c.landmark_cols, c.length, c.width);
        const Points particles = grid(c.rows, c.cols, c.length, c.width);
        const Resampler resampler(landmarks, particles);
        expect_affine(resampler, landmarks, particles);
        // The hull is the sheet, so every particle is inside.
        for (const auto& weights : resampler.weights()) {
            EXPECT_GE(*std::min_element(weights.weight.begin(), weights.weight.end()), -1e-9);
            EXPECT_LE(*std::max_element(weights.weight.begin(), weights.weight.end()), 1 + 1e-9);
        }
        // A triangle around a particle whose circle is empty is half a cell.
        const double cell =
            std::hypot(c.length / (c.landmark_cols - 1), c.width / (c.landmark_rows - 1));
        EXPECT_LE(reach(resampler, landmarks, particles), cell * (1 + 1e-9));
    }
}

TEST(Resample, AffineMotionsAreReproducedToTheRoundingOfFloats)
{
    const Points landmarks = square_grid(31), particles = square_grid(32);
    const auto moved = [](const Points& points) {
        std::vector<float> field;
        for (const SheetPoint& x : points) {
            field.push_back(float(0.3 * x.u - 0.7 * x.v + 2));
            field.push_back(float(-0.5 * x.u + 0.1 * x.v - 1));
            field.push_back(float(0.9 * x.u + 0.8 * x.v));
        }
        return field;
    };
    const std::vector<float> found = Resampler(landmarks, particles).apply(moved(landmarks));
    const std::vector<float> expected = moved(particles);
    ASSERT_EQ(found.size(), expected.size());
    // Coordinates reach 27 m, so one rounding is at most half of 32 epsilon; three here: of the
    // landmarks, of the result, of the expectation.
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1.5 * 32 * kFloatEpsilon);
}

TEST(Resample, OnItselfIsTheIdentityBitForBit)
{
    const Points landmarks = square_grid(32);
    Points particles = landmarks;
    for (SheetPoint& x : particles) x.u += 1e-15 * x.u;  // another way to compute a grid
    const Resampler resampler(landmarks, particles);
    for (std::size_t p = 0; p < landmarks.size(); ++p) {
        EXPECT_EQ(resampler.weights()[p].weight, (std::array<double, 4>{1, 0, 0, 0}));
        EXPECT_EQ(resampler.weights()[p].landmark[0], int(p));
    }
    Random random(3);
    std::vector<float> field(3 * 2 * landmarks.size());  // two frames
    for (float& x : field) x = float(1000 * random.normal());
    field[7] = -0.0f;
    field[8] = std::numeric_limits<float>::denorm_min();
    const std::vector<float> found = resampler.apply(field);
    ASSERT_EQ(found.size(), field.size());
    for (std::size_t i = 0; i < field.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(field[i]));
}

TEST(Resample, ScatteredLandmarksGiveInterpolationInsideTheirHull)
{
    const Points particles = grid(32, 32, 15.5, 15.5);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        const int count = seed < 10 ? 900 : 12;
        const Points landmarks = scattered(count, 15.5, 15.5, seed);
        const Resampler resampler(landmarks, particles);
        expect_affine(resampler, landmarks, particles);
        EXPECT_GT(expect_inside_weights(resampler, landmarks, particles), 200);
    }
}

TEST(Resample, ClusteredLandmarksGiveInterpolationInsideTheirHull)
{
    const Points landmarks = clustered(), particles = square_grid(32);
    const Resampler resampler(landmarks, particles);
    expect_affine(resampler, landmarks, particles);
    EXPECT_GT(expect_inside_weights(resampler, landmarks, particles), 200);
}

TEST(Resample, LandmarksBeyondTheSheetServeAsWell)
{
    Points landmarks = square_grid(20);
    for (SheetPoint& x : landmarks) x = {1.3 * x.u - 2, 1.4 * x.v - 3};
    const Points particles = square_grid(32);
    const Resampler resampler(landmarks, particles);
    expect_affine(resampler, landmarks, particles);
    EXPECT_EQ(expect_inside_weights(resampler, landmarks, particles), 32 * 32);
}

// The triangle around the particle with the least sum w_i d_i^2 is the Delaunay one; here every
// triangle is tried.
TEST(Resample, NoOtherTriangleHasALowerErrorBound)
{
    Points landmarks = scattered(40, 2, 1, 11);
    for (const SheetPoint& x : grid(4, 4, 0.6, 0.6))  // many on common circles and lines
        landmarks.push_back({x.u + 0.7, x.v + 0.2});
    const Points hull = convex_hull(landmarks);
    Points particles = scattered(40, 2.4, 1.2, 12);
    for (const SheetPoint& x : grid(7, 7, 0.6, 0.6)) particles.push_back({x.u + 0.7, x.v + 0.2});
    const Resampler resampler(landmarks, particles);
    int inside = 0;
    for (std::size_t p = 0; p < particles.size(); ++p) {
        const bool within = depth(hull, particles[p]) > 0;
        inside += within;
        const double least = least_error_bound(landmarks, particles[p], within);
        // One part in 1e7 is given away to cut all cells of a grid alike.
        EXPECT_NEAR(error_bound(landmarks, resampler.weights()[p], particles[p]), least,
                    2e-7 * least + 1e-8)
            << "particle " << p << (within ? " inside" : " outside");
    }
    EXPECT_GT(inside, 60);
    EXPECT_LT(inside, 87);  // some of either kind
}

TEST(Resample, AnEdgeThatIsStraightUpToNoiseIsInterpolatedAlongItself)
{
    // The edges are bent inward by 1 um. The triangle around a particle on the edge is then one of
    // the corners of the sheet and a far landmark.
    Points landmarks = square_grid(31);
    for (SheetPoint& x : landmarks) {
        const auto bend = [](double at) { return 1e-6 * at * (15.5 - at) / 60; };
        if (x.v == 0) x.v = bend(x.u);
        if (x.v == 15.5) x.v -= bend(x.u);
        if (x.u == 0) x.u = bend(x.v);
        if (x.u == 15.5) x.u -= bend(x.v);
    }
    const Points particles = square_grid(32);
    const Resampler resampler(landmarks, particles);
    expect_affine(resampler, landmarks, particles);
    EXPECT_LE(reach(resampler, landmarks, particles), 2 * 15.5 / 30);
    for (const auto& weights : resampler.weights())  // 1 um of extrapolation over 0.5 m
        EXPECT_GE(*std::min_element(weights.weight.begin(), weights.weight.end()), -3e-6);
}

TEST(Resample, OutsideTheHullTheNearTriangleExtrapolates)
{
    // Landmarks stop 0.5 m before the edge of the sheet.
    Points landmarks = square_grid(30);
    for (SheetPoint& x : landmarks) x = {0.5 + x.u * 14.5 / 15.5, 0.5 + x.v * 14.5 / 15.5};
    const Points particles = square_grid(32);
    const Resampler resampler(landmarks, particles);
    expect_affine(resampler, landmarks, particles);
    // Spacing 0.5 m, so a corner is one diagonal away from the first landmark: reached with
    // weights of size one or two from within two spacings of the hull.
    EXPECT_LE(reach(resampler, landmarks, particles), 1.5 * std::sqrt(2.0) + 1e-9);
    double least = 0;
    for (const auto& weights : resampler.weights())
        least = std::min(least, *std::min_element(weights.weight.begin(), weights.weight.end()));
    EXPECT_LT(least, -0.1);
    EXPECT_GE(least, -2);

    const Points far = {{-100, 40}, {1e4, 1e4}};
    const Resampler distant(landmarks, far);
    expect_affine(distant, landmarks, far);
}

// f = u^2 + u v - v^2 / 2 has constant second derivatives, so the error of linear interpolation is
// a constant times h^2 at like places of the cells.
TEST(Resample, QuadraticFieldsAreReproducedToSecondOrder)
{
    const auto f = [](const SheetPoint& x) { return x.u * x.u + x.u * x.v - x.v * x.v / 2; };
    const auto error = [&](int cells) {
        const Points landmarks = grid(cells + 1, cells + 1, 1, 1);
        const Points particles = scattered(4000, 1, 1, 2);
        const Resampler resampler(landmarks, particles);
        double sum = 0;
        for (std::size_t p = 0; p < particles.size(); ++p) {
            double value = -f(particles[p]);
            for (int j = 0; j < 3; ++j)
                value += resampler.weights()[p].weight[j] *
                         f(landmarks[resampler.weights()[p].landmark[j]]);
            sum += value * value;
        }
        return std::sqrt(sum / double(particles.size()));
    };
    const double coarse = error(8), middle = error(16), fine = error(32);
    // 4000 random places: the mean squares scatter by about 2 %.
    EXPECT_NEAR(coarse / middle, 4, 0.2);
    EXPECT_NEAR(middle / fine, 4, 0.2);
    EXPECT_LT(coarse, 1.0 / 64);  // M h^2 / 2 with M = 2, worst case
}

TEST(Resample, UsesLandmarksWithinAFewSpacings)
{
    // 900 landmarks on 15.5 m: about 0.5 m apart. Away from the hull, an empty circle of radius r
    // has probability exp(-900 pi r^2 / 15.5^2); 2 m leaves 4e-21.
    const Points landmarks = scattered(900, 15.5, 15.5, 21);
    Points particles = scattered(1000, 11.5, 11.5, 22);
    for (SheetPoint& x : particles) x = {x.u + 2, x.v + 2};
    EXPECT_LE(reach(Resampler(landmarks, particles), landmarks, particles), 4);
}

TEST(Resample, CellsOfAGridAreAllCutAlike)
{
    // Whatever rounding does, the long side of every triangle runs from the south-west to the
    // north-east.
    for (const double size : {1.0, 15.5, 0.37}) {
        const Points landmarks = grid(16, 20, 1.3 * size, size);
        const Resampler resampler(landmarks, grid(32, 32, 1.3 * size, size));
        int counted = 0;
        for (const auto& [landmark, weight] : resampler.weights()) {
            if (weight[0] == 0 || weight[1] == 0 || weight[2] == 0) continue;
            for (int j = 0; j < 3; ++j) {
                const SheetPoint &a = landmarks[landmark[j]], &b = landmarks[landmark[(j + 1) % 3]];
                EXPECT_LT((a.u - b.u) * (a.v - b.v), 1e-9 * size * size);
            }
            ++counted;
        }
        EXPECT_GT(counted, 700);
    }
}

TEST(Resample, DuplicatesAreHarmless)
{
    const Points once = square_grid(16), particles = square_grid(32);
    Points thrice = once;
    for (const SheetPoint& x : once) thrice.push_back({x.u, x.v + 1e-14});
    for (const SheetPoint& x : once) thrice.push_back(x);
    const Resampler expected(once, particles), found(thrice, particles);
    EXPECT_EQ(found.landmark_count(), 3 * once.size());
    const auto shares = [](const Resampler::Weights& weights) {
        std::map<int, double> share;
        for (int j = 0; j < 3; ++j)
            if (weights.weight[j] != 0) share[weights.landmark[j]] = weights.weight[j];
        return share;
    };
    for (std::size_t p = 0; p < particles.size(); ++p) {
        const auto a = shares(found.weights()[p]), b = shares(expected.weights()[p]);
        ASSERT_EQ(a.size(), b.size()) << "particle " << p;
        for (const auto& [landmark, weight] : b) {
            ASSERT_TRUE(a.contains(landmark)) << "particle " << p;
            EXPECT_NEAR(a.at(landmark), weight, 1e-12);
        }
    }
}

TEST(Resample, IsTheSameEveryTimeAndForEveryParticleAlone)
{
    const Points landmarks = scattered(300, 2, 1, 31), particles = grid(8, 9, 2, 1);
    const Resampler all(landmarks, particles), again(landmarks, particles);
    for (std::size_t p = 0; p < particles.size(); ++p) {
        const Resampler alone(landmarks, {particles[p]});
        for (const auto* other : {&again.weights()[p], &alone.weights()[0]}) {
            EXPECT_EQ(all.weights()[p].landmark, other->landmark);
            EXPECT_EQ(all.weights()[p].weight, other->weight);
        }
    }
}

TEST(Resample, TurnsAndShiftsOfTheRestPlaneDoNotMatter)
{
    // Landmarks and particles turned by 30 degrees and put 1 km away: rounding of 1 km is 1e-13 m.
    const auto turned = [](Points points) {
        const double c = std::sqrt(0.75), s = 0.5;
        for (SheetPoint& x : points) x = {c * x.u - s * x.v + 1000, s * x.u + c * x.v - 1000};
        return points;
    };
    const Points landmarks = scattered(300, 2, 1, 41), particles = scattered(100, 2, 1, 42);
    const Resampler plain(landmarks, particles), other(turned(landmarks), turned(particles));
    for (std::size_t p = 0; p < particles.size(); ++p) {
        EXPECT_EQ(plain.weights()[p].landmark, other.weights()[p].landmark);
        for (int j = 0; j < 3; ++j)
            EXPECT_NEAR(plain.weights()[p].weight[j], other.weights()[p].weight[j], 1e-8);
    }
}

TEST(Resample, WorkGrowsHardlyFasterThanTheNumberOfLandmarks)
{
    // Time of the processor, which a busy machine does not change, as a ratio.
    const auto work = [](const Points& landmarks) {
        const std::clock_t start = std::clock();
        const Resampler resampler(landmarks, square_grid(32));
        EXPECT_EQ(resampler.particle_count(), 1024u);
        return double(std::clock() - start);
    };
    // 27 times the landmarks. Comparing every pair would take 720 times as long; seen: 18 on both.
    const double few = work(square_grid(61));
    EXPECT_LT(work(square_grid(316)), 150 * few);
    EXPECT_LT(work(scattered(100000, 15.5, 15.5, 51)), 150 * few);
    // All at three places: merging must not compare every pair. 50 times the landmarks.
    const auto heaps = [](int count) {
        Points points;
        for (int i = 0; i < count; ++i) points.push_back({double(i % 3), double(i % 3 == 1)});
        return points;
    };
    EXPECT_LT(work(heaps(100000)), 500 * work(heaps(2000)));
}

TEST(Resample, LandmarksThatDoNotSpanThePlaneAreRefused)
{
    const Points particles = {{0.5, 0.5}};
    EXPECT_EQ(message({}, particles),
              "resample: 0 landmarks at 0 different places, but 3 places are needed; track more "
              "points of the sheet");
    EXPECT_EQ(message({{0, 0}, {1, 0}}, particles),
              "resample: 2 landmarks at 2 different places, but 3 places are needed; track more "
              "points of the sheet");
    EXPECT_EQ(message({{2, 2}, {2, 2}, {2, 2}, {2, 2}}, particles),
              "resample: 4 landmarks at 1 different places, but 3 places are needed; track more "
              "points of the sheet");
    EXPECT_EQ(message({{0, 0}, {1, 0}, {0, 1e-15}, {1, 0}}, particles),
              "resample: 4 landmarks at 2 different places, but 3 places are needed; track more "
              "points of the sheet");
    const std::string on_a_line =
        "resample: all 5 landmarks lie on one line of the flat sheet, but they must span it; "
        "track points beside that line, or take a grid of one row for a rope";
    EXPECT_EQ(message({{0, 0}, {1, 0}, {2, 0}, {5, 0}, {3, 0}}, particles), on_a_line);
    Points slanted;
    for (const float t : {0.1f, 0.2f, 0.3f, 0.7f, 1.1f})  // in floats: up to rounding
        slanted.push_back({3.7f * t, 1 - 0.3f * t});
    EXPECT_EQ(message(slanted, particles), on_a_line);
    slanted[2].v += 1e-4;
    EXPECT_EQ(message(slanted, particles), "");
}

TEST(Resample, PlacesMustBeFinite)
{
    EXPECT_EQ(message({{0, 0}, {1, kNan}, {0, 1}}, {}),
              "resample: landmark 1 rests at (1, nan) m, which is not finite; mend or drop it");
    EXPECT_EQ(message({{0, 0}, {1, 0}, {0, 1}}, {{0, 0}, {0, 0}, {-INFINITY, 2}}),
              "resample: particle 2 rests at (-inf, 2) m, which is not finite; mend or drop it");
}

TEST(Resample, FieldsMustFitTheLandmarks)
{
    const Resampler resampler({{0, 0}, {1, 0}, {0, 1}}, {{0.2, 0.2}});
    EXPECT_TRUE(resampler.apply(std::vector<float>()).empty());
    try {
        resampler.apply(std::vector<float>(10));
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "resample: a field of 10 numbers, but 3 landmarks have 9 in every frame; give "
                     "three for each landmark");
    }
}

TEST(Resample, ALostLandmarkOnlyMattersWhereItCounts)
{
    // The first particle lies on the diagonal between landmarks 5 and 7 of 3 x 3. Its third
    // landmark is 4 or 8, both lost, and has no weight.
    std::vector<float> field(27, 1);
    field[3 * 4] = field[3 * 8] = float(kNan);
    const Points particles = {{1.25, 1.75}, {2, 0.5}, {0, 2}, {1.75, 1.5}};
    const std::vector<float> found = Resampler(grid(3, 3, 2, 2), particles).apply(field);
    for (int p = 0; p < 3; ++p) EXPECT_EQ(found[3 * p], 1) << p;
    EXPECT_TRUE(std::isnan(found[9]));
}

}  // namespace

}  // namespace springtime
