#include "capture/units.h"

#include <array>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

struct Unit {
    double metres;
    const char *name, *flag;
};
constexpr std::array kUnits{Unit{1, "metres", "m"}, Unit{0.01, "centimetres", "cm"},
                            Unit{0.001, "millimetres", "mm"}};

// A cloth is never wider than this on average, and rarely more crumpled.
bool plausible(double stretch)
{
    return stretch >= 0.4 && stretch <= 1.6;
}

// For two units at once, of which nothing is stated, it must fit better.
bool fits_closely(double stretch)
{
    return std::abs(stretch - 1) < 0.25;
}

std::string fold_text(double stretch)
{
    return stretch >= 10 ? fmt::format("{:.0f}", stretch) : fmt::format("{:.3g}", stretch);
}

// The unit of the rest shape, given that of the points.
std::optional<double> unit_beside(double points_unit, double stretch)
{
    if (plausible(stretch)) return points_unit;
    for (const Unit& unit : kUnits) {
        if (fits_closely(stretch * points_unit / unit.metres)) return unit.metres;
    }
    return std::nullopt;
}

[[noreturn]] void refuse_rest(const PointLayout& layout, const UnscaledRest& rest)
{
    std::string fitting;
    for (const Unit& unit : kUnits) {
        if (!unit_beside(unit.metres, rest.stretch)) continue;
        fitting = fmt::format("; they would fit were the points in {}: give `unit` {}", unit.name,
                              unit.flag);
    }
    throw Error(
        "{}: as numbers, neighbouring points are {} times as far apart as here, which no units "
        "explain{}{}; {}, or insist with `trust`",
        rest.source, fold_text(rest.stretch),
        layout.unit_reason.empty() ? "" : fmt::format(" (points are in {})", layout.unit_reason),
        fitting, layout.fit_remedy);
}

RestUnit unit_by_length(const PointLayout& layout, const UnscaledRest& rest,
                        const ImportOptions& options)
{
    for (const Unit& unit : kUnits) {
        if (!plausible(unit.metres * rest.length / *options.length)) continue;
        return {unit.metres, fmt::format("{}, which fit the stated length", unit.name)};
    }
    if (options.trust) return {layout.placing.unit, "metres, assumed"};
    throw Error(
        "{}: laid out flat the sheet is {:.4g} long, were that metres, but `length` {} was given, "
        "and neither centimetres nor millimetres fit; check `length`, or give {}",
        rest.source, rest.length, *options.length, options.rest.empty() ? "`unit`" : "`rest_unit`");
}

// Neither unit is known, nor the size of the sheet.
RestUnit assumed_unit(PointLayout& layout, const UnscaledRest& rest, const ImportOptions& options)
{
    constexpr double kLeast = 0.02, kMost = 5;  // [m], cloths that people track
    for (const Unit& unit : kUnits) {
        const std::optional<double> metres = unit_beside(unit.metres, rest.stretch);
        if (!metres) continue;
        const double length = *metres * rest.length;
        if (!options.trust && (length < kLeast || length > kMost)) {
            throw Error(
                "{}: the sheet is {:.3g} long in the units of the file, which are not known; give "
                "{} m, cm or mm, or the `length` of the sheet [m]",
                rest.source, rest.length, options.rest.empty() ? "`unit`" : "`rest_unit`");
        }
        layout.placing.unit = unit.metres;
        layout.unit_reason = fmt::format(
            "{}, {}", unit.name, *metres == unit.metres ? "assumed" : "which fit the rest shape");
        return {*metres, name_of_unit(*metres) + ", assumed"};
    }
    if (options.trust) return {layout.placing.unit, "metres, assumed"};
    refuse_rest(layout, rest);
}

}  // namespace

std::string name_of_unit(double metres)
{
    for (const Unit& unit : kUnits) {
        if (unit.metres == metres) return unit.name;
    }
    return fmt::format("units of {} m", metres);
}

void choose_unit(PointLayout& layout, double stretch, std::string_view source, bool trust)
{
    for (const Unit& unit : kUnits) {
        if (!plausible(stretch * unit.metres)) continue;
        layout.placing.unit = unit.metres;
        layout.unit_reason = fmt::format("{}, which fit the size of the sheet", unit.name);
        return;
    }
    layout.unit_reason = "metres, assumed";
    if (trust) return;
    throw Error(
        "{}: neighbouring points are {:.3g} times as far apart as on a sheet of {:.4g} x {:.4g} m, "
        "were they in metres, and neither centimetres nor millimetres fit; {}, or give `unit`",
        source, stretch, layout.shape.sheet.length, layout.shape.sheet.width, layout.fit_remedy);
}

void check_unit(const PointLayout& layout, double stretch, std::string_view source)
{
    if (plausible(stretch * layout.placing.unit)) return;
    std::string remedy = fmt::format("check `unit`; {}; or insist with `trust`", layout.fit_remedy);
    for (const Unit& unit : kUnits) {
        if (!plausible(stretch * unit.metres)) continue;
        remedy = fmt::format("the points look like {}: give `unit` {}, or else {}", unit.name,
                             unit.flag, layout.fit_remedy);
    }
    throw Error(
        "{}: in {} the sheet would be stretched {}-fold, which no cloth is: a wrong unit or a "
        "wrong size of the sheet; {}",
        source, name_of_unit(layout.placing.unit), fold_text(stretch * layout.placing.unit),
        remedy);
}

RestUnit choose_rest_unit(PointLayout& layout, const UnscaledRest& rest,
                          const ImportOptions& options)
{
    if (options.rest_unit) {
        return {*options.rest_unit, name_of_unit(*options.rest_unit) + ", as given"};
    }
    const bool known = !layout.unit_reason.empty();
    if (!known && options.length) return unit_by_length(layout, rest, options);
    if (!known) return assumed_unit(layout, rest, options);
    const double points_unit = layout.placing.unit;
    const std::optional<double> metres = unit_beside(points_unit, rest.stretch);
    if (!metres && !options.trust) refuse_rest(layout, rest);
    if (metres.value_or(points_unit) == points_unit) {
        return {points_unit, name_of_unit(points_unit) + ", as the points"};
    }
    return {*metres, name_of_unit(*metres) + ", which fit the points"};
}

}  // namespace springtime
