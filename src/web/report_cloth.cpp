#include "web/report_cloth.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "formats/exports/surface.h"
#include "springtime/error.h"
#include "springtime/evaluate.h"
#include "springtime/identify.h"

namespace springtime {

namespace {

constexpr int kMostCells = 24;  // of the map of stiffness, along a side

std::vector<float> floats(const std::vector<double>& values)
{
    return {values.begin(), values.end()};
}

// The particles of every element, one row each.
std::vector<std::uint32_t> corners_of(const Cloth& cloth, Element element)
{
    std::vector<std::uint32_t> corners;
    const auto add = [&](const auto& elements) {
        for (const auto& particles : elements) {
            corners.insert(corners.end(), particles.begin(), particles.end());
        }
    };
    if (element == Element::spring) add(cloth.springs.ends);
    if (element == Element::bend) add(cloth.bends.particles);
    if (element == Element::triangle) add(cloth.triangles.corners);
    if (element == Element::hinge) add(cloth.hinges.corners);
    if (element == Element::coupling) add(cloth.couplings.corners);
    return corners;
}

// Hinges of one material differ by their shape: what is shown is the material.
bool is_hinge_stiffness(const ParameterKind& kind)
{
    return kind.element == Element::hinge && kind.role == ParameterRole::stiffness;
}

std::vector<double> shown_values(const Cloth& cloth, const Parameter& parameter)
{
    std::vector<double> values = values_of(cloth, parameter);
    if (!is_hinge_stiffness(*parameter.kind)) return values;
    const std::vector<double> shapes = hinge_shapes(cloth);
    for (std::size_t h = 0; h < values.size(); ++h) values[h] /= shapes[h];
    return values;
}

// ---- The same elements in two cloths

using Key = std::vector<std::uint32_t>;

std::vector<Key> keys_of(const Cloth& cloth, Element element)
{
    const std::vector<std::uint32_t> corners = corners_of(cloth, element);
    const std::size_t count = element_count(cloth, element);
    std::vector<Key> keys;
    for (std::size_t e = 0; e < count; ++e) {
        const std::size_t size = corners.size() / count;
        Key key(corners.begin() + std::ptrdiff_t(e * size),
                corners.begin() + std::ptrdiff_t((e + 1) * size));
        std::sort(key.begin(), key.end());
        keys.push_back(std::move(key));
    }
    return keys;
}

// For each element of a cloth the one of the truth, or nothing; empty where fewer than half are in
// both. Particles have to be the same.
std::vector<std::optional<std::size_t>> in_truth(const Cloth& cloth, const Cloth& truth,
                                                 Element element)
{
    if (!same_points(truth, cloth.sheet, cloth.rest)) return {};
    std::map<Key, std::size_t> index;
    for (const Key& key : keys_of(truth, element)) index.emplace(key, index.size());
    std::vector<std::optional<std::size_t>> found;
    std::size_t known = 0;
    for (const Key& key : keys_of(cloth, element)) {
        const auto at = index.find(key);
        found.push_back(at == index.end() ? std::nullopt : std::optional(at->second));
        if (found.back()) ++known;
    }
    return 2 * known < found.size() ? decltype(found)() : found;
}

// NaN for elements that the truth does not have; empty without a truth for this parameter.
std::vector<double> true_values(const Cloth& cloth, const Cloth& truth, const Parameter& parameter)
{
    const auto indices = in_truth(cloth, truth, parameter.kind->element);
    for (const Parameter& other : learned_parameters(truth)) {
        if (indices.empty() || other.kind != parameter.kind || other.range != parameter.range) {
            continue;
        }
        const std::vector<double> all = shown_values(truth, other);
        std::vector<double> values;
        for (const auto& index : indices) values.push_back(index ? all[*index] : std::nan(""));
        return values;
    }
    return {};
}

// ---- Fields

struct FieldWriter {
    Payload& payload;
    const std::string& prefix;
    const Cloth& cloth;

    std::string add(const std::string& name, const std::vector<double>& values) const
    {
        const std::string array = fmt::format("{}/{}", prefix, name);
        payload.add(array, {values.size()}, floats(values));
        return array;
    }
};

std::string label_of_field(const Cloth& cloth, const Parameter& parameter)
{
    return is_hinge_stiffness(*parameter.kind) ? "bending stiffness" : label_of(cloth, parameter);
}

Result add_fields(const FieldWriter& writer, const std::optional<Cloth>& truth)
{
    const Cloth& cloth = writer.cloth;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    const ParameterValues errors = cloth.errors ? relative_errors(cloth) : ParameterValues();
    Result fields = Result::list();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const ParameterKind& kind = *parameters[k].kind;
        Result field = Result::tree();
        field.add("name", kind.name);
        field.add("label", label_of_field(cloth, parameters[k]));
        field.add("unit", is_hinge_stiffness(kind) ? "N m" : kind.unit);
        field.add("element", name_of(kind.element));
        field.add("damping", parameters[k].is_damping());
        field.add("values",
                  writer.add(fmt::format("field{}", k), shown_values(cloth, parameters[k])));
        if (!errors.empty()) {
            field.add("relative_error", writer.add(fmt::format("error{}", k), errors[k]));
        }
        if (truth) {
            const std::vector<double> values = true_values(cloth, *truth, parameters[k]);
            if (!values.empty()) field.add("truth", writer.add(fmt::format("truth{}", k), values));
        }
        fields.push(field);
    }
    return fields;
}

Result add_elements(const FieldWriter& writer)
{
    const Cloth& cloth = writer.cloth;
    Result elements = Result::tree();
    for (const Element element : kElements) {
        const std::size_t count = element_count(cloth, element);
        if (count == 0) continue;
        const std::vector<std::uint32_t> corners = corners_of(cloth, element);
        const std::string name(name_of(element)), array = writer.prefix + "/" + name;
        writer.payload.add(array, {count, corners.size() / count}, corners);
        Result entry = Result::tree();
        entry.add("corners", array);
        Result families = Result::list();
        if (element == Element::spring || element == Element::bend) {
            std::vector<std::uint8_t> family(count);
            for (const ElementFamily& each : families_of(cloth, element)) {
                for (const std::size_t e : each.members) {
                    family[e] = std::uint8_t(families.entries().size());
                }
                families.push(each.name);
            }
            writer.payload.add(array + "_family", {count}, std::span<const std::uint8_t>(family));
            entry.add("family", array + "_family");
        }
        entry.add("families", families);
        elements.add(name, entry);
    }
    return elements;
}

// Two cloths that share no elements are compared cell by cell.
Result add_cells(const FieldWriter& writer, const Cloth& truth)
{
    const Grid grid = writer.cloth.grid.value_or(Grid{kMostCells + 1, kMostCells + 1});
    const Grid cells{std::clamp(grid.rows - 1, 1, kMostCells),
                     std::clamp(grid.cols - 1, 1, kMostCells)};
    Result result = Result::tree();
    try {
        result.add("rows", cells.rows);
        result.add("cols", cells.cols);
        result.add("values", writer.add("cells", stiffness_map(writer.cloth, cells).values));
        result.add("truth", writer.add("cells_truth", stiffness_map(truth, cells).values));
        if (writer.cloth.grid) result.add("correlation", map_correlation(writer.cloth, truth));
    } catch (const Error&) {
        return {};  // a cloth without elements that resist stretching has no such map
    }
    return result;
}

}  // namespace

Result add_cloth(Payload& payload, const std::string& prefix, const Cloth& cloth,
                 const std::optional<Cloth>& truth)
{
    const FieldWriter writer{payload, prefix, cloth};
    std::vector<float> rest;
    for (const SheetPoint& p : cloth.rest) {
        rest.push_back(float(p.u));
        rest.push_back(float(p.v));
    }
    const ExportSurface surface = make_surface(cloth.rest, cloth);
    std::vector<std::uint32_t> triangles;
    for (const auto& corners : surface.triangles) {
        triangles.insert(triangles.end(), corners.begin(), corners.end());
    }
    payload.add(prefix + "/rest", {cloth.particle_count(), 2}, std::span<const float>(rest));
    payload.add(prefix + "/surface", {surface.triangles.size(), 3},
                std::span<const std::uint32_t>(triangles));
    const std::vector<std::uint32_t> curve(surface.curve.begin(), surface.curve.end());
    payload.add(prefix + "/curve", {curve.size()}, std::span<const std::uint32_t>(curve));

    Result result = Result::tree();
    result.add("prefix", prefix);
    result.add("particles", cloth.particle_count());
    result.add("length", cloth.sheet.length, "m");
    result.add("width", cloth.sheet.width, "m");
    result.add("mass", cloth.sheet.mass, "kg");
    if (cloth.grid) result.add("grid", std::vector<int>{cloth.grid->rows, cloth.grid->cols});
    result.add("elements", add_elements(writer));
    result.add("fields", add_fields(writer, truth));
    if (truth) result.add("cells", add_cells(writer, *truth));
    return result;
}

}  // namespace springtime
