#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cloths.h"
#include "exports.h"
#include "motions.h"
#include "springtime/evaluate.h"
#include "springtime/generate.h"
#include "springtime/identify.h"
#include "springtime/learn.h"
#include "springtime/report.h"

namespace springtime {
namespace {

Cloth rope(int count, double stiffness, double damping, bool bending = true)
{
    return make_grid_cloth({1, 0.02, 0.1}, {1, count, true, true, true, bending},
                           MaterialField::uniform(stiffness), MaterialField::uniform(damping));
}

TEST(Rope, HasSpringsAlongItsRowAlone)
{
    const Cloth row = rope(12, 10, 0.1);
    std::map<SpringFamily, int> count;
    for (const SpringFamily family : row.springs.family) ++count[family];
    EXPECT_EQ(count, (std::map<SpringFamily, int>{{SpringFamily::structural, 11},
                                                  {SpringFamily::bending, 10}}));
    for (const SheetPoint& x : row.rest) EXPECT_EQ(x.v, 0.01);
    EXPECT_EQ(row.rest.back().u, 1);
    const Cloth column = make_grid_cloth({0.02, 1, 0.1}, {12, 1}, MaterialField::uniform(10),
                                         MaterialField::uniform(0.1));
    EXPECT_EQ(column.springs.ends, row.springs.ends);
    // Rest lengths are the same sums of doubles, of u or of v.
    EXPECT_EQ(column.springs.rest_length, row.springs.rest_length);
    EXPECT_THROW(grid_points({1, 1, 1}, {1, 1}), Error);
    EXPECT_TRUE(surface_triangles(row).empty());
}

TEST(Rope, GoesThroughAClothFile)
{
    const Cloth cloth = rope(12, 10, 0.1);
    const Cloth again = cloth_from_json(cloth_to_json(cloth), "rope");
    EXPECT_EQ(again.grid->rows, 1);
    EXPECT_EQ(again.grid->cols, 12);
    EXPECT_EQ(again.springs.ends, cloth.springs.ends);
}

// ---- At rest

// A chain of equal springs hangs between two pins at one height, `span` apart. The horizontal pull
// H is the same in all n links, and the vertical one changes by m g from link to link: V_i = m g (i
// - (n - 1) / 2). A link has the pull T_i = hypot(H, V_i), the length L + T_i / k and the direction
// (H, V_i) / T_i. H follows from the span.
struct Chain {
    int links;
    double rest, stiffness, weight;  // L [m], k [N/m], m g [N]

    double vertical(int link) const { return weight * (link - (links - 1) / 2.0); }
    double span(double pull) const
    {
        double sum = 0;
        for (int i = 0; i < links; ++i) {
            const double all = std::hypot(pull, vertical(i));
            sum += pull / all * (rest + all / stiffness);
        }
        return sum;
    }
    double pull_for(double wanted) const
    {
        double low = 0, high = 1e6 * weight;
        for (int i = 0; i < 200; ++i) {
            const double middle = (low + high) / 2;
            (span(middle) < wanted ? low : high) = middle;
        }
        return (low + high) / 2;
    }
    // Heights of all particles below the pins.
    std::vector<double> heights(double pull) const
    {
        std::vector<double> y{0};
        for (int i = 0; i < links; ++i) {
            const double all = std::hypot(pull, vertical(i));
            y.push_back(y.back() + vertical(i) / all * (rest + all / stiffness));
        }
        return y;
    }
};

// The rope begins as an arc between its pins and comes to rest by drag.
State hanging(const Cloth& cloth, double span, double drag)
{
    const int last = int(cloth.particle_count()) - 1;
    State state = flat_state(cloth);
    for (int p = 0; p <= last; ++p) {
        const double t = double(p) / last;
        state.position[std::size_t(p)] = {span * (t - 0.5), -1.2 * t * (1 - t), 0};
    }
    Environment environment;
    environment.drag = drag;
    SimulationOptions options{5e-4, environment, Device::reference};
    Simulation simulation(cloth, state, {{0, last}, {}, {}}, options);
    EXPECT_FALSE(simulation.advance(40000));
    return simulation.state();
}

TEST(Rope, HangsAsTheBalanceOfForcesSays)
{
    const double span = 0.6, stiffness = 2000;
    const Cloth cloth = rope(21, stiffness, 1, false);
    const Chain chain{20, 0.05, stiffness, 0.1 / 21 * 9.81};
    const double pull = chain.pull_for(span);
    const std::vector<double> expected = chain.heights(pull);
    const State rest = hanging(cloth, span, 4);
    for (std::size_t p = 0; p < expected.size(); ++p) {
        // Drag of 4/s and 20 s leave e^-40 of the slowest motion.
        EXPECT_NEAR(rest.position[p].y, expected[p], 1e-9) << p;
        EXPECT_NEAR(rest.position[p].z, 0, 1e-12);
    }
}

// Without stretch and with ever shorter links the chain becomes y = a (cosh(x / a) - cosh(s / 2a)),
// with the length 2 a sinh(s / 2a). Links of L approach its sag as L^2.
TEST(Rope, BecomesTheCatenary)
{
    const double span = 0.6, length = 1;
    double low = 0.01, high = 10;  // of a; the length falls with it
    for (int i = 0; i < 200; ++i) {
        const double a = (low + high) / 2;
        (2 * a * std::sinh(span / (2 * a)) > length ? low : high) = a;
    }
    const double a = low, sag = a * (std::cosh(span / (2 * a)) - 1);
    const auto error_of_links = [&](int links) {
        const Chain chain{links, length / links, 1e12, 0.1 * 9.81 / links};
        const std::vector<double> y = chain.heights(chain.pull_for(span));
        return std::abs(-y[std::size_t(links / 2)] - sag);
    };
    EXPECT_LT(error_of_links(20), 1e-3);
    EXPECT_NEAR(error_of_links(20) / error_of_links(40), 4, 0.2);
    // The simulated rope of 20 links, which half of its weight stretches by 0.1 %.
    const State rest = hanging(rope(21, 1e4, 1, false), span, 4);
    EXPECT_NEAR(-rest.position[10].y, sag, 2e-3);
}

// ---- Motion and learning

Motion falls(const Cloth& cloth, int rollouts, std::uint64_t seed, std::vector<int> pinned = {})
{
    GenerateOptions options;
    options.pinned = std::move(pinned);
    options.rollouts = rollouts;
    options.seconds = 1;
    options.dt = 1e-3;
    options.stride = 20;
    options.anchor_size = 2;
    options.seed = seed;
    options.threads = 1;
    options.device = Device::cpu;
    return generated_motion(cloth, options);
}

TEST(Rope, AnchorsArePartsOfTheRow)
{
    const Motion motion = falls(rope(12, 10, 0.1), 20, 1);
    std::set<int> held;
    for (std::size_t r = 0; r < 20; ++r) {
        const std::vector<int> pins = motion.read(r, 0, 1).handles.particles;
        ASSERT_EQ(pins.size(), 4u);
        EXPECT_EQ(pins[1], pins[0] + 1);
        EXPECT_EQ(pins[3], pins[2] + 1);
        held.insert(pins.begin(), pins.end());
    }
    EXPECT_EQ(held.size(), 12u);
    GenerateOptions discs;
    discs.anchor_radius = 0.1;
    discs.rollouts = 1;
    const RolloutStart start = random_start(rope(21, 10, 0.1), discs, 0);
    EXPECT_GE(start.handles.particles.size(), 2 * 3u);  // 0.2 m of a row of 0.05 m
}

// Its own motion tells all springs of a rope, and the learned rope follows motion that it has not
// seen.
TEST(Rope, IsIdentifiedFromItsMotion)
{
    Cloth truth = rope(12, 20, 0.02);
    Random random(3);
    for (double& k : truth.springs.stiffness) k *= 0.5 + random.uniform();
    IdentifyOptions options;
    options.grid = {1, 12, true, true, true, true};
    options.threads = 1;
    const Identification found = identify(falls(truth, 12, 1), options);
    const std::vector<ParameterError> errors = parameter_errors(found.cloth, truth);
    EXPECT_LT(errors[0].all, 0.02);   // of 20 N/m; accelerations are floats
    EXPECT_LT(errors[1].all, 0.002);  // of 0.02 N s/m
    const Motion unseen = falls(truth, 4, 99);
    const double error = surrogate_error(found.cloth, unseen, Device::cpu, 1).mean;
    EXPECT_FALSE(loses_to_trivial(error, trivial_errors(unseen)));
    EXPECT_LT(error, 0.02 * static_error(unseen).mean);
}

// The same by descent on trajectories, from positions alone: the learned rope is judged on motion
// that it has not seen, at landmarks that are unevenly spaced, between the particles.
TEST(Rope, IsLearnedByDescent)
{
    const Cloth truth = rope(21, 20, 0.05);
    const std::vector<int> seen{0, 1, 3, 6, 9, 11, 14, 17, 19, 20};
    const auto observed = [&](int rollouts, std::uint64_t seed) {
        const Motion whole = falls(truth, rollouts, seed, {0, 1});
        MotionHeader header = whole.header;
        header.velocities = false;
        header.rest.clear();
        for (const int l : seen) header.rest.push_back(truth.rest[std::size_t(l)]);
        std::vector<Rollout> part;
        for (std::size_t r = 0; r < whole.rollout_count(); ++r) {
            const Rollout rollout = whole.read(r, 0, whole.frame_counts[r]);
            part.push_back({rollout.frame_count, {}, {}, {}, {{0, 1}, {}, {}}});
            for (std::size_t f = 0; f < rollout.frame_count; ++f) {
                for (const int l : seen) {
                    const float* x = &rollout.position[3 * (f * 21 + std::size_t(l))];
                    part.back().position.insert(part.back().position.end(), x, x + 3);
                }
            }
        }
        return motion_of(header, part);
    };
    LearnOptions options;
    options.method = LearnMethod::trajectory;
    options.homogeneous_iterations = 40;
    options.horizons = {{20, 0.5}};
    options.threads = 1;
    const Learned learned = learn(observed(12, 1), options);
    EXPECT_EQ(learned.cloth.grid->rows, 1);
    EXPECT_EQ(learned.cloth.grid->cols, 21);
    const Motion unseen = observed(4, 99);
    const double error =
        surrogate_error(learned.cloth, unseen, Device::cpu, 1, {}, learned.substeps).mean;
    EXPECT_FALSE(loses_to_trivial(error, trivial_errors(unseen)));
    EXPECT_LT(error, 0.2 * trivial_errors(unseen).best());
}

TEST(Rope, GetsAGridOfOneRow)
{
    MotionHeader header;
    header.sheet = {1, 0.02, 0.1};
    header.rest = grid_points(header.sheet, {1, 12});
    ASSERT_TRUE(regular_grid(header.rest));
    EXPECT_EQ(fitting_grid(header).rows, 1);
    EXPECT_EQ(fitting_grid(header).cols, 12);
    header.rest = grid_points({0.02, 1, 0.1}, {12, 1});
    EXPECT_EQ(fitting_grid(header).rows, 12);
    EXPECT_EQ(fitting_grid(header).cols, 1);
    // 2 cm between the first two, 8 and 10 cm between the others: a particle every 2 cm.
    header.rest = {{0, 0}, {0.02, 0}, {0.1, 0}, {0.2, 0}, {0.3, 0}, {0.4, 0}};
    EXPECT_FALSE(regular_grid(header.rest));
    EXPECT_EQ(fitting_grid(header).rows, 1);
    EXPECT_EQ(fitting_grid(header).cols, 21);
    header.rest[1].u = 1e-4;  // not more than 64
    EXPECT_EQ(fitting_grid(header).cols, 64);
}

// ---- Out again

// Landmarks of a rope in any order, two frames.
Motion shuffled_rope()
{
    MotionHeader header = grid_header({3, 4});
    header.rest = {{0.2, 0.1}, {0, 0.1}, {0.6, 0.1}, {0.4, 0.1}};
    return motion_of(header, {random_rollout(2, 4)});
}

TEST(Rope, IsACurveInObjAndPly)
{
    const TempFolder folder;
    const Motion motion = shuffled_rope();
    const ExportReport report = export_motion(motion, export_to(ExportFormat::obj, folder / "obj"));
    EXPECT_EQ(report.face_count, 0u);
    EXPECT_EQ(report.surface, "curve through the points");
    const auto lines = lines_of_file(folder / "obj" / "frame_000001.obj");
    ASSERT_EQ(lines.size(), 4 + 4 + 1u);
    EXPECT_EQ(lines.back(), "l 2/2 1/1 4/4 3/3");
    const auto x = words_of(lines[2], " ");
    EXPECT_EQ(std::stof(x[1]), motion.read(0, 1, 1).position[6]);

    export_motion(motion, export_to(ExportFormat::ply, folder / "ply"));
    const std::string bytes = bytes_of(folder / "ply" / "frame_000001.ply");
    const std::string end =
        "element edge 3\nproperty int vertex1\nproperty int vertex2\nend_header\n";
    ASSERT_NE(bytes.find(end), std::string::npos);
    const std::size_t body = bytes.find(end) + end.size();
    ASSERT_EQ(bytes.size(), body + 4 * 20 + 3 * 8);
    EXPECT_EQ(values_at<int>(bytes, body + 4 * 20, 6), (std::vector<int>{1, 0, 0, 3, 3, 2}));
}

TEST(Rope, IsBasisCurvesInUsda)
{
    const TempFolder folder;
    const Motion motion = shuffled_rope();
    export_motion(motion, export_to(ExportFormat::usda, folder / "m.usda"));
    const std::string text = bytes_of(folder / "m.usda");
    EXPECT_NE(text.find("def BasisCurves \"cloth\""), std::string::npos);
    EXPECT_NE(text.find("curveVertexCounts = [4]"), std::string::npos);
    EXPECT_NE(text.find("uniform token type = \"linear\""), std::string::npos);
    EXPECT_EQ(text.find("faceVertex"), std::string::npos);
    const std::size_t at = text.find("1: [", text.find("points.timeSamples")) + 4;
    const auto numbers = words_of(text.substr(at, text.find(']', at) - at), "(), ");
    ASSERT_EQ(numbers.size(), 12u);
    const std::vector<float> position = motion.read(0, 1, 1).position;
    const std::vector<std::size_t> order{1, 0, 3, 2};
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(std::stof(numbers[i]), position[3 * order[i / 3] + i % 3]);
    }
}

TEST(Rope, IsALineStripInGlb)
{
    const TempFolder folder;
    export_motion(shuffled_rope(), export_to(ExportFormat::glb, folder / "m.glb"));
    const std::string bytes = bytes_of(folder / "m.glb");
    EXPECT_NE(bytes.find("\"mode\":3"), std::string::npos);
    const std::size_t binary = 28 + value_at<std::uint32_t>(bytes, 12);
    EXPECT_EQ(values_at<int>(bytes, binary, 4), (std::vector<int>{1, 0, 3, 2}));  // the indices
}

TEST(Rope, CanBeDrawn)
{
    const Cloth cloth = rope(12, 10, 0.1);
    EXPECT_GT(draw_stiffness(cloth).width, 0);
    // It leaves a mark where it is: one that hangs down looks different.
    State down = flat_state(cloth);
    for (Vec3d& x : down.position) x = {0, x.x, 0};
    EXPECT_NE(draw_frames(cloth, {flat_state(cloth)}).rgb, draw_frames(cloth, {down}).rgb);
}

}  // namespace
}  // namespace springtime
