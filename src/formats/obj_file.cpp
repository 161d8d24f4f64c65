#include "formats/obj_file.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/atomic_file.h"
#include "core/read_number.h"
#include "core/text.h"
#include "geometry/polygon.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

constexpr std::size_t kMostCorners = 1024;  // of a face; cutting takes time of their square

// Calls take(first word, rest of the line, number of the line), without what follows a `#`.
template <class Take>
void for_each_line(std::string_view text, Take take)
{
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        line = line.substr(0, line.find('#'));
        const std::string_view word = next_word(line);
        take(word, line, number);
        text.remove_prefix(end < text.size() ? end + 1 : end);
    }
}

// Where a line stands; put into words only for a message.
struct Line {
    std::string_view source;
    std::size_t number;
    std::string text() const { return fmt::format("{}:{}", source, number); }
};

template <class Number>
bool parse_number(std::string_view digits, Number& value)
{
    const char* end = digits.data() + digits.size();
    const auto [stop, status] = read_number(digits.data(), end, value);
    return status == std::errc() && stop == end;
}

Vec3d parse_point(std::string_view rest, bool gaps, const Line& where)
{
    double point[3];
    for (int axis = 0; axis < 3; ++axis) {
        const std::string_view word = next_word(rest);
        double& value = point[axis];
        if (parse_number(word.substr(word.starts_with('+')), value) &&
            (std::isfinite(value) || (gaps && std::isnan(value)))) {
            continue;
        }
        throw Error("{}: {} of a point is '{}'; a finite number is needed", where.text(),
                    "xyz"[axis], word);
    }
    return {point[0], point[1], point[2]};
}

// Corners count from zero here; in the file from one, or backwards from the last of the `above`
// points before the line.
std::vector<int> parse_face(std::string_view rest, long above, long all, const Line& where)
{
    std::vector<int> corners;
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        long index = 0;
        if (!parse_number(word.substr(0, word.find('/')), index) || index == 0 || index < -above ||
            index > all) {
            throw Error(
                "{}: a face has corner '{}'; a point from 1 to {}, or from -1 to -{}, is needed",
                where.text(), word, all, above);
        }
        corners.push_back(int(index > 0 ? index - 1 : above + index));
    }
    if (corners.size() < 3) {
        throw Error("{}: a face has {} corners; 3 are needed", where.text(), corners.size());
    }
    if (corners.size() > kMostCorners) {
        throw Error("{}: a face has {} corners; {} at most are taken; export triangles",
                    where.text(), corners.size(), kMostCorners);
    }
    return corners;
}

void add_face(const std::vector<int>& corners, TriangleMesh& mesh)
{
    std::vector<Vec3d> places;
    for (const int corner : corners) places.push_back(mesh.points[corner]);
    for (const auto& [a, b, c] : cut_polygon(places)) {
        mesh.triangles.push_back({corners[a], corners[b], corners[c]});
    }
}

}  // namespace

TriangleMesh parse_obj(std::string_view text, std::string_view source, const ObjOptions& options)
{
    text = without_byte_order_mark(text);
    TriangleMesh mesh;
    for_each_line(text, [&](std::string_view word, std::string_view rest, std::size_t number) {
        if (word == "v") mesh.points.push_back(parse_point(rest, options.gaps, {source, number}));
    });
    if (!options.faces) return mesh;
    long above = 0;
    for_each_line(text, [&](std::string_view word, std::string_view rest, std::size_t number) {
        above += word == "v";
        if (word != "f") return;
        add_face(parse_face(rest, above, long(mesh.points.size()), {source, number}), mesh);
    });
    return mesh;
}

TriangleMesh read_obj(const std::filesystem::path& path)
{
    TriangleMesh mesh = parse_obj(read_text(path), path.string(), {});
    if (mesh.triangles.empty()) {
        throw Error("{}: no faces; an OBJ file with v and f lines is needed", path.string());
    }
    return mesh;
}

}  // namespace springtime
