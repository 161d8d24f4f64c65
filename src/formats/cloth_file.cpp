#include <fmt/ranges.h>

#include <algorithm>
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

constexpr int kNewestVersion = 6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
    return document.is_object() && format != document.end() && *format == kClothFormat;
}

void check_kind(const json& document, const JsonNode& root, std::string_view source)
{
    if (!is_cloth(document)) {
        throw Error("{}: JSON without \"format\": \"{}\"; a cloth file is needed (docs/formats.md)",
                    source, kClothFormat);
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
    if (const std::string units = root["units"].text(); units != kClothUnits) {
        throw Error("{}: 'units' is \"{}\"; convert all numbers to \"{}\"", source, units,
                    kClothUnits);
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

std::vector<double> read_error_array(const JsonNode& errors, const Parameter& parameter,
                                     std::size_t count)
{
    const JsonNode named = errors[key_of(*parameter.kind)];
    const JsonNode values = parameter.in_range() ? named.entry(parameter.range) : named;
    values.check_size(count, group_name(parameter.kind->element));
    std::vector<double> all(count);
    for (std::size_t e = 0; e < count; ++e) all[e] = values.entry(e).number_or(kInfinity);
    return all;
}

bool has_errors(const JsonNode& root, Element group)
{
    const std::string name = group_name(group);
    return root.has(name) && root[name].has("errors");
}

// Of all elements; nothing where no group has them. A group without them says that nothing is known
// about its elements.
std::optional<StandardErrors> read_errors(const JsonNode& root, const Cloth& cloth)
{
    const auto first = std::find_if(kErrorGroups.begin(), kErrorGroups.end(),
                                    [&](Element group) { return has_errors(root, group); });
    if (first == kErrorGroups.end()) return {};
    StandardErrors errors;
    errors.force = root[group_name(*first)]["errors"]["force"].number();
    if (!cloth.springs.ranges.empty() && has_errors(root, Element::spring)) {
        root["springs"]["errors"]["ranges"].check_size(cloth.springs.ranges.size(),
                                                       "stiffness ranges");
    }
    for (const Parameter& parameter : learned_parameters(cloth)) {
        const std::size_t count = element_count(cloth, parameter.kind->element);
        const Element group = error_group(parameter.kind->element);
        errors.parameters.push_back(
            has_errors(root, group)
                ? read_error_array(root[group_name(group)]["errors"], parameter, count)
                : std::vector<double>(count, kInfinity));
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

CouplingSet read_couplings(const JsonNode& couplings, std::size_t particle_count)
{
    CouplingSet set;
    const std::size_t count = checked_count(couplings, "corners", "couplings");
    set.corners = read_corners<3>(couplings["corners"], count, particle_count);
    const JsonNode lengths = couplings["rest_length"];
    lengths.check_size(count, "couplings");
    for (std::size_t i = 0; i < count; ++i) {
        const auto [first, second] = lengths.entry(i).tuple<2>();
        set.rest_length.push_back({first.number(), second.number()});
    }
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
    }
    if (root.has("triangles")) {
        cloth.triangles = read_triangles(root["triangles"], particles, source);
        read_parameters(root["triangles"], Element::triangle, cloth);
    }
    if (root.has("hinges")) {
        cloth.hinges = read_hinges(root["hinges"], particles);
        read_parameters(root["hinges"], Element::hinge, cloth);
    }
    if (root.has("couplings")) {
        cloth.couplings = read_couplings(root["couplings"], particles);
        read_parameters(root["couplings"], Element::coupling, cloth);
    }
    cloth.errors = read_errors(root, cloth);
    if (root.has("rod")) cloth.rod = read_rod(root["rod"]);
}

}  // namespace

bool is_cloth_text(std::string_view text, std::string_view source)
{
    return is_cloth(parse(text, source));
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

Cloth read_cloth(const std::filesystem::path& path)
{
    return cloth_from_json(read_text(path), path.string());
}

}  // namespace springtime
