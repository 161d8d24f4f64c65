#include "motion_dump.h"

#include <algorithm>
#include <set>

#include "tensor_file.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;
using baselines::ArrayInfo;
using baselines::NumberType;
using baselines::TensorWriter;

// Every edge of the mesh once, as pairs.
std::vector<std::int64_t> mesh_edges(const Cloth& cloth)
{
    std::set<std::pair<int, int>> edges;
    for (const auto& [a, b, c] : cloth.triangles.corners) {
        for (const auto& [p, q] : {std::pair{a, b}, std::pair{b, c}, std::pair{c, a}}) {
            edges.emplace(std::min(p, q), std::max(p, q));
        }
    }
    std::vector<std::int64_t> pairs;
    for (const auto& [p, q] : edges) {
        pairs.push_back(p);
        pairs.push_back(q);
    }
    return pairs;
}

class MotionDump {
  public:
    MotionDump(const Motion& motion, const Cloth& source)
        : motion_(motion),
          source_(source),
          edges_(mesh_edges(source)),
          rollouts_(std::int64_t(motion.rollout_count())),
          frames_(std::int64_t(motion.frame_counts.at(0))),
          particles_(std::int64_t(motion.header.landmark_count())),
          stores_acceleration_(!motion.read(0, 0, 1).acceleration.empty())
    {
    }

    void write(const fs::path& path) const
    {
        TensorWriter file(path, {{"kind", "motion"}}, arrays());
        write_cloth_and_world(file);
        for (std::int64_t r = 0; r < rollouts_; ++r) write_rollout(file, r);
        file.publish();
    }

  private:
    std::vector<ArrayInfo> arrays() const
    {
        const std::vector<std::int64_t> field{rollouts_, frames_, particles_, 3};
        std::vector<ArrayInfo> arrays{
            {"rest", NumberType::f32, {particles_, 2}},
            {"mass", NumberType::f32, {particles_}},
            {"edges", NumberType::i64, {std::int64_t(edges_.size()) / 2, 2}},
            {"gravity", NumberType::f32, {3}},
            {"drag", NumberType::f64, {1}},
            {"dt", NumberType::f64, {1}},
            {"stride", NumberType::f64, {1}},
            {"seed", NumberType::i64, {1}},
            {"held", NumberType::f32, {rollouts_, particles_}},
            {"fingerprint", NumberType::i64, {rollouts_, frames_}},
            {"position", NumberType::f32, field},
            {"velocity", NumberType::f32, field}};
        if (stores_acceleration_) arrays.push_back({"acceleration", NumberType::f32, field});
        return arrays;
    }

    void write_cloth_and_world(TensorWriter& file) const
    {
        const MotionHeader& header = motion_.header;
        std::vector<float> rest, mass;
        for (const SheetPoint& point : header.rest) {
            rest.push_back(float(point.u));
            rest.push_back(float(point.v));
        }
        for (const double m : source_.mass) mass.push_back(float(m));
        const Vec3d g = header.environment.gravity;
        file.write("rest", rest);
        file.write("mass", mass);
        file.write("edges", edges_);
        file.write("gravity", std::vector<float>{float(g.x), float(g.y), float(g.z)});
        file.write("drag", std::vector<double>{header.environment.drag});
        file.write("dt", std::vector<double>{header.dt});
        file.write("stride", std::vector<double>{double(header.stride)});
        file.write("seed", std::vector<std::int64_t>{std::int64_t(header.seed)});
    }

    void write_rollout(TensorWriter& file, std::int64_t r) const
    {
        const Rollout rollout = motion_.read(std::size_t(r), 0, std::size_t(frames_));
        const std::int64_t numbers = 3 * particles_;
        std::vector<float> held(std::size_t(particles_), 0);
        for (const int p : rollout.handles.particles) held[std::size_t(p)] = 1;
        std::vector<std::int64_t> fingerprints;
        for (std::int64_t f = 0; f < frames_; ++f) {
            fingerprints.push_back(baselines::frame_fingerprint(
                &rollout.position[std::size_t(f * numbers)], std::size_t(numbers)));
        }
        const std::int64_t first = r * frames_ * numbers;
        file.write("held", r * particles_, held);
        file.write("fingerprint", r * frames_, fingerprints);
        file.write("position", first, rollout.position);
        file.write("velocity", first, rollout.velocity);
        if (stores_acceleration_) file.write("acceleration", first, rollout.acceleration);
    }

    const Motion& motion_;
    const Cloth& source_;
    std::vector<std::int64_t> edges_;
    std::int64_t rollouts_, frames_, particles_;
    bool stores_acceleration_;
};

}  // namespace

void dump_motion(const fs::path& path, const Motion& motion, const Cloth& source)
{
    if (fs::exists(path)) return;
    MotionDump(motion, source).write(path);
}

}  // namespace springtime::app
