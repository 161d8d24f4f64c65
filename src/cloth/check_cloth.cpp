#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cloth/grid_lines.h"
#include "geometry/polygon.h"
#include "springtime/cloth.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Twice the signed area at rest. [m^2]
double turn(const Cloth& cloth, int a, int b, int c)
{
    return turn(cloth.rest[a], cloth.rest[b], cloth.rest[c]);
}

void check_particles(const Cloth& cloth, std::string_view source)
{
    const std::size_t particles = cloth.particle_count();
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
}

template <std::size_t N>
void check_corners(const std::array<int, N>& corners, Element element, std::size_t index,
                   std::size_t particles, std::string_view source)
{
    for (std::size_t i = 0; i < N; ++i) {
        const bool twice =
            std::find(corners.begin(), corners.begin() + i, corners[i]) != corners.begin() + i;
        if (twice || corners[i] < 0 || std::size_t(corners[i]) >= particles) {
            throw Error("{}: {} {} joins particles {}; they must differ and lie in 0 to {}", source,
                        name_of(element), index, fmt::join(corners, ", "), particles - 1);
        }
    }
}

void check_springs(const Cloth& cloth, std::string_view source)
{
    const SpringSet& set = cloth.springs;
    const std::size_t springs = set.spring_count();
    if (set.family.size() != springs || set.rest_length.size() != springs) {
        throw Error("{}: {} springs, but {} families and {} rest lengths; give one each", source,
                    springs, set.family.size(), set.rest_length.size());
    }
    for (std::size_t s = 0; s < springs; ++s) {
        check_corners(set.ends[s], Element::spring, s, cloth.particle_count(), source);
        if (!std::isfinite(set.rest_length[s]) || set.rest_length[s] < 0) {
            throw Error("{}: spring {} has rest length {}; it must be finite and not negative",
                        source, s, set.rest_length[s]);
        }
    }
    double last = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < set.ranges.size(); ++j) {
        const StiffnessRange& range = set.ranges[j];
        if (!(range.from >= last && range.to > range.from)) {  // written so that NaN fails
            throw Error(
                "{}: stiffness range {} is from strain {} to {}; ranges must ascend and not "
                "overlap",
                source, j, range.from, range.to);
        }
        last = range.to;
    }
}

// A bend must have its place in the grid, because the steppers of grids find it by that.
void check_bends(const Cloth& cloth, std::string_view source)
{
    const BendSet& set = cloth.bends;
    if (set.bend_count() == 0) return;
    if (!cloth.grid) {
        throw Error("{}: {} bends, but the particles are not a grid; remove the bends", source,
                    set.bend_count());
    }
    if (set.family.size() != set.bend_count()) {
        throw Error("{}: {} bends, but {} families; give one each", source, set.bend_count(),
                    set.family.size());
    }
    for (std::size_t i = 0; i < set.bend_count(); ++i) {
        check_corners(set.particles[i], Element::bend, i, cloth.particle_count(), source);
        const int a = set.particles[i][0], middle = set.particles[i][1], b = set.particles[i][2];
        const auto lines = grid_lines(set.family[i]);
        if (std::none_of(lines.begin(), lines.end(), [&](const GridLine& line) {
                return next_on(*cloth.grid, line, a) == middle &&
                       next_on(*cloth.grid, line, middle) == b;
            })) {
            throw Error(
                "{}: bend {} joins particles {}, {}, {}; a {} bend joins three neighbours in line, "
                "from north to south or from west to east",
                source, i, a, middle, b, name_of(set.family[i]));
        }
    }
}

void check_triangles(const Cloth& cloth, std::string_view source)
{
    const TriangleSet& set = cloth.triangles;
    for (std::size_t t = 0; t < set.triangle_count(); ++t) {
        check_corners(set.corners[t], Element::triangle, t, cloth.particle_count(), source);
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
    }
}

void check_hinges(const Cloth& cloth, std::string_view source)
{
    const HingeSet& set = cloth.hinges;
    for (std::size_t h = 0; h < set.hinge_count(); ++h) {
        check_corners(set.corners[h], Element::hinge, h, cloth.particle_count(), source);
        const auto [a, b, c, d] = set.corners[h];
        if (!(turn(cloth, a, b, c) * turn(cloth, a, b, d) < 0)) {
            throw Error(
                "{}: hinge {} has its corners {} and {} not on opposite sides of the edge from {} "
                "to {} at rest; give the corners of two triangles that share that edge",
                source, h, c, d, a, b);
        }
    }
}

void check_couplings(const Cloth& cloth, std::string_view source)
{
    const CouplingSet& set = cloth.couplings;
    if (set.rest_length.size() != set.coupling_count()) {
        throw Error("{}: {} couplings, but {} pairs of rest lengths; give one each", source,
                    set.coupling_count(), set.rest_length.size());
    }
    for (std::size_t i = 0; i < set.coupling_count(); ++i) {
        check_corners(set.corners[i], Element::coupling, i, cloth.particle_count(), source);
        for (const double rest : set.rest_length[i]) {
            if (std::isfinite(rest) && rest > 0) continue;
            throw Error("{}: coupling {} has rest length {}; it must be finite and positive",
                        source, i, rest);
        }
    }
}

void check_clamp(const std::optional<Rod::Clamp>& clamp, const char* end, std::string_view source)
{
    constexpr double kUnit = 1e-6;
    if (!clamp) return;
    const auto is_unit = [](const Vec3d& a) { return std::abs(length(a) - 1) <= kUnit; };
    if (is_unit(clamp->tangent) && is_unit(clamp->normal) &&
        std::abs(dot(clamp->tangent, clamp->normal)) <= kUnit) {
        return;
    }
    throw Error("{}: the {} clamp of the rod must have a unit tangent and a unit normal across it",
                source, end);
}

void check_rod(const Cloth& cloth, std::string_view source)
{
    if (!cloth.rod) return;
    const Rod& rod = *cloth.rod;
    const auto& ends = cloth.springs.ends;
    bool in_order = ends.size() + 1 == cloth.particle_count() && ends.size() >= 2;
    for (std::size_t s = 0; in_order && s < ends.size(); ++s) {
        in_order = ends[s] == std::array{int(s), int(s) + 1} && cloth.springs.rest_length[s] > 0;
    }
    if (!in_order) {
        throw Error(
            "{}: has a rod, so springs must join each particle to the next, in order and with a "
            "rest length, and there must be three particles at least",
            source);
    }
    if (rod.curvature.size() + 1 != ends.size()) {
        throw Error("{}: a rod of {} joints has {} curvatures; give one each", source,
                    ends.size() - 1, rod.curvature.size());
    }
    const auto valid = [](double number) { return std::isfinite(number) && number >= 0; };
    if (!valid(rod.bending) || !valid(rod.bending_damping) || !(rod.twisting > 0) ||
        !valid(rod.twisting)) {
        throw Error(
            "{}: a rod with bending {} and twisting {} N m^2 and bending damping {} N m^2 s; they "
            "must be finite and not negative, and twisting positive",
            source, rod.bending, rod.twisting, rod.bending_damping);
    }
    for (const auto& [a, b] : rod.curvature) {
        if (std::isfinite(a) && std::isfinite(b)) continue;
        throw Error("{}: a curvature of the rod is not finite; give numbers", source);
    }
    if (!rod.first && !rod.last) {
        throw Error("{}: a rod without a clamp; say how the first or the last end is held", source);
    }
    check_clamp(rod.first, "first", source);
    check_clamp(rod.last, "last", source);
}

void check_values(const Cloth& cloth, const Parameter& parameter, std::string_view source)
{
    const ParameterKind& kind = *parameter.kind;
    const std::vector<double>& values = values_of(cloth, parameter);
    const std::size_t count = element_count(cloth, kind.element);
    if (values.size() != count) {
        throw Error("{}: {} {}s, but {} values of {}; give one each", source, count,
                    name_of(kind.element), values.size(), label_of(cloth, parameter));
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (std::isfinite(values[i]) && values[i] >= kind.lower_bound) continue;
        throw Error("{}: {} of {} {} is {} {}; it must be finite and at least {}", source,
                    label_of(cloth, parameter), name_of(kind.element), i, values[i], kind.unit,
                    kind.lower_bound);
    }
}

void check_errors(const Cloth& cloth, const StandardErrors& errors, std::string_view source)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    if (errors.parameters.size() != parameters.size()) {
        throw Error("{}: standard errors of {} parameters, but the cloth has {}; give all", source,
                    errors.parameters.size(), parameters.size());
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::vector<double>& values = errors.parameters[i];
        const Element element = parameters[i].kind->element;
        if (values.size() != element_count(cloth, element)) {
            throw Error("{}: {} standard errors of {} for {} {}s; give one each", source,
                        values.size(), label_of(cloth, parameters[i]),
                        element_count(cloth, element), name_of(element));
        }
        for (std::size_t e = 0; e < values.size(); ++e) {
            if (values[e] >= 0) continue;  // may be infinite; written so that NaN fails
            throw Error("{}: the standard error of {} of {} {} is {}; it must not be negative",
                        source, label_of(cloth, parameters[i]), name_of(element), e, values[e]);
        }
    }
    if (!(std::isfinite(errors.force) && errors.force >= 0)) {
        throw Error("{}: force noise of {} N s^(1/2); it must be finite and not negative", source,
                    errors.force);
    }
}

}  // namespace

void check_sheet(const Sheet& sheet)
{
    const auto check = [](const char* field, double value, const Extremes& range,
                          const char* unit) {
        if (value >= range.least && value <= range.most) return;  // false for NaN
        throw Error(Field{field}, "sheet: {} of {} {}; {} to {} {} is needed", field, value, unit,
                    range.least, range.most, unit);
    };
    check("length", sheet.length, kSheetSide, "m");
    check("width", sheet.width, kSheetSide, "m");
    check("mass", sheet.mass, kSheetMass, "kg");
}

void check_cloth(const Cloth& cloth, std::string_view source)
{
    check_sheet(cloth.sheet);
    check_particles(cloth, source);
    check_springs(cloth, source);
    check_bends(cloth, source);
    check_triangles(cloth, source);
    check_hinges(cloth, source);
    check_couplings(cloth, source);
    check_rod(cloth, source);
    for (const Element element : kElements) {
        for (const Parameter& parameter : parameters_in(cloth, element)) {
            check_values(cloth, parameter, source);
        }
    }
    if (cloth.errors) check_errors(cloth, *cloth.errors, source);
}

}  // namespace springtime
