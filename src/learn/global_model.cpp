#include "learn/global_model.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

// How far what is stated may be off: found on captures of a napkin that a robot swings (sizes by
// 5 %, corners by 3 % of the side, the axis of gravity by 3 degrees, lengths of paths by 3 %).
constexpr double kSizeSpread = 0.1, kDragSpread = 1, kAirSpread = 0.3, kTiltSpread = 0.05,
                 kDelaySpread = 0.03, kTurnSpread = 0.03, kStretchSpread = 0.03,
                 kOffsetSpread = 0.03, kLevelSpread = 1;

// The levels begin like cloth: its weight stretches it by a fiftieth, diagonals have a third of
// that stiffness, and what is critical damping of one particle on one spring is far away.
constexpr double kOwnStretch = 0.02, kDiagonalPart = 0.33, kBendPart = 0.002, kAlongPart = 0.05,
                 kIsotropicPart = 0.01, kBendDampingPart = 0.003;

const char* const kAxisNames[] = {"x", "y", "z"};
const char* const kStrainNames[] = {"xx", "yy", "zz", "yz", "zx", "xy"};

std::string offset_name(std::size_t held, int axis)
{
    return "offset " + std::to_string(held) + kAxisNames[axis];
}

std::string stretch_name(const char* strain)
{
    return std::string("stretch ") + strain;
}

std::vector<int> moving_landmarks(const Motion& motion)
{
    std::vector<int> held;
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        const Handles handles = motion.read(r, 0, 1).handles;
        if (!handles.moving()) continue;
        for (const int landmark : handles.particles) {
            if (std::find(held.begin(), held.end(), landmark) == held.end())
                held.push_back(landmark);
        }
    }
    std::sort(held.begin(), held.end());
    return held;
}

}  // namespace

std::string_view name_of(GlobalKind kind)
{
    constexpr std::array<std::string_view, kGlobalKinds.size()> kNames{
        "size", "drag", "air", "tilt", "delay", "paths", "tracker"};
    return kNames[std::size_t(kind)];
}

GlobalModel::GlobalModel(const Motion& motion, const GlobalsOptions& options)
    : header_(motion.header), grid_(options.grid), held_(moving_landmarks(motion))
{
    const auto fits = [&](GlobalKind kind) {
        return std::find(options.fixed.begin(), options.fixed.end(), kind) == options.fixed.end();
    };
    const double size = std::sqrt(header_.sheet.length * header_.sheet.width);
    if (fits(GlobalKind::size)) {
        if (grid_.cols > 1) add({"length", 0, kSizeSpread, 0.003, 0.05});
        if (grid_.rows > 1) add({"width", 0, kSizeSpread, 0.003, 0.05});
    }
    if (fits(GlobalKind::drag)) {
        add({"drag", std::log(std::max(header_.environment.drag, 0.1)), kDragSpread, 0.05, 1});
    }
    // A rope carries hardly any air.
    if (fits(GlobalKind::air) && grid_.rows > 1 && grid_.cols > 1) {
        add({"air", 0, kAirSpread, 0.02, 0.2});
    }
    if (fits(GlobalKind::tilt)) {
        add({"tilt x", 0, kTiltSpread, 0.005, 0.05});
        add({"tilt z", 0, kTiltSpread, 0.005, 0.05});
    }
    if (fits(GlobalKind::delay) && !held_.empty()) add({"delay", 0, kDelaySpread, 0.004, 0.05});
    fits_tracker_ = fits(GlobalKind::tracker);
    can_steady_ = fits(GlobalKind::paths) && !held_.empty();
    if (fits(GlobalKind::paths)) {
        for (int axis = 0; axis < 3 && !held_.empty(); ++axis) {
            add({std::string("turn ") + kAxisNames[axis], 0, kTurnSpread, 0.005, 0.05});
        }
        for (const char* strain : kStrainNames) {
            if (!held_.empty()) add({stretch_name(strain), 0, kStretchSpread, 0.005, 0.05});
        }
        for (std::size_t h = 0; h < held_.size(); ++h) {
            for (int axis = 0; axis < 3; ++axis) {
                add({offset_name(h, axis), 0, kOffsetSpread * size, 0.003 * size, 0.05 * size});
            }
        }
    }
    for (const char* level :
         {"stiffness", "diagonal stiffness", "damping", "isotropic damping", "bend stiffness"}) {
        add({level, 0, kLevelSpread, 0.05, 1});
    }
}

std::vector<double> GlobalModel::start() const
{
    std::vector<double> values;
    for (const FitUnknown& unknown : unknowns_) values.push_back(unknown.start);
    return values;
}

std::size_t GlobalModel::index_of(const std::string& name) const
{
    const auto found =
        std::find_if(unknowns_.begin(), unknowns_.end(),
                     [&](const FitUnknown& unknown) { return unknown.name == name; });
    return std::size_t(found - unknowns_.begin());
}

FittedNumber GlobalModel::number(const std::string& name, double stated,
                                 const std::vector<double>& values,
                                 const std::vector<double>& errors) const
{
    const std::size_t i = index_of(name);
    if (i == unknowns_.size()) return {stated, std::nullopt};
    return {values[i], errors.empty() ? std::nullopt : std::optional<double>(errors[i])};
}

Globals GlobalModel::globals(const std::vector<double>& values,
                             const std::vector<double>& errors) const
{
    const auto of = [&](const std::string& name, double stated) {
        return number(name, stated, values, errors);
    };
    // The unknown is the logarithm.
    const auto scaled = [](FittedNumber number, double unit) {
        const double value = unit * std::exp(number.value);
        if (number.error) number.error = value * *number.error;
        return FittedNumber{value, number.error};
    };
    constexpr double kSteadySeconds = 0.4;  // at most that is between turns of a swing
    Globals globals;
    if (steady_) globals.steadied = kSteadySeconds;
    globals.stated_length = header_.sheet.length;
    globals.stated_width = header_.sheet.width;
    globals.length = scaled(of("length", 0), header_.sheet.length);
    globals.width = scaled(of("width", 0), header_.sheet.width);
    const double drag = header_.environment.drag;
    globals.drag = index_of("drag") < unknowns_.size() ? scaled(of("drag", 0), 1)
                                                       : FittedNumber{drag, std::nullopt};
    // The unknown is log(1 + air).
    globals.air = scaled(of("air", 0), 1);
    globals.air.value -= 1;
    globals.tilt_x = of("tilt x", 0);
    globals.tilt_z = of("tilt z", 0);
    const Vec3d gravity = header_.environment.gravity;
    const double stated = length(gravity), strength = stated / (1 + globals.air.value);
    const Vec3d tilted = gravity + stated * Vec3d{globals.tilt_x.value, 0, globals.tilt_z.value};
    globals.gravity = strength > 0 ? (strength / length(tilted)) * tilted : gravity;
    globals.delay = of("delay", 0);
    for (int axis = 0; axis < 3; ++axis) {
        globals.turn[std::size_t(axis)] = of(std::string("turn ") + kAxisNames[axis], 0);
    }
    for (std::size_t i = 0; i < globals.stretch.size(); ++i) {
        globals.stretch[i] = of(stretch_name(kStrainNames[i]), 0);
    }
    globals.tracker = tracker_;
    for (std::size_t h = 0; h < held_.size(); ++h) {
        HeldOffset held{held_[h], {}, {}};
        for (int axis = 0; axis < 3; ++axis) {
            const FittedNumber number = of(offset_name(h, axis), 0);
            held.offset[axis] = number.value;
            held.error[axis] = number.error.value_or(0);
        }
        globals.offsets.push_back(held);
    }
    return globals;
}

Cloth GlobalModel::cloth(const std::vector<double>& values) const
{
    const Globals fitted = globals(values);
    Sheet sheet = header_.sheet;
    const double weight = sheet.mass * std::max(1.0, length(header_.environment.gravity));
    const double extent = std::max(sheet.length, sheet.width);
    sheet.length = fitted.length.value;
    sheet.width = fitted.width.value;
    const auto level = [&](const char* name) { return std::exp(values[index_of(name)]); };
    const double stiffness = level("stiffness") * weight / (kOwnStretch * extent);
    const double particle = sheet.mass / (grid_.rows * grid_.cols);
    const double critical = 2 * std::sqrt(stiffness * particle);
    Cloth cloth = make_grid_cloth(sheet, grid_, MaterialField::uniform(stiffness),
                                  MaterialField::uniform(level("damping") * kAlongPart * critical));
    set_law(cloth, {{}, true, true});
    const double diagonal = level("diagonal stiffness") * kDiagonalPart * stiffness;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const SpringFamily family = cloth.springs.family[s];
        if (family == SpringFamily::structural) continue;
        // Quadratic bending does what springs across two cells are for.
        cloth.springs.stiffness[s] =
            family == SpringFamily::bending ? kBendPart * stiffness : diagonal;
    }
    const double isotropic = level("isotropic damping") * kIsotropicPart * critical;
    std::fill(cloth.springs.isotropic_damping.begin(), cloth.springs.isotropic_damping.end(),
              isotropic);
    const double bend = level("bend stiffness") * kBendPart * stiffness;
    std::fill(cloth.bends.stiffness.begin(), cloth.bends.stiffness.end(), bend);
    std::fill(cloth.bends.damping.begin(), cloth.bends.damping.end(), kBendDampingPart * critical);
    cloth.globals = fitted;
    return cloth;
}

}  // namespace springtime
