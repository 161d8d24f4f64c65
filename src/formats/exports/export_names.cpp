#include <algorithm>
#include <cmath>

#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

std::string_view name_of(ExportFormat format)
{
    constexpr std::array<std::string_view, kExportFormats.size()> kNames{
        "arcsim", "blender", "csv", "glb", "mdd", "newton",
        "npz",    "obj",     "pc2", "ply", "png", "usda"};
    return kNames[std::size_t(format)];
}

ExportFormat export_format_named(std::string_view name)
{
    std::string names;
    for (const ExportFormat format : kExportFormats) {
        if (name == name_of(format)) return format;
        names += (names.empty() ? "" : ", ") + std::string(name_of(format));
    }
    throw Error(Field{"format"}, "'{}' is unknown; there are {}", name, names);
}

bool holds_parameters(ExportFormat format)
{
    return format == ExportFormat::arcsim || format == ExportFormat::blender ||
           format == ExportFormat::newton;
}

fs::path default_export_path(const fs::path& input, ExportFormat format, bool motion)
{
    const bool folder = motion ? format == ExportFormat::obj || format == ExportFormat::ply
                               : format == ExportFormat::png;
    fs::path path = input;
    path.replace_extension();
    path += fmt::format("{}{}{}", folder ? "-" : ".", name_of(format),
                        holds_parameters(format) ? ".json" : "");
    return path;
}

fs::path rest_obj_path(const fs::path& out)
{
    fs::path path = out;
    return path += ".rest.obj";  // exports of other formats have one of their own
}

fs::path ranges_path(const fs::path& out)
{
    fs::path path = out;
    return path += ".ranges.json";
}

std::string_view name_of(MapScale scale)
{
    return scale == MapScale::linear ? "linear" : "log";
}

std::string range_text(const WeightMap& map, MapScale scale)
{
    const std::string strain = map.strain.empty() ? "" : ", for strains " + map.strain;
    if (map.constant()) {
        return fmt::format("{}: {:.6g} {} everywhere, weight 1{}", map.name, map.low, map.unit,
                           strain);
    }
    return fmt::format("{}: 0 is {:.6g} {}, 1 is {:.6g} {}, {}{}", map.name, map.low, map.unit,
                       map.high, map.unit, name_of(scale), strain);
}

std::string chosen_color(const std::vector<WeightMap>& maps, const std::string& wanted)
{
    if (maps.empty()) return {};
    const auto has = [&](std::string_view name) {
        return std::any_of(maps.begin(), maps.end(),
                           [&](const auto& map) { return map.name == name; });
    };
    if (wanted.empty()) return has("stretch") ? "stretch" : maps.front().name;
    if (has(wanted)) return wanted;
    std::string names;
    for (const WeightMap& map : maps) names += (names.empty() ? "" : ", ") + map.name;
    throw Error(Field{"color"}, "there is no map '{}'; there are {}", wanted, names);
}

}  // namespace springtime
