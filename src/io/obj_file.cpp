#include <tiny_obj_loader.h>

#include <charconv>
#include <cmath>
#include <string>

#include "io/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

constexpr std::string_view kBlank = " \t\r";

// The next word of a line, which is cut off it; empty at the end.
std::string_view next_word(std::string_view& line)
{
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(word.size());
    return word;
}

void check_point(std::string_view rest, const std::string& where)
{
    for (const char axis : {'x', 'y', 'z'}) {
        std::string_view word = next_word(rest);
        if (word.starts_with('+')) word.remove_prefix(1);
        double value = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (status == std::errc() && end == word.data() + word.size() && std::isfinite(value)) {
            continue;
        }
        throw Error("{}: {} of a point is '{}'; a finite number is needed", where, axis, word);
    }
}

// Indices count from one, or backwards from the last point above the line.
void check_face(std::string_view rest, long above, long all, const std::string& where)
{
    int corners = 0;
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest), ++corners) {
        const std::string_view digits = word.substr(0, word.find('/'));
        long index = 0;
        const auto [end, status] =
            std::from_chars(digits.data(), digits.data() + digits.size(), index);
        const bool number = status == std::errc() && end == digits.data() + digits.size();
        if (number && index != 0 && index >= -above && index <= all) continue;
        throw Error(
            "{}: a face has corner '{}'; a point from 1 to {}, or from -1 to -{}, is needed", where,
            word, all, above);
    }
    if (corners < 3) throw Error("{}: a face has {} corners; 3 are needed", where, corners);
}

template <class Take>
void for_each_line(std::string_view text, Take take)
{
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        const std::string_view word = next_word(line);
        take(word, line, number);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

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
    for_each_line(text, [&](std::string_view word, std::string_view, std::size_t) {
        points += word == "v";
        faces += word == "f";
    });
    for_each_line(text, [&](std::string_view word, std::string_view rest, std::size_t number) {
        const std::string where = fmt::format("{}:{}", source, number);
        above += word == "v";
        if (word == "v") check_point(rest, where);
        if (word == "f") check_face(rest, above, points, where);
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
