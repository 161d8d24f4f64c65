#include "formats/rod_json.h"

#include <fmt/format.h>

#include "formats/vector_json.h"

namespace springtime {

namespace {

std::string clamp_text(const char* name, const Rod::Clamp& clamp)
{
    return fmt::format(",\n    \"{}\": {{\"tangent\": {}, \"normal\": {}}}", name,
                       vector_text(clamp.tangent), vector_text(clamp.normal));
}

std::optional<Rod::Clamp> read_clamp(const JsonNode& rod, const char* name)
{
    if (!rod.has(name)) return std::nullopt;
    const JsonNode clamp = rod[name];
    return Rod::Clamp{read_vector(clamp["tangent"]), read_vector(clamp["normal"])};
}

}  // namespace

std::string rod_text(const Rod& rod)
{
    std::string curvature;
    for (const auto& [a, b] : rod.curvature) {
        curvature += fmt::format("{}\n      [{}, {}]", curvature.empty() ? "" : ",", a, b);
    }
    return fmt::format(
        "{{\n    \"bending\": {},\n    \"bending_damping\": {},\n    \"twisting\": {},\n"
        "    \"curvature\": [{}]{}{}\n  }}",
        rod.bending, rod.bending_damping, rod.twisting, curvature,
        rod.first ? clamp_text("first", *rod.first) : "",
        rod.last ? clamp_text("last", *rod.last) : "");
}

Rod read_rod(const JsonNode& node)
{
    Rod rod;
    rod.bending = node["bending"].number();
    rod.bending_damping = node["bending_damping"].number();
    rod.twisting = node["twisting"].number();
    const JsonNode curvature = node["curvature"];
    for (std::size_t j = 0; j < curvature.array_size(); ++j) {
        const auto [a, b] = curvature.entry(j).tuple<2>();
        rod.curvature.push_back({a.number(), b.number()});
    }
    rod.first = read_clamp(node, "first");
    rod.last = read_clamp(node, "last");
    return rod;
}

}  // namespace springtime
