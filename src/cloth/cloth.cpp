#include "springtime/cloth.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

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

// `element` is "spring", "triangle" or "hinge".
void check_parameter(double value, std::string_view what, std::string_view element,
                     std::size_t index, std::string_view source)
{
    if (!std::isfinite(value) || value < 0) {
        throw Error("{}: {} {} has {} {}; it must be finite and not negative", source, element,
                    index, what, value);
    }
}

template <std::size_t N>
void check_corners(const std::array<int, N>& corners, std::string_view element, std::size_t index,
                   std::size_t particles, std::string_view source)
{
    for (std::size_t i = 0; i < N; ++i) {
        const bool twice =
            std::find(corners.begin(), corners.begin() + i, corners[i]) != corners.begin() + i;
        if (twice || corners[i] < 0 || std::size_t(corners[i]) >= particles) {
            throw Error("{}: {} {} has corners {}; they must differ and lie in 0 to {}", source,
                        element, index, fmt::join(corners, ", "), particles - 1);
        }
    }
}

// Twice the signed area at rest. [m^2]
double turn(const Cloth& cloth, int a, int b, int c)
{
    return turn(cloth.rest[a], cloth.rest[b], cloth.rest[c]);
}

void check_triangles(const Cloth& cloth, std::string_view source)
{
    const TriangleSet& set = cloth.triangles;
    const std::size_t count = set.triangle_count();
    if (set.shear_stiffness.size() != count || set.area_stiffness.size() != count ||
        set.damping.size() != count) {
        throw Error(
            "{}: {} triangles, but {} shear stiffnesses, {} area stiffnesses, {} dampings; give "
            "one each",
            source, count, set.shear_stiffness.size(), set.area_stiffness.size(),
            set.damping.size());
    }
    for (std::size_t t = 0; t < count; ++t) {
        check_corners(set.corners[t], "triangle", t, cloth.particle_count(), source);
        const auto turn_of = [&](std::size_t i) {
            const auto [a, b, c] = set.corners[i];
            return turn(cloth, a, b, c);
        };
        if (turn_of(t) == 0) {
            throw Error("{}: triangle {} has no area at rest; remove it", source, t);
        }
        if ((turn_of(t) > 0) != (turn_of(0) > 0)) {
            throw Error("{}: triangle {} turns against triangle 0; swap two of its corners", source,
                        t);
        }
        check_parameter(set.shear_stiffness[t], "shear stiffness", "triangle", t, source);
        check_parameter(set.area_stiffness[t], "area stiffness", "triangle", t, source);
        check_parameter(set.damping[t], "damping", "triangle", t, source);
    }
}

void check_hinges(const Cloth& cloth, std::string_view source)
{
    const HingeSet& set = cloth.hinges;
    const std::size_t count = set.hinge_count();
    if (set.stiffness.size() != count || set.damping.size() != count) {
        throw Error("{}: {} hinges, but {} stiffnesses, {} dampings; give one each", source, count,
                    set.stiffness.size(), set.damping.size());
    }
    for (std::size_t h = 0; h < count; ++h) {
        check_corners(set.corners[h], "hinge", h, cloth.particle_count(), source);
        const auto [a, b, c, d] = set.corners[h];
        if (!(turn(cloth, a, b, c) * turn(cloth, a, b, d) < 0)) {
            throw Error(
                "{}: hinge {} has its corners {} and {} not on opposite sides of the edge from {} "
                "to {} at rest; give the corners of two triangles that share that edge",
                source, h, c, d, a, b);
        }
        check_parameter(set.stiffness[h], "stiffness", "hinge", h, source);
        check_parameter(set.damping[h], "damping", "hinge", h, source);
    }
}

void check_law(const SpringSet& set, std::string_view source)
{
    const std::size_t springs = set.spring_count();
    double last = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < set.ranges.size(); ++j) {
        const StiffnessRange& range = set.ranges[j];
        if (!(range.from >= last && range.to > range.from)) {  // written so that NaN fails
            throw Error(
                "{}: stiffness range {} is from strain {} to {}; ranges must ascend and lie apart",
                source, j, range.from, range.to);
        }
        last = range.to;
        if (range.stiffness.size() != springs) {
            throw Error("{}: stiffness range {} has {} stiffnesses for {} springs; give one each",
                        source, j, range.stiffness.size(), springs);
        }
        for (std::size_t s = 0; s < springs; ++s) {
            check_parameter(range.stiffness[s], "stiffness in a range", "spring", s, source);
        }
    }
    const std::vector<double>& isotropic = set.isotropic_damping;
    if (!isotropic.empty() && isotropic.size() != springs) {
        throw Error("{}: {} isotropic dampings for {} springs; give one each, or none", source,
                    isotropic.size(), springs);
    }
    for (std::size_t s = 0; s < isotropic.size(); ++s) {
        check_parameter(isotropic[s], "isotropic damping", "spring", s, source);
    }
}

void check_errors(const SpringSet& set, const SpringErrors& errors, std::string_view source)
{
    const std::size_t springs = set.spring_count();
    const std::size_t kinds = static_cast<std::size_t>(set.kind_count());
    if (errors.parameters.size() != kinds) {
        throw Error("{}: standard errors of {} kinds of parameters, but springs have {}; give all",
                    source, errors.parameters.size(), kinds);
    }
    for (const std::vector<double>& kind : errors.parameters) {
        if (kind.size() != springs) {
            throw Error("{}: {} standard errors for {} springs; give one each", source, kind.size(),
                        springs);
        }
        for (std::size_t s = 0; s < springs; ++s) {
            if (!(kind[s] >= 0)) {  // may be infinite; written so that NaN fails
                throw Error("{}: spring {} has a standard error of {}; it must not be negative",
                            source, s, kind[s]);
            }
        }
    }
    if (!(std::isfinite(errors.force) && errors.force >= 0)) {
        throw Error("{}: force noise of {} N s^(1/2); it must be finite and not negative", source,
                    errors.force);
    }
}

void add_spring(Cloth& cloth, SpringFamily family, int a, int b)
{
    const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
    cloth.springs.ends.push_back({a, b});
    cloth.springs.family.push_back(family);
    cloth.springs.rest_length.push_back(std::hypot(pb.u - pa.u, pb.v - pa.v));
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

int SpringSet::kind_count() const
{
    return 2 + static_cast<int>(ranges.size()) + (isotropic_damping.empty() ? 0 : 1);
}

const std::vector<double>& SpringSet::parameters(int kind) const
{
    if (kind == 0) return stiffness;
    if (kind == 1) return damping;
    const auto range = static_cast<std::size_t>(kind - 2);
    return range < ranges.size() ? ranges[range].stiffness : isotropic_damping;
}

std::vector<double>& SpringSet::parameters(int kind)
{
    return const_cast<std::vector<double>&>(std::as_const(*this).parameters(kind));
}

bool SpringSet::is_damping(int kind) const
{
    return kind == 1 || kind >= 2 + static_cast<int>(ranges.size());
}

SpringParameters parameters_of(const SpringSet& springs)
{
    SpringParameters all;
    for (int kind = 0; kind < springs.kind_count(); ++kind) all.push_back(springs.parameters(kind));
    return all;
}

void set_parameters(SpringSet& springs, const SpringParameters& parameters)
{
    for (std::size_t kind = 0; kind < parameters.size(); ++kind) {
        springs.parameters(static_cast<int>(kind)) = parameters[kind];
    }
}

void set_law(SpringSet& springs, const SpringLaw& law)
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

void check_cloth(const Cloth& cloth, std::string_view source)
{
    check_sheet(cloth.sheet);
    const std::size_t particles = cloth.particle_count(), springs = cloth.springs.spring_count();
    if (particles == 0) throw Error("{}: no particles; a cloth needs at least one", source);
    if (cloth.mass.size() != particles) {
        throw Error("{}: {} masses for {} particles; give one mass each", source, cloth.mass.size(),
                    particles);
    }
    if (cloth.grid && (cloth.grid->rows < 1 || cloth.grid->cols < 1 ||
                       std::size_t(cloth.grid->rows) * cloth.grid->cols != particles)) {
        throw Error("{}: grid {} x {} but {} particles; make them agree or leave the grid out",
                    source, cloth.grid->rows, cloth.grid->cols, particles);
    }
    for (std::size_t p = 0; p < particles; ++p) {
        if (!std::isfinite(cloth.mass[p]) || cloth.mass[p] <= 0) {
            throw Error("{}: particle {} has mass {} kg; it must be finite and positive", source, p,
                        cloth.mass[p]);
        }
        if (!std::isfinite(cloth.rest[p].u) || !std::isfinite(cloth.rest[p].v)) {
            throw Error("{}: particle {} has a rest position that is not finite", source, p);
        }
    }
    const SpringSet& set = cloth.springs;
    if (set.family.size() != springs || set.rest_length.size() != springs ||
        set.stiffness.size() != springs || set.damping.size() != springs) {
        throw Error(
            "{}: {} springs, but {} families, {} rest lengths, {} stiffnesses, {} dampings;"
            " give one each",
            source, springs, set.family.size(), set.rest_length.size(), set.stiffness.size(),
            set.damping.size());
    }
    for (std::size_t s = 0; s < springs; ++s) {
        const auto [a, b] = set.ends[s];
        const int count = static_cast<int>(particles);
        if (a < 0 || b < 0 || a >= count || b >= count || a == b) {
            throw Error(
                "{}: spring {} joins particles {} and {}; ends must differ and lie in 0 to {}",
                source, s, a, b, count - 1);
        }
        check_parameter(set.rest_length[s], "rest length", "spring", s, source);
        check_parameter(set.stiffness[s], "stiffness", "spring", s, source);
        check_parameter(set.damping[s], "damping", "spring", s, source);
    }
    check_law(set, source);
    if (cloth.errors) check_errors(set, *cloth.errors, source);
    check_triangles(cloth, source);
    check_hinges(cloth, source);
}

std::vector<SheetPoint> grid_points(const Sheet& sheet, const Grid& grid)
{
    check_sheet(sheet);
    const auto [rows, cols] = grid;
    if (rows < 2 || cols < 2 || rows > 4096 || cols > 4096) {
        throw Error("grid {} x {}: rows and columns must be 2 to 4096", rows, cols);
    }
    std::vector<SheetPoint> points;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            points.push_back({sheet.length * c / (cols - 1), sheet.width * r / (rows - 1)});
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

double smallest_spacing(const Cloth& cloth)
{
    double smallest = std::hypot(cloth.sheet.length, cloth.sheet.width);
    const auto look = [&](int a, int b) {
        const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b];
        smallest = std::min(smallest, std::hypot(pb.u - pa.u, pb.v - pa.v));
    };
    for (const auto& [a, b] : cloth.springs.ends) look(a, b);
    for (const auto& [a, b, c] : cloth.triangles.corners) {
        look(a, b);
        look(b, c);
        look(c, a);
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
