// Ropes that bend and twist as elastic rods: formulas, files, and learning them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "core/random.h"
#include "error_of.h"
#include "learn/rod_fit.h"
#include "sim/rod.h"
#include "sim/tape.h"
#include "springtime/evaluate.h"
#include "springtime/files.h"
#include "springtime/learn.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kBending = 2e-3, kTwisting = 1.5e-3;  // [N m^2]

// Of uneven edges, when `spacing` says so. Clamped at both ends, which lie along x.
Cloth rod_cloth(const std::vector<double>& spacing)
{
    Cloth cloth;
    double along = 0;
    cloth.rest.push_back({0, 0.01});
    for (std::size_t s = 0; s < spacing.size(); ++s) {
        along += spacing[s];
        cloth.rest.push_back({along, 0.01});
        cloth.springs.ends.push_back({int(s), int(s) + 1});
        cloth.springs.family.push_back(SpringFamily::structural);
        cloth.springs.rest_length.push_back(spacing[s]);
        cloth.springs.stiffness.push_back(800);
        cloth.springs.damping.push_back(0.2);
    }
    cloth.sheet = {along, 0.02, 0.05 * along};
    cloth.mass.assign(cloth.rest.size(), 0);
    for (std::size_t s = 0; s < spacing.size(); ++s) {
        for (const std::size_t p : {s, s + 1}) cloth.mass[p] += 0.5 * 0.05 * spacing[s];
    }
    Rod rod{kBending, 0, kTwisting, {}, {}, {}};
    rod.curvature.assign(spacing.size() - 1, {0, 0});
    rod.first = rod.last = Rod::Clamp{{1, 0, 0}, {0, 1, 0}};
    cloth.rod = rod;
    return cloth;
}

std::vector<Vec3d> straight(const Cloth& cloth)
{
    std::vector<Vec3d> position;
    for (const SheetPoint& x : cloth.rest) position.push_back({x.u, 0, 0});
    return position;
}

std::vector<Vec3d> forces_of(const Cloth& cloth, const std::vector<Vec3d>& position)
{
    std::vector<Vec3d> force(position.size());
    RodForces(cloth).add(position, std::vector<Vec3d>(position.size()), force);
    return force;
}

// A rope with a shape of its own, bent and twisted in all directions.
struct Tangle {
    Cloth cloth = rod_cloth({0.08, 0.1, 0.12, 0.1, 0.09, 0.11});
    std::vector<Vec3d> position = straight(cloth);

    explicit Tangle(std::uint64_t seed)
    {
        Random random(seed);
        for (auto& [a, b] : cloth.rod->curvature) {
            a = 3 * random.normal();
            b = 3 * random.normal();
        }
        for (Vec3d& x : position) {
            x += 0.02 * Vec3d{random.normal(), random.normal(), random.normal()};
        }
        cloth.rod->last->normal = rolled({1, 0, 0}, {0, 1, 0}, random.normal());
    }
};

// ---- Formulas

// The frames are those of least energy, so moving a free particle changes the energy as if they
// stayed. The particles of clamps are held: what turns a clamped frame with its edge is not in the
// forces.
void expect_energy_gradient(const Tangle& tangle, std::size_t first, std::size_t last)
{
    constexpr double kStep = 1e-6;
    const RodForces rod(tangle.cloth);
    const std::vector<Vec3d> force = forces_of(tangle.cloth, tangle.position);
    for (std::size_t p = first; p <= last; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            std::vector<Vec3d> up = tangle.position, down = tangle.position;
            up[p][axis] += kStep;
            down[p][axis] -= kStep;
            const double slope = (rod.energy(up) - rod.energy(down)) / (2 * kStep);
            EXPECT_NEAR(force[p][axis], -slope, 2e-6 * (1 + std::abs(slope)));
        }
    }
}

TEST(Rod, ForceIsMinusTheEnergyGradient)
{
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        Tangle both(seed), one(seed), other(seed);
        expect_energy_gradient(both, 2, 4);
        one.cloth.rod->last.reset();
        expect_energy_gradient(one, 2, 6);
        other.cloth.rod->first.reset();
        expect_energy_gradient(other, 0, 4);
    }
}

TEST(Rod, ForcesSumToZero)
{
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Tangle tangle(seed);
        Vec3d sum{};
        double largest = 0;
        for (const Vec3d& f : forces_of(tangle.cloth, tangle.position)) {
            sum += f;
            largest = std::max(largest, length(f));
        }
        EXPECT_GT(largest, 1e-3);
        EXPECT_LT(length(sum), 1e-12 * largest);
    }
}

TEST(Rod, FreeEndLeavesNoTwist)
{
    // Without a second clamp nothing holds twist, so that a straight rope has no energy whatever
    // its clamp is rolled to, and a bent one turns its own shape into the bend as far as it can.
    Tangle tangle(3);
    for (auto& curvature : tangle.cloth.rod->curvature) curvature = {0, 0};
    tangle.cloth.rod->last.reset();
    const double before = RodForces(tangle.cloth).energy(tangle.position);
    tangle.cloth.rod->first->normal = {0, 0, 1};
    EXPECT_NEAR(RodForces(tangle.cloth).energy(tangle.position), before, 1e-12 * before);
}

TEST(Rod, TwistIsSpreadEvenly)
{
    // G/(2 L) angle^2, with L the length between the middles of the clamped edges.
    Cloth cloth = rod_cloth({0.08, 0.1, 0.12, 0.1, 0.09, 0.11});
    const double angle = 0.7, between = 0.6 - 0.5 * (0.08 + 0.11);
    cloth.rod->last->normal = {0, std::cos(angle), std::sin(angle)};
    EXPECT_NEAR(RodForces(cloth).energy(straight(cloth)), kTwisting * angle * angle / (2 * between),
                1e-12);
}

TEST(Rod, RestsInItsOwnShape)
{
    // A regular polygon whose joints turn by `turn` each has 2 tan(turn/2) of curvature times
    // length. It lies in the plane of the tangent and the first direction of the clamp.
    const double turn = 0.3, edge = 0.1;
    Cloth cloth = rod_cloth(std::vector<double>(8, edge));
    for (auto& curvature : cloth.rod->curvature) curvature = {2 * std::tan(turn / 2) / edge, 0};
    cloth.rod->last.reset();
    std::vector<Vec3d> position{{}};
    for (int e = 0; e < 8; ++e) {
        position.push_back(position.back() +
                           edge * Vec3d{std::cos(e * turn), std::sin(e * turn), 0});
    }
    EXPECT_LT(RodForces(cloth).energy(position), 1e-20);
    for (const Vec3d& f : forces_of(cloth, position)) EXPECT_LT(length(f), 1e-12);
    EXPECT_GT(RodForces(cloth).energy(straight(cloth)), 1e-3);
}

// A cantilever that bends little. Joint j bears the moment M_j of all weights beyond it, and the
// edges turn by M_j l/B there; l^4 q/(8 B) of beam theory is its limit for short edges.
TEST(Rod, CantileverHangsAsABeam)
{
    const int edges = 20;
    const double edge = 0.02, gravity = 1e-3;
    Cloth cloth = rod_cloth(std::vector<double>(edges, edge));
    cloth.rod->last.reset();
    const auto weight = [&](int p) { return cloth.mass[std::size_t(p)] * gravity; };
    std::vector<Vec3d> position{{}, {edge, 0, 0}};
    double slope = 0;
    for (int p = 2; p <= edges; ++p) {
        double moment = 0;
        for (int beyond = p; beyond <= edges; ++beyond) {
            moment += weight(beyond) * edge * (beyond - p + 1);
        }
        slope -= moment * edge / kBending;
        position.push_back(position.back() + Vec3d{edge, edge * slope, 0});
    }
    // The first joint bends over half an edge to either side, so the clamp ends amid its edge.
    const double free = edge * (edges - 0.5), tip = -position.back().y;
    EXPECT_NEAR(tip, 0.05 * gravity * std::pow(free, 4) / (8 * kBending), 0.01 * tip);
    const std::vector<Vec3d> force = forces_of(cloth, position);
    for (int p = 2; p <= edges; ++p) {
        EXPECT_NEAR(force[std::size_t(p)].y, weight(p), 1e-6 * weight(p)) << p;
    }
}

TEST(Rod, KeepsItsEnergyWhileItSwings)
{
    Tangle tangle(2);
    tangle.cloth.rod->bending_damping = 0;
    std::fill(tangle.cloth.springs.damping.begin(), tangle.cloth.springs.damping.end(), 0.0);
    const Environment still{{0, -9.81, 0}, 0, {}};
    const auto drift = [&](double dt) {
        const State start{0, tangle.position, std::vector<Vec3d>(tangle.position.size())};
        Simulation run(tangle.cloth, start, {{0, 1, 5, 6}, {}, {}}, {dt, still});
        const double before = energy_of(tangle.cloth, still, run.state()).total();
        double most = 0;
        for (int i = 0; i < int(0.3 / dt); ++i) {
            EXPECT_FALSE(run.advance(1));
            const double now = energy_of(tangle.cloth, still, run.state()).total();
            most = std::max(most, std::abs(now - before));
        }
        return most;
    };
    // Symplectic Euler: the error of the energy is of first order in the step and does not grow.
    const double coarse = drift(2e-5), fine = drift(1e-5);
    EXPECT_NEAR(coarse / fine, 2, 0.2);
}

// ---- Cloths

TEST(Rod, GoesThroughAClothFile)
{
    Tangle tangle(1);
    tangle.cloth.rod->first.reset();
    tangle.cloth.rod->last->normal = {0, 0.6, 0.8};
    const std::string text = cloth_to_json(tangle.cloth);
    EXPECT_NE(text.find("\"version\": 5"), std::string::npos);
    const Cloth again = cloth_from_json(text, "rod");
    EXPECT_EQ(cloth_to_json(again), text);
    EXPECT_EQ(again.rod->curvature, tangle.cloth.rod->curvature);
    EXPECT_FALSE(again.rod->first);
    EXPECT_EQ(again.rod->last->normal.y, tangle.cloth.rod->last->normal.y);
}

TEST(Rod, BadOnesAreNamed)
{
    const auto error = [](auto change) {
        Cloth cloth = rod_cloth({0.1, 0.1, 0.1});
        change(cloth);
        return error_of([&] { check_cloth(cloth, "rope.json"); });
    };
    EXPECT_EQ(error([](Cloth&) {}), "(no error)");
    EXPECT_EQ(error([](Cloth& c) { c.rod->first.reset(), c.rod->last.reset(); }),
              "rope.json: a rod without a clamp; say how the first or the last end is held");
    EXPECT_EQ(error([](Cloth& c) { c.rod->curvature.pop_back(); }),
              "rope.json: a rod of 2 joints has 1 curvatures; give one each");
    EXPECT_NE(error([](Cloth& c) { c.rod->twisting = 0; }).find("twisting positive"),
              std::string::npos);
    EXPECT_NE(error([](Cloth& c) {
                  c.rod->last->normal = {1, 0, 0};
              }).find("the last clamp"),
              std::string::npos);
    EXPECT_NE(error([](Cloth& c) {
                  c.springs.ends[1] = {2, 1};
              }).find("join each particle"),
              std::string::npos);
}

TEST(Rod, HasNoAdjoint)
{
    const Cloth cloth = rod_cloth({0.1, 0.1, 0.1});
    EXPECT_NE(error_of([&] { make_fast_tape(cloth, {}); }).find("fit_rod"), std::string::npos);
    EXPECT_NE(error_of([&] { make_reference_tape(cloth, {}); }).find("fit_rod"), std::string::npos);
}

// ---- Learning

constexpr double kFps = 50;

// The rope hangs in an arc and is at rest; then its last end swings. 0.2 mm of noise.
std::vector<float> recorded(const Cloth& truth, const Environment& air, int frames,
                            std::uint64_t seed)
{
    const std::size_t count = truth.particle_count();
    std::vector<Vec3d> position{{}};
    for (std::size_t e = 0; e + 1 < count; ++e) {
        const double angle = -1.5 + 3 * double(e) / double(count - 2);
        position.push_back(position.back() + truth.springs.rest_length[e] *
                                                 Vec3d{std::cos(angle), std::sin(angle), 0});
    }
    const int last = int(count) - 1;
    SimulationOptions options{1 / kFps, air};
    options.substeps = kAutomatic;
    Simulation run(truth, {0, position, std::vector<Vec3d>(count)}, {}, options);
    run.hold(std::array{0, 1});
    const HandleId moving = run.hold(std::array{last - 1, last});
    const Vec3d center = run.center(moving);
    Random random(seed);
    const double faster = 1 + 0.5 * random.uniform(), phase = 6 * random.uniform();
    std::vector<float> positions;
    for (int f = -60; f < frames; ++f) {
        const double t = std::max(0, f) / kFps;
        const Vec3d swing{0.05 * (std::sin(5 * faster * t + phase) - std::sin(phase)),
                          0.08 * std::sin(4 * faster * t), 0.15 * std::sin(3.5 * faster * t)};
        run.move(moving, center + swing);
        EXPECT_FALSE(run.advance(1));
        if (f < 0) continue;
        for (const Vec3d& x : run.state().position) {
            for (int axis = 0; axis < 3; ++axis) {
                positions.push_back(float(x[axis] + 2e-4 * random.normal()));
            }
        }
    }
    return positions;
}

TEST(Rod, IsLearnedFromMotionOfARope)
{
    Cloth truth = rod_cloth({0.03, 0.12, 0.13, 0.14, 0.13, 0.12, 0.03});
    for (double& stiffness : truth.springs.stiffness) stiffness = 3000;
    truth.rod->bending = 6e-4;
    truth.rod->twisting = 4e-4;
    truth.rod->bending_damping = 1e-5;
    for (auto& curvature : truth.rod->curvature) curvature = {4, -3};
    truth.rod->first = Rod::Clamp{{std::cos(1.5), -std::sin(1.5), 0}, {0, 0, 1}};
    truth.rod->last = Rod::Clamp{{std::cos(1.5), std::sin(1.5), 0}, {0, 0, 1}};
    const Environment air{{0, -9.81, 0}, 0.4, {}};
    CaptureOptions capture;  // states a drag of 1/s
    capture.driven = {0, 1, 6, 7};
    const auto motion = [&](int frames, std::initializer_list<std::uint64_t> seeds) {
        std::vector<std::vector<float>> arrays;
        for (const std::uint64_t seed : seeds) {
            arrays.push_back(recorded(truth, air, frames, seed));
        }
        std::vector<std::span<const float>> spans(arrays.begin(), arrays.end());
        return Motion::from_arrays(truth.sheet, truth.rest, kFps, spans, capture);
    };
    const Motion seen = motion(60, {1, 2, 4}), unseen = motion(60, {3});
    ASSERT_TRUE(has_clamped_end(seen));
    const Cloth learned = fit_rod(seen, 1, {});
    EXPECT_NEAR(learned.rod->bending, 6e-4, 0.1 * 6e-4);
    EXPECT_NEAR(learned.globals->drag.value, 0.4, 0.2);
    const auto error = [&](const Cloth& cloth) {
        const int substeps = stable_substeps(cloth, air, unseen.header.dt);
        return surrogate_error(cloth, unseen, Device::automatic, 1, {}, substeps).mean;
    };
    Cloth no_shape = learned;
    for (auto& curvature : no_shape.rod->curvature) curvature = {0, 0};
    EXPECT_LT(error(learned), 1.5e-3);
    EXPECT_GT(error(no_shape), 3 * error(learned));
    Motion loose = seen;  // one held landmark at either end gives no direction
    loose.read = [&](std::size_t rollout, std::size_t first, std::size_t count) {
        Rollout frames = seen.read(rollout, first, count);
        frames.handles = {{0, 7}, {}, {}};
        return frames;
    };
    EXPECT_FALSE(has_clamped_end(loose));
    EXPECT_NE(error_of([&] { fit_rod(loose, 1, {}); }).find("name them as driven"),
              std::string::npos);
}

}  // namespace

}  // namespace springtime
