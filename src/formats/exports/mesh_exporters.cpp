#include <fmt/compile.h>

#include <cstdint>
#include <cstring>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"

namespace springtime {

// ---- Folders of meshes ----

namespace {

class MeshFolder : public MotionExporter {
  public:
    MeshFolder(const std::filesystem::path& path, std::string extension, MeshWriter writer,
               bool overwrite)
        : folder_(path, overwrite), extension_(std::move(extension)), writer_(std::move(writer))
    {
    }

    void frame(const ExportFrame& frame) override
    {
        bytes_.clear();
        writer_(frame.position, bytes_);
        folder_.write(fmt::format("frame_{:06}.{}", frame.number, extension_),
                      {bytes_.data(), bytes_.size()});
    }

    void finish() override { folder_.publish(); }

  private:
    PartFolder folder_;
    std::string extension_;
    MeshWriter writer_;
    fmt::memory_buffer bytes_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_mesh_folder(const std::filesystem::path& path,
                                                 std::string extension, MeshWriter writer,
                                                 bool overwrite)
{
    return std::make_unique<MeshFolder>(path, std::move(extension), std::move(writer), overwrite);
}

std::vector<float> flat_position(const Sheet& sheet, const std::vector<SheetPoint>& rest)
{
    std::vector<float> position;
    for (const SheetPoint& p : rest) {
        position.insert(position.end(),
                        {float(p.u - sheet.length / 2), 0.0f, float(p.v - sheet.width / 2)});
    }
    return position;
}

TexturePoint texture_point(const Sheet& sheet, const SheetPoint& point)
{
    return {float(point.u / sheet.length), float(1 - point.v / sheet.width)};
}

// ---- OBJ ----

namespace {

// "f 1/1 2/2 3/3", or "l" for a curve.
template <class Corners>
void add_element(fmt::memory_buffer& text, char letter, const Corners& corners)
{
    text.push_back(letter);
    for (const int corner : corners) {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE(" {0}/{0}"), corner + 1);
    }
    text.push_back('\n');
}

template <class Faces>
void add_faces(fmt::memory_buffer& text, const Faces& faces)
{
    for (const auto& face : faces) add_element(text, 'f', face);
}

// What is the same in all frames: texture coordinates and faces.
std::string tail_of(const ExportScene& scene)
{
    fmt::memory_buffer text;
    for (const SheetPoint& point : scene.rest) {
        const TexturePoint at = texture_point(scene.sheet, point);
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("vt {} {}\n"), at.s, at.t);
    }
    if (!scene.surface.curve.empty()) {
        add_element(text, 'l', scene.surface.curve);
    } else if (scene.surface.quads.empty()) {
        add_faces(text, scene.surface.triangles);
    } else {
        add_faces(text, scene.surface.quads);
    }
    return fmt::to_string(text);
}

}  // namespace

MeshWriter obj_writer(const ExportScene& scene)
{
    return [tail = tail_of(scene)](std::span<const float> position, fmt::memory_buffer& out) {
        for (std::size_t i = 0; i < position.size(); i += 3) {
            fmt::format_to(std::back_inserter(out), FMT_COMPILE("v {} {} {}\n"), position[i],
                           position[i + 1], position[i + 2]);
        }
        out.append(tail);
    };
}

std::unique_ptr<MotionExporter> make_obj_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    return make_mesh_folder(path, "obj", obj_writer(scene), scene.overwrite);
}

// ---- PLY ----

namespace {

std::string header_of(const ExportScene& scene)
{
    std::string text = "ply\nformat binary_little_endian 1.0\n";
    for (const WeightMap& map : scene.maps) {
        text += fmt::format("comment {}\n", range_text(map, scene.scale));
    }
    text += fmt::format("element vertex {}\n", scene.point_count());
    for (const char* name : {"x", "y", "z", "s", "t"}) {
        text += fmt::format("property float {}\n", name);
    }
    for (const WeightMap& map : scene.maps) text += fmt::format("property float {}\n", map.name);
    if (!scene.surface.curve.empty()) {
        return text +
               fmt::format(
                   "element edge {}\nproperty int vertex1\nproperty int vertex2\nend_header\n",
                   scene.surface.curve.size() - 1);
    }
    text += fmt::format("element face {}\n", scene.surface.face_count());
    text += "property list uchar int vertex_indices\nend_header\n";
    return text;
}

template <class Faces>
void add_faces(std::string& bytes, const Faces& faces)
{
    for (const auto& face : faces) {
        bytes.push_back(static_cast<char>(face.size()));
        bytes += bytes_of_values(std::span<const int>(face));
    }
}

// Texture coordinates and maps: what stands behind x, y and z of every point.
std::vector<float> constant_part(const ExportScene& scene)
{
    std::vector<float> values;
    for (std::size_t p = 0; p < scene.point_count(); ++p) {
        const TexturePoint at = texture_point(scene.sheet, scene.rest[p]);
        values.insert(values.end(), {at.s, at.t});
        for (const WeightMap& map : scene.maps) values.push_back(map.weight[p]);
    }
    return values;
}

}  // namespace

MeshWriter ply_writer(const ExportScene& scene)
{
    static_assert(sizeof(int) == 4 && sizeof(float) == 4);
    std::string faces;
    if (!scene.surface.curve.empty()) {
        const std::vector<int>& curve = scene.surface.curve;
        for (std::size_t i = 1; i < curve.size(); ++i) {
            faces += bytes_of_values(std::span(curve).subspan(i - 1, 2));
        }
    } else if (scene.surface.quads.empty()) {
        add_faces(faces, scene.surface.triangles);
    } else {
        add_faces(faces, scene.surface.quads);
    }
    return [header = header_of(scene), rest = constant_part(scene), faces = std::move(faces)](
               std::span<const float> position, fmt::memory_buffer& out) {
        const std::size_t points = position.size() / 3, more = rest.size() / points;
        out.append(header);
        for (std::size_t p = 0; p < points; ++p) {
            out.append(bytes_of_values(position.subspan(3 * p, 3)));
            out.append(bytes_of_values(std::span(rest).subspan(more * p, more)));
        }
        out.append(faces);
    };
}

std::unique_ptr<MotionExporter> make_ply_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    return make_mesh_folder(path, "ply", ply_writer(scene), scene.overwrite);
}

}  // namespace springtime
