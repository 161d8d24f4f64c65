#include "learn/rod_fit.h"

#include <algorithm>
#include <cmath>

#include "geometry/point_line.h"
#include "learn/recording_fit.h"
#include "physics/rod.h"
#include "springtime/error.h"
#include "springtime/evaluate.h"

namespace springtime {

namespace {

// Held ends of a rope, by its landmarks in their order.
struct RopeEnds {
    std::vector<int> order;  // landmarks along the rope
    bool first = false, last = false;
};

std::optional<RopeEnds> rope_ends(const Motion& motion)
{
    constexpr std::size_t kFewest = 5;  // landmarks, of which one at least is free
    const std::vector<SheetPoint>& rest = motion.header.rest;
    const auto line = line_of(rest);
    if (!line || rest.size() < kFewest || motion.rollout_count() == 0) return std::nullopt;
    RopeEnds ends{order_along(*line, rest), true, true};
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        const std::vector<int> held = motion.read(r, 0, 1).handles.particles;
        const auto holds = [&](std::size_t place) {
            return std::find(held.begin(), held.end(), ends.order[place]) != held.end();
        };
        ends.first = ends.first && holds(0) && holds(1);
        ends.last = ends.last && holds(rest.size() - 1) && holds(rest.size() - 2);
    }
    return ends.first || ends.last ? std::optional(ends) : std::nullopt;
}

Globals as_stated(const MotionHeader& header)
{
    Globals globals;
    globals.stated_length = globals.length.value = header.sheet.length;
    globals.stated_width = globals.width.value = header.sheet.width;
    globals.gravity = header.environment.gravity;
    return globals;
}

// The rope without its rod: particles at the landmarks, stiff springs between neighbours.
Cloth bare_rope(const MotionHeader& header, const RopeEnds& ends)
{
    // The frequency of springs, against that of a pendulum as long as the rope. A rope that hangs
    // stretches by less than a thousandth.
    constexpr double kStiff = 3e4, kDamped = 0.2;
    Cloth rope;
    rope.sheet = header.sheet;
    rope.globals = as_stated(header);
    for (const int landmark : ends.order) rope.rest.push_back(header.rest[std::size_t(landmark)]);
    const std::size_t count = rope.rest.size();
    const double extent = length(rope.rest.back() - rope.rest.front());
    rope.mass.assign(count, 0);
    for (std::size_t s = 0; s + 1 < count; ++s) {
        const double rest = length(rope.rest[s + 1] - rope.rest[s]);
        rope.springs.ends.push_back({int(s), int(s) + 1});
        rope.springs.family.push_back(SpringFamily::structural);
        rope.springs.rest_length.push_back(rest);
        for (const std::size_t p : {s, s + 1})
            rope.mass[p] += 0.5 * rest / extent * header.sheet.mass;
    }
    // Held particles share their mass evenly: a light one would need short steps for nothing.
    const auto even_out = [&](std::size_t a, std::size_t b) {
        rope.mass[a] = rope.mass[b] = 0.5 * (rope.mass[a] + rope.mass[b]);
    };
    if (ends.first) even_out(0, 1);
    if (ends.last) even_out(count - 2, count - 1);
    const double gravity = std::max(1.0, length(header.environment.gravity));
    const double rate = std::sqrt(kStiff * gravity / extent);
    for (std::size_t s = 0; s + 1 < count; ++s) {
        const double lighter = std::min(rope.mass[s], rope.mass[s + 1]);
        rope.springs.stiffness.push_back(lighter * rate * rate);
        rope.springs.damping.push_back(kDamped * lighter * rate);
    }
    return rope;
}

// Clamps that leave the rope without twist in the first frame of the motion.
struct Clamps {
    std::optional<Rod::Clamp> first, last;
};

Clamps untwisted_clamps(const Motion& motion, const RopeEnds& ends)
{
    const std::size_t frames = std::min(motion.frame_counts[0], Rollout::kStateFrames);
    const State state = motion.read(0, 0, frames).state(0, motion.header);
    const auto tangent = [&](std::size_t edge) {
        return unit_vector(state.position[std::size_t(ends.order[edge + 1])] -
                           state.position[std::size_t(ends.order[edge])]);
    };
    Rod::Clamp end{tangent(0), {}};
    end.normal = direction_across(end.tangent);
    Clamps clamps;
    if (ends.first) clamps.first = end;
    for (std::size_t edge = 1; edge + 1 < ends.order.size(); ++edge) {
        end = {tangent(edge), transported(end.tangent, tangent(edge), end.normal)};
    }
    if (ends.last) clamps.last = end;
    return clamps;
}

// The unknowns of a rod: logarithms of bending, bending damping, twisting over bending and of its
// edges over the distances between landmarks at rest (they are chords of a bent rope), the root of
// drag, how far the last clamp is rolled against the
// first, and the curvature at some joints, times the length of the rope; between them it is linear.
class RodModel {
  public:
    RodModel(const Motion& motion, const RopeEnds& ends);

    static constexpr std::size_t kBending = 0, kDamping = 1, kTwisting = 2, kLength = 3, kDrag = 4,
                                 kRoll = 5;  // places among the unknowns; the curvatures follow
    const std::vector<FitUnknown>& unknowns() const { return unknowns_; }
    Cloth cloth(const std::vector<double>& values) const;

  private:
    static constexpr std::size_t kMostKnots = 12;

    Cloth rope_;
    std::optional<Rod::Clamp> first_, last_;
    double bending_ = 0, damping_ = 0;  // at the start
    double extent_ = 0;
    std::vector<double> knots_;  // places along the rope [m]
    std::vector<FitUnknown> unknowns_;
};

RodModel::RodModel(const Motion& motion, const RopeEnds& ends)
    : rope_(bare_rope(motion.header, ends))
{
    // A rope that bends little under its own weight, and swings for some seconds.
    constexpr double kWeight = 2e-3, kTime = 0.015;
    const std::size_t count = ends.order.size();
    const Clamps clamps = untwisted_clamps(motion, ends);
    first_ = clamps.first;
    last_ = clamps.last;
    extent_ = length(rope_.rest.back() - rope_.rest.front());
    const double gravity = std::max(1.0, length(motion.header.environment.gravity));
    bending_ = kWeight * rope_.sheet.mass * gravity * extent_ * extent_;
    damping_ = kTime * std::sqrt(extent_ / gravity) * bending_;
    const std::size_t joints = count - 2, knots = std::min(joints, kMostKnots);
    for (std::size_t k = 0; k < knots; ++k) {
        const std::size_t joint = knots > 1 ? k * (joints - 1) / (knots - 1) : 0;
        knots_.push_back(length(rope_.rest[joint + 1] - rope_.rest[0]));
    }
    unknowns_ = {{"bending", 0, 2, 0.01, 0.7},
                 {"damping", 0, 2, 0.03, 1.5},
                 {"twisting", 0, 1, 0.03, 0.5},
                 {"length", 0, 0.02, 1e-3, 5e-3},
                 {"root of drag", 0.5, 1, 0.02, 0.3}};
    if (first_ && last_) unknowns_.push_back({"roll", 0, 2, 0.01, 0.5});
    for (std::size_t k = 0; k < 2 * knots; ++k) {
        unknowns_.push_back({"curvature", 0, 30, 0.03, 3});
    }
}

Cloth RodModel::cloth(const std::vector<double>& values) const
{
    Cloth cloth = rope_;
    Rod rod;
    rod.bending = bending_ * std::exp(values[kBending]);
    rod.bending_damping = damping_ * std::exp(values[kDamping]);
    rod.twisting = rod.bending * std::exp(values[kTwisting]);
    rod.first = first_;
    rod.last = last_;
    if (first_ && last_) rod.last->normal = rolled(last_->tangent, last_->normal, values[kRoll]);
    cloth.globals->drag.value = values[kDrag] * values[kDrag];
    for (double& rest : cloth.springs.rest_length) rest *= std::exp(values[kLength]);
    const double* curvature = &values[values.size() - 2 * knots_.size()];
    for (std::size_t p = 1; p + 1 < cloth.particle_count(); ++p) {
        const double place = length(cloth.rest[p] - cloth.rest[0]);
        const auto after = std::upper_bound(knots_.begin(), knots_.end(), place);
        const std::size_t right = std::min(std::size_t(after - knots_.begin()), knots_.size() - 1);
        const std::size_t left = right > 0 ? right - 1 : 0;
        const double gap = knots_[right] - knots_[left];
        const double share = gap > 0 ? std::clamp((place - knots_[left]) / gap, 0.0, 1.0) : 0;
        std::array<double, 2> both{};
        for (std::size_t axis = 0; axis < 2; ++axis) {
            both[axis] =
                ((1 - share) * curvature[2 * left + axis] + share * curvature[2 * right + axis]) /
                extent_;
        }
        rod.curvature.push_back(both);
    }
    cloth.rod = std::move(rod);
    return cloth;
}

// A rope that is gripped anew may lie in its grips in another way.
std::string describe_misfits(const std::vector<double>& errors)
{
    constexpr double kMisfit = 2.5;
    std::vector<double> sorted = errors;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[sorted.size() / 2];
    std::string misfits;
    for (std::size_t r = 0; r < errors.size(); ++r) {
        if (!(errors[r] > kMisfit * median)) continue;
        misfits += fmt::format("{}{} ({:.3g} m)", misfits.empty() ? "" : ", ", r, errors[r]);
    }
    if (misfits.empty()) return misfits;
    return fmt::format(
        "warning: one shape of the rope follows half of the rollouts to {:.3g} m or closer, but "
        "not rollout {}: if the rope was gripped anew there, learn those rollouts by themselves\n",
        median, misfits);
}

}  // namespace

bool has_clamped_end(const Motion& motion)
{
    return rope_ends(motion).has_value();
}

Cloth fit_rod(const Motion& motion, int threads, const Progress& progress)
{
    const std::optional<RopeEnds> ends = rope_ends(motion);
    if (!ends) {
        throw Error(
            "rod: the motion is not that of a rope whose two first or two last landmarks are held "
            "in all rollouts; name them as driven or pinned");
    }
    constexpr double kSeconds = 5;  // of every recording: what comes later says little more
    constexpr int kIterations = 40;
    CaptureRun run(motion, Device::automatic);
    run.set_horizon(kSeconds);
    const RodModel model(motion, *ends);
    RecordingFit fit(
        run, model.unknowns(),
        [&](const std::vector<double>& values) { return model.cloth(values); }, threads);
    for (int i = 0; i < kIterations; ++i) {
        progress.report({"fit rod", double(i), double(kIterations), "iterations", {}});
        if (!fit.improve()) break;
    }
    Cloth cloth = model.cloth(fit.values());
    const std::size_t root = RodModel::kDrag;  // drag is its square
    cloth.globals->drag.error = 2 * std::abs(fit.values()[root]) * fit.errors()[root];
    return cloth;
}

ValidationError rod_error(const Cloth& rope, const Motion& motion, int threads,
                          const Progress& progress)
{
    const int substeps = stable_substeps(rope, motion.header.environment, motion.header.dt);
    const MotionError error =
        surrogate_error(rope, motion, Device::automatic, threads, progress, substeps);
    return {error.mean, error.per_rollout};
}

std::string describe_rod(const Cloth& rope, const ValidationError& error)
{
    const Rod& rod = *rope.rod;
    return fmt::format(
               "elastic rod: bending {:.3g} N m^2, damped within {:.2g} s; twisting {:.3g} N m^2; "
               "by itself bent to radii of {:.2g} m and more; drag {:.2g} +- {:.1g} 1/s\n",
               rod.bending, rod.bending_damping / rod.bending, rod.twisting,
               1 / largest_curvature(rod), rope.globals->drag.value,
               rope.globals->drag.error.value_or(0)) +
           describe_misfits(error.by_rollout);
}

}  // namespace springtime
