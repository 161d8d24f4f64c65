#include "core/atomic_file.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "web/page.h"

namespace springtime {

namespace {

Result vector_of(const Vec3d& v)
{
    return std::vector<double>{v.x, v.y, v.z};
}

// What the page calls it. A run folder says more than the name that all cloths in run folders have.
std::string name_of(const std::filesystem::path& path)
{
    if (path.filename() == "cloth.json" && path.has_parent_path()) {
        const std::filesystem::path folder = path.parent_path();
        return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    }
    std::string name = path.filename().string();
    for (const std::string_view end : {".json", ".cloth"}) {
        if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
    }
    return name;
}

// The file as it is, which the simulation in the page reads like any other program of ours.
Result add_cloth(Payload& payload, const std::string& array, const std::filesystem::path& path,
                 const std::vector<std::string>& pins)
{
    const std::string text = read_text(path);
    const Cloth cloth = cloth_from_json(text, path.string());
    for (const std::string& pin : pins) particles_named(cloth, pin);
    payload.add(array, {text.size()},
                std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
    Result entry = Result::tree();
    entry.add("name", name_of(path));
    entry.add("array", array);
    return entry;
}

}  // namespace

bool has_live_page()
{
    return has_page(Page::live);
}

std::string make_live_page(const LivePageOptions& options)
{
    const std::string_view built = built_page(Page::live);
    if (options.cloths.empty() || options.cloths.size() > 2) {
        throw Error("live page: {} cloths; give one, or two to compare", options.cloths.size());
    }
    check_environment(options.environment);
    Payload payload("live");
    Result cloths = Result::list(), environment = Result::tree();
    for (std::size_t i = 0; i < options.cloths.size(); ++i) {
        cloths.push(add_cloth(payload, fmt::format("cloth{}", i), options.cloths[i], options.pins));
    }
    environment.add("gravity", vector_of(options.environment.gravity));
    environment.add("wind", vector_of(options.environment.wind));
    environment.add("drag", options.environment.drag);
    payload.header().add("cloths", cloths);
    payload.header().add("environment", environment);
    payload.header().add("pins", options.pins);
    return filled_page(built, payload);
}

}  // namespace springtime
