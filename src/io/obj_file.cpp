#include <tiny_obj_loader.h>

#include <string>

#include "io/obj_lines.h"
#include "io/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

// The loader stumbles over remarks behind a face.
std::string without_remarks(const std::string& text)
{
    std::string kept;
    bool remark = false;
    for (const char c : text) {
        if (c == '\n') remark = false;
        if (c == '#') remark = true;
        if (!remark) kept += c;
    }
    return kept;
}

// The loader takes zero for a number that it cannot read and leaves out faces that it does not
// like, so that has to be found before.
void check_lines(std::string_view text, std::string_view source)
{
    long points = 0, above = 0, faces = 0;
    for_each_obj_line(text, [&](std::string_view word, std::string_view, std::size_t) {
        points += word == "v";
        faces += word == "f";
    });
    for_each_obj_line(text, [&](std::string_view word, std::string_view rest, std::size_t number) {
        if (word != "v" && word != "f") return;
        const ObjPlace where{source, number};
        above += word == "v";
        if (word == "v") obj_point(rest, false, where);
        if (word == "f") obj_face(rest, above, points, where);
    });
    if (faces == 0) {
        throw Error("{}: no faces; an OBJ file with v and f lines is needed", source);
    }
}

}  // namespace

TriangleMesh read_obj(const std::filesystem::path& path)
{
    const std::string text = without_remarks(read_text(path));
    check_lines(text, path.string());
    tinyobj::ObjReaderConfig config;
    config.triangulate = true;
    config.vertex_color = false;
    tinyobj::ObjReader reader;
    if (!reader.ParseFromString(text, "", config)) {
        throw Error("{}: {}; export it again as a plain OBJ file", path.string(), reader.Error());
    }
    TriangleMesh mesh;
    const auto& numbers = reader.GetAttrib().vertices;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
        mesh.points.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    }
    for (const tinyobj::shape_t& shape : reader.GetShapes()) {
        const auto& corners = shape.mesh.indices;
        for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
            mesh.triangles.push_back({corners[i].vertex_index, corners[i + 1].vertex_index,
                                      corners[i + 2].vertex_index});
        }
    }
    return mesh;
}

}  // namespace springtime
