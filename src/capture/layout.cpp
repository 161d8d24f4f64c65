#include "capture/layout.h"

#include <algorithm>
#include <cmath>

#include "capture/plausible.h"
#include "capture/rest_places.h"
#include "capture/units.h"
#include "springtime/error.h"

namespace springtime {

namespace {

void state_unit(PointLayout& layout, const TrackInfo& info, const ImportOptions& options)
{
    layout.placing.unit = options.unit.value_or(info.unit.value_or(1));
    if (!options.unit && !info.unit) return;  // to be found out
    layout.unit_reason = fmt::format("{}, {}", name_of_unit(layout.placing.unit),
                                     options.unit ? "as given" : "as the file says");
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
                    "times along the width; check `length`, `width` and the order of the grid",
                    u, v));
}

// Millimetres and grams that were given as metres and kilograms make a sheet like no other, but
// nothing else contradicts them.
void compare_size(PointLayout& layout)
{
    constexpr double kLeast = 0.01, kMost = 30;  // [m]
    const Sheet& sheet = layout.shape.sheet;
    const double longest = std::max(sheet.length, sheet.width);
    if (longest >= kLeast && longest <= kMost) return;
    layout.warnings.push_back(
        fmt::format("the sheet is {:.4g} x {:.4g} m; check `length` and `width`, which are in "
                    "metres, `mass`, which is in kilograms, and `unit`",
                    sheet.length, sheet.width));
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
    throw Error(Field{"up"}, "'{}' is not an axis; there are x, y, z, -x, -y and -z", up);
}

std::string PointLayout::label(int landmark) const
{
    return names.empty() ? fmt::format("{}", points[std::size_t(landmark)])
                         : fmt::format("'{}'", names[std::size_t(landmark)]);
}

PointLayout lay_out(const std::vector<RecordingScan>& scans, const ImportOptions& options)
{
    const RecordingScan& first = scans.front();
    const std::string& source = first.info.source;
    PointLayout layout;
    layout.shape.sheet = {options.length.value_or(0), options.width.value_or(0), options.mass};
    layout.points = first.points;
    if (!first.info.names.empty()) {
        for (const int p : first.points) layout.names.push_back(first.info.names[std::size_t(p)]);
    }
    state_up(layout, first.info, options);
    state_unit(layout, first.info, options);
    find_rest_places(layout, scans, options);
    layout.shape.mass.assign(layout.points.size(), options.mass / double(layout.points.size()));
    const std::vector<PointFrame> samples = all_samples(scans);
    const double stretch = seen_stretch(samples, layout.shape.rest, source);
    if (layout.unit_reason.empty()) choose_unit(layout, stretch, source, options.trust);
    if (!options.trust) check_unit(layout, stretch, source);
    layout.stretch = stretch * layout.placing.unit;
    compare_directions(layout, samples, neighbours_on_sheet(layout.shape.rest));
    compare_size(layout);
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
int landmark_of(const PointLayout& layout, int number, const std::string& field)
{
    const auto found = std::find(layout.points.begin(), layout.points.end(), number);
    if (found == layout.points.end()) {
        throw Error(Field{field}, "point {} is left out by `dropped`; hold another", number);
    }
    return int(found - layout.points.begin());
}

std::vector<int> landmarks_at(const PointLayout& layout, const TrackInfo& info,
                              const std::string& name, const std::string& field)
{
    const bool in_file = std::find(info.names.begin(), info.names.end(), name) != info.names.end();
    if (in_file || name.ends_with('*') || name.starts_with("particle:")) {
        std::vector<int> found;
        for (const int number : numbers_named(info, name, field)) {
            found.push_back(landmark_of(layout, number, field));
        }
        return found;
    }
    const bool edge =
        name == "edge-north" || name == "edge-south" || name == "edge-west" || name == "edge-east";
    if (edge && !layout.shape.grid) return along_edge(layout, name);
    try {
        return particles_named(layout.shape, name);
    } catch (const Error& error) {
        throw Error(Field{field}, "'{}' is neither a point of the file nor a place: {}", name,
                    error.what());
    }
}

}  // namespace

std::vector<int> landmarks_named(const PointLayout& layout, const TrackInfo& info,
                                 const std::vector<std::string>& names, const std::string& field)
{
    std::vector<int> landmarks;
    for (const std::string& name : names) {
        const std::vector<int> found = landmarks_at(layout, info, name, field);
        landmarks.insert(landmarks.end(), found.begin(), found.end());
    }
    std::sort(landmarks.begin(), landmarks.end());
    landmarks.erase(std::unique(landmarks.begin(), landmarks.end()), landmarks.end());
    return landmarks;
}

namespace {

// Of the four corners, those that are not held and lie higher than the middle of all points.
std::string upper_corners(const std::vector<PointFrame>& samples, const PointLayout& layout,
                          const std::vector<int>& held)
{
    std::string names;
    for (const char* name : {"corner-nw", "corner-ne", "corner-sw", "corner-se"}) {
        const int corner = particles_named(layout.shape, name).front();
        if (std::find(held.begin(), held.end(), corner) != held.end()) continue;
        const Vec3d others = layout.placing.direction(hanging(samples, {corner}));
        if (others.y < 0) names += fmt::format("{}`driven` {}", names.empty() ? "" : " ", name);
    }
    return names;
}

// The held points are below the cloth. That the wrong ones were named is more likely than an axis
// that points down, so it comes first.
[[noreturn]] void refuse_lower(const std::vector<RecordingScan>& scans, const PointLayout& layout,
                               const std::vector<int>& held, double size, const std::string& up)
{
    const std::string upper = upper_corners(all_samples(scans), layout, held);
    throw Error(
        "{}: the named points are the lower ones: on average the cloth lies {:.2g} m above them, "
        "where {} is up ({}); name the points that hold it{}; if the axis is wrong give `up` {}, "
        "and if all is right insist with `trust`",
        scans.front().info.source, size, layout.placing.up, layout.up_reason,
        upper.empty() ? "" : fmt::format(", perhaps {}", upper), up);
}

}  // namespace

void check_hanging(const std::vector<RecordingScan>& scans, const PointLayout& layout,
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
    if (falls < -0.8) refuse_lower(scans, layout, held, size, up);
    throw Error(
        "{}: the cloth does not hang down from what holds it: on average it lies {:.2g} m along "
        "{}{} "
        "of the file, where {} is up ({}); if the axis is wrong give `up` {}, if other points are "
        "held name them, and if all is right insist with `trust`",
        scans.front().info.source, size, found[axis] > 0 ? "+" : "-", "xyz"[axis],
        layout.placing.up, layout.up_reason, up);
}

}  // namespace springtime
