// ASCII USD. Everything that changes is in time samples; time codes count frames.
#include <fmt/compile.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"

namespace springtime {

namespace {

using Extent = std::array<float, 6>;  // lowest x, y, z, then the highest

Extent extent_of(std::span<const float> position)
{
    Extent extent{position[0], position[1], position[2], position[0], position[1], position[2]};
    for (std::size_t i = 0; i < position.size(); ++i) {
        extent[i % 3] = std::min(extent[i % 3], position[i]);
        extent[i % 3 + 3] = std::max(extent[i % 3 + 3], position[i]);
    }
    return extent;
}

// "[(x, y, z), ...]"
void add_vectors(fmt::memory_buffer& text, std::span<const float> values)
{
    text.push_back('[');
    for (std::size_t i = 0; i < values.size(); i += 3) {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}({}, {}, {})"), i > 0 ? ", " : "",
                       values[i], values[i + 1], values[i + 2]);
    }
    text.push_back(']');
}

std::string texture_text(const ExportScene& scene)
{
    fmt::memory_buffer text;
    for (std::size_t p = 0; p < scene.point_count(); ++p) {
        const TexturePoint at = texture_point(scene.sheet, scene.rest[p]);
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}({}, {})"), p > 0 ? ", " : "", at.s,
                       at.t);
    }
    return fmt::to_string(text);
}

template <class Faces>
std::string face_text(const Faces& faces)
{
    std::vector<std::size_t> sizes;
    std::vector<int> corners;
    for (const auto& face : faces) {
        sizes.push_back(face.size());
        corners.insert(corners.end(), face.begin(), face.end());
    }
    return fmt::format("    int[] faceVertexCounts = [{}]\n    int[] faceVertexIndices = [{}]\n",
                       fmt::join(sizes, ", "), fmt::join(corners, ", "));
}

std::string map_text(const WeightMap& map, MapScale scale)
{
    return fmt::format(
        "    float[] primvars:{} = [{}] (\n"
        "        customData = {{\n"
        "            double low = {}\n            double high = {}\n"
        "            string unit = \"{}\"\n            string scale = \"{}\"\n"
        "        }}\n"
        "        interpolation = \"vertex\"\n    )\n",
        map.name, fmt::join(map.weight, ", "), map.low, map.high, map.unit, name_of(scale));
}

std::string mesh_text(const ExportScene& scene)
{
    return "def Mesh \"cloth\"\n{\n    uniform bool doubleSided = 1\n"
           "    uniform token orientation = \"rightHanded\"\n"
           "    uniform token subdivisionScheme = \"none\"\n" +
           (scene.surface.quads.empty() ? face_text(scene.surface.triangles)
                                        : face_text(scene.surface.quads));
}

// A rope, as wide as its sheet across.
std::string curve_text(const ExportScene& scene)
{
    const bool along_u = std::abs(scene.rest.front().u - scene.rest.back().u) >
                         std::abs(scene.rest.front().v - scene.rest.back().v);
    return fmt::format(
        "def BasisCurves \"cloth\"\n{{\n    uniform token type = \"linear\"\n"
        "    uniform token wrap = \"nonperiodic\"\n    int[] curveVertexCounts = [{}]\n"
        "    float[] widths = [{}] (\n        interpolation = \"constant\"\n    )\n",
        scene.point_count(), along_u ? scene.sheet.width : scene.sheet.length);
}

std::string stage_header(const ExportScene& scene)
{
    std::string text =
        "#usda 1.0\n(\n    defaultPrim = \"cloth\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n";
    if (!scene.still) {
        text += fmt::format(
            "    timeCodesPerSecond = {0}\n    framesPerSecond = {0}\n    startTimeCode = 0\n"
            "    endTimeCode = {1}\n",
            scene.rate, scene.frame_count - 1);
    }
    text += ")\n\n";
    text += scene.surface.curve.empty() ? mesh_text(scene) : curve_text(scene);
    text += fmt::format(
        "    texCoord2f[] primvars:st = [{}] (\n        interpolation = \"vertex\"\n    )\n",
        texture_text(scene));
    for (const WeightMap& map : scene.maps) text += map_text(map, scene.scale);
    return text;
}

// A curve has no indices: its points, and what belongs to them, come in its order.
ExportScene in_order(ExportScene scene)
{
    const std::vector<int>& curve = scene.surface.curve;
    if (curve.empty()) return scene;
    const auto ordered = [&](const auto& values) {
        auto result = values;
        for (std::size_t i = 0; i < curve.size(); ++i) result[i] = values[std::size_t(curve[i])];
        return result;
    };
    scene.rest = ordered(scene.rest);
    for (WeightMap& map : scene.maps) map.weight = ordered(map.weight);
    return scene;
}

class UsdaExporter : public MotionExporter {
  public:
    UsdaExporter(const std::filesystem::path& path, const ExportScene& scene)
        : file_(path, scene.overwrite), still_(scene.still), order_(scene.surface.curve)
    {
        file_.write(stage_header(in_order(scene)));
        file_.write(still_ ? "    point3f[] points = " : "    point3f[] points.timeSamples = {\n");
    }

    void frame(const ExportFrame& frame) override
    {
        extents_.push_back(extent_of(frame.position));
        if (order_.empty()) return add_sample(frame.number, frame.position);
        std::vector<float> ordered;
        for (const int p : order_) {
            const auto point = frame.position.subspan(3 * std::size_t(p), 3);
            ordered.insert(ordered.end(), point.begin(), point.end());
        }
        add_sample(frame.number, ordered);
    }

    void finish() override
    {
        file_.write(still_ ? "    float3[] extent = "
                           : "    }\n    float3[] extent.timeSamples = {\n");
        for (std::size_t f = 0; f < extents_.size(); ++f) add_sample(f, extents_[f]);
        file_.write(still_ ? "}\n" : "    }\n}\n");
        file_.publish();
    }

  private:
    void add_sample(std::size_t number, std::span<const float> values)
    {
        text_.clear();
        if (!still_) fmt::format_to(std::back_inserter(text_), "        {}: ", number);
        add_vectors(text_, values);
        text_.append(std::string_view(still_ ? "\n" : ",\n"));
        file_.write({text_.data(), text_.size()});
    }

    PartFile file_;
    bool still_;
    std::vector<int> order_;  // of the points of a curve
    std::vector<Extent> extents_;
    fmt::memory_buffer text_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_usda_exporter(const std::filesystem::path& path,
                                                   const ExportScene& scene)
{
    return std::make_unique<UsdaExporter>(path, scene);
}

}  // namespace springtime
