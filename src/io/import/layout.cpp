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

// ---- Rest places ----

std::string factor_pairs(std::size_t count)
{
    std::string pairs;
    for (std::size_t rows = 2; 2 * rows <= count; ++rows) {
        if (count % rows != 0) continue;
        pairs += fmt::format("{}{}x{}", pairs.empty() ? "" : ", ", rows, count / rows);
    }
    return pairs.empty() ? "none: it is a prime" : pairs;
}

// Places in the flat sheet of the points that are kept.
std::vector<SheetPoint> rest_of(const Sheet& sheet, const ListedGrid& listed,
                                const std::vector<int>& points)
{
    const std::vector<SheetPoint> all = listed_points(sheet, listed);
    std::vector<SheetPoint> rest;
    for (const int p : points) rest.push_back(all[std::size_t(p)]);
    return rest;
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
    layout.shape.rest = rest_of(layout.shape.sheet, listed, layout.points);
    if (layout.points.size() == count && !listed.column_order) layout.shape.grid = listed.grid;
    layout.rest_reason = fmt::format("a grid of {} x {}", listed.grid.rows, listed.grid.cols);
    if (options.trust) return;
    constexpr double kTorn = 0.03;
    const std::vector<PointFrame> samples = all_samples(scans);
    const double torn = torn_share(samples, layout.shape.rest, grid_links(listed, layout.points));
    if (torn < kTorn) return;
    const std::optional<ListedGrid> fitting =
        listed_grid(samples, layout.shape.sheet, count, layout.points);
    if (fitting && listing_text(*fitting) == listing_text(listed)) return;
    throw Error(
        "{}: points that are neighbours in a grid of {} x {} lie far apart ({:.0f} % of them more "
        "than twice as far as usual); {}",
        info.source, listed.grid.rows, listed.grid.cols, 100 * torn,
        fitting ? fmt::format("the points fit {}", listing_text(*fitting))
                : std::string("check the order of the points, give their rest places with --rest, "
                              "or take it as it is with --trust"));
}

void check_whole(const PointFrame& points, const PointLayout& layout, std::string_view source,
                 std::string_view remedy)
{
    for (std::size_t l = 0; l < points.size(); ++l) {
        if (is_seen(points[l])) continue;
        throw Error("{}: point {} of the rest shape is not a number; {}", source,
                    layout.label(int(l)), remedy);
    }
}

// In the units of the file; scaled later.
Layout laid_out(PointLayout& layout, const std::vector<TakeScan>& scans,
                const ImportOptions& options)
{
    constexpr int kNearest = 8;  // those around a point of a grid
    constexpr double kCrumpled = 0.1;
    constexpr double kUnclear = 0.03;  // sides of noisy layouts differ by 2 % from take to take
    const TrackInfo& info = scans.front().info;
    std::string source = info.source;
    PointFrame shape = scans.front().rest_frame;
    std::vector<std::array<int, 3>> triangles = info.triangles;
    if (!options.rest.empty()) {
        const auto reader = open_tracks({options.rest}, {});
        source = options.rest.string();
        TrackFrame frame;
        reader->next(frame);
        if (reader->info().point_count != info.point_count) {
            throw Error("{}: {} vertices, but {} has {} points; a rest shape needs one for each",
                        source, reader->info().point_count, info.source, info.point_count);
        }
        shape = points_of(frame.position, layout.points);
        triangles = reader->info().triangles;
        check_whole(shape, layout, source, "mend the file");
    } else if (shape.empty() && options.rest_frame >= 0) {
        throw Error("{}: there is no frame {} to lay out flat; it has {}", source,
                    options.rest_frame, scans.front().stamps.time.size());
    } else if (shape.empty()) {
        throw Error(
            "{}: no frame shows every point, so none can be laid out flat; give the rest shape "
            "with --grid or --rest, or leave points out with --drop",
            source);
    }
    check_whole(shape, layout, source, "name a frame that shows every point with --rest-frame");
    const bool whole = layout.points.size() == info.point_count && !triangles.empty();
    const std::vector<Link> links =
        whole ? triangle_links(triangles) : nearest_links(shape, kNearest);
    const Layout flat =
        options.rest.empty() ? flatten(shape, links, source) : flatten_mesh(shape, links, source);
    if (!(flat.width > 1e-6 * flat.length)) {
        throw Error("{}: all points lie on one line; a sheet needs points beside it", source);
    }
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
    if (options.rest.empty() && flat.margin < kUnclear) {
        layout.warnings.push_back(
            "the first points lie so close to the middle of the sheet that other takes may come "
            "out turned over; import them with --rest and the motion file of this one");
    }
    return flat;
}

// ---- Units ----

// Sets the unit where the sheet's size tells it: how far apart points are, of the flat sheet, were
// they in metres.
void choose_unit(PointLayout& layout, double stretch, std::string_view source, bool trust)
{
    for (const Unit& unit : kUnits) {
        if (!plausible(stretch * unit.metres)) continue;
        layout.placing.unit = unit.metres;
        layout.unit_reason = fmt::format("{}, which fit the size of the sheet", unit.name);
        return;
    }
    if (trust) return;
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
                                     options.unit > 0 ? "as given"
                                     : info.unit      ? "as the file says"
                                                      : "assumed");
}

void state_up(PointLayout& layout, const TrackInfo& info, const ImportOptions& options)
{
    check_up(options.up.empty() ? "y" : options.up);
    layout.placing.up = !options.up.empty() ? options.up : std::string(1, info.up.value_or('y'));
    layout.up_reason = !options.up.empty() ? "as given"
                       : info.up           ? "as the format has it"
                                           : "assumed";
}

// A sheet that looks longer one way and shorter the other has its sides exchanged.
void compare_directions(PointLayout& layout, const std::vector<PointFrame>& samples,
                        const std::vector<Link>& links)
{
    constexpr double kAlike = 1.2;
    const std::vector<SheetPoint>& rest = layout.shape.rest;
    std::vector<Link> along[2];
    for (const Link& link : links) {
        const SheetPoint a = rest[std::size_t(link[0])], b = rest[std::size_t(link[1])];
        const double u = std::abs(b.u - a.u), v = std::abs(b.v - a.v);
        if (u > 3 * v) along[0].push_back(link);
        if (v > 3 * u) along[1].push_back(link);
    }
    const double u = layout.placing.unit * median_stretch(samples, rest, along[0]);
    const double v = layout.placing.unit * median_stretch(samples, rest, along[1]);
    if (!(std::max(u / v, v / u) > kAlike)) return;
    layout.warnings.push_back(
        fmt::format("neighbours are {:.3g} times as far apart as in the flat sheet along the "
                    "length, but {:.3g} "
                    "times along the width; check --length, --width and the order of the grid",
                    u, v));
}

// Takes the layout to the size of the sheet, in metres.
void scale_layout(PointLayout& layout, const Layout& flat, const TakeScan& first,
                  const ImportOptions& options)
{
    constexpr double kSameSize = 0.2;
    const bool unit_known = options.unit > 0 || first.info.unit.has_value();
    double unit = layout.placing.unit;
    if (!unit_known && options.length > 0) {
        choose_unit(layout, flat.length / options.length, first.info.source, options.trust);
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

std::string PointLayout::label(int landmark) const
{
    return names.empty() ? fmt::format("{}", points[std::size_t(landmark)])
                         : fmt::format("'{}'", names[std::size_t(landmark)]);
}

PointLayout lay_out(const std::vector<TakeScan>& scans, const ImportOptions& options)
{
    const TakeScan& first = scans.front();
    PointLayout layout;
    layout.shape.sheet = {options.length, options.width, options.mass};
    layout.points = first.points;
    if (!first.info.names.empty()) {
        for (const int p : first.points) layout.names.push_back(first.info.names[std::size_t(p)]);
    }
    state_up(layout, first.info, options);
    state_unit(layout, first.info, options);
    if (options.grid) {
        lay_grid(layout, scans, options);
    } else {
        scale_layout(layout, laid_out(layout, scans, options), first, options);
    }
    layout.shape.mass.assign(layout.points.size(), options.mass / double(layout.points.size()));
    const std::vector<PointFrame> samples = all_samples(scans);
    const std::vector<Link> links = neighbours_on_sheet(layout.shape.rest);
    const double stretch = median_stretch(samples, layout.shape.rest, links);
    if (std::isnan(stretch)) {
        throw Error("{}: no frame shows two neighbouring points; are all cells blank?",
                    first.info.source);
    }
    const bool unit_known = options.unit > 0 || first.info.unit.has_value();
    if (!unit_known && options.grid) choose_unit(layout, stretch, first.info.source, options.trust);
    if (!options.trust) check_unit(layout, stretch, first.info.source);
    layout.stretch = stretch * layout.placing.unit;
    compare_directions(layout, samples, links);
    return layout;
}

namespace {

// Landmarks along an edge, where points do not lie on it to rounding: those closer than half the
// usual distance between points.
std::vector<int> along_edge(const PointLayout& layout, const std::string& name)
{
    const Sheet& sheet = layout.shape.sheet;
    const double reach =
        0.5 * std::sqrt(sheet.length * sheet.width / double(layout.shape.rest.size()));
    std::vector<int> found;
    for (std::size_t l = 0; l < layout.shape.rest.size(); ++l) {
        const auto [u, v] = layout.shape.rest[l];
        const double away = name == "edge-north"   ? v
                            : name == "edge-south" ? sheet.width - v
                            : name == "edge-west"  ? u
                                                   : sheet.length - u;
        if (away < reach) found.push_back(int(l));
    }
    return found;
}

// The landmark that a point of the file became.
int landmark_of(const PointLayout& layout, int number, std::string_view flag)
{
    const auto found = std::find(layout.points.begin(), layout.points.end(), number);
    if (found == layout.points.end()) {
        throw Error("{}: point {} is left out by --drop; hold another", flag, number);
    }
    return int(found - layout.points.begin());
}

std::vector<int> landmarks_at(const PointLayout& layout, const TrackInfo& info,
                              const std::string& name, std::string_view flag)
{
    const bool in_file = std::find(info.names.begin(), info.names.end(), name) != info.names.end();
    if (in_file || name.ends_with('*') || name.starts_with("particle:")) {
        std::vector<int> found;
        for (const int number : numbers_named(info, name, flag)) {
            found.push_back(landmark_of(layout, number, flag));
        }
        return found;
    }
    const bool edge =
        name == "edge-north" || name == "edge-south" || name == "edge-west" || name == "edge-east";
    if (edge && !layout.shape.grid) return along_edge(layout, name);
    try {
        return particles_named(layout.shape, name);
    } catch (const Error& error) {
        throw Error("{} '{}': no point of the file has this name, nor is it a place: {}", flag,
                    name, error.what());
    }
}

}  // namespace

std::vector<int> landmarks_named(const PointLayout& layout, const TrackInfo& info,
                                 const std::vector<std::string>& names, std::string_view flag)
{
    std::vector<int> landmarks;
    for (const std::string& name : names) {
        const std::vector<int> found = landmarks_at(layout, info, name, flag);
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
    const Vec3d found = hanging(all_samples(scans), held);
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
