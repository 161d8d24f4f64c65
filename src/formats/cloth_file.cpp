#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "formats/cloth_json.h"
#include "formats/json_node.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "springtime-cloth";
constexpr std::string_view kUnits = "m, kg, s, N";
constexpr int kNewestVersion = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- Writing

// The shortest text that reads back as the same double. JSON readers take "-0" for the integer 0.
std::string number_text(double value)
{
    if (value == 0 && std::signbit(value)) return "-0.0";
    return fmt::format("{}", value);
}

// JSON has no word for infinity.
std::string number_or_null_text(double value)
{
    return std::isinf(value) ? "null" : number_text(value);
}

// A JSON array on lines of at most about 100 columns; `text` gives the text of entry i.
template <class Text>
std::string array_text(std::size_t count, Text text)
{
    constexpr std::size_t kColumns = 100;
    constexpr std::string_view kIndent = "      ";
    std::string out = "[", line;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string entry = text(i) + (i + 1 < count ? "," : "");
        if (!line.empty() && kIndent.size() + line.size() + 1 + entry.size() > kColumns) {
            out += fmt::format("\n{}{}", kIndent, line);
            line.clear();
        }
        line += line.empty() ? entry : " " + entry;
    }
    if (!line.empty()) out += fmt::format("\n{}{}\n    ", kIndent, line);
    return out + "]";
}

std::string array_text(const std::vector<double>& values)
{
    return array_text(values.size(), [&](std::size_t i) { return number_text(values[i]); });
}

// One number when all are equal.
std::string array_or_one_text(const std::vector<double>& values)
{
    const bool uniform =
        std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
    return uniform ? number_text(values[0]) : array_text(values);
}

template <std::size_t N>
std::string corners_text(const std::vector<std::array<int, N>>& corners)
{
    return array_text(corners.size(), [&](std::size_t i) {
        return fmt::format("[{}]", fmt::join(corners[i], ", "));
    });
}

std::string particles_text(const Cloth& cloth)
{
    const auto rest = array_text(cloth.particle_count(), [&](std::size_t p) {
        return fmt::format("[{}, {}]", number_text(cloth.rest[p].u), number_text(cloth.rest[p].v));
    });
    return fmt::format("{{\n    \"count\": {},\n    \"rest\": {},\n    \"mass\": {}\n  }}",
                       cloth.particle_count(), rest, array_or_one_text(cloth.mass));
}

std::string ranges_text(const std::vector<StiffnessRange>& ranges)
{
    std::vector<std::string> all;
    for (const StiffnessRange& range : ranges) {
        all.push_back(fmt::format("{{\"from\": {}, \"to\": {}, \"stiffness\": {}}}",
                                  number_or_null_text(range.from), number_or_null_text(range.to),
                                  array_text(range.stiffness)));
    }
    return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string errors_text(const SpringSet& springs, const SpringErrors& errors)
{
    const auto values = [&](std::size_t kind) {
        const std::vector<double>& all = errors.parameters[kind];
        return array_text(all.size(), [&](std::size_t s) { return number_or_null_text(all[s]); });
    };
    const std::size_t ranges = springs.ranges.size();
    std::string text = fmt::format(
        "{{\n    \"force\": {},\n    \"stiffness\": {},\n    "
        "\"damping\": {}",
        number_text(errors.force), values(0), values(1));
    if (ranges > 0) {
        std::vector<std::string> all;
        for (std::size_t j = 0; j < ranges; ++j) all.push_back(values(2 + j));
        text += fmt::format(",\n    \"ranges\": [{}]", fmt::join(all, ", "));
    }
    if (!springs.isotropic_damping.empty()) {
        text += fmt::format(",\n    \"isotropic_damping\": {}", values(2 + ranges));
    }
    return text + "\n    }";
}

// What springs have beyond the first version.
std::string law_text(const Cloth& cloth)
{
    const SpringSet& springs = cloth.springs;
    std::string text;
    const auto add = [&](const char* key, const std::string& value) {
        text += fmt::format(",\n    \"{}\": {}", key, value);
    };
    if (!springs.ranges.empty()) add("ranges", ranges_text(springs.ranges));
    if (!springs.isotropic_damping.empty()) {
        add("isotropic_damping", array_text(springs.isotropic_damping));
    }
    if (cloth.errors) add("errors", errors_text(springs, *cloth.errors));
    return text;
}

std::string springs_text(const Cloth& cloth)
{
    const SpringSet& springs = cloth.springs;
    const auto names = array_text(kSpringFamilies.size(), [](std::size_t i) {
        return fmt::format("\"{}\"", name_of(kSpringFamilies[i]));
    });
    const auto families = array_text(springs.spring_count(), [&](std::size_t s) {
        return fmt::format("{}", static_cast<int>(springs.family[s]));
    });
    return fmt::format(
        "{{\n    \"count\": {},\n    \"family_names\": {},\n    \"family\": {},\n"
        "    \"ends\": {},\n    \"rest_length\": {},\n    \"stiffness\": {},\n"
        "    \"damping\": {}{}\n  }}",
        springs.spring_count(), names, families, corners_text(springs.ends),
        array_text(springs.rest_length), array_text(springs.stiffness), array_text(springs.damping),
        law_text(cloth));
}

std::string triangles_text(const TriangleSet& triangles)
{
    return fmt::format(
        "{{\n    \"count\": {},\n    \"corners\": {},\n    \"shear_stiffness\": {},\n"
        "    \"area_stiffness\": {},\n    \"damping\": {},\n    \"damping_kind\": \"{}\"\n  }}",
        triangles.triangle_count(), corners_text(triangles.corners),
        array_or_one_text(triangles.shear_stiffness), array_or_one_text(triangles.area_stiffness),
        array_or_one_text(triangles.damping), name_of(triangles.damping_kind));
}

std::string hinges_text(const HingeSet& hinges)
{
    return fmt::format(
        "{{\n    \"count\": {},\n    \"corners\": {},\n    \"stiffness\": {},\n"
        "    \"damping\": {}\n  }}",
        hinges.hinge_count(), corners_text(hinges.corners), array_or_one_text(hinges.stiffness),
        array_or_one_text(hinges.damping));
}

// From version 2 on a file leaves out the kinds of element that the cloth does not have.
std::string elements_text(const Cloth& cloth)
{
    std::string text;
    const auto add = [&](const char* key, const std::string& group) {
        text += fmt::format(",\n  \"{}\": {}", key, group);
    };
    if (cloth.springs.spring_count() > 0 || cloth_file_version(cloth) == 1) {
        add("springs", springs_text(cloth));
    }
    if (cloth.triangles.triangle_count() > 0) add("triangles", triangles_text(cloth.triangles));
    if (cloth.hinges.hinge_count() > 0) add("hinges", hinges_text(cloth.hinges));
    return text;
}

// ---- Reading

json parse(std::string_view text, std::string_view source)
{
    if (text.empty()) throw Error("{}: is empty; a cloth file is needed, make it again", source);
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        const std::size_t end = std::min<std::size_t>(error.byte, text.size());
        throw Error(
            "{}: is not JSON, from line {} on; a cloth file is needed, copy it or make it"
            " again",
            source, 1 + std::count(text.begin(), text.begin() + end, '\n'));
    } catch (const json::exception& error) {
        throw Error("{}: JSON with a number out of range ({}); make it again", source,
                    error.what());
    }
}

bool is_cloth(const json& document)
{
    const auto format = document.is_object() ? document.find("format") : document.end();
    return document.is_object() && format != document.end() && *format == kFormat;
}

void check_kind(const json& document, const JsonNode& root, std::string_view source)
{
    if (!is_cloth(document)) {
        throw Error("{}: JSON without \"format\": \"{}\"; a cloth file is needed (docs/formats.md)",
                    source, kFormat);
    }
    const int version = root["version"].integer(1, std::numeric_limits<int>::max());
    if (version > kNewestVersion) {
        throw Error(
            "{}: cloth file version {}, but springtime {} reads versions 1 to {};"
            " update springtime",
            source, version, kVersion, kNewestVersion);
    }
    // What reads an earlier version alone would silently lose them.
    for (const char* key : {"triangles", "hinges"}) {
        if (version == 1 && root.has(key)) {
            throw Error("{}: has '{}', but says it is of version 1; make it version 2", source,
                        key);
        }
    }
    for (const char* key : {"ranges", "isotropic_damping"}) {
        if (version < 3 && root.has("springs") && root["springs"].has(key)) {
            throw Error("{}: has 'springs.{}', but says it is of version {}; make it version 3",
                        source, key, version);
        }
    }
    if (const std::string units = root["units"].text(); units != kUnits) {
        throw Error("{}: 'units' is \"{}\"; convert all numbers to \"{}\"", source, units, kUnits);
    }
}

// The claimed count must be that of the array, which alone decides how much is allocated.
std::size_t checked_count(const JsonNode& group, const char* array, std::string_view of)
{
    const std::size_t count = group["count"].integer(0, std::numeric_limits<int>::max());
    group[array].check_size(count, of);
    return count;
}

void read_particles(const JsonNode& particles, Cloth& cloth)
{
    const std::size_t count = checked_count(particles, "rest", "particles");
    const JsonNode rest = particles["rest"], mass = particles["mass"];
    for (std::size_t p = 0; p < count; ++p) {
        const auto [u, v] = rest.entry(p).tuple<2>();
        cloth.rest.push_back({u.number(), v.number()});
    }
    cloth.mass = mass.numbers_or_one(count, "particles");
}

// For each of `count` elements its N particles.
template <std::size_t N>
std::vector<std::array<int, N>> read_corners(const JsonNode& array, std::size_t count,
                                             std::size_t particle_count)
{
    const int last = static_cast<int>(particle_count) - 1;
    std::vector<std::array<int, N>> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto corners = array.entry(i).tuple<N>();
        for (std::size_t k = 0; k < N; ++k) all[i][k] = corners[k].integer(0, last);
    }
    return all;
}

SpringFamily family_named(const std::string& name, std::string_view source)
{
    for (const SpringFamily family : kSpringFamilies) {
        if (name == name_of(family)) return family;
    }
    throw Error(
        "{}: unknown spring family \"{}\"; use structural, diagonal, antidiagonal or bending",
        source, name);
}

std::vector<SpringFamily> read_families(const JsonNode& springs, std::size_t count,
                                        std::string_view source)
{
    const JsonNode names = springs["family_names"], indices = springs["family"];
    std::vector<SpringFamily> known;
    for (std::size_t i = 0; i < names.array_size(); ++i) {
        known.push_back(family_named(names.entry(i).text(), source));
    }
    indices.check_size(count, "springs");
    std::vector<SpringFamily> families;
    for (std::size_t s = 0; s < count; ++s) {
        families.push_back(known[indices.entry(s).integer(0, static_cast<int>(known.size()) - 1)]);
    }
    return families;
}

std::vector<StiffnessRange> read_ranges(const JsonNode& array, std::size_t springs)
{
    std::vector<StiffnessRange> ranges;
    for (std::size_t j = 0; j < array.array_size(); ++j) {
        const JsonNode range = array.entry(j);
        ranges.push_back({range["from"].number_or(-kInfinity), range["to"].number_or(kInfinity),
                          range["stiffness"].numbers(springs, "springs")});
    }
    return ranges;
}

SpringSet read_springs(const JsonNode& springs, std::size_t particle_count, std::string_view source)
{
    SpringSet set;
    const std::size_t count = checked_count(springs, "ends", "springs");
    set.ends = read_corners<2>(springs["ends"], count, particle_count);
    set.family = read_families(springs, count, source);
    set.rest_length = springs["rest_length"].numbers(count, "springs");
    set.stiffness = springs["stiffness"].numbers(count, "springs");
    set.damping = springs["damping"].numbers(count, "springs");
    if (springs.has("ranges")) set.ranges = read_ranges(springs["ranges"], count);
    if (springs.has("isotropic_damping")) {
        set.isotropic_damping = springs["isotropic_damping"].numbers(count, "springs");
    }
    return set;
}

SpringErrors read_errors(const JsonNode& node, const SpringSet& springs)
{
    const std::size_t count = springs.spring_count(), ranges = springs.ranges.size();
    SpringErrors errors;
    errors.force = node["force"].number();
    const auto add = [&](const JsonNode& values) {
        values.check_size(count, "springs");
        auto& kind = errors.parameters.emplace_back(count);
        for (std::size_t s = 0; s < count; ++s) kind[s] = values.entry(s).number_or(kInfinity);
    };
    add(node["stiffness"]);
    add(node["damping"]);
    if (ranges > 0) {
        const JsonNode all = node["ranges"];
        all.check_size(ranges, "stiffness ranges");
        for (std::size_t j = 0; j < ranges; ++j) add(all.entry(j));
    }
    if (!springs.isotropic_damping.empty()) add(node["isotropic_damping"]);
    return errors;
}

TriangleDamping damping_kind_named(const std::string& name, std::string_view source)
{
    for (const TriangleDamping kind : kTriangleDampings) {
        if (name == name_of(kind)) return kind;
    }
    throw Error("{}: unknown damping kind \"{}\"; use deformation or strain", source, name);
}

TriangleSet read_triangles(const JsonNode& triangles, std::size_t particle_count,
                           std::string_view source)
{
    TriangleSet set;
    const std::size_t count = checked_count(triangles, "corners", "triangles");
    set.corners = read_corners<3>(triangles["corners"], count, particle_count);
    set.shear_stiffness = triangles["shear_stiffness"].numbers_or_one(count, "triangles");
    set.area_stiffness = triangles["area_stiffness"].numbers_or_one(count, "triangles");
    set.damping = triangles["damping"].numbers_or_one(count, "triangles");
    set.damping_kind = damping_kind_named(triangles["damping_kind"].text(), source);
    return set;
}

HingeSet read_hinges(const JsonNode& hinges, std::size_t particle_count)
{
    HingeSet set;
    const std::size_t count = checked_count(hinges, "corners", "hinges");
    set.corners = read_corners<4>(hinges["corners"], count, particle_count);
    set.stiffness = hinges["stiffness"].numbers_or_one(count, "hinges");
    set.damping = hinges["damping"].numbers_or_one(count, "hinges");
    return set;
}

void read_elements(const JsonNode& root, std::string_view source, Cloth& cloth)
{
    const std::size_t particles = cloth.particle_count();
    if (root.has("springs") || root["version"].integer(1, kNewestVersion) == 1) {
        const JsonNode springs = root["springs"];
        cloth.springs = read_springs(springs, particles, source);
        if (springs.has("errors")) cloth.errors = read_errors(springs["errors"], cloth.springs);
    }
    if (root.has("triangles")) {
        cloth.triangles = read_triangles(root["triangles"], particles, source);
    }
    if (root.has("hinges")) cloth.hinges = read_hinges(root["hinges"], particles);
}

}  // namespace

int cloth_file_version(const Cloth& cloth)
{
    if (!cloth.springs.ranges.empty() || !cloth.springs.isotropic_damping.empty()) return 3;
    return cloth.triangles.triangle_count() > 0 || cloth.hinges.hinge_count() > 0 ? 2 : 1;
}

bool is_cloth_text(std::string_view text, std::string_view source)
{
    return is_cloth(parse(text, source));
}

std::string cloth_to_json(const Cloth& cloth)
{
    check_cloth(cloth, "cloth");
    const auto grid = cloth.grid ? fmt::format("  \"grid\": {{\"rows\": {}, \"cols\": {}}},\n",
                                               cloth.grid->rows, cloth.grid->cols)
                                 : "";
    return fmt::format(
        "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"units\": \"{}\",\n"
        "  \"sheet\": {{\"length\": {}, \"width\": {}, \"mass\": {}}},\n{}"
        "  \"particles\": {}{}\n}}\n",
        kFormat, cloth_file_version(cloth), kUnits, number_text(cloth.sheet.length),
        number_text(cloth.sheet.width), number_text(cloth.sheet.mass), grid, particles_text(cloth),
        elements_text(cloth));
}

Cloth cloth_from_json(std::string_view text, std::string_view source)
{
    const json document = parse(text, source);
    const JsonNode root(document, source, "");
    check_kind(document, root, source);
    Cloth cloth;
    const JsonNode sheet = root["sheet"];
    cloth.sheet = {sheet["length"].positive(), sheet["width"].positive(), sheet["mass"].positive()};
    if (root.has("grid")) {
        const JsonNode grid = root["grid"];
        constexpr int kMost = std::numeric_limits<int>::max();
        cloth.grid = Grid{grid["rows"].integer(1, kMost), grid["cols"].integer(1, kMost)};
    }
    read_particles(root["particles"], cloth);
    read_elements(root, source, cloth);
    check_cloth(cloth, source);
    return cloth;
}

void write_cloth(const std::filesystem::path& path, const Cloth& cloth)
{
    write_text(path, cloth_to_json(cloth));
}

Cloth read_cloth(const std::filesystem::path& path)
{
    return cloth_from_json(read_text(path), path.string());
}

}  // namespace springtime
