#include "springtime/cloth.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "cloth/couplings.h"
#include "cloth/grid_lines.h"
#include "geometry/polygon.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// A grid spring leads from (row, col) to (row + down, col + right).
struct GridSpring {
    SpringFamily family;
    int down, right;
};
constexpr std::array kGridSprings{
    GridSpring{SpringFamily::structural, 0, 1}, GridSpring{SpringFamily::structural, 1, 0},
    GridSpring{SpringFamily::diagonal, 1, 1},   GridSpring{SpringFamily::antidiagonal, 1, -1},
    GridSpring{SpringFamily::bending, 0, 2},    GridSpring{SpringFamily::bending, 2, 0},
};

bool wanted(const GridOptions& options, SpringFamily family)
{
    switch (family) {
        case SpringFamily::structural:
            return options.structural;
        case SpringFamily::diagonal:
            return options.diagonal;
        case SpringFamily::antidiagonal:
            return options.antidiagonal;
        case SpringFamily::bending:
            return options.bending;
    }
    return false;
}

void add_spring(Cloth& cloth, SpringFamily family, int a, int b)
{
    const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
    cloth.springs.ends.push_back({a, b});
    cloth.springs.family.push_back(family);
    cloth.springs.rest_length.push_back(std::hypot(pb.u - pa.u, pb.v - pa.v));
}

void set_spring_law(SpringSet& springs, const SpringLaw& law)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> bounds{-kInfinity};
    bounds.insert(bounds.end(), law.knots.begin(), law.knots.end());
    bounds.push_back(kInfinity);
    springs.ranges.clear();
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        const double from = bounds[i], to = bounds[i + 1];
        if (!(from < to)) {
            throw Error("springs: knots at strains {}; they must be finite and ascend",
                        fmt::join(law.knots, ", "));
        }
        if (from <= 0 && to > 0) continue;  // holds the strains just above rest
        springs.ranges.push_back({from, to, springs.stiffness});
    }
    springs.isotropic_damping.assign(law.isotropic ? springs.spring_count() : 0, 0.0);
}

void add_bends(Cloth& cloth)
{
    if (!cloth.grid) {
        throw Error(
            Field{"bends"},
            "law: bends join neighbours in line on a grid, but the cloth is not a grid; leave "
            "the bends out");
    }
    const auto [rows, cols] = *cloth.grid;
    for (const BendFamily family : kBendFamilies) {
        for (const GridLine& line : grid_lines(family)) {
            for (int a = 0; a < rows * cols; ++a) {
                const auto middle = next_on(*cloth.grid, line, a);
                const auto b = middle ? next_on(*cloth.grid, line, *middle) : std::nullopt;
                if (!b) continue;
                cloth.bends.particles.push_back({a, *middle, *b});
                cloth.bends.family.push_back(family);
            }
        }
    }
    cloth.bends.stiffness.assign(cloth.bends.bend_count(), 0.0);
    cloth.bends.damping.assign(cloth.bends.bend_count(), 0.0);
}

bool parse_int(std::string_view text, int& value)
{
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && end == text.data() + text.size();
}

// The particles whose distance to the most extreme one is rounding; `distance` is zero at best.
template <class Distance>
std::vector<int> nearest_particles(const Cloth& cloth, Distance distance)
{
    std::vector<double> all(cloth.particle_count());
    std::transform(cloth.rest.begin(), cloth.rest.end(), all.begin(), distance);
    const double best = *std::min_element(all.begin(), all.end());
    const double slack = 1e-6 * std::max(cloth.sheet.length, cloth.sheet.width);
    std::vector<int> found;
    for (std::size_t p = 0; p < all.size(); ++p) {
        if (all[p] <= best + slack) found.push_back(static_cast<int>(p));
    }
    return found;
}

std::vector<int> nearest_to(const Cloth& cloth, SheetPoint point)
{
    auto found = nearest_particles(
        cloth, [&](SheetPoint p) { return std::hypot(p.u - point.u, p.v - point.v); });
    found.resize(1);
    return found;
}

std::vector<int> indexed_particle(const Cloth& cloth, std::string_view name)
{
    const std::string_view rest = name.substr(name.find(':') + 1);
    const int count = static_cast<int>(cloth.particle_count());
    int index = 0, row = 0, col = 0;
    if (name.starts_with("particle:")) {
        if (parse_int(rest, index) && index >= 0 && index < count) return {index};
        throw Error("pin '{}': no such particle; give particle:0 to particle:{}", name, count - 1);
    }
    if (!cloth.grid) throw Error("pin '{}': this cloth is no grid; use particle:INDEX", name);
    const auto comma = rest.find(',');
    if (comma != std::string_view::npos && parse_int(rest.substr(0, comma), row) &&
        parse_int(rest.substr(comma + 1), col) && row >= 0 && row < cloth.grid->rows && col >= 0 &&
        col < cloth.grid->cols) {
        return {row * cloth.grid->cols + col};
    }
    throw Error(
        "pin '{}': not in the grid; give grid:ROW,COL with rows 0 to {} and columns 0 to {}", name,
        cloth.grid->rows - 1, cloth.grid->cols - 1);
}

}  // namespace

SpringLaw law_named(std::string_view name)
{
    if (name == "published") return {};
    if (name == "full") return {{0}, true, true};
    if (name == "coupled") return {{}, true, true, true};
    throw Error(Field{"law"}, "law '{}': unknown; use published, full or coupled", name);
}

void set_law(Cloth& cloth, const SpringLaw& law)
{
    set_spring_law(cloth.springs, law);
    cloth.bends = {};
    cloth.couplings = {};
    // A network on a mesh has springs against bending instead.
    if (law.bends && (cloth.grid || !law.couplings)) add_bends(cloth);
    if (law.couplings) add_couplings(cloth);
}

std::string_view name_of(SpringFamily family)
{
    switch (family) {
        case SpringFamily::structural:
            return "structural";
        case SpringFamily::diagonal:
            return "diagonal";
        case SpringFamily::antidiagonal:
            return "antidiagonal";
        case SpringFamily::bending:
            return "bending";
    }
    return "unknown";
}

std::string_view name_of(BendFamily family)
{
    switch (family) {
        case BendFamily::straight:
            return "straight";
        case BendFamily::diagonal:
            return "diagonal";
        case BendFamily::antidiagonal:
            return "antidiagonal";
    }
    return "unknown";
}

std::string_view name_of(TriangleDamping damping)
{
    switch (damping) {
        case TriangleDamping::deformation:
            return "deformation";
        case TriangleDamping::strain:
            return "strain";
    }
    return "unknown";
}

std::vector<SheetPoint> grid_points(const Sheet& sheet, const Grid& grid)
{
    check_sheet(sheet);
    const auto [rows, cols] = grid;
    if (rows < 1 || cols < 1 || rows > 4096 || cols > 4096 || rows * cols < 2) {
        throw Error("grid {} x {}: rows and columns must be 2 to 4096, or one of them 1 for a rope",
                    rows, cols);
    }
    // A single row or column lies in the middle.
    const auto place = [](double size, int index, int count) {
        return count == 1 ? size / 2 : size * index / (count - 1);
    };
    std::vector<SheetPoint> points;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            points.push_back({place(sheet.length, c, cols), place(sheet.width, r, rows)});
        }
    }
    return points;
}

Cloth make_grid_cloth(const Sheet& sheet, const GridOptions& options,
                      const MaterialField& stiffness, const MaterialField& damping)
{
    check_sheet(sheet);
    const int rows = options.rows, cols = options.cols;
    Cloth cloth;
    cloth.sheet = sheet;
    cloth.grid = Grid{rows, cols};
    cloth.rest = grid_points(sheet, *cloth.grid);
    cloth.mass.assign(cloth.rest.size(), sheet.mass / (double(rows) * cols));
    for (const GridSpring& kind : kGridSprings) {
        if (!wanted(options, kind.family)) continue;
        for (int r = 0; r + kind.down < rows; ++r) {
            for (int c = std::max(0, -kind.right); c < cols && c + kind.right < cols; ++c) {
                add_spring(cloth, kind.family, r * cols + c,
                           (r + kind.down) * cols + c + kind.right);
            }
        }
    }
    cloth.springs.stiffness = at_springs(cloth, stiffness);
    cloth.springs.damping = at_springs(cloth, damping);
    check_cloth(cloth, "grid cloth");
    return cloth;
}

std::vector<double> at_springs(const Cloth& cloth, const MaterialField& field)
{
    std::vector<double> values;
    for (const auto& [a, b] : cloth.springs.ends) {
        const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
        const double u = (pa.u + pb.u) / (2 * cloth.sheet.length);
        const double v = (pa.v + pb.v) / (2 * cloth.sheet.width);
        values.push_back(field.at(u, v));
    }
    return values;
}

std::vector<double> at_bends(const Cloth& cloth, const MaterialField& field)
{
    std::vector<double> values;
    for (const auto& [a, middle, b] : cloth.bends.particles) {
        const SheetPoint point = cloth.rest[middle];
        values.push_back(field.at(point.u / cloth.sheet.length, point.v / cloth.sheet.width));
    }
    return values;
}

double largest_curvature(const Rod& rod)
{
    double largest = 0;
    for (const auto& [a, b] : rod.curvature) largest = std::max(largest, std::hypot(a, b));
    return largest;
}

double smallest_spacing(const Cloth& cloth)
{
    double smallest = std::hypot(cloth.sheet.length, cloth.sheet.width);
    const auto compare = [&](int a, int b) {
        const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
        smallest = std::min(smallest, std::hypot(pb.u - pa.u, pb.v - pa.v));
    };
    for (const auto& [a, b] : cloth.springs.ends) compare(a, b);
    for (const auto& [a, b, c] : cloth.triangles.corners) {
        compare(a, b);
        compare(b, c);
        compare(c, a);
    }
    return smallest;
}

std::vector<int> particles_within(const Cloth& cloth, const SheetPoint& center, double radius)
{
    std::vector<int> inside;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const SheetPoint point = cloth.rest[p];
        if (std::hypot(point.u - center.u, point.v - center.v) <= radius) {
            inside.push_back(static_cast<int>(p));
        }
    }
    return inside.empty() ? nearest_to(cloth, center) : inside;
}

std::vector<int> particles_named(const Cloth& cloth, std::string_view name)
{
    const double l = cloth.sheet.length, w = cloth.sheet.width;
    if (name == "corner-nw") return nearest_to(cloth, {0, 0});
    if (name == "corner-ne") return nearest_to(cloth, {l, 0});
    if (name == "corner-sw") return nearest_to(cloth, {0, w});
    if (name == "corner-se") return nearest_to(cloth, {l, w});
    if (name == "center") return nearest_to(cloth, {l / 2, w / 2});
    if (name == "edge-north") return nearest_particles(cloth, [](SheetPoint p) { return p.v; });
    if (name == "edge-south") return nearest_particles(cloth, [](SheetPoint p) { return -p.v; });
    if (name == "edge-west") return nearest_particles(cloth, [](SheetPoint p) { return p.u; });
    if (name == "edge-east") return nearest_particles(cloth, [](SheetPoint p) { return -p.u; });
    if (name.starts_with("particle:") || name.starts_with("grid:")) {
        return indexed_particle(cloth, name);
    }
    throw Error(
        "pin '{}': unknown name; use corner-nw, corner-ne, corner-sw, corner-se, "
        "edge-north, edge-south, edge-west, edge-east, center, particle:INDEX or grid:ROW,COL",
        name);
}

}  // namespace springtime
