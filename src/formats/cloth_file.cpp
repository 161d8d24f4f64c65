#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "formats/cloth_json.h"
#include "formats/globals_json.h"
#include "formats/json_node.h"
#include "formats/rod_json.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "springtime-cloth";
constexpr std::string_view kUnits = "m, kg, s, N";
constexpr int kNewestVersion = 5;
constexpr int kRodVersion = 5;  // of the first files with a rod
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kRanges = "ranges";  // what holds parameters per range of strain

// The group of a file that holds the elements of one type.
std::string group_name(Element element)
{
    return fmt::format("{}s", name_of(element));
}

// ---- Writing

// The shortest text that reads back as the same double. JSON readers take "-0" for the integer 0.
std::string number_text(double value)
{
    if (value == 0 && std::signbit(value)) return "-0.0";
    return fmt::format("{}", value);
}

// JSON has no infinity.
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

std::string range_text(const StiffnessRange& range)
{
    return fmt::format("{{\"from\": {}, \"to\": {}, \"stiffness\": {}}}",
                       number_or_null_text(range.from), number_or_null_text(range.to),
                       array_text(range.stiffness));
}

// `,"key": value` for every parameter, each on a line of its own. Those of the
// ranges of strain together are one array under "ranges". `text` gives the text of parameter i.
template <class Text>
std::string parameters_text(const std::vector<Parameter>& parameters, Text text)
{
    std::string out;
    std::vector<std::string> ranges;
    const auto add = [&](std::string_view key, const std::string& value) {
        out += fmt::format(",\n    \"{}\": {}", key, value);
    };
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].in_range()) {
            add(parameters[i].kind->name, text(i));
            continue;
        }
        ranges.push_back(text(i));
        const bool last = i + 1 == parameters.size() || !parameters[i + 1].in_range();
        if (last) add(kRanges, fmt::format("[{}]", fmt::join(ranges, ", ")));
    }
    return out;
}

std::string errors_text(const Cloth& cloth)
{
    const StandardErrors& errors = *cloth.errors;
    const auto values = [&](std::size_t i) {
        const std::vector<double>& all = errors.parameters[i];
        return array_text(all.size(), [&](std::size_t s) { return number_or_null_text(all[s]); });
    };
    return fmt::format(",\n    \"errors\": {{\n    \"force\": {}{}\n    }}",
                       number_text(errors.force),
                       parameters_text(learned_parameters(cloth), values));
}

// The names of all families, and for every element which of them is its own.
template <class Families, class Family>
std::string families_text(const Families& known, const std::vector<Family>& families)
{
    const auto names = array_text(
        known.size(), [&](std::size_t i) { return fmt::format("\"{}\"", name_of(known[i])); });
    const auto indices = array_text(families.size(), [&](std::size_t e) {
        return fmt::format("{}", static_cast<int>(families[e]));
    });
    return fmt::format("\"family_names\": {},\n    \"family\": {}", names, indices);
}

std::string springs_text(const Cloth& cloth)
{
    const SpringSet& springs = cloth.springs;
    const std::vector<Parameter> parameters = parameters_in(cloth, Element::spring);
    const auto values = [&](std::size_t i) {
        if (parameters[i].in_range()) return range_text(springs.ranges[parameters[i].range]);
        return array_text(values_of(cloth, parameters[i]));
    };
    return fmt::format(
        "{{\n    \"count\": {},\n    {},\n    \"ends\": {},\n    \"rest_length\": {}{}{}\n  }}",
        springs.spring_count(), families_text(kSpringFamilies, springs.family),
        corners_text(springs.ends), array_text(springs.rest_length),
        parameters_text(parameters, values), cloth.errors ? errors_text(cloth) : "");
}

std::string bends_text(const Cloth& cloth)
{
    const std::vector<Parameter> parameters = parameters_in(cloth, Element::bend);
    const auto values = [&](std::size_t i) {
        return array_or_one_text(values_of(cloth, parameters[i]));
    };
    return fmt::format("{{\n    \"count\": {},\n    {},\n    \"particles\": {}{}\n  }}",
                       cloth.bends.bend_count(), families_text(kBendFamilies, cloth.bends.family),
                       corners_text(cloth.bends.particles), parameters_text(parameters, values));
}

// Triangles or hinges; `more` follows the parameters.
template <std::size_t N>
std::string elements_text(const Cloth& cloth, Element element,
                          const std::vector<std::array<int, N>>& corners,
                          const std::string& more = "")
{
    const std::vector<Parameter> parameters = parameters_in(cloth, element);
    const auto values = [&](std::size_t i) {
        return array_or_one_text(values_of(cloth, parameters[i]));
    };
    return fmt::format("{{\n    \"count\": {},\n    \"corners\": {}{}{}\n  }}", corners.size(),
                       corners_text(corners), parameters_text(parameters, values), more);
}

// From version 2 on a file leaves out the kinds of element that the cloth does not have.
std::string groups_text(const Cloth& cloth)
{
    std::string text;
    const auto add = [&](Element element, const std::string& group) {
        text += fmt::format(",\n  \"{}\": {}", group_name(element), group);
    };
    if (cloth.springs.spring_count() > 0 || cloth_file_version(cloth) == 1) {
        add(Element::spring, springs_text(cloth));
    }
    if (cloth.bends.bend_count() > 0) add(Element::bend, bends_text(cloth));
    if (cloth.triangles.triangle_count() > 0) {
        const auto damping =
            fmt::format(",\n    \"damping_kind\": \"{}\"", name_of(cloth.triangles.damping_kind));
        add(Element::triangle,
            elements_text(cloth, Element::triangle, cloth.triangles.corners, damping));
    }
    if (cloth.hinges.hinge_count() > 0) {
        add(Element::hinge, elements_text(cloth, Element::hinge, cloth.hinges.corners));
    }
    if (cloth.rod) text += fmt::format(",\n  \"rod\": {}", rod_text(*cloth.rod));
    return text;
}

// ---- Reading

std::string key_of(const ParameterKind& kind)
{
    return std::string(kind.presence == ParameterPresence::per_range ? kRanges : kind.name);
}

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
    // A program that reads only that version would silently lose what came later.
    for (const ParameterKind& kind : parameter_kinds()) {
        const std::string group = group_name(kind.element);
        if (version >= kind.file_version || !root.has(group)) continue;
        const std::string key = key_of(kind);
        if (!root[group].has(key)) continue;
        throw Error("{}: has '{}.{}', but says it is of version {}; make it version {}", source,
                    group, key, version, kind.file_version);
    }
    if (root.has("rod") && version < kRodVersion) {
        throw Error("{}: has a rod, but says it is of version {}; make it version {}", source,
                    version, kRodVersion);
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

template <class Family, std::size_t N>
Family family_named(const std::array<Family, N>& known, Element element, const std::string& name,
                    std::string_view source)
{
    std::vector<std::string_view> names;
    for (const Family family : known) {
        if (name == name_of(family)) return family;
        names.push_back(name_of(family));
    }
    throw Error("{}: unknown {} family \"{}\"; use {} or {}", source, name_of(element), name,
                fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// The families of a group of elements, of those that are known.
template <class Family, std::size_t N>
std::vector<Family> read_families(const JsonNode& group, const std::array<Family, N>& known,
                                  Element element, std::size_t count, std::string_view source)
{
    const JsonNode names = group["family_names"], indices = group["family"];
    std::vector<Family> named;
    for (std::size_t i = 0; i < names.array_size(); ++i) {
        named.push_back(family_named(known, element, names.entry(i).text(), source));
    }
    indices.check_size(count, group_name(element));
    std::vector<Family> families;
    for (std::size_t e = 0; e < count; ++e) {
        families.push_back(named[indices.entry(e).integer(0, static_cast<int>(named.size()) - 1)]);
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
    set.family = read_families(springs, kSpringFamilies, Element::spring, count, source);
    set.rest_length = springs["rest_length"].numbers(count, "springs");
    if (springs.has("ranges")) set.ranges = read_ranges(springs["ranges"], count);
    return set;
}

BendSet read_bends(const JsonNode& bends, std::size_t particle_count, std::string_view source)
{
    BendSet set;
    const std::size_t count = checked_count(bends, "particles", "bends");
    set.particles = read_corners<3>(bends["particles"], count, particle_count);
    set.family = read_families(bends, kBendFamilies, Element::bend, count, source);
    return set;
}

// All parameters of a type of element but those of ranges of strain, which came with the springs.
void read_parameters(const JsonNode& group, Element element, Cloth& cloth)
{
    const std::size_t count = element_count(cloth, element);
    const std::string of = group_name(element);
    for (const ParameterKind& kind : parameter_kinds()) {
        if (kind.element != element || kind.presence == ParameterPresence::per_range) continue;
        const std::string name(kind.name);
        if (kind.presence == ParameterPresence::optional && !group.has(name)) continue;
        const JsonNode values = group[name];
        kind.values(cloth, 0) = element == Element::spring ? values.numbers(count, of)
                                                           : values.numbers_or_one(count, of);
    }
}

StandardErrors read_errors(const JsonNode& node, const Cloth& cloth)
{
    StandardErrors errors;
    errors.force = node["force"].number();
    if (!cloth.springs.ranges.empty()) {
        node["ranges"].check_size(cloth.springs.ranges.size(), "stiffness ranges");
    }
    for (const Parameter& parameter : learned_parameters(cloth)) {
        const JsonNode named = node[key_of(*parameter.kind)];
        const JsonNode values = parameter.in_range() ? named.entry(parameter.range) : named;
        const std::size_t count = element_count(cloth, parameter.kind->element);
        values.check_size(count, group_name(parameter.kind->element));
        auto& all = errors.parameters.emplace_back(count);
        for (std::size_t e = 0; e < count; ++e) all[e] = values.entry(e).number_or(kInfinity);
    }
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
    set.damping_kind = damping_kind_named(triangles["damping_kind"].text(), source);
    return set;
}

HingeSet read_hinges(const JsonNode& hinges, std::size_t particle_count)
{
    HingeSet set;
    const std::size_t count = checked_count(hinges, "corners", "hinges");
    set.corners = read_corners<4>(hinges["corners"], count, particle_count);
    return set;
}

void read_elements(const JsonNode& root, std::string_view source, Cloth& cloth)
{
    const std::size_t particles = cloth.particle_count();
    if (root.has("bends")) {
        cloth.bends = read_bends(root["bends"], particles, source);
        read_parameters(root["bends"], Element::bend, cloth);
    }
    if (root.has("springs") || root["version"].integer(1, kNewestVersion) == 1) {
        const JsonNode springs = root["springs"];
        cloth.springs = read_springs(springs, particles, source);
        read_parameters(springs, Element::spring, cloth);
        if (springs.has("errors")) cloth.errors = read_errors(springs["errors"], cloth);
    }
    if (root.has("triangles")) {
        cloth.triangles = read_triangles(root["triangles"], particles, source);
        read_parameters(root["triangles"], Element::triangle, cloth);
    }
    if (root.has("hinges")) {
        cloth.hinges = read_hinges(root["hinges"], particles);
        read_parameters(root["hinges"], Element::hinge, cloth);
    }
    if (root.has("rod")) cloth.rod = read_rod(root["rod"]);
}

}  // namespace

int cloth_file_version(const Cloth& cloth)
{
    int version = cloth.rod ? kRodVersion : 1;
    for (const Parameter& parameter : parameters_in(cloth)) {
        version = std::max(version, parameter.kind->file_version);
    }
    return version;
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
    const auto globals =
        cloth.globals ? fmt::format("  \"globals\": {},\n", globals_text(*cloth.globals)) : "";
    return fmt::format(
        "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"units\": \"{}\",\n"
        "  \"sheet\": {{\"length\": {}, \"width\": {}, \"mass\": {}}},\n{}{}"
        "  \"particles\": {}{}\n}}\n",
        kFormat, cloth_file_version(cloth), kUnits, number_text(cloth.sheet.length),
        number_text(cloth.sheet.width), number_text(cloth.sheet.mass), grid, globals,
        particles_text(cloth), groups_text(cloth));
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
    if (root.has("globals")) cloth.globals = read_globals(root["globals"]);
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
