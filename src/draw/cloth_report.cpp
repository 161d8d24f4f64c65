#include <algorithm>
#include <cmath>
#include <map>

#include "draw/value_range.h"
#include "springtime/error.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

namespace springtime {

void ValueRange::add(double value)
{
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    ++count;
}

Result report_of(const ValueRange& range, const std::string& unit)
{
    if (range.count == 0) return {};
    Result result = Result::tree();
    result.add("min", range.low, unit);
    result.add("max", range.high, unit);
    result.add("mean", range.sum / double(range.count), unit);
    return result;
}

Result report_of(const Sheet& sheet)
{
    Result result = Result::tree();
    result.add("length", sheet.length, "m");
    result.add("width", sheet.width, "m");
    result.add("mass", sheet.mass, "kg");
    return result;
}

namespace {

// How many values lie in each of twelve equal parts of their range; nothing when all are the same
// to the digits that are shown.
Result histogram_of(const std::vector<double>& values, const ValueRange& range,
                    const std::string& unit)
{
    const double spread = range.high - range.low;
    if (range.count == 0 || spread <= 1e-3 * std::abs(range.high)) return {};
    constexpr int kBins = 12;
    std::vector<std::size_t> bins(kBins, 0);
    const double step = spread / kBins;
    for (const double value : values) {
        ++bins[std::min(kBins - 1, static_cast<int>((value - range.low) / step))];
    }
    Result table = Result::list();
    for (int b = 0; b < kBins; ++b) {
        Result row = Result::tree();
        row.add("from", range.low + b * step, unit);
        row.add("to", range.low + (b + 1) * step, unit);
        row.add("count", bins[b]);
        table.push(row);
    }
    table.bars();
    return table;
}

Result report_of(const std::vector<double>& values, const std::string& unit)
{
    ValueRange range;
    for (const double value : values) range.add(value);
    Result result = report_of(range, unit);
    if (range.count > 0) result.add("histogram", histogram_of(values, range, unit));
    return result;
}

// By name, in alphabetical order.
Result family_counts(const Cloth& cloth, Element element)
{
    std::map<std::string, std::size_t> counts;
    for (const auto& [name, members] : families_of(cloth, element)) {
        counts[std::string(name)] = members.size();
    }
    Result result = Result::tree();
    for (const auto& [family, count] : counts) result.add(family, count);
    return result.unless_zero();
}

// An end at infinity is not a number.
Result ranges_of(const SpringSet& springs)
{
    Result all = Result::list();
    for (const StiffnessRange& range : springs.ranges) {
        Result one = Result::tree();
        one.label(fmt::format("from strain {} to {}", range.from, range.to));
        one.add("from", range.from).data_only();
        one.add("to", range.to).data_only();
        one.add("stiffness", report_of(range.stiffness, "N/m"));
        all.push(one);
    }
    return all.unless_zero();
}

// All kinds of parameters of an element by name, whether the cloth has them or not.
void add_parameters(Result& result, const Cloth& cloth, Element element)
{
    for (const ParameterKind& kind : parameter_kinds()) {
        if (kind.element != element) continue;
        if (kind.presence == ParameterPresence::per_range) {
            result.add("ranges", ranges_of(cloth.springs)).label("stiffness in ranges of strain");
            continue;
        }
        const std::vector<double>& values = values_of(cloth, Parameter{&kind, 0, 0});
        result.add(std::string(kind.name), report_of(values, std::string(kind.unit)));
    }
}

// Elements other than springs; nothing where there are none.
Result elements_of(const Cloth& cloth, Element element)
{
    const std::size_t count = element_count(cloth, element);
    if (count == 0) return {};
    Result result = Result::tree();
    result.add("count", count);
    if (element == Element::bend) {
        result.add("families", family_counts(cloth, element)).label("by family");
    }
    if (element == Element::triangle) {
        result.add("damping_kind", name_of(cloth.triangles.damping_kind)).label("damping against");
    }
    add_parameters(result, cloth, element);
    return result;
}

// How a rope bends and twists; nothing where it is no rod.
Result rod_of(const Cloth& cloth)
{
    if (!cloth.rod) return {};
    const Rod& rod = *cloth.rod;
    Result result = Result::tree();
    result.add("bending", rod.bending, "N m^2");
    result.add("bending_damping", rod.bending_damping, "N m^2 s").label("bending damping");
    result.add("twisting", rod.twisting, "N m^2");
    result.add("largest_curvature", largest_curvature(rod), "1/m")
        .label("largest curvature by itself");
    result.add("clamped_ends", int(rod.first.has_value()) + int(rod.last.has_value()))
        .label("clamped ends");
    return result;
}

}  // namespace

Result report_of(const Cloth& cloth)
{
    Result grid, result = Result::tree();
    if (cloth.grid) grid = std::vector<int>{cloth.grid->rows, cloth.grid->cols};
    result.add("particles", cloth.particle_count());
    result.add("grid", grid).label("grid, rows and columns");
    result.add("springs", cloth.springs.spring_count());
    result.add("largest_stable_step", largest_stable_step(cloth, {}), "s");
    result.add("sheet", report_of(cloth.sheet));
    result.add("families", family_counts(cloth, Element::spring)).label("springs by family");
    add_parameters(result, cloth, Element::spring);
    result.add("bends", elements_of(cloth, Element::bend));
    result.add("triangles", elements_of(cloth, Element::triangle));
    result.add("hinges", elements_of(cloth, Element::hinge));
    result.add("couplings", elements_of(cloth, Element::coupling)).unless_zero();
    result.add("rod", rod_of(cloth));
    return result;
}

}  // namespace springtime
