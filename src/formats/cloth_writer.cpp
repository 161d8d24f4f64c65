#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/atomic_file.h"
#include "formats/cloth_json.h"
#include "formats/globals_json.h"
#include "formats/rod_json.h"
#include "springtime/files.h"

namespace springtime {

namespace {

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

// Springs stand in every file of version 1, and wherever bends need a place for their errors.
bool has_group(const Cloth& cloth, Element element)
{
    if (element_count(cloth, element) > 0) return true;
    if (element != Element::spring) return false;
    return cloth_file_version(cloth) == 1 || (cloth.errors && cloth.bends.bend_count() > 0);
}

// The standard errors that belong to a group; nothing where they are not known.
std::string errors_text(const Cloth& cloth, Element group)
{
    if (!cloth.errors) return "";
    const StandardErrors& errors = *cloth.errors;
    const std::vector<Parameter> all = learned_parameters(cloth);
    std::vector<Parameter> parameters;
    std::vector<std::size_t> numbers;  // of them among all
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (error_group(all[i].kind->element) != group) continue;
        parameters.push_back(all[i]);
        numbers.push_back(i);
    }
    const auto values = [&](std::size_t i) {
        const std::vector<double>& one = errors.parameters[numbers[i]];
        return array_text(one.size(), [&](std::size_t e) { return number_or_null_text(one[e]); });
    };
    const auto first = std::find_if(kErrorGroups.begin(), kErrorGroups.end(),
                                    [&](Element element) { return has_group(cloth, element); });
    std::string text = parameters_text(parameters, values);
    if (group == *first) {
        text = fmt::format(",\n    \"force\": {}{}", number_text(errors.force), text);
    }
    return fmt::format(",\n    \"errors\": {{{}\n    }}", text.substr(1));
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
        parameters_text(parameters, values), errors_text(cloth, Element::spring));
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

// Triangles, hinges or couplings; `more` follows the parameters.
template <std::size_t N>
std::string elements_text(const Cloth& cloth, Element element,
                          const std::vector<std::array<int, N>>& corners,
                          const std::string& more = "")
{
    const std::vector<Parameter> parameters = parameters_in(cloth, element);
    const auto values = [&](std::size_t i) {
        return array_or_one_text(values_of(cloth, parameters[i]));
    };
    return fmt::format("{{\n    \"count\": {},\n    \"corners\": {}{}{}{}\n  }}", corners.size(),
                       corners_text(corners), parameters_text(parameters, values), more,
                       errors_text(cloth, element));
}

std::string damping_kind_text(const TriangleSet& triangles)
{
    return fmt::format(",\n    \"damping_kind\": \"{}\"", name_of(triangles.damping_kind));
}

std::string rest_lengths_text(const CouplingSet& couplings)
{
    const auto pairs = array_text(couplings.coupling_count(), [&](std::size_t i) {
        const auto [first, second] = couplings.rest_length[i];
        return fmt::format("[{}, {}]", number_text(first), number_text(second));
    });
    return fmt::format(",\n    \"rest_length\": {}", pairs);
}

std::string group_text(const Cloth& cloth, Element element)
{
    switch (element) {
        case Element::spring:
            return springs_text(cloth);
        case Element::bend:
            return bends_text(cloth);
        case Element::triangle:
            return elements_text(cloth, element, cloth.triangles.corners,
                                 damping_kind_text(cloth.triangles));
        case Element::hinge:
            return elements_text(cloth, element, cloth.hinges.corners);
        case Element::coupling:
            return elements_text(cloth, element, cloth.couplings.corners,
                                 rest_lengths_text(cloth.couplings));
    }
    return "";
}

// From version 2 on a file leaves out the kinds of element that the cloth does not have.
std::string groups_text(const Cloth& cloth)
{
    std::string text;
    for (const Element element : kElements) {
        if (!has_group(cloth, element)) continue;
        text += fmt::format(",\n  \"{}\": {}", group_name(element), group_text(cloth, element));
    }
    if (cloth.rod) text += fmt::format(",\n  \"rod\": {}", rod_text(*cloth.rod));
    return text;
}

}  // namespace

std::string group_name(Element element)
{
    return fmt::format("{}s", name_of(element));
}

Element error_group(Element element)
{
    return element == Element::bend ? Element::spring : element;
}

int cloth_file_version(const Cloth& cloth)
{
    int version = cloth.rod ? kRodVersion : 1;
    for (const Parameter& parameter : parameters_in(cloth)) {
        version = std::max(version, parameter.kind->file_version);
    }
    return version;
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
        kClothFormat, cloth_file_version(cloth), kClothUnits, number_text(cloth.sheet.length),
        number_text(cloth.sheet.width), number_text(cloth.sheet.mass), grid, globals,
        particles_text(cloth), groups_text(cloth));
}

void write_cloth(const std::filesystem::path& path, const Cloth& cloth, bool overwrite)
{
    write_text(path, cloth_to_json(cloth), overwrite);
}

}  // namespace springtime
