#include "formats/globals_json.h"

#include <fmt/format.h>

#include <limits>

#include "formats/vector_json.h"

namespace springtime {

namespace {

// A member of an object: its name in files, and where it lies.
struct NamedNumber {
    const char* name;
    FittedNumber Globals::*member;
};
constexpr NamedNumber kNumbers[] = {
    {"length", &Globals::length}, {"width", &Globals::width},   {"drag", &Globals::drag},
    {"tilt_x", &Globals::tilt_x}, {"tilt_z", &Globals::tilt_z}, {"delay", &Globals::delay},
};

std::string vectors_text(const std::vector<Vec3d>& vectors)
{
    std::string text = "[";
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        text += (i > 0 ? ", " : "") + vector_text(vectors[i]);
    }
    return text + "]";
}

// [value, standard error], with null for the error of a number that was given.
std::string fitted_text(const FittedNumber& number)
{
    return number.error ? fmt::format("[{}, {}]", number.value, *number.error)
                        : fmt::format("[{}, null]", number.value);
}

std::vector<Vec3d> read_vectors(const JsonNode& node)
{
    std::vector<Vec3d> vectors;
    for (std::size_t i = 0; i < node.array_size(); ++i) {
        vectors.push_back(read_vector(node.entry(i)));
    }
    return vectors;
}

FittedNumber read_fitted(const JsonNode& node)
{
    constexpr double kGiven = -std::numeric_limits<double>::infinity();
    const auto [value, error] = node.tuple<2>();
    FittedNumber number{value.number(), error.number_or(kGiven)};
    if (*number.error == kGiven) number.error.reset();
    return number;
}

}  // namespace

std::string globals_text(const Globals& globals)
{
    std::string text =
        fmt::format("{{\n    \"stated\": [{}, {}]", globals.stated_length, globals.stated_width);
    for (const auto& [name, member] : kNumbers) {
        text += fmt::format(",\n    \"{}\": {}", name, fitted_text(globals.*member));
    }
    text += fmt::format(",\n    \"gravity\": {},\n    \"turn\": [{}, {}, {}],\n    \"offsets\": [",
                        vector_text(globals.gravity), fitted_text(globals.turn[0]),
                        fitted_text(globals.turn[1]), fitted_text(globals.turn[2]));
    for (std::size_t i = 0; i < globals.offsets.size(); ++i) {
        const HeldOffset& held = globals.offsets[i];
        text += fmt::format("{}\n      {{\"landmark\": {}, \"offset\": {}, \"error\": {}}}",
                            i > 0 ? "," : "", held.landmark, vector_text(held.offset),
                            vector_text(held.error));
    }
    text += "]";
    if (globals.steadied) text += fmt::format(",\n    \"steadied\": {}", *globals.steadied);
    text += fmt::format(",\n    \"air\": {},\n    \"stretch\": [", fitted_text(globals.air));
    for (std::size_t i = 0; i < globals.stretch.size(); ++i) {
        text += (i > 0 ? ", " : "") + fitted_text(globals.stretch[i]);
    }
    text += "]";
    if (const auto& tracker = globals.tracker) {
        text += fmt::format(
            ",\n    \"tracker\": {{\"own\": {},\n      \"common\": {},\n      \"hanging\": {}}}",
            tracker->own, vectors_text(tracker->common), vectors_text(tracker->hanging));
    }
    return text + "\n  }";
}

Globals read_globals(const JsonNode& node)
{
    Globals globals;
    const auto [length, width] = node["stated"].tuple<2>();
    globals.stated_length = length.positive();
    globals.stated_width = width.positive();
    for (const auto& [name, member] : kNumbers) globals.*member = read_fitted(node[name]);
    globals.gravity = read_vector(node["gravity"]);
    const auto turn = node["turn"].tuple<3>();
    for (std::size_t axis = 0; axis < 3; ++axis) globals.turn[axis] = read_fitted(turn[axis]);
    const JsonNode offsets = node["offsets"];
    for (std::size_t i = 0; i < offsets.array_size(); ++i) {
        const JsonNode held = offsets.entry(i);
        globals.offsets.push_back({held["landmark"].integer(0, std::numeric_limits<int>::max()),
                                   read_vector(held["offset"]), read_vector(held["error"])});
    }
    if (node.has("steadied")) globals.steadied = node["steadied"].positive();
    if (node.has("air")) globals.air = read_fitted(node["air"]);
    if (node.has("stretch")) {
        const auto stretch = node["stretch"].tuple<6>();
        for (std::size_t i = 0; i < stretch.size(); ++i)
            globals.stretch[i] = read_fitted(stretch[i]);
    }
    if (node.has("tracker")) {
        const JsonNode tracker = node["tracker"];
        globals.tracker = {read_vectors(tracker["common"]), read_vectors(tracker["hanging"]),
                           tracker["own"].number()};
    }
    return globals;
}

}  // namespace springtime
