#include <fmt/compile.h>

#include "formats/exports/motion_exporter.h"

namespace springtime {

namespace {

template <class Faces>
void add_faces(fmt::memory_buffer& text, const Faces& faces)
{
    for (const auto& face : faces) {
        text.push_back('f');
        for (const int corner : face) {
            fmt::format_to(std::back_inserter(text), FMT_COMPILE(" {0}/{0}"), corner + 1);
        }
        text.push_back('\n');
    }
}

// What is the same in all frames: texture coordinates and faces.
std::string tail_of(const ExportScene& scene)
{
    fmt::memory_buffer text;
    for (const SheetPoint& point : scene.rest) {
        const TexturePoint at = texture_point(scene.sheet, point);
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("vt {} {}\n"), at.s, at.t);
    }
    if (scene.surface.quads.empty()) {
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
    return make_mesh_folder(path, "obj", obj_writer(scene));
}

}  // namespace springtime
