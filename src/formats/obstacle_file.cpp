#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>

#include "core/atomic_file.h"
#include "formats/obstacle_fit.h"
#include "geometry/mesh_geometry.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

constexpr double kDegree = M_PI / 180;  // [rad]

TriangleMesh read_closed(const fs::path& path)
{
    const TriangleMesh mesh = read_obj(path);
    check_closed(mesh, path.string());
    return welded(mesh);
}

// ---- TOML ----

// One [[obstacle]] of a file.
class Entry {
  public:
    Entry(const toml::table& table, const fs::path& file, std::size_t number)
        : table_(table), file_(file), number_(number)
    {
    }

    std::string where() const { return where(table_); }
    std::string where(const std::string& key) const
    {
        return fmt::format("{}: key '{}'", where(*table_.get(key)), key);
    }
    fs::path beside(const std::string& name) const { return file_.parent_path() / name; }
    bool has(const std::string& key) const { return table_.contains(key); }

    const toml::node& need(const std::string& key) const
    {
        if (const toml::node* node = table_.get(key)) return *node;
        throw Error("{}: key '{}' is missing; add it", where(), key);
    }
    std::string text(const std::string& key) const
    {
        if (const auto* text = need(key).as_string()) return text->get();
        throw Error("{}: a text in quotes is needed", where(key));
    }
    double number(const std::string& key) const { return number_of(need(key), key); }
    double number_or(const std::string& key, double fallback) const
    {
        return has(key) ? number(key) : fallback;
    }
    double positive(const std::string& key) const
    {
        const double value = number(key);
        if (value > 0) return value;
        throw Error("{}: {} is too small; a positive number is needed", where(key), value);
    }
    Vec3d vector(const std::string& key) const
    {
        const std::vector<double> list = numbers(need(key), key, {3});
        return {list[0], list[1], list[2]};
    }
    Vec3d vector_or(const std::string& key, const Vec3d& fallback) const
    {
        return has(key) ? vector(key) : fallback;
    }
    std::vector<double> numbers(const toml::node& node, const std::string& key,
                                std::initializer_list<std::size_t> counts) const
    {
        const toml::array* list = node.as_array();
        if (list == nullptr || std::count(counts.begin(), counts.end(), list->size()) == 0) {
            throw Error("{}: a list of {} numbers is needed", where(key),
                        fmt::join(counts, " or "));
        }
        std::vector<double> values;
        for (const toml::node& item : *list) values.push_back(number_of(item, key));
        return values;
    }
    void check_keys(const std::string& kind, const std::vector<std::string>& known) const
    {
        for (const auto& [name, node] : table_) {
            const std::string key(name.str());
            if (std::count(known.begin(), known.end(), key) > 0) continue;
            throw Error("{}: a {} has no such key; it has: {}", where(key), kind,
                        fmt::join(known, ", "));
        }
    }

  private:
    std::string where(const toml::node& node) const
    {
        return fmt::format("{}:{}: obstacle {}", file_.string(), node.source().begin.line, number_);
    }
    double number_of(const toml::node& node, const std::string& key) const
    {
        const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
        if (value && std::isfinite(*value)) return *value;
        throw Error("{}: a finite number is needed", where(key));
    }

    const toml::table& table_;
    fs::path file_;
    std::size_t number_;
};

Obstacle of_shape(const Shape& shape)
{
    Obstacle obstacle;
    obstacle.shapes = {shape};
    return obstacle;
}

Obstacle read_plane(const Entry& entry)
{
    return of_shape(PlaneShape{{}, entry.vector_or("normal", {0, 1, 0})});
}

Obstacle read_sphere(const Entry& entry)
{
    return of_shape(CapsuleShape{{}, {}, entry.positive("radius")});
}

Obstacle read_box(const Entry& entry)
{
    return of_shape(BoxShape{{}, 0.5 * entry.vector("size"), entry.number_or("rounding", 0)});
}

// What other parts of the library find wrong does not say where that stands.
template <class Make>
auto located(const Entry& entry, Make make)
{
    try {
        return make();
    } catch (const Error& error) {
        throw Error("{}: {}", entry.where(), error.what());
    }
}

// Its length counts from end to end, along x; `a` and `b` are the middles of its round ends.
Obstacle read_capsule(const Entry& entry)
{
    const double radius = entry.positive("radius");
    if (!entry.has("length"))
        return of_shape({CapsuleShape{entry.vector("a"), entry.vector("b"), radius}});
    if (entry.has("a") || entry.has("b")) {
        throw Error("{}: either the length or the ends a and b are needed, not both",
                    entry.where("length"));
    }
    const double half = entry.number("length") / 2 - radius;
    if (half < 0) {
        throw Error("{}: it is shorter than its two round ends; at least {} m are needed",
                    entry.where("length"), 2 * radius);
    }
    return of_shape(CapsuleShape{{-half, 0, 0}, {half, 0, 0}, radius});
}

Obstacle read_tabletop(const Entry& entry)
{
    const double side = entry.positive("side");
    const double thickness = entry.number_or("thickness", kTable.thickness * side);
    const double rounding = entry.number_or("rounding", kTable.rounding * side);
    const double height = entry.number_or("height", kTable.height * side);
    return located(entry, [&] { return make_table(side, thickness, rounding, height); });
}

Obstacle read_animal(const Entry& entry)
{
    return make_animal(entry.positive("length"));
}

Obstacle read_mesh(const Entry& entry)
{
    const double scale = entry.has("scale") ? entry.positive("scale") : 1;
    std::optional<double> spacing;
    if (entry.has("spacing")) spacing = entry.positive("spacing");
    const fs::path path = entry.beside(entry.text("file"));
    return located(entry, [&] {
        TriangleMesh mesh = read_closed(path);
        for (Vec3d& p : mesh.points) p = scale * p;
        return of_shape(mesh_shape(mesh, spacing, path.string()));
    });
}

struct Kind {
    std::string name;
    std::vector<std::string> keys;  // beside those that all have
    std::function<Obstacle(const Entry&)> read;
};

const std::vector<Kind>& kinds()
{
    static const std::vector<Kind> all{
        {"plane", {"normal"}, read_plane},
        {"sphere", {"radius"}, read_sphere},
        {"box", {"size", "rounding"}, read_box},
        {"capsule", {"radius", "length", "a", "b"}, read_capsule},
        {"table", {"side", "thickness", "rounding", "height"}, read_tabletop},
        {"animal", {"length"}, read_animal},
        {"mesh", {"file", "scale", "spacing"}, read_mesh},
    };
    return all;
}

const Kind& kind_of(const Entry& entry)
{
    const std::string name = entry.text("kind");
    std::string names;
    for (const Kind& kind : kinds()) {
        if (kind.name == name) return kind;
        names += (names.empty() ? "" : ", ") + kind.name;
    }
    throw Error("{}: there is no '{}'; choose one of {}", entry.where("kind"), name, names);
}

void read_path(const Entry& entry, Obstacle& obstacle)
{
    for (const char* key : {"position", "turn"}) {
        if (entry.has(key)) {
            throw Error("{}: the path says where it is already; leave one of them out",
                        entry.where(key));
        }
    }
    const toml::array* keys = entry.need("path").as_array();
    if (keys == nullptr || keys->empty()) {
        throw Error("{}: a list of [t, x, y, z] or [t, x, y, z, ax, ay, az] is needed",
                    entry.where("path"));
    }
    obstacle.key_time.clear();
    obstacle.key_pose.clear();
    for (const toml::node& node : *keys) {
        std::vector<double> key = entry.numbers(node, "path", {4, 7});
        key.resize(7, 0);
        if (!obstacle.key_time.empty() && key[0] <= obstacle.key_time.back()) {
            throw Error("{}: {} s comes after {} s; times must ascend", entry.where("path"), key[0],
                        obstacle.key_time.back());
        }
        obstacle.key_time.push_back(key[0]);
        obstacle.key_pose.push_back(
            {{key[1], key[2], key[3]}, kDegree * Vec3d{key[4], key[5], key[6]}});
    }
}

Obstacle read_entry(const Entry& entry)
{
    const Kind& kind = kind_of(entry);
    std::vector<std::string> keys{"kind", "name", "position", "turn", "path", "friction"};
    keys.insert(keys.end(), kind.keys.begin(), kind.keys.end());
    entry.check_keys(kind.name, keys);
    Obstacle obstacle = kind.read(entry);
    obstacle.name = entry.has("name") ? entry.text("name") : kind.name;
    obstacle.friction = entry.number_or("friction", obstacle.friction);
    if (entry.has("path")) {
        read_path(entry, obstacle);
    } else {
        obstacle.key_pose = {
            {entry.vector_or("position", {}), kDegree * entry.vector_or("turn", {})}};
    }
    check_obstacle(obstacle, entry.where());
    return obstacle;
}

std::vector<Obstacle> read_toml(const fs::path& path)
{
    toml::table table;
    try {
        table = toml::parse(read_text(path));
    } catch (const toml::parse_error& error) {
        throw Error("{}:{}:{}: not TOML: {}", path.string(), error.source().begin.line,
                    error.source().begin.column, error.description());
    }
    for (const auto& [name, node] : table) {
        if (name.str() == "obstacle" && node.is_array_of_tables()) continue;
        throw Error("{}:{}: found '{}'; only [[obstacle]] tables can stand here", path.string(),
                    node.source().begin.line, name.str());
    }
    const toml::array* list = table["obstacle"].as_array();
    if (list == nullptr) throw Error("{}: no [[obstacle]]; at least one is needed", path.string());
    std::vector<Obstacle> obstacles;
    for (const toml::node& node : *list) {
        obstacles.push_back(read_entry(Entry(*node.as_table(), path, obstacles.size() + 1)));
    }
    return obstacles;
}

std::string lower_extension(const fs::path& path)
{
    std::string extension = path.extension().string();
    for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return extension;
}

void check_fit(const ObstacleFit& fit)
{
    const bool top =
        std::isfinite(fit.top.x) && std::isfinite(fit.top.y) && std::isfinite(fit.top.z);
    if (top && std::isfinite(fit.size) && fit.size > 0) return;
    throw Error(
        "obstacle: a size of {} m with its top at {}; both must be finite, the size positive",
        fit.size, place_text(fit.top));
}

}  // namespace

ObstacleFit fit_below(const Sheet& sheet, double thickness)
{
    const double side = std::min(sheet.length, sheet.width);
    return {0.5 * side, {0, -thickness - 0.01 * side, 0}};
}

std::vector<Obstacle> read_obstacles(const std::string& source, const ObstacleFit& fit)
{
    const std::string extension = lower_extension(source);
    if (extension == ".toml") return read_toml(source);
    check_fit(fit);
    std::optional<Obstacle> obstacle = built_in_obstacle(source, fit.size);
    if (!obstacle && extension == ".obj") {
        obstacle = fitted_mesh(read_obj(source), fit.size, source);
        obstacle->name = fs::path(source).stem().string();
    }
    if (!obstacle) {
        throw Error(
            "obstacle '{}': no such name; give floor, sphere, table, animal, or a file that ends "
            "in "
            ".obj or .toml",
            source);
    }
    obstacle->key_pose[0].position += fit.top;
    return {*obstacle};
}

}  // namespace springtime
