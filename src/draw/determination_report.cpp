#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/identify.h"
#include "springtime/report.h"

namespace springtime {

namespace {

constexpr int kCells = 8;  // of the map, along each side

Grid map_cells(const Cloth& cloth)
{
    if (!cloth.grid) return {kCells, kCells};
    const auto along = [](int particles) { return std::clamp(particles - 1, 1, kCells); };
    return {along(cloth.grid->rows), along(cloth.grid->cols)};
}

Result summary_result(const std::vector<double>& relative, Element element)
{
    const ErrorSummary summary = summary_of(relative);
    Result row = Result::tree();
    row.add(fmt::format("{}s", name_of(element)), summary.count);
    row.add("unseen", summary.unseen);
    row.add("median", summary.median).percent();
    row.add("ninth_decile", summary.ninth_decile).percent();
    row.add("worst", summary.worst).percent();
    return row;
}

// Of one parameter, by family.
Result families_result(const Cloth& cloth, Element element, const std::vector<double>& relative)
{
    Result result = Result::tree();
    for (const auto& [name, members] : families_of(cloth, element)) {
        std::vector<double> values;
        for (const std::size_t e : members) values.push_back(relative[e]);
        result.add(std::string(name), summary_result(values, element));
    }
    return result;
}

// Springs and bends have families. The parameters of other elements stand together, because some
// have the names of those of springs.
bool has_families(Element element)
{
    return element == Element::spring || element == Element::bend;
}

// A row for each parameter of triangles, hinges or couplings.
void add_element_errors(Result& result, const Cloth& cloth, const ParameterValues& relative)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (const Element element : kElements) {
        Result rows = Result::tree();
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            const ParameterKind& kind = *parameters[k].kind;
            if (kind.element != element || has_families(element)) continue;
            rows.add(std::string(kind.name), summary_result(relative[k], element));
        }
        if (!rows.entries().empty()) result.add(fmt::format("{}s", name_of(element)), rows);
    }
}

// The errors of all kinds of parameters of springs and bends, whether the cloth has them or not.
void add_errors(Result& result, const Cloth& cloth, const ParameterValues& relative)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (const ParameterKind& kind : parameter_kinds()) {
        if (!kind.learned || !has_families(kind.element)) continue;
        Result one, ranges = Result::list();
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            if (parameters[k].kind != &kind) continue;
            one = families_result(cloth, kind.element, relative[k]);
            ranges.push(one);
        }
        if (kind.presence == ParameterPresence::per_range) {
            result.add("ranges", ranges).unless_zero();
        } else {
            result.add(std::string(kind.name), one);
        }
    }
}

// Medians over the cells of the flat sheet, as rows.
Result map_result(const Cloth& cloth, const std::vector<double>& relative)
{
    const Grid cells = map_cells(cloth);
    const std::vector<double> medians = error_map(cloth, relative, cells);
    Result rows = Result::list();
    for (int r = 0; r < cells.rows; ++r) {
        Result row = Result::list();
        for (int c = 0; c < cells.cols; ++c) {
            row.push(medians[std::size_t(r * cells.cols + c)]).percent();
        }
        rows.push(row);
    }
    return rows;
}

std::string particle_text(const Cloth& cloth, int particle)
{
    if (!cloth.grid) return fmt::format("particle {}", particle);
    return fmt::format("row {} col {}", particle / cloth.grid->cols, particle % cloth.grid->cols);
}

Result unseen_spring(const Cloth& cloth, int spring)
{
    const auto [a, b] = cloth.springs.ends[spring];
    Result row = Result::tree();
    row.add("spring", spring);
    row.add("family", name_of(cloth.springs.family[spring]));
    row.add("ends", std::vector<int>{a, b}).data_only();
    row.add("where", particle_text(cloth, a) + " to " + particle_text(cloth, b));
    return row;
}

Result unseen_triangle(const Cloth& cloth, int triangle)
{
    const auto [a, b, c] = cloth.triangles.corners[triangle];
    Result row = Result::tree();
    row.add("triangle", triangle);
    row.add("corners", std::vector<int>{a, b, c}).data_only();
    row.add("where", fmt::format("{}, {}, {}", particle_text(cloth, a), particle_text(cloth, b),
                                 particle_text(cloth, c)));
    return row;
}

// `held`: particles that are handles in all rollouts; empty where that is not known.
Result unseen_result(const Cloth& cloth, const std::vector<bool>& held)
{
    const bool triangles = main_element(cloth) == Element::triangle;
    const auto all_held = [&](const auto& corners) {
        return std::all_of(corners.begin(), corners.end(), [&](int p) { return held[p]; });
    };
    Result result = Result::list();
    for (const int element : unseen_elements(cloth)) {
        Result row = triangles ? unseen_triangle(cloth, element) : unseen_spring(cloth, element);
        Result reason;
        if (!held.empty()) {
            const bool fixed = triangles ? all_held(cloth.triangles.corners[element])
                                         : all_held(cloth.springs.ends[element]);
            reason = fixed ? (triangles ? "all corners are held in all rollouts"
                                        : "both ends are held in all rollouts")
                           : "hardly ever stretched, or never seen";
        }
        row.add("reason", reason);
        result.push(row);
    }
    return result;
}

}  // namespace

Result report_experiments(const Cloth& cloth, const std::vector<Experiment>& ranking)
{
    const ParameterValues known = known_errors(cloth);
    Result experiments = Result::list(), result = Result::tree();
    for (const Experiment& experiment : ranking) {
        Result row = Result::tree();
        row.add("name", experiment.name).label("would help most");
        row.add("pins", experiment.pins).data_only();
        row.add("gain", experiment.gain);
        row.add("stiffness_error", experiment.stiffness_error, "N/m");
        row.add("damping_error", experiment.damping_error, "N s/m");
        experiments.push(row);
    }
    result.add("stiffness_error", summary_of(known[0]).median, "N/m")
        .label("median error of stiffness now");
    result.add("damping_error", summary_of(known[1]).median, "N s/m")
        .label("median error of damping now");
    result.add("experiments", experiments)
        .label("what to record, and the errors then")
        .first(3)
        .unless_zero();
    return result;
}

Result report_determination(const Cloth& cloth, const std::vector<bool>& held,
                            const std::vector<Experiment>& ranking)
{
    const ParameterValues relative = relative_errors(cloth);
    Result result = Result::tree();
    result.label("how well it is known: relative standard errors");
    result.add("force_noise", cloth.errors->force, "N").data_only();
    const bool springs = main_element(cloth) == Element::spring;
    if (springs) add_errors(result, cloth, relative);
    add_element_errors(result, cloth, relative);
    result.add("map", map_result(cloth, relative[0]))
        .label(fmt::format("{} over the sheet, medians of cells [%], north at the top",
                           learned_parameters(cloth).front().kind->label));
    result.add("unseen", unseen_result(cloth, held))
        .label(fmt::format("{}s whose stiffness the motion says nothing about",
                           name_of(main_element(cloth))))
        .first(20)
        .unless_zero();
    if (springs) {
        result.add("next", report_experiments(cloth, ranking)).label("what to record next");
    }
    return result;
}

}  // namespace springtime
