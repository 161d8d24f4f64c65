#include "io/import/layout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/plausible.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// A cloth is never wider than this on average, and rarely more crumpled.
constexpr double kLeastStretch = 0.4, kMostStretch = 1.6;

struct Unit {
    double metres;
    const char *name, *flag;
};
constexpr std::array kUnits{Unit{1, "metres", "m"}, Unit{0.01, "centimetres", "cm"},
                            Unit{0.001, "millimetres", "mm"}};

std::string name_of_unit(double metres)
{
    for (const Unit& unit : kUnits) {
        if (unit.metres == metres) return unit.name;
    }
    return fmt::format("units of {} m", metres);
}

std::string fold_text(double stretch)
{
    return stretch >= 10 ? fmt::format("{:.0f}", stretch) : fmt::format("{:.3g}", stretch);
}

bool plausible(double stretch)
{
    return stretch >= kLeastStretch && stretch <= kMostStretch;
}

std::vector<PointFrame> all_samples(const std::vector<TakeScan>& scans)
{
    std::vector<PointFrame> samples;
    for (const TakeScan& scan : scans) {
        samples.insert(samples.end(), scan.samples.begin(), scan.samples.end());
    }
    return samples;
}

std::vector<PointFrame> landmarks_of(const std::vector<PointFrame>& frames,
                                     const PointLayout& layout)
{
    std::vector<PointFrame> result;
    for (const PointFrame& frame : frames) result.push_back(layout.landmarks(frame));
    return result;
}

// ---- Which points ----

// The number in the file of a point that a name of the file stands for, or -1.
int number_named(const std::vector<std::string>& names, std::string_view name)
{
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : int(found - names.begin());
}

// Numbers in the file of the points that a name stands for: one of the file, the beginning of
// several with a star behind it, or particle:NUMBER.
std::vector<int> numbers_named(const TrackInfo& info, const std::string& name)
{
    if (const int number = number_named(info.names, name); number >= 0) return {number};
    std::vector<int> numbers;
    if (name.ends_with('*')) {
        const std::string_view beginning(name.data(), name.size() - 1);
        for (std::size_t p = 0; p < info.names.size(); ++p) {
            if (info.names[p].starts_with(beginning)) numbers.push_back(int(p));
        }
    } else if (name.starts_with("particle:")) {
        Cloth numbered;
        numbered.rest.resize(info.point_count);
        numbers = particles_named(numbered, name);
    }
    if (!numbers.empty()) return numbers;
    throw Error(
        "--drop '{}': {} has no point of that name; use one, its beginning and a star, or "
        "particle:NUMBER",
        name, info.source);
}

void keep_points(PointLayout& layout, const TakeScan& first, const ImportOptions& options)
{
    const TrackInfo& info = first.info;
    std::vector<bool> dropped(info.point_count, false);
    for (const std::string& name : options.dropped) {
        for (const int number : numbers_named(info, name)) dropped[std::size_t(number)] = true;
    }
    for (std::size_t p = 0; p < info.point_count; ++p) {
        if (dropped[p]) continue;
        layout.points.push_back(int(p));
        if (!info.names.empty()) layout.names.push_back(info.names[p]);
    }
    if (layout.points.size() < 3) {
        throw Error("{}: {} points are left of {}; a sheet needs three", info.source,
                    layout.points.size(), info.point_count);
    }
}

// ---- Rest places ----

std::string factor_pairs(std::size_t count)
{
    std::string pairs;
    for (std::size_t rows = 2; rows * rows <= count; ++rows) {
        if (count % rows != 0) continue;
        pairs += fmt::format("{}{}x{}", pairs.empty() ? "" : ", ", rows, count / rows);
    }
    return pairs.empty() ? "none: it is a prime" : pairs;
}

std::string listing_text(const ListedGrid& listed)
{
    return fmt::format("--grid {}x{}{}", listed.grid.rows, listed.grid.cols,
                       listed.column_order ? " --column-order" : "");
}

void lay_grid(PointLayout& layout, const std::vector<TakeScan>& scans, const ImportOptions& options)
{
    const TrackInfo& info = scans.front().info;
    const ListedGrid listed{*options.grid, options.column_order};
    const std::size_t count = info.point_count;
    if (std::size_t(listed.grid.rows) * std::size_t(listed.grid.cols) != count) {
        throw Error("{}: {} points, but a grid of {} x {} has {}; grids with {} points: {}",
                    info.source, count, listed.grid.rows, listed.grid.cols,
                    listed.grid.rows * listed.grid.cols, count, factor_pairs(count));
    }
    if (!(options.length > 0) || !(options.width > 0)) {
        throw Error(
            "{}: a grid says nothing of the size of the sheet; give --length and --width [m], from "
            "the first point of a row to the last and from the first row to the last",
            info.source);
    }
    const std::vector<SheetPoint> all = listed_points(layout.shape.sheet, listed);
    for (const int p : layout.points) layout.shape.rest.push_back(all[std::size_t(p)]);
    if (layout.points.size() == count && !listed.column_order) layout.shape.grid = listed.grid;
    layout.rest_reason = fmt::format("a grid of {} x {}", listed.grid.rows, listed.grid.cols);
    if (options.trust) return;
    constexpr double kTorn = 0.03;
    const std::vector<PointFrame> samples = all_samples(scans);
    const double torn = torn_share(samples, all, neighbours_on_sheet(all));
    if (torn < kTorn) return;
    const std::optional<ListedGrid> fitting = listed_grid(samples, layout.shape.sheet, count);
    if (fitting && listing_text(*fitting) == listing_text(listed)) return;
    throw Error(
        "{}: points that are neighbours in a grid of {} x {} lie far apart ({:.0f} % of them more "
        "than twice as far as usual); {}",
        info.source, listed.grid.rows, listed.grid.cols, 100 * torn,
        fitting ? fmt::format("the points fit {}", listing_text(*fitting))
                : std::string("check the order of the points, give their rest places with --rest, "
                              "or take it as it is with --trust"));
}

// Rest places of all points of a file, in its units, with y up.
std::vector<Vec3d> placed(const PointFrame& points, const Placing& placing)
{
    std::vector<Vec3d> result;
    for (const Vec3d& p : points) result.push_back(placing.direction(p));
    return result;
}

void check_whole(const PointFrame& points, std::string_view source, std::string_view remedy)
{
    for (std::size_t p = 0; p < points.size(); ++p) {
        if (is_seen(points[p])) continue;
        throw Error("{}: point {} of the rest shape is not a number; {}", source, p, remedy);
    }
}

// In the units of the file; scaled later.
Layout laid_out(PointLayout& layout, const std::vector<TakeScan>& scans,
                const ImportOptions& options)
{
    constexpr int kNearest = 8;  // those around a point of a grid
    constexpr double kCrumpled = 0.1;
    const TrackInfo& info = scans.front().info;
    std::string source = info.source;
    PointFrame shape = scans.front().rest_frame;
    std::vector<std::array<int, 3>> triangles = info.triangles;
    if (!options.rest.empty()) {
        const auto reader = open_tracks({options.rest}, {});
        source = options.rest.string();
        TrackFrame frame;
        reader->next(frame);
        shape = points_of(frame.position);
        triangles = reader->info().triangles;
        if (shape.size() != info.point_count) {
            throw Error("{}: {} vertices, but {} has {} points; a rest shape needs one for each",
                        source, shape.size(), info.source, info.point_count);
        }
        check_whole(shape, source, "mend the file");
    } else if (shape.empty()) {
        throw Error(
            "{}: {}; give the rest shape with --grid or --rest, or leave points out with --drop",
            source,
            options.rest_frame < 0
                ? std::string("no frame shows every point, so none can be laid out flat")
                : fmt::format("there is no frame {} to lay out flat", options.rest_frame));
    }
    shape = layout.landmarks(shape);
    check_whole(shape, source, "name a frame that shows every point with --rest-frame");
    const bool whole = layout.points.size() == info.point_count && !triangles.empty();
    const std::vector<Vec3d> points = placed(shape, layout.placing);
    const Layout flat = flatten(
        points, whole ? triangle_links(triangles) : nearest_links(points, kNearest), source);
    if (flat.strain > kCrumpled && !options.trust) {
        throw Error(
            "{}: cannot be laid out flat: distances would change by {:.0f} %; choose a frame in "
            "which the cloth is smooth with --rest-frame, or give --grid or --rest",
            source, 100 * flat.strain);
    }
    layout.rest_reason =
        options.rest.empty()
            ? fmt::format("frame {}, laid out flat", scans.front().rest_frame_number)
            : fmt::format("the vertices of {}{}", source, flat.strain > 0 ? ", laid out flat" : "");
    layout.strain = flat.strain;
    return flat;
}

// ---- Units ----

// Sets the unit where the sheet's size tells it: `found` is its length in the units of the file.
void choose_unit(PointLayout& layout, double stretch, std::string_view source)
{
    for (const Unit& unit : kUnits) {
        if (!plausible(stretch * unit.metres)) continue;
        layout.placing.unit = unit.metres;
        layout.unit_reason = fmt::format("{}, which fit the size of the sheet", unit.name);
        return;
    }
    throw Error(
        "{}: neighbouring points are {:.3g} times as far apart as on a sheet of {} x {} m, were "
        "they in metres, and neither centimetres nor millimetres fit; check --length and --width, "
        "or give --unit",
        source, stretch, layout.shape.sheet.length, layout.shape.sheet.width);
}

void check_unit(const PointLayout& layout, double stretch, std::string_view source)
{
    if (plausible(stretch * layout.placing.unit)) return;
    std::string fitting;
    for (const Unit& unit : kUnits) {
        if (plausible(stretch * unit.metres)) {
            fitting =
                fmt::format("; the points look like {}: give --unit {}", unit.name, unit.flag);
        }
    }
    throw Error(
        "{}: in {} the sheet would be stretched {}-fold, which no cloth is: a wrong unit or a "
        "wrong size of the sheet{}",
        source, name_of_unit(layout.placing.unit), fold_text(stretch * layout.placing.unit),
        fitting.empty() ? "; check --unit, --length and --width, or insist with --trust" : fitting);
}

void state_unit(PointLayout& layout, const TrackInfo& info, const ImportOptions& options)
{
    layout.placing.unit = options.unit > 0 ? options.unit : info.unit.value_or(1);
    layout.unit_reason = fmt::format("{}, {}", name_of_unit(layout.placing.unit),
                                     options.unit > 0 ? "as given" : "as the file says");
}

void state_up(PointLayout& layout, const TrackInfo& info, const ImportOptions& options)
{
    check_up(options.up.empty() ? "y" : options.up);
    layout.placing.up = !options.up.empty() ? options.up : std::string(1, info.up.value_or('y'));
    layout.up_reason = !options.up.empty() ? "as given"
                       : info.up           ? "as the format has it"
                                           : "assumed";
}

// Takes the layout to the size of the sheet, in metres.
void scale_layout(PointLayout& layout, const Layout& flat, const TakeScan& first,
                  const ImportOptions& options)
{
    constexpr double kSameSize = 0.2;
    const bool unit_known = options.unit > 0 || first.info.unit.has_value();
    double unit = layout.placing.unit;
    if (!unit_known && options.length > 0) {
        choose_unit(layout, flat.length / options.length, first.info.source);
        unit = layout.placing.unit;
    } else if (!unit_known) {
        layout.unit_reason = "metres, assumed";
        if (flat.length < 0.02 || flat.length > 50) {
            throw Error(
                "{}: the sheet is {:.3g} long in the units of the file, which are not known; give "
                "--unit m, cm or mm, or the --length of the sheet [m]",
                first.info.source, flat.length);
        }
    }
    Sheet& sheet = layout.shape.sheet;
    const auto fitted = [&](double stated, double found, const char* flag) {
        if (!(stated > 0)) return found;
        if (std::abs(found / stated - 1) > kSameSize && !options.trust) {
            throw Error(
                "{}: laid out flat the sheet is {:.4g} x {:.4g} m, but {} {} was given; check it "
                "and the unit ({})",
                first.info.source, unit * flat.length, unit * flat.width, flag, stated,
                layout.unit_reason);
        }
        return stated;
    };
    sheet.length = fitted(options.length, unit * flat.length, "--length");
    sheet.width = fitted(options.width, unit * flat.width, "--width");
    for (const SheetPoint& p : flat.points) {
        layout.shape.rest.push_back(
            {p.u * sheet.length / flat.length, p.v * sheet.width / flat.width});
    }
}

}  // namespace

Vec3d Placing::direction(const Vec3d& a) const
{
    if (up == "z") return {a.x, a.z, -a.y};
    if (up == "x") return {a.z, a.x, a.y};
    if (up == "-y") return {a.x, -a.y, -a.z};
    if (up == "-z") return {a.x, -a.z, a.y};
    if (up == "-x") return {a.z, -a.x, -a.y};
    return a;
}

void check_up(const std::string& up)
{
    for (const char* axis : {"x", "y", "z", "-x", "-y", "-z"}) {
        if (up == axis) return;
    }
    throw Error("--up '{}': unknown axis; there are x, y, z, -x, -y and -z", up);
}

PointFrame PointLayout::landmarks(const PointFrame& file_points) const
{
    PointFrame result;
    result.reserve(points.size());
    for (const int p : points) result.push_back(file_points[std::size_t(p)]);
    return result;
}

PointLayout lay_out(const std::vector<TakeScan>& scans, const ImportOptions& options)
{
    const TakeScan& first = scans.front();
    PointLayout layout;
    layout.shape.sheet = {options.length, options.width, options.mass};
    keep_points(layout, first, options);
    state_up(layout, first.info, options);
    state_unit(layout, first.info, options);
    if (options.grid) {
        lay_grid(layout, scans, options);
    } else {
        scale_layout(layout, laid_out(layout, scans, options), first, options);
    }
    layout.shape.mass.assign(layout.points.size(), options.mass / double(layout.points.size()));
    const std::vector<PointFrame> samples = landmarks_of(all_samples(scans), layout);
    const double stretch =
        median_stretch(samples, layout.shape.rest, neighbours_on_sheet(layout.shape.rest));
    if (std::isnan(stretch)) {
        throw Error("{}: no frame shows two neighbouring points; are all cells blank?",
                    first.info.source);
    }
    const bool unit_known = options.unit > 0 || first.info.unit.has_value();
    if (!unit_known && options.grid && !options.trust) {
        choose_unit(layout, stretch, first.info.source);
    }
    if (!options.trust) check_unit(layout, stretch, first.info.source);
    layout.stretch = stretch * layout.placing.unit;
    return layout;
}

std::vector<int> landmarks_named(const PointLayout& layout, const std::vector<std::string>& names,
                                 std::string_view flag)
{
    std::vector<int> landmarks;
    for (const std::string& name : names) {
        std::vector<int> found;
        if (const int number = number_named(layout.names, name); number >= 0) {
            found = {number};
        } else {
            try {
                found = particles_named(layout.shape, name);
            } catch (const Error& error) {
                throw Error("{} '{}': no point of the file has this name, nor is it a place: {}",
                            flag, name, error.what());
            }
        }
        landmarks.insert(landmarks.end(), found.begin(), found.end());
    }
    std::sort(landmarks.begin(), landmarks.end());
    landmarks.erase(std::unique(landmarks.begin(), landmarks.end()), landmarks.end());
    return landmarks;
}

void check_hanging(const std::vector<TakeScan>& scans, const PointLayout& layout,
                   const std::vector<int>& held, const Environment& environment)
{
    constexpr double kClear = 0.1;  // of the sheet's side
    if (held.empty() || length(environment.gravity) == 0) return;
    const Vec3d found = hanging(landmarks_of(all_samples(scans), layout), held);
    const Vec3d down = layout.placing.direction(found);
    const double size = layout.placing.unit * length(found);
    const double side = std::sqrt(layout.shape.sheet.length * layout.shape.sheet.width);
    const double falls = dot(down, environment.gravity) /
                         std::max(length(found) * length(environment.gravity), 1e-300);
    if (size < kClear * side || falls > 0.3) return;
    int axis = 0;
    for (int a = 1; a < 3; ++a) {
        if (std::abs(found[a]) > std::abs(found[axis])) axis = a;
    }
    const std::string up = fmt::format("{}{}", found[axis] > 0 ? "-" : "", "xyz"[axis]);
    if (std::abs(found[axis]) < 0.8 * length(found) || up == layout.placing.up) return;
    throw Error(
        "{}: the cloth does not hang down from what holds it: on average it lies {:.2g} m along "
        "{}{} "
        "of the file, where {} is up ({}); if that is a wrong axis give --up {}, if points are "
        "held that are not named name them, and if all is right insist with --trust",
        scans.front().info.source, size, found[axis] > 0 ? "+" : "-", "xyz"[axis],
        layout.placing.up, layout.up_reason, up);
}

}  // namespace springtime
