#include "capture/rest_places.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/plausible.h"
#include "capture/rope.h"
#include "capture/units.h"
#include "core/quantile.h"
#include "formats/motion_file.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

// ---- A grid ----

std::string factor_pairs(std::size_t count)
{
    std::string pairs = fmt::format("1x{} (a rope)", count);
    for (std::size_t rows = 2; 2 * rows <= count; ++rows) {
        if (count % rows == 0) pairs += fmt::format(", {}x{}", rows, count / rows);
    }
    return pairs;
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
    return fmt::format("`grid` {}x{}{}", listed.grid.rows, listed.grid.cols,
                       listed.column_order ? " `column_order`" : "");
}

void check_count(const Grid& grid, const TrackInfo& info)
{
    const std::size_t count = info.point_count;
    const std::size_t points = std::size_t(grid.rows) * std::size_t(grid.cols);
    if (points == count) return;
    throw Error("{}: {} points, but a grid of {} x {} has {}; {}", info.source, count, grid.rows,
                grid.cols, points,
                count == 2 * points && !info.velocities
                    ? std::string("if the second half of the columns are velocities, say so with "
                                  "`with_velocities`")
                    : fmt::format("grids with {} points: {}", count, factor_pairs(count)));
}

void lay_grid(PointLayout& layout, const std::vector<PointFrame>& samples, const TrackInfo& info,
              const ImportOptions& options)
{
    const ListedGrid listed{*options.grid, options.column_order};
    const std::size_t count = info.point_count;
    check_count(listed.grid, info);
    if (!options.length || !options.width) {
        throw Error(
            Field{options.length ? "width" : "length"},
            "{}: a grid says nothing of the size of the sheet; give `length` and `width` [m], from "
            "the first point of a row to the last and from the first row to the last",
            info.source);
    }
    layout.shape.rest = rest_of(layout.shape.sheet, listed, layout.points);
    if (layout.points.size() == count && !listed.column_order) layout.shape.grid = listed.grid;
    layout.rest_reason = fmt::format("a grid of {} x {}", listed.grid.rows, listed.grid.cols);
    layout.fit_remedy = "check `length` and `width`";
    if (options.trust) return;
    constexpr double kTorn = 0.03;
    const double torn = torn_share(samples, layout.shape.rest, grid_links(listed, layout.points));
    if (torn < kTorn) return;
    const std::optional<ListedGrid> fitting =
        listed_grid(samples, layout.shape.sheet, count, layout.points);
    if (fitting && listing_text(*fitting) == listing_text(listed)) return;
    throw Error(
        "{}: points that are neighbours in a grid of {} x {} lie far apart ({:.0f} % of them more "
        "than twice as far as usual); {}",
        info.source, listed.grid.rows, listed.grid.cols, 100 * torn,
        fitting
            ? fmt::format(
                  "the points fit {}{}", listing_text(*fitting),
                  listed.column_order && !fitting->column_order ? ", without `column_order`" : "")
            : std::string("check the order of the points, give their rest places with `rest`, "
                          "or take it as it is with `trust`"));
}

// ---- A rope ----

bool is_one_row(const Grid& grid)
{
    return grid.rows == 1 || grid.cols == 1;
}

// Points along the middle of a sheet whose width is nominal, at the distances that were measured.
void lay_rope(PointLayout& layout, const std::vector<PointFrame>& samples, const TrackInfo& info,
              const ImportOptions& options)
{
    constexpr double kSameSize = 0.2;
    if (options.grid) check_count(*options.grid, info);
    const std::vector<double> spacing = spacings_along(samples);
    if (spacing.empty()) {
        throw Error("{}: no frame shows two points that follow each other; are all cells blank?",
                    info.source);
    }
    const double measured = std::accumulate(spacing.begin(), spacing.end(), 0.0);
    const RestUnit unit = choose_rest_unit(layout, {info.source, measured, 1}, options);
    Sheet& sheet = layout.shape.sheet;
    const double metres = unit.metres * measured;
    sheet.length = options.length.value_or(metres);
    if (std::abs(metres / sheet.length - 1) > kSameSize && !options.trust) {
        throw Error(Field{"length"},
                    "{}: distances between points make a rope of {:.4g} m, but {} m was given; "
                    "check it and the unit ({})",
                    info.source, metres, sheet.length, unit.reason);
    }
    sheet.width = options.width.value_or(sheet.length / double(spacing.size()));
    double along = 0;
    layout.shape.rest = {{0, sheet.width / 2}};
    for (const double step : spacing) {
        along += step * sheet.length / measured;
        layout.shape.rest.push_back({along, sheet.width / 2});
    }
    layout.shape.grid = Grid{1, int(layout.shape.rest.size())};
    const auto [least, most] = std::minmax_element(spacing.begin(), spacing.end());
    layout.rest_reason =
        fmt::format("{}a rope of {} points at measured distances, {:.3g} to {:.3g} m",
                    options.grid ? "" : "the points lie on a curve: ", layout.shape.rest.size(),
                    *least * sheet.length / measured, *most * sheet.length / measured);
    layout.fit_remedy = "check `length`";
}

// Nobody says that it is a sheet, and it looks like a rope.
bool looks_like_rope(const std::vector<PointFrame>& samples, const TrackInfo& info,
                     const ImportOptions& options)
{
    const bool sheet = options.width || options.rest_frame || !info.triangles.empty();
    return !sheet && is_rope(samples);
}

// ---- A mesh or a frame ----

// What is to be laid out flat, as numbers of its file.
struct RestShape {
    std::string source;
    PointFrame points;  // those that are kept
    std::vector<std::array<int, 3>> triangles;
};

void check_whole(const PointFrame& points, const PointLayout& layout, std::string_view source,
                 std::string_view remedy)
{
    for (std::size_t l = 0; l < points.size(); ++l) {
        if (is_seen(points[l])) continue;
        throw Error("{}: point {} of the rest shape is not a number; {}", source,
                    layout.label(int(l)), remedy);
    }
}

RestShape rest_mesh(const PointLayout& layout, const TrackInfo& info, const fs::path& path)
{
    const auto reader = open_tracks({path}, {});
    const std::string source = path.string();
    TrackFrame frame;
    reader->next(frame);
    if (reader->info().point_count != info.point_count) {
        throw Error("{}: {} vertices, but {} has {} points; a rest shape needs one for each",
                    source, reader->info().point_count, info.source, info.point_count);
    }
    const RestShape shape{source, points_of(frame.position, layout.points),
                          reader->info().triangles};
    check_whole(shape.points, layout, source, "correct the file");
    return shape;
}

RestShape rest_frame(const PointLayout& layout, const RecordingScan& first,
                     const ImportOptions& options)
{
    const std::string& source = first.info.source;
    if (first.rest_frame.empty() && options.rest_frame) {
        throw Error(Field{"rest_frame"}, "{}: there is no frame {} to lay out flat; it has {}",
                    source, *options.rest_frame, first.stamps.time.size());
    }
    if (first.rest_frame.empty()) {
        throw Error(
            "{}: no frame shows every point, so none can be laid out flat; give the rest shape "
            "with `grid` or `rest`, or leave points out with `dropped`",
            source);
    }
    check_whole(first.rest_frame, layout, source,
                "name a frame that shows every point with `rest_frame`");
    return {source, first.rest_frame, first.info.triangles};
}

// In the units of its file; scaled later.
Layout laid_out(const RestShape& shape, std::size_t point_count, const ImportOptions& options)
{
    constexpr int kNearest = 8;  // those around a point of a grid
    constexpr double kCrumpled = 0.1;
    const bool whole = shape.points.size() == point_count && !shape.triangles.empty();
    const std::vector<Link> links =
        whole ? triangle_links(shape.triangles) : nearest_links(shape.points, kNearest);
    const Layout flat = options.rest.empty() ? flatten(shape.points, links, shape.source)
                                             : flatten_mesh(shape.points, links, shape.source);
    if (!(flat.width > 1e-6 * flat.length)) {
        throw Error("{}: all points lie on one line; a sheet needs points beside it", shape.source);
    }
    if (flat.strain > kCrumpled && !options.trust) {
        throw Error(
            "{}: cannot be laid out flat: distances would change by {:.0f} %; choose a frame in "
            "which the cloth is smooth with `rest_frame`, or give `grid` or `rest`",
            shape.source, 100 * flat.strain);
    }
    return flat;
}

// Sides of a shape as numbers of the distances between its neighbours, the longer one first.
std::pair<double, double> sides_of(const Layout& flat)
{
    std::vector<Vec3d> points;
    for (const SheetPoint& p : flat.points) points.push_back({p.u, 0, p.v});
    std::vector<double> nearest(points.size(), HUGE_VAL);
    for (const auto& [a, b] : nearest_links(points, 1)) {
        const double distance = length(points[std::size_t(b)] - points[std::size_t(a)]);
        for (const int p : {a, b}) {
            nearest[std::size_t(p)] = std::min(nearest[std::size_t(p)], distance);
        }
    }
    const double usual = quantile(nearest, 0.5);
    return {std::max(flat.length, flat.width) / usual, std::min(flat.length, flat.width) / usual};
}

// The points of a frame by themselves, which needs no order; none where they cannot be laid out.
std::optional<Layout> laid_by_itself(const RecordingScan& scan)
{
    constexpr int kNearest = 8;
    constexpr double kCrumpled = 0.1;
    if (scan.rest_frame.empty() ||
        !std::all_of(scan.rest_frame.begin(), scan.rest_frame.end(), is_seen)) {
        return std::nullopt;
    }
    try {
        const Layout flat = flatten(scan.rest_frame, nearest_links(scan.rest_frame, kNearest), "");
        return flat.strain < kCrumpled ? std::optional(flat) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

// Another shape than the points have in whatever order: then the order is not what is wrong.
void check_same_shape(const Layout& rest, const RecordingScan& first, const fs::path& file)
{
    constexpr double kSame = 0.2;
    const std::optional<Layout> seen = laid_by_itself(first);
    if (!seen) return;
    const auto [rest_long, rest_short] = sides_of(rest);
    const auto [seen_long, seen_short] = sides_of(*seen);
    if (std::abs(rest_long / seen_long - 1) < kSame &&
        std::abs(rest_short / seen_short - 1) < kSame) {
        return;
    }
    throw Error(
        "{}: it is another mesh than that of the points: laid out flat its sides are {:.3g} and "
        "{:.3g} times the distance of neighbours, those of {} {:.3g} and {:.3g} times; give the "
        "mesh that was tracked, or take it as it is with `trust`",
        file.string(), rest_long, rest_short, first.info.source, seen_long, seen_short);
}

// By the nearest points in space, which needs no unit.
void check_order(const std::vector<PointFrame>& samples, const Layout& flat,
                 const RecordingScan& first, const fs::path& file)
{
    constexpr double kTorn = 0.3;  // of folded cloths a tenth at most; of lists out of order most
    const std::vector<SheetPoint>& rest = flat.points;
    const double torn = torn_share(samples, rest, neighbours_on_sheet(rest));
    if (torn < kTorn) return;
    check_same_shape(flat, first, file);
    throw Error(
        "{}: places that are neighbours belong to points that lie far apart ({:.0f} % of them more "
        "than twice as far as usual); it must list the same points in the same order: list them "
        "so, or take it as it is with `trust`",
        file.string(), 100 * torn);
}

// Takes the layout to the size of the sheet, in metres.
void scale_layout(PointLayout& layout, const Layout& flat, const RestUnit& unit,
                  std::string_view source, const ImportOptions& options)
{
    constexpr double kSameSize = 0.2;
    const double length = unit.metres * flat.length, width = unit.metres * flat.width;
    const auto fitted = [&](std::optional<double> stated, double found, const char* field) {
        if (!stated) return found;
        if (std::abs(found / *stated - 1) > kSameSize && !options.trust) {
            throw Error(Field{field},
                        "{}: laid out flat the sheet is {:.4g} x {:.4g} m, but {} m was given; "
                        "check it and the unit ({})",
                        source, length, width, *stated, unit.reason);
        }
        return *stated;
    };
    Sheet& sheet = layout.shape.sheet;
    sheet.length = fitted(options.length, length, "length");
    sheet.width = fitted(options.width, width, "width");
    for (const SheetPoint& p : flat.points) {
        layout.shape.rest.push_back(
            {p.u * sheet.length / flat.length, p.v * sheet.width / flat.width});
    }
}

void lay_shape(PointLayout& layout, const std::vector<RecordingScan>& scans,
               const std::vector<PointFrame>& samples, const ImportOptions& options)
{
    constexpr double kUnclear =
        0.03;  // sides of noisy layouts differ by 2 % from recording to recording
    const RecordingScan& first = scans.front();
    const bool mesh = !options.rest.empty();
    const RestShape shape =
        mesh ? rest_mesh(layout, first.info, options.rest) : rest_frame(layout, first, options);
    const Layout flat = laid_out(shape, first.info.point_count, options);
    layout.strain = flat.strain;
    layout.fit_remedy =
        mesh ? fmt::format(
                   "check `rest_unit` and that {} lists its vertices in the order of the "
                   "points",
                   shape.source)
             : "check `length` and `width`";
    if (mesh && !options.trust) check_order(samples, flat, first, options.rest);
    // A frame has the unit of all frames.
    const double stretch = mesh ? seen_stretch(samples, flat.points, first.info.source) : 1;
    const RestUnit unit = choose_rest_unit(layout, {shape.source, flat.length, stretch}, options);
    scale_layout(layout, flat, unit, shape.source, options);
    layout.rest_reason = mesh ? fmt::format("the vertices of {} ({}){}", shape.source, unit.reason,
                                            flat.strain > 0 ? ", laid out flat" : "")
                              : fmt::format("frame {}, laid out flat", first.rest_frame_number);
    if (mesh || flat.margin > kUnclear) return;
    layout.warnings.push_back(
        "the first points lie so close to the middle of the sheet that other recordings may come "
        "out "
        "turned over; import them with `rest` and the motion file of this one");
}

// ---- An earlier motion ----

void take_rest(PointLayout& layout, const std::vector<PointFrame>& samples,
               const RecordingScan& first, const ImportOptions& options)
{
    const TrackInfo& info = first.info;
    constexpr double kSame = 1e-3;
    const MotionHeader header = MotionReader(options.rest).header();
    const std::string source = options.rest.string();
    if (header.landmark_count() != layout.points.size()) {
        throw Error(
            "{}: {} rest places, but {} has {} points{}; a motion file serves as `rest` for the "
            "same points, so leave out the same ones with `dropped`",
            source, header.landmark_count(), info.source, layout.points.size(),
            layout.points.size() < info.point_count ? " that are kept" : "");
    }
    for (const auto& [stated, stored, field] :
         {std::tuple{options.length, header.sheet.length, "length"},
          std::tuple{options.width, header.sheet.width, "width"}}) {
        if (!stated || std::abs(*stated / stored - 1) <= kSame) continue;
        throw Error(Field{field},
                    "{} m was given, but the sheet of {} is {:.6g} x {:.6g} m; leave it out, or "
                    "import the first recording with it as well",
                    *stated, source, header.sheet.length, header.sheet.width);
    }
    if (options.rest_unit) {
        throw Error(Field{"rest_unit"}, "{} is a motion file, which is in metres; leave it out",
                    source);
    }
    layout.shape.sheet.length = header.sheet.length;
    layout.shape.sheet.width = header.sheet.width;
    layout.shape.rest = header.rest;
    layout.rest_reason = "those of " + source;
    layout.fit_remedy = fmt::format("check that {} has the same points in the same order", source);
    if (options.trust) return;
    Layout flat;
    flat.points = header.rest;
    flat.length = header.sheet.length;
    flat.width = header.sheet.width;
    check_order(samples, flat, first, options.rest);
}

}  // namespace

std::vector<PointFrame> all_samples(const std::vector<RecordingScan>& scans)
{
    std::vector<PointFrame> samples;
    for (const RecordingScan& scan : scans) {
        samples.insert(samples.end(), scan.samples.begin(), scan.samples.end());
    }
    return samples;
}

double seen_stretch(const std::vector<PointFrame>& samples, const std::vector<SheetPoint>& rest,
                    std::string_view source)
{
    const double stretch = median_stretch(samples, rest, neighbours_on_sheet(rest));
    if (!std::isnan(stretch)) return stretch;
    throw Error("{}: no frame shows two neighbouring points; are all cells blank?", source);
}

void find_rest_places(PointLayout& layout, const std::vector<RecordingScan>& scans,
                      const ImportOptions& options)
{
    const std::vector<PointFrame> samples = all_samples(scans);
    const TrackInfo& info = scans.front().info;
    if (options.grid && is_one_row(*options.grid)) {
        lay_rope(layout, samples, info, options);
    } else if (options.grid) {
        lay_grid(layout, samples, info, options);
    } else if (!options.rest.empty() && motion_file::is_hdf5(options.rest)) {
        take_rest(layout, samples, scans.front(), options);
    } else if (options.rest.empty() && looks_like_rope(samples, info, options)) {
        lay_rope(layout, samples, info, options);
    } else {
        lay_shape(layout, scans, samples, options);
    }
}

}  // namespace springtime
