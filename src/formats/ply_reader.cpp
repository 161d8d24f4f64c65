#include "formats/ply_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "formats/ply_header.h"
#include "springtime/error.h"

// Written by hand: Debian has no small library for PLY, and Assimp, which reads it, joins and
// reorders vertices and was never made for damaged files.
namespace springtime {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

[[noreturn]] void fail_early_end(std::string_view source, const PlyElement& element)
{
    throw Error("{}: ends among its {} of element {}; copy it or export it again", source,
                element.count, element.name);
}

// What follows the header, number by number.
class BinaryBody {
  public:
    BinaryBody(std::string_view bytes, std::string_view source) : rest_(bytes), source_(source) {}

    static std::size_t least_bytes(const ScalarFormat& format) { return std::size_t(format.bytes); }
    std::size_t bytes_left() const { return rest_.size(); }
    double number(const ScalarFormat& format, const PlyElement& element)
    {
        return decode_scalar(format, skip(1, format, element));
    }
    // Returns where the first of them was.
    const char* skip(std::uint64_t count, const ScalarFormat& format, const PlyElement& element)
    {
        if (count > rest_.size() / std::size_t(format.bytes)) fail_early_end(source_, element);
        const char* const begin = rest_.data();
        rest_.remove_prefix(count * std::size_t(format.bytes));
        return begin;
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_, source_;
};

class TextBody {
  public:
    TextBody(std::string_view bytes, std::string_view source) : rest_(bytes), source_(source) {}

    static std::size_t least_bytes(const ScalarFormat&) { return 2; }  // a digit and a blank
    std::size_t bytes_left() const { return rest_.size() + 1; }  // the last blank may be missing
    double number(const ScalarFormat&, const PlyElement& element)
    {
        const std::string_view word = next(element);
        const std::string_view digits = word.substr(word.starts_with('+'));
        double value = 0;
        const auto [end, status] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (status == std::errc() && end == digits.data() + digits.size()) return value;
        throw Error("{}: '{}' among the numbers of element {}; a number is needed; export it again",
                    source_, word.substr(0, 40), element.name);
    }
    void skip(std::uint64_t count, const ScalarFormat&, const PlyElement& element)
    {
        for (std::uint64_t i = 0; i < count; ++i) next(element);
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view next(const PlyElement& element)
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
        const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlank));
        if (word.empty()) fail_early_end(source_, element);
        rest_.remove_prefix(word.size());
        return word;
    }

    std::string_view rest_, source_;
};

// The place of x, y and z among the properties of the vertex.
std::array<std::size_t, 3> coordinate_places(const PlyElement& vertex, std::string_view source)
{
    std::array<std::size_t, 3> places{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string_view name = std::string_view("xyz").substr(axis, 1);
        const auto found =
            std::find_if(vertex.properties.begin(), vertex.properties.end(),
                         [&](const PlyProperty& p) { return p.name == name && !p.list; });
        if (found == vertex.properties.end()) {
            throw Error("{}: its vertices have no {}; x, y and z are needed; export it again",
                        source, name);
        }
        places[axis] = std::size_t(found - vertex.properties.begin());
    }
    return places;
}

template <class Body>
class BodyReader {
  public:
    BodyReader(const PlyHeader& header, std::string_view bytes, std::string_view source)
        : header_(header), body_(bytes, source), source_(source)
    {
    }

    PlyMesh read(bool faces)
    {
        for (const PlyElement& element : header_.elements) {
            check_count(element);
            if (element.name == "vertex") {
                read_vertices(element);
                if (!faces) return std::move(mesh_);
            } else if (element.name == "face" && faces) {
                read_faces(element);
            } else {
                skip_element(element);
            }
        }
        if (body_.rest().find_first_not_of(kBlank) != std::string_view::npos) {
            throw Error("{}: {} bytes follow its last element; export it again", source_,
                        body_.rest().size());
        }
        return std::move(mesh_);
    }

  private:
    // Before anything of that length is reserved or counted through.
    void check_count(const PlyElement& element) const
    {
        std::size_t least = 0;
        for (const PlyProperty& p : element.properties) {
            least += Body::least_bytes(p.list ? p.count : p.value);
        }
        if (least > 0 && element.count > body_.bytes_left() / least) {
            fail_early_end(source_, element);
        }
    }

    std::uint64_t list_length(const PlyProperty& property, const PlyElement& element)
    {
        const double length = body_.number(property.count, element);
        // Every value takes a byte at least, so a longer list cannot be there.
        if (length >= 0 && length <= double(body_.bytes_left()) && length == std::floor(length)) {
            return std::uint64_t(length);
        }
        throw Error(
            "{}: a list {} of element {} says {} values, which do not fit the file; copy "
            "it or export it again",
            source_, property.name, element.name, length);
    }

    void skip_property(const PlyProperty& property, const PlyElement& element)
    {
        const std::uint64_t length = property.list ? list_length(property, element) : 1;
        body_.skip(length, property.value, element);
    }

    void skip_element(const PlyElement& element)
    {
        if (element.properties.empty()) return;  // takes no bytes, whatever its count
        for (std::uint64_t i = 0; i < element.count; ++i) {
            for (const PlyProperty& property : element.properties) skip_property(property, element);
        }
    }

    void read_vertices(const PlyElement& vertex)
    {
        const auto places = coordinate_places(vertex, source_);
        mesh_.position.resize(3 * vertex.count);
        if constexpr (std::is_same_v<Body, BinaryBody>) {
            if (!vertex.has_list()) return decode_vertices(vertex, places);
        }
        for (std::uint64_t v = 0; v < vertex.count; ++v) {
            for (std::size_t i = 0; i < vertex.properties.size(); ++i) {
                const PlyProperty& property = vertex.properties[i];
                const auto axis = std::find(places.begin(), places.end(), i) - places.begin();
                if (axis == 3)
                    skip_property(property, vertex);
                else
                    mesh_.position[3 * v + std::size_t(axis)] =
                        body_.number(property.value, vertex);
            }
        }
    }

    // All vertices have the same length, so each coordinate is one run through the file.
    void decode_vertices(const PlyElement& vertex, const std::array<std::size_t, 3>& places)
    {
        std::vector<std::size_t> offset;
        std::size_t stride = 0;
        for (const PlyProperty& property : vertex.properties) {
            offset.push_back(stride);
            stride += std::size_t(property.value.bytes);
        }
        const char* const begin = body_.skip(vertex.count * stride, {'u', 1}, vertex);
        const ScalarFormat& format = vertex.properties[places[0]].value;
        const std::size_t bytes = std::size_t(format.bytes);
        bool packed = stride == 3 * bytes;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            packed = packed && places[axis] == axis &&
                     vertex.properties[axis].value.kind == format.kind &&
                     offset[axis] == axis * bytes;
        }
        if (packed) {
            return decode_scalars(format, begin, bytes, 3 * vertex.count, mesh_.position.data());
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
            decode_scalars(vertex.properties[places[axis]].value, begin + offset[places[axis]],
                           stride, vertex.count, mesh_.position.data() + axis, 3);
        }
    }

    void read_faces(const PlyElement& face)
    {
        if (face.properties.empty()) return;
        std::vector<int> corners;
        for (std::uint64_t f = 0; f < face.count; ++f) {
            for (const PlyProperty& property : face.properties) {
                const bool wanted = property.list && (property.name == "vertex_indices" ||
                                                      property.name == "vertex_index");
                if (!wanted) {
                    skip_property(property, face);
                    continue;
                }
                read_corners(property, face, f, corners);
                for (std::size_t c = 2; c < corners.size(); ++c) {
                    mesh_.triangles.push_back({corners[0], corners[c - 1], corners[c]});
                }
            }
        }
    }

    void read_corners(const PlyProperty& property, const PlyElement& face, std::uint64_t number,
                      std::vector<int>& corners)
    {
        corners.resize(list_length(property, face));
        if (corners.size() < 3) {
            throw Error("{}: face {} has {} corners; 3 are needed; export it again", source_,
                        number, corners.size());
        }
        for (int& corner : corners) {
            const double index = body_.number(property.value, face);
            if (!(index >= 0 && index < double(vertex_count())) || index != std::floor(index)) {
                throw Error(
                    "{}: face {} has corner {}; one of the {} vertices, from 0, is needed; "
                    "export it again",
                    source_, number, index, vertex_count());
            }
            corner = int(index);
        }
    }

    std::uint64_t vertex_count() const
    {
        for (const PlyElement& element : header_.elements) {
            if (element.name == "vertex") return element.count;
        }
        return 0;
    }

    const PlyHeader& header_;
    Body body_;
    std::string_view source_;
    PlyMesh mesh_;
};

}  // namespace

PlyMesh parse_ply(std::string_view bytes, std::string_view source, bool faces)
{
    const PlyHeader header = parse_ply_header(bytes, source);
    const auto vertex =
        std::find_if(header.elements.begin(), header.elements.end(),
                     [](const PlyElement& element) { return element.name == "vertex"; });
    if (vertex == header.elements.end() || vertex->count == 0) {
        throw Error("{}: a PLY file without vertices; at least one is needed; export it again",
                    source);
    }
    if (vertex->count > std::uint64_t(std::numeric_limits<int>::max())) {
        throw Error("{}: {} vertices; {} are the most that can be read; export fewer", source,
                    vertex->count, std::numeric_limits<int>::max());
    }
    const std::string_view body = bytes.substr(header.bytes);
    return header.ascii ? BodyReader<TextBody>(header, body, source).read(faces)
                        : BodyReader<BinaryBody>(header, body, source).read(faces);
}

}  // namespace springtime
