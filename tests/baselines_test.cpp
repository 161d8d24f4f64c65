#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "learner.h"
#include "mesh_graph_net.h"
#include "model_file.h"
#include "neural_ode.h"
#include "verdict.h"

namespace springtime::baselines {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;

// A folder that goes away with the test.
struct Folder {
    fs::path path = fs::temp_directory_path() /
                    ("springtime-" + std::to_string(::getpid()) + "-" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    Folder()
    {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
};

// The edges of rows x cols points cut into triangles.
std::vector<std::int64_t> grid_edges(int rows, int cols)
{
    std::vector<std::int64_t> edges;
    const auto add = [&](int a, int b) { edges.insert(edges.end(), {a, b}); };
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            const int p = r * cols + c;
            if (c + 1 < cols) add(p, p + 1);
            if (r + 1 < rows) add(p, p + cols);
            if (c + 1 < cols && r + 1 < rows) add(p, p + cols + 1);
        }
    }
    return edges;
}

// A file of a sheet whose free points swing on springs of their own: x = rest + A sin(w t + phase),
// so that v = A w cos and a = -w^2 (x - rest). Point 0 is held.
struct Swing {
    static constexpr int kRows = 3, kCols = 4, kPoints = kRows * kCols;
    static constexpr double kDt = 0.01, kPulse = 6;  // [s], [1/s]
    int rollouts = 1, frames = 26, stride = 2;
    std::int64_t seed = 1;
    double phase = 0;
    double mass = 0.1;

    void write(const fs::path& path) const
    {
        std::vector<float> x, v, a, rest, held;
        std::vector<std::int64_t> fingerprints;
        for (int p = 0; p < kPoints; ++p) {
            rest.insert(rest.end(), {float(p / kCols), float(p % kCols)});
        }
        for (int r = 0; r < rollouts; ++r) {
            for (int p = 0; p < kPoints; ++p) held.push_back(p == 0);
            for (int f = 0; f < frames; ++f) {
                for (int p = 0; p < kPoints; ++p) add_point(r, f, p, x, v, a);
                fingerprints.push_back(frame_fingerprint(&x[x.size() - 3 * kPoints], 3 * kPoints));
            }
        }
        const std::vector<std::int64_t> field{rollouts, frames, kPoints, 3};
        const std::vector<std::int64_t> edges = grid_edges(kRows, kCols);
        TensorWriter file(path, {{"kind", "motion"}},
                          {{"rest", NumberType::f32, {kPoints, 2}},
                           {"mass", NumberType::f32, {kPoints}},
                           {"edges", NumberType::i64, {std::int64_t(edges.size()) / 2, 2}},
                           {"gravity", NumberType::f32, {3}},
                           {"drag", NumberType::f64, {1}},
                           {"dt", NumberType::f64, {1}},
                           {"stride", NumberType::f64, {1}},
                           {"seed", NumberType::i64, {1}},
                           {"held", NumberType::f32, {rollouts, kPoints}},
                           {"fingerprint", NumberType::i64, {rollouts, frames}},
                           {"position", NumberType::f32, field},
                           {"velocity", NumberType::f32, field},
                           {"acceleration", NumberType::f32, field}});
        file.write("rest", rest);
        file.write("mass", std::vector<float>(kPoints, float(mass)));
        file.write("edges", edges);
        file.write("gravity", std::vector<float>{0, -9.81F, 0});
        file.write("drag", std::vector<double>{0.5});
        file.write("dt", std::vector<double>{kDt});
        file.write("stride", std::vector<double>{double(stride)});
        file.write("seed", std::vector<std::int64_t>{seed});
        file.write("held", held);
        file.write("fingerprint", fingerprints);
        file.write("position", x);
        file.write("velocity", v);
        file.write("acceleration", a);
        file.publish();
    }

  private:
    void add_point(int r, int f, int p, std::vector<float>& x, std::vector<float>& v,
                   std::vector<float>& a) const
    {
        const double t = f * stride * kDt, angle = kPulse * t + phase + 0.7 * r + 0.5 * p;
        const double swing = p == 0 ? 0 : 0.1;
        x.insert(x.end(), {float(p / kCols), float(swing * std::sin(angle)), float(p % kCols)});
        v.insert(v.end(), {0, float(swing * kPulse * std::cos(angle)), 0});
        a.insert(a.end(), {0, float(-swing * kPulse * kPulse * std::sin(angle)), 0});
    }
};

MotionTensors motion_of(const Swing& swing)
{
    const Folder folder;
    swing.write(folder.path / "motion.tensors");
    return read_motion_tensors(folder.path / "motion.tensors", torch::kCPU);
}

TrainOptions small_options(const std::string& kind)
{
    TrainOptions options;
    options.kind = kind;
    options.hidden = 16;
    options.layers = 2;
    options.batch = 4;
    options.noise = {0};
    options.clip_steps = 10;
    options.rate = 0.01;
    options.steps = 300;
    options.device = "cpu";
    options.quiet = true;
    return with_defaults(options);
}

// The loss of the last part of a training over that of its first steps.
double overfit(const std::string& kind, int steps)
{
    TrainOptions options = small_options(kind);
    options.steps = steps;
    const MotionTensors motion = motion_of({});
    torch::manual_seed(1);
    const auto model = make_model(options, motion);
    Learner learner(*model, motion, options);
    for (int i = 0; i < 5; ++i) learner.advance();
    const double first = learner.mean_loss();
    for (int i = 5; i < steps - 20; ++i) learner.advance();
    learner.mean_loss();
    for (int i = 0; i < 20; ++i) learner.advance();
    return learner.mean_loss() / first;
}

// One rollout can be learned by heart.
TEST(Baselines, MeshGraphNetOverfitsOneRollout)
{
    EXPECT_LT(overfit("mgn", 300), 0.02);
}
TEST(Baselines, NeuralOdeOverfitsOneRollout)
{
    EXPECT_LT(overfit("ode", 300), 0.02);
}

// 2.3 million parameters for 15 blocks of width 128, and 6 layers of 512 for the cloth of 32 x 32:
// MLPs of three layers with LayerNorm have (in + 1) w + 2 (w + 1) w + 2 w.
TEST(Baselines, HaveThePublishedSizes)
{
    Layout layout;
    const Mlp edge(layout, 3 * 128, 128, 128, true), node(layout, 2 * 128, 128, 128, true);
    const std::int64_t w = 128, block = layout.count();
    EXPECT_EQ(block, (3 * w + 1) * w + (2 * w + 1) * w + 2 * (2 * (w + 1) * w + 2 * w));
    TrainOptions options;
    options.kind = "mgn";
    const MotionTensors motion = motion_of({});
    const std::int64_t count = make_model(with_defaults(options), motion)->layout().count();
    EXPECT_EQ(count, 15 * block + (5 + 1) * w + (7 + 1) * w + (w + 1) * w + (w + 1) * 3 +
                         5 * (w + 1) * w + 4 * w);
    EXPECT_NEAR(double(count), 2.3e6, 0.05e6);
    options.kind = "ode";
    const std::int64_t n = 3 * motion.particle_count(), h = 512;
    EXPECT_EQ(make_model(with_defaults(options), motion)->layout().count(),
              (2 * n + 1) * h + 5 * (h + 1) * h + (h + 1) * n);
}

struct GraphCase {
    MotionTensors motion = motion_of({});
    MeshGraphNet net{small_options("mgn"), motion};
    Tensor weights = net.layout().start(7);
    Tensor position = motion.position.select(1, 3), before = motion.position.select(1, 2);
};

// Features are differences: the same cloth elsewhere moves in the same way, up to the rounding of
// positions of 8 m in float, 5e-7 of it, over spreads of about 0.1 m.
TEST(Baselines, MeshGraphNetIsInvariantToTranslation)
{
    const GraphCase c;
    const Tensor by = torch::tensor({3.0F, -7.0F, 5.0F});
    const Tensor here = c.net.predict(c.weights, c.position, c.before, c.motion.held);
    const Tensor there = c.net.predict(c.weights, c.position + by, c.before + by, c.motion.held);
    EXPECT_GT(here.abs().max().item<double>(), 0.01);
    EXPECT_LT((here - there).abs().max().item<double>(), 1e-4);  // seen: 1e-5
}

// Particles with other numbers: sums run in another order, and nothing else changes.
TEST(Baselines, MeshGraphNetIsInvariantToRenumbering)
{
    GraphCase c;
    const Tensor order = torch::randperm(Swing::kPoints, torch::kInt64);  // new number -> old
    const Tensor place = torch::argsort(order);                           // old number -> new
    MotionTensors other = c.motion;
    for (Tensor* field : {&other.position, &other.velocity, &other.acceleration}) {
        *field = field->index_select(2, order);
    }
    other.held = other.held.index_select(1, order);
    other.rest = other.rest.index_select(0, order);
    other.edges = place.index_select(0, other.edges.flatten()).view({-1, 2});
    MeshGraphNet net(small_options("mgn"), other);
    const auto from = c.net.scalings(), to = net.scalings();
    for (std::size_t i = 0; i < from.size(); ++i) *to[i] = *from[i];
    const Tensor here = c.net.predict(c.weights, c.position, c.before, c.motion.held);
    const Tensor there = net.predict(c.weights, c.position.index_select(1, order),
                                     c.before.index_select(1, order), other.held);
    EXPECT_LT((here.index_select(1, order) - there).abs().max().item<double>(), 1e-5);
}

// ---- A second implementation: plain loops over the edges of a list, in double ----

using Row = std::vector<double>;

struct PlainLayers {
    std::vector<Tensor> parts;
    std::size_t next = 0;

    Row linear(const Row& in)
    {
        const Tensor w = parts[next++], b = parts[next++];
        Row out(std::size_t(w.size(0)));
        for (std::int64_t i = 0; i < w.size(0); ++i) {
            out[std::size_t(i)] = b[i].item<double>();
            for (std::int64_t j = 0; j < w.size(1); ++j) {
                out[std::size_t(i)] += w[i][j].item<double>() * in[std::size_t(j)];
            }
        }
        return out;
    }
    void norm(Row& row)
    {
        const Tensor scale = parts[next++], shift = parts[next++];
        double mean = 0, variance = 0;
        for (const double x : row) mean += x / double(row.size());
        for (const double x : row) variance += (x - mean) * (x - mean) / double(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) *
                         scale[std::int64_t(i)].item<double>() +
                     shift[std::int64_t(i)].item<double>();
        }
    }
    // All rows go through the same layers.
    std::vector<Row> mlp(const std::vector<Row>& rows, bool normalised)
    {
        const std::size_t first = next;
        std::vector<Row> out;
        for (const Row& in : rows) {
            next = first;
            Row row = in;
            for (int layer = 0; layer < 3; ++layer) {
                row = linear(row);
                if (layer == 2) break;
                for (double& x : row) x = std::max(x, 0.0);
            }
            if (normalised) norm(row);
            out.push_back(row);
        }
        return out;
    }
};

Row joined(std::initializer_list<Row> rows)
{
    Row all;
    for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

Row scaled(const Row& row, const Scaling& scaling)
{
    Row out;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto at = std::int64_t(i);
        out.push_back((row[i] - scaling.mean[at].item<double>()) / scaling.std[at].item<double>());
    }
    return out;
}

Row row_of(const Tensor& values)
{
    Row row;
    for (std::int64_t i = 0; i < values.numel(); ++i) row.push_back(values[i].item<double>());
    return row;
}

Row difference(const Row& a, const Row& b)
{
    Row out;
    double square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        out.push_back(a[i] - b[i]);
        square += out.back() * out.back();
    }
    out.push_back(std::sqrt(square));
    return out;
}

std::vector<Row> plain_prediction(GraphCase& c, int blocks)
{
    struct Edge {
        std::size_t sender, receiver;
    };
    PlainLayers layers{c.net.layout().parts(c.weights)};
    const std::vector<Scaling*> scalings = c.net.scalings();
    std::vector<Edge> edges;
    for (std::int64_t e = 0; e < c.motion.edges.size(0); ++e) {
        const auto a = std::size_t(c.motion.edges[e][0].item<std::int64_t>()),
                   b = std::size_t(c.motion.edges[e][1].item<std::int64_t>());
        edges.push_back({a, b});
        edges.push_back({b, a});
    }
    std::vector<Row> at, flat, nodes, links;
    for (std::int64_t p = 0; p < Swing::kPoints; ++p) {
        at.push_back(row_of(c.position[0][p]));
        flat.push_back(row_of(c.motion.rest[p]));
        Row velocity = difference(at.back(), row_of(c.before[0][p]));
        velocity.pop_back();
        const Row type = p == 0 ? Row{0, 1} : Row{1, 0};
        nodes.push_back(joined({scaled(velocity, *scalings[0]), type}));
    }
    for (const auto& [sender, receiver] : edges) {
        links.push_back(scaled(joined({difference(at[sender], at[receiver]),
                                       difference(flat[sender], flat[receiver])}),
                               *scalings[1]));
    }
    nodes = layers.mlp(nodes, true);
    links = layers.mlp(links, true);
    for (int block = 0; block < blocks; ++block) {
        std::vector<Row> inputs, received(nodes.size(), Row(nodes[0].size(), 0)), updates;
        for (std::size_t e = 0; e < edges.size(); ++e) {
            inputs.push_back(joined({links[e], nodes[edges[e].sender], nodes[edges[e].receiver]}));
        }
        const std::vector<Row> messages = layers.mlp(inputs, true);
        for (std::size_t e = 0; e < edges.size(); ++e) {
            for (std::size_t i = 0; i < messages[e].size(); ++i) {
                received[edges[e].receiver][i] += messages[e][i];
                links[e][i] += messages[e][i];
            }
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            updates.push_back(joined({nodes[n], received[n]}));
        }
        updates = layers.mlp(updates, true);
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            for (std::size_t i = 0; i < nodes[n].size(); ++i) nodes[n][i] += updates[n][i];
        }
    }
    return layers.mlp(nodes, false);
}

TEST(Baselines, MessagePassingEqualsPlainLoops)
{
    GraphCase c;
    const Tensor ours = c.net.predict(c.weights, c.position, c.before, c.motion.held);
    const std::vector<Row> plain = plain_prediction(c, 2);
    for (std::int64_t p = 0; p < Swing::kPoints; ++p) {
        for (std::int64_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(ours[0][p][i].item<double>(), plain[std::size_t(p)][std::size_t(i)],
                        2e-5);  // float against double; seen: 1e-6
        }
    }
}

// The hand-written way back of the gather equals that of index_select.
TEST(Baselines, AdjointOfGatherIsThatOfIndexSelect)
{
    const GraphCase c;
    const MeshGraph graph(c.motion.edges, Swing::kPoints, torch::kCPU);
    const Tensor nodes = torch::randn({2, Swing::kPoints, 5}).set_requires_grad(true);
    const Tensor weight = torch::randn({2, Swing::kPoints, graph.neighbours, 5}) * graph.present;
    const Tensor plain = nodes.index_select(1, graph.sender).view(weight.sizes());
    const Tensor ours = graph.gather(nodes);
    EXPECT_TRUE(torch::equal(ours, plain));
    const Tensor expected = torch::autograd::grad({(plain * weight).sum()}, {nodes})[0];
    const Tensor seen = torch::autograd::grad({(ours * weight).sum()}, {nodes})[0];
    EXPECT_LT((seen - expected).abs().max().item<double>(), 1e-5);
}

// Without forces but gravity and drag, semi-implicit Euler gives v_n = v_{n-1} + h (g - d v_{n-1}).
TEST(Baselines, NeuralOdeStepsAsSpringsDo)
{
    const MotionTensors motion = motion_of({});
    const NeuralOde ode(small_options("ode"), motion);
    const Tensor weights = torch::zeros({ode.layout().count()});
    const Tensor moved = ode.rollout(weights, motion);
    double v = motion.velocity[0][0][5][1].item<double>(),
           y = motion.position[0][0][5][1].item<double>();
    for (int step = 1; step <= 3 * motion.stride; ++step) {
        v += motion.dt * (-9.81 - 0.5 * v);
        y += motion.dt * v;
        if (step % motion.stride != 0) continue;
        EXPECT_NEAR(moved[0][step / motion.stride][5][1].item<double>(), y, 1e-6);
    }
    EXPECT_TRUE(torch::equal(moved.select(2, 0), motion.position.select(2, 0)));  // held
}

// sqrt(mean over free particles of the squared distance); a motion that is off by 0.3 m has 0.3 m.
TEST(Baselines, FrameErrorsAreThoseOfFreeParticles)
{
    const MotionTensors motion = motion_of({});
    Tensor moved = motion.position.clone();
    moved.select(3, 2) += 0.3;
    moved.select(2, 0) += 100.0;  // held: does not count
    const Tensor error = frame_errors(motion, moved.slice(1, 0, {}, 2), 2);
    EXPECT_EQ(error.size(1), (motion.frame_count() + 1) / 2);
    EXPECT_LT((error - 0.3).abs().max().item<double>(), 1e-6);
    moved[0][1][1][0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isinf(frame_errors(motion, moved, 1)[0][1].item<double>()));
}

// ---- Runs ----

class TrainedSwing : public ::testing::Test {
  protected:
    TrainedSwing()
    {
        Swing{.rollouts = 3}.write(folder.path / "train.tensors");
        options = small_options("mgn");
        options.motion = folder.path / "train.tensors";
        options.out = folder.path / "run";
        options.steps = 8;
        options.validate_every = 4;
    }
    void evaluate_on(const fs::path& motion)
    {
        evaluate({.model = options.out / "model.tensors",
                  .motions = {motion},
                  .outs = {folder.path / "result.tensors"},
                  .device = "cpu"});
    }
    std::string refusal(const fs::path& motion)
    {
        try {
            evaluate_on(motion);
        } catch (const BadInput& error) {
            return error.what();
        }
        return "none";
    }

    Folder folder;
    TrainOptions options;
};

TEST_F(TrainedSwing, IsEvaluatedOnUnseenMotionAlone)
{
    train(options);
    // The same file; the same frames under another seed; and others.
    EXPECT_NE(refusal(options.motion).find("has seed 1"), std::string::npos);
    Swing{.rollouts = 3, .seed = 2}.write(folder.path / "copy.tensors");
    const std::string refused = refusal(folder.path / "copy.tensors");
    EXPECT_NE(refused.find("frame 0 of rollout 0"), std::string::npos) << refused;
    // A rollout that was left out to validate is no test either.
    Swing{.rollouts = 1, .seed = 2, .phase = 2 * 0.7}.write(folder.path / "left-out.tensors");
    EXPECT_NE(refusal(folder.path / "left-out.tensors"), "none");
    EXPECT_FALSE(fs::exists(folder.path / "result.tensors"));

    Swing{.rollouts = 2, .seed = 2, .phase = 0.33}.write(folder.path / "unseen.tensors");
    EXPECT_EQ(refusal(folder.path / "unseen.tensors"), "none");
    const TensorReader result(folder.path / "result.tensors");
    EXPECT_EQ(result.info("error").shape, (std::vector<std::int64_t>{2, 26}));
    EXPECT_EQ(result.read<double>("error").at(0), 0);  // a run begins where the motion does
}

TEST_F(TrainedSwing, GoesOnWhereItStopped)
{
    train(options);
    options.steps = 12;
    train(options);
    const TensorReader model(options.out / "model.tensors");
    EXPECT_EQ(model.text("steps_done"), "12");
    EXPECT_EQ(model.read<double>("validation_steps"), (std::vector<double>{4, 8, 12}));
    Swing{.rollouts = 3, .seed = 5}.write(options.motion);
    EXPECT_THROW(train(options), BadInput);  // another motion
}

TEST_F(TrainedSwing, ChoosesTheNoiseThatValidatesBest)
{
    options.noise = {0.001, 10};  // the second drowns everything
    options.trial_steps = 4;
    train(options);
    const TensorReader model(options.out / "model.tensors");
    EXPECT_NE(model.text("trials").find("10 m: "), std::string::npos);
    const auto best = [&](const char* folder_name) {
        return std::stod(TensorReader(options.out / folder_name / "model.tensors").text("best"));
    };
    EXPECT_EQ(model.text("noise"), best("noise-0.001") < best("noise-10") ? "0.001" : "10");
}

TEST(BaselineVerdict, CallsTrainedOnlyWhatWasTrained)
{
    const std::vector<double> flat(30, 0.5);
    std::vector<double> falling;
    for (int i = 0; i < 30; ++i) falling.push_back(2 * std::pow(0.97, i));
    EXPECT_TRUE(verdict_of({"mgn", 160000, flat}).trained);
    EXPECT_FALSE(verdict_of({"mgn", 160000, falling}).trained);
    EXPECT_NE(verdict_of({"mgn", 160000, falling}).text.find("160000 steps, error still falling"),
              std::string::npos);
    EXPECT_FALSE(verdict_of({"mgn", 300, flat}).trained);  // too few steps
    EXPECT_NE(verdict_of({"mgn", 300, flat}).text.find("300 steps, too few"), std::string::npos);
    EXPECT_FALSE(verdict_of({"mgn", 160000, {0.5, 0.5}}).trained);  // too few looks
    EXPECT_TRUE(verdict_of({"mgn", kMostMeshGraphNetSteps, falling}).trained);
    EXPECT_FALSE(verdict_of({"ode", kPublishedOdeSteps, flat}).trained);
    EXPECT_TRUE(verdict_of({"ode", 1000, flat}).trained);
    EXPECT_FALSE(verdict_of({"ode", 1000, falling}).trained);
}

// A file that is cut off, or none of ours, is refused.
TEST(TensorFile, RefusesDamage)
{
    const Folder folder;
    const fs::path path = folder.path / "a.tensors";
    TensorWriter file(path, {{"word", "two words"}}, {{"a", NumberType::f64, {2}}});
    file.write("a", std::vector<double>{1, 2});
    EXPECT_FALSE(fs::exists(path));
    file.publish();
    EXPECT_EQ(TensorReader(path).read<double>("a"), (std::vector<double>{1, 2}));
    EXPECT_EQ(TensorReader(path).text("word"), "two words");
    EXPECT_THROW(TensorReader(path).read<float>("a"), BadInput);
    EXPECT_THROW(TensorReader(path).read<double>("b"), BadInput);
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_THROW(TensorReader{path}, BadInput);
    fs::resize_file(path, 10);
    EXPECT_THROW(TensorReader{path}, BadInput);
}

}  // namespace
}  // namespace springtime::baselines
