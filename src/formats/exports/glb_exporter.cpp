// glTF 2.0 in one binary file. The first frame is the mesh, every other one a morph target, and the
// weights go linearly from one to the next. The JSON comes before the numbers, but the bounds in it
// are known only after them: room is kept for the longest it can be, and filled with blanks. A
// library that builds the whole file in memory could not do that for long motions.
#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using nlohmann::json;

constexpr std::size_t kMostTargets = 1024;
constexpr int kFloat = 5126, kUnsigned = 5125, kVertices = 34962, kIndices = 34963;
constexpr int kTriangles = 4, kLineStrip = 3;
constexpr std::size_t kHeader = 12, kChunkHeader = 8;

using Bounds = std::array<std::vector<double>, 2>;  // lowest and highest, by component

// One array of numbers in the binary chunk.
struct Piece {
    std::string role;  // as the mesh names it
    std::string type;  // SCALAR, VEC2, VEC3
    std::size_t count = 0;
    int component = kFloat;
    int target = 0;
    Bounds bounds{};  // empty: none are needed

    std::size_t width() const { return type == "SCALAR" ? 1 : std::size_t(type.back() - '0'); }
    std::size_t bytes() const { return 4 * width() * count; }
};

std::string attribute_of(const WeightMap& map)
{
    std::string name = "_" + map.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
}

// As long as any number that will stand there.
Bounds longest_bounds(std::size_t width)
{
    const std::vector<double> longest(width, std::numeric_limits<double>::lowest());
    return {longest, longest};
}

// In the order in which they are written: what does not move, frames, times, weights.
std::vector<Piece> pieces_of(const ExportScene& scene)
{
    const std::size_t points = scene.point_count(), frames = scene.frame_count;
    std::vector<Piece> pieces;
    const std::size_t indices = scene.surface.curve.empty() ? 3 * scene.surface.triangles.size()
                                                            : scene.surface.curve.size();
    pieces.push_back({"indices", "SCALAR", indices, kUnsigned, kIndices});
    pieces.push_back({"TEXCOORD_0", "VEC2", points, kFloat, kVertices});
    for (const WeightMap& map : scene.maps) {
        pieces.push_back({attribute_of(map), "SCALAR", points, kFloat, kVertices});
    }
    if (!scene.color.empty()) pieces.push_back({"COLOR_0", "VEC3", points, kFloat, kVertices});
    for (std::size_t f = 0; f < frames; ++f) {
        pieces.push_back(
            {f == 0 ? "POSITION" : "target", "VEC3", points, kFloat, kVertices, longest_bounds(3)});
    }
    if (frames == 1) return pieces;
    pieces.push_back({"times", "SCALAR", frames, kFloat, 0, longest_bounds(1)});
    pieces.push_back({"weights", "SCALAR", frames * (frames - 1), kFloat, 0});
    return pieces;
}

std::size_t bytes_of_pieces(const std::vector<Piece>& pieces)
{
    std::size_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.bytes();
    return bytes;
}

void add_accessors(json& gltf, const std::vector<Piece>& pieces)
{
    std::size_t offset = 0;
    for (const Piece& piece : pieces) {
        json view{{"buffer", 0}, {"byteOffset", offset}, {"byteLength", piece.bytes()}};
        if (piece.target != 0) view["target"] = piece.target;
        json accessor{{"bufferView", gltf["bufferViews"].size()},
                      {"componentType", piece.component},
                      {"count", piece.count},
                      {"type", piece.type}};
        if (!piece.bounds[0].empty()) {
            accessor["min"] = piece.bounds[0];
            accessor["max"] = piece.bounds[1];
        }
        gltf["bufferViews"].push_back(std::move(view));
        gltf["accessors"].push_back(std::move(accessor));
        offset += piece.bytes();
    }
    gltf["buffers"] = json::array({{{"byteLength", offset}}});
}

json mesh_of(const ExportScene& scene, const std::vector<Piece>& pieces)
{
    const int mode = scene.surface.curve.empty() ? kTriangles : kLineStrip;
    json primitive{{"mode", mode}, {"material", 0}, {"attributes", json::object()}};
    json mesh{{"name", "cloth"}};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Piece& piece = pieces[i];
        if (piece.role == "indices") primitive["indices"] = i;
        if (piece.role == "target") primitive["targets"].push_back({{"POSITION", i}});
        if (piece.target == kVertices && piece.role != "target") {
            primitive["attributes"][piece.role] = i;
        }
    }
    if (scene.frame_count > 1) {
        mesh["weights"] = std::vector<int>(scene.frame_count - 1, 0);
        for (std::size_t f = 1; f < scene.frame_count; ++f) {
            mesh["extras"]["targetNames"].push_back(fmt::format("frame_{:06}", f));
        }
    }
    if (!scene.maps.empty()) {
        mesh["extras"]["springtime"] = json::parse(ranges_json(scene.maps, scene.scale));
        if (!scene.color.empty()) mesh["extras"]["color"] = scene.color;
    }
    mesh["primitives"] = json::array({std::move(primitive)});
    return mesh;
}

std::string json_text(const ExportScene& scene, const std::vector<Piece>& pieces)
{
    json gltf{{"asset", {{"version", "2.0"}, {"generator", "SpringTime"}}},
              {"scene", 0},
              {"scenes", json::array({{{"nodes", {0}}}})},
              {"nodes", json::array({{{"mesh", 0}, {"name", "cloth"}}})},
              {"materials", json::array({{{"name", "cloth"}, {"doubleSided", true}}})},
              {"bufferViews", json::array()},
              {"accessors", json::array()}};
    add_accessors(gltf, pieces);
    gltf["meshes"] = json::array({mesh_of(scene, pieces)});
    if (scene.frame_count > 1) {
        const json sampler{{"input", pieces.size() - 2},
                           {"output", pieces.size() - 1},
                           {"interpolation", "LINEAR"}};
        const json channel{{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}};
        gltf["animations"] = json::array({{{"name", "motion"},
                                           {"samplers", json::array({sampler})},
                                           {"channels", json::array({channel})}}});
    }
    return gltf.dump();
}

std::size_t padded(std::size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

void add_word(std::string& bytes, std::size_t value)
{
    const auto word = static_cast<std::uint32_t>(value);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

class GlbExporter : public MotionExporter {
  public:
    GlbExporter(const std::filesystem::path& path, const ExportScene& scene)
        : scene_(scene), pieces_(pieces_of(scene)), file_(path, scene.overwrite)
    {
        json_bytes_ = padded(json_text(scene, pieces_).size());
        const std::size_t binary = bytes_of_pieces(pieces_);
        std::string start = "glTF";
        add_word(start, 2);
        add_word(start, kHeader + 2 * kChunkHeader + json_bytes_ + binary);
        add_word(start, json_bytes_);
        start += "JSON";
        start.append(json_bytes_, ' ');
        add_word(start, binary);
        start.append("BIN\0", 4);
        file_.write(start);
        write_constants();
    }

    void frame(const ExportFrame& frame) override
    {
        values_.assign(frame.position.begin(), frame.position.end());
        if (first_.empty()) {
            first_ = values_;
        } else {
            for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= first_[i];
        }
        write_piece();
    }

    void finish() override
    {
        if (scene_.frame_count > 1) write_animation();
        const std::string text = json_text(scene_, pieces_);
        file_.write_at_start(text, kHeader + kChunkHeader);
        file_.publish();
    }

  private:
    // The numbers in values_ as the next piece, with its bounds where it has them.
    void write_piece()
    {
        Piece& piece = pieces_[next_++];
        if (!piece.bounds[0].empty()) {
            const std::size_t width = piece.width();
            for (std::size_t c = 0; c < width; ++c)
                piece.bounds[0][c] = piece.bounds[1][c] = values_[c];
            for (std::size_t i = 0; i < values_.size(); ++i) {
                double &low = piece.bounds[0][i % width], &high = piece.bounds[1][i % width];
                low = std::min<double>(low, values_[i]);
                high = std::max<double>(high, values_[i]);
            }
        }
        file_.write(bytes_of_values(std::span<const float>(values_)));
    }

    void write_constants()
    {
        file_.write(bytes_of_values(std::span<const int>(scene_.surface.curve)));
        file_.write(bytes_of_values(std::span<const std::array<int, 3>>(scene_.surface.triangles)));
        ++next_;
        values_.clear();
        for (const SheetPoint& point : scene_.rest) {
            // Here the origin is at the upper left.
            values_.push_back(float(point.u / scene_.sheet.length));
            values_.push_back(float(point.v / scene_.sheet.width));
        }
        write_piece();
        for (const WeightMap& map : scene_.maps) {
            values_ = map.weight;
            write_piece();
        }
        if (!scene_.color.empty()) write_color();
    }

    void write_color()
    {
        const auto map = std::find_if(scene_.maps.begin(), scene_.maps.end(),
                                      [&](const auto& one) { return one.name == scene_.color; });
        values_.clear();
        for (const float weight : map->weight) values_.insert(values_.end(), 3, weight);
        write_piece();
    }

    void write_animation()
    {
        const std::size_t frames = scene_.frame_count;
        values_.clear();
        for (std::size_t f = 0; f < frames; ++f) values_.push_back(float(double(f) / scene_.rate));
        write_piece();
        values_.assign(frames * (frames - 1), 0.0f);
        for (std::size_t f = 1; f < frames; ++f) values_[f * (frames - 1) + f - 1] = 1;
        write_piece();
    }

    const ExportScene& scene_;
    std::vector<Piece> pieces_;
    PartFile file_;
    std::size_t json_bytes_ = 0, next_ = 0;
    std::vector<float> first_, values_;
};

}  // namespace

std::string ranges_json(const std::vector<WeightMap>& maps, MapScale scale)
{
    auto all = nlohmann::ordered_json::object();
    for (const WeightMap& map : maps) {
        nlohmann::ordered_json one{
            {"low", map.low}, {"high", map.high}, {"unit", map.unit}, {"constant", map.constant()}};
        if (!map.strain.empty()) one["strain"] = map.strain;
        if (map.below_low > 0) one["zeros"] = map.below_low;
        all[map.name] = std::move(one);
    }
    const nlohmann::ordered_json json{{"scale", name_of(scale)}, {"maps", std::move(all)}};
    return json.dump(2) + "\n";
}

void check_glb_size(const ExportScene& scene)
{
    const std::size_t frames = scene.frame_count;
    if (frames > kMostTargets) {
        throw Error(
            "{}: {} frames; in a glb every frame is a morph target, and at most {} are written: "
            "take fewer with `rate` {:.3g} or less, or `from` and `until`, or "
            "export usda",
            scene.source, frames, kMostTargets,
            scene.rate * double(kMostTargets - 1) / double(frames));
    }
    constexpr std::size_t kJson = std::size_t(1) << 24;  // more than that of kMostTargets targets
    const std::size_t bytes = bytes_of_pieces(pieces_of(scene)) + kJson;
    if (bytes > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(
            "{}: {:.3g} GB; a glb ends at 4 GiB: take fewer frames with `rate`, `from` and "
            "`until`, "
            "or export usda",
            scene.source, double(bytes) / 1e9);
    }
}

std::unique_ptr<MotionExporter> make_glb_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    check_glb_size(scene);
    return std::make_unique<GlbExporter>(path, scene);
}

}  // namespace springtime
