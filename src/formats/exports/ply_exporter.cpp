#include <cstdint>
#include <cstring>

#include "formats/exports/motion_exporter.h"
#include "formats/exports/part_file.h"

namespace springtime {

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
    if (scene.surface.quads.empty()) {
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
    return make_mesh_folder(path, "ply", ply_writer(scene));
}

}  // namespace springtime
