// The way back through formulas, steps and whole clips, against dual numbers, which know nothing of
// adjoints, and against central differences, which know nothing of calculus.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "gradients.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Vec3<Dual> along(const Vec3d& value, const Vec3d& slope)
{
    return {{value.x, slope.x}, {value.y, slope.y}, {value.z, slope.z}};
}

Vec3d slope_of(const Vec3<Dual>& a)
{
    return {a.x.slope, a.y.slope, a.z.slope};
}

Vec3d random_vector(Random& random)
{
    return {random.normal(), random.normal(), random.normal()};
}

// ---- Formulas: <s, Df u> = <Df^T s, u> ----

// All that a spring's force depends on, or a direction in which that changes.
struct SpringInput {
    Vec3d d, v;
    double k, b;

    SpringInput moved(double h, const SpringInput& u) const
    {
        return {d + h * u.d, v + h * u.v, k + h * u.k, b + h * u.b};
    }
};

constexpr double kRestLength = 0.9;

// Neither very short nor very long, so that derivatives have one size.
SpringInput random_spring(Random& random)
{
    const Vec3d d = random_vector(random);
    return {(0.5 + random.uniform()) / length(d) * d, random_vector(random),
            10 + 40 * random.uniform(), 1 + 3 * random.uniform()};
}

SpringInput random_direction(Random& random)
{
    return {random_vector(random), random_vector(random), random.normal(), random.normal()};
}

double spring_dot(const SpringAdjoint<double>& back, const SpringInput& u)
{
    return dot(back.d, u.d) + dot(back.v, u.v) + back.stiffness * u.k + back.damping * u.b;
}

Vec3d force_of(const SpringInput& at)
{
    return spring_force(at.d, at.v, kRestLength, at.k, at.b);
}

TEST(SpringAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(1);
    for (int i = 0; i < 200; ++i) {
        const SpringInput at = random_spring(random), u = random_direction(random);
        const Vec3d s = random_vector(random);
        const Vec3<Dual> f = spring_force(along(at.d, u.d), along(at.v, u.v), Dual(kRestLength),
                                          Dual(at.k, u.k), Dual(at.b, u.b));
        const auto back = spring_adjoint(at.d, at.v, kRestLength, at.k, at.b, s);
        // Some 50 operations on either side; the largest terms are (k + kL/l + 4 b|v|/l) |s||u|.
        const double l = length(at.d);
        const double size = (at.k * (1 + kRestLength / l) + at.b * (1 + 4 * length(at.v) / l)) *
                            length(s) * (length(u.d) + length(u.v) + std::abs(u.k) + std::abs(u.b));
        EXPECT_NEAR(spring_dot(back, u), dot(s, slope_of(f)), 10 * kEpsilon * size);
    }
}

TEST(SpringAdjoint, IsTheLimitOfCentralDifferences)
{
    // The third derivative of d/l along u is at most 12 |u|^3 / l^3, that of d (v.d) / l^2 about 50
    // |u|^2 (|v||u| + l|u_v|) / l^3; the rest is a product of those and of what k and b add.
    const double h = 1e-5;
    Random random(2);
    for (int i = 0; i < 200; ++i) {
        const SpringInput at = random_spring(random), u = random_direction(random);
        const Vec3d s = random_vector(random);
        const Vec3d difference =
            (1 / (2 * h)) * (force_of(at.moved(h, u)) - force_of(at.moved(-h, u)));
        const auto back = spring_adjoint(at.d, at.v, kRestLength, at.k, at.b, s);
        const double l = length(at.d), w = length(u.d) / l;
        const double third =
            12 * (at.k + std::abs(u.k)) * kRestLength * (1 + w) * (1 + w) * (1 + w) +
            50 * (at.b + std::abs(u.b)) * (length(at.v) + length(u.v)) * (1 + w) * (1 + w) *
                (1 + w);
        const double rounding = 4 * kEpsilon * (at.k * (l + 1) + at.b * length(at.v)) / h;
        EXPECT_NEAR(spring_dot(back, u), dot(s, difference),
                    length(s) * (third * h * h / 6 + rounding));
    }
}

TEST(SpringAdjoint, StaysFiniteForCoincidentEnds)
{
    // There f = c d with the constant c = k (1 - L / l_min), so d gets c s and nothing else moves.
    const auto back = spring_adjoint<float>({}, {1, -2, 3}, 0.9f, 40, 3, {1, 2, 3});
    const float c = 40 * (1 - 0.9f / std::sqrt(kMinLengthSquared));
    for (int axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(back.d[axis] / (c * float(axis + 1)), 1, 1e-6);
        EXPECT_EQ(back.v[axis], 0);
    }
    EXPECT_EQ(back.stiffness, 0);
    EXPECT_EQ(back.damping, 0);
}

TEST(EulerAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(3);
    for (const double mobility : {0.02, 0.0}) {  // free, and a handle
        const double dt = 0.02;
        const Vec3d ux = random_vector(random), uv = random_vector(random),
                    ua = random_vector(random), sx = random_vector(random),
                    sv = random_vector(random);
        auto x = along(random_vector(random), ux), v = along(random_vector(random), uv);
        euler_step(x, v, along(random_vector(random), ua), Dual(mobility), Dual(dt));
        Vec3d back_v = sv;
        const Vec3d back_a = euler_adjoint(sx, back_v, mobility, dt);
        const double left = dot(sx, slope_of(x)) + dot(sv, slope_of(v));
        const double right = dot(sx, ux) + dot(back_v, uv) + dot(back_a, ua);
        const double size = length(sx) * length(ux) + length(sv) * length(uv);
        EXPECT_NEAR(left, right, 10 * kEpsilon * size);  // some 10 operations
        if (mobility == 0) {
            EXPECT_EQ(length(back_a), 0);
        }
    }
}

TEST(EulerAdjoint, IsTheLimitOfCentralDifferences)
{
    // The step is linear in x, v and a, so a difference over h = 1 has no error but rounding.
    Random random(4);
    const double dt = 0.02;
    const Vec3d x = random_vector(random), v = random_vector(random), a = random_vector(random),
                ux = random_vector(random), uv = random_vector(random), ua = random_vector(random),
                sx = random_vector(random), sv = random_vector(random);
    const auto value = [&](double h) {
        Vec3d to_x = x + h * ux, to_v = v + h * uv;
        euler_step(to_x, to_v, a + h * ua, dt, dt);
        return dot(sx, to_x) + dot(sv, to_v);
    };
    Vec3d back_v = sv;
    const Vec3d back_a = euler_adjoint(sx, back_v, dt, dt);
    EXPECT_NEAR((value(1) - value(-1)) / 2, dot(sx, ux) + dot(back_v, uv) + dot(back_a, ua),
                100 * kEpsilon);  // some 30 operations on numbers up to 5
}

TEST(ExternalAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(5);
    const Vec3d u = random_vector(random), s = random_vector(random), v = random_vector(random);
    const Vec3d gravity{0, -9.81, 0}, wind{1, 2, 3};
    const double drag = 0.7;
    const auto a =
        external_acceleration(along(v, u), along(gravity, {}), along(wind, {}), Dual(drag));
    const double size = drag * length(s) * length(u);
    EXPECT_NEAR(dot(external_adjoint(s, drag), u), dot(s, slope_of(a)), 4 * kEpsilon * size);
    // Linear in v: a difference over one has no error but rounding of numbers up to 10.
    const Vec3d difference = 0.5 * (external_acceleration(v + u, gravity, wind, drag) -
                                    external_acceleration(v - u, gravity, wind, drag));
    EXPECT_NEAR(dot(external_adjoint(s, drag), u), dot(s, difference),
                10 * kEpsilon * 10 * length(s));
}

// ---- Steps and clips: <s, Df u> = <Df^T s, u>, with u in the start, the stiffness and damping
// ----

class Steps : public testing::TestWithParam<int> {
  protected:
    // A step rounds some 10 times in a row; over steps that adds up like a random walk, since the
    // cloth is damped.
    double rounding() const { return kEpsilon * (10 + std::sqrt(double(GetParam()))); }
};

INSTANTIATE_TEST_SUITE_P(Adjoint, Steps, testing::Values(1, 500),
                         testing::PrintToStringParamName());

TEST_P(Steps, AdjointIsTheTransposeOfTheDualDerivative)
{
    const Scene scene = windy_scene(GetParam(), 1);
    const std::size_t springs = scene.cloth.springs.spring_count();
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepAll);
    const Gradient gradient = tape_gradient(*tape, {{0, scene}});
    Random random(6);
    for (int i = 0; i < 10; ++i) {
        PlainRun<Dual> run(scene);
        auto ux = random_vectors(random, run.position.size());
        auto uv = random_vectors(random, run.position.size());
        for (const int p : scene.handles.particles) ux[p] = uv[p] = {};  // prescribed
        for (std::size_t p = 0; p < ux.size(); ++p) {
            run.position[p] = along(scene.start.position[p], ux[p]);
            run.velocity[p] = along(scene.start.velocity[p], uv[p]);
        }
        const double by_x = dot(lane_of<double>(tape->position_adjoint(), 0, 1), ux);
        const double by_v = dot(lane_of<double>(tape->velocity_adjoint(), 0, 1), uv);
        double by_k = 0, by_b = 0;
        for (std::size_t s = 0; s < springs; ++s) {
            Dual &k = run.table.stiffness[s], &b = run.table.damping[s];
            k.slope = k.value * random.normal();
            b.slope = b.value * random.normal();
            by_k += gradient.kinds[0][s] * k.slope;
            by_b += gradient.kinds[1][s] * b.slope;
        }
        // Seen: a third of it after one step, a tenth after 500.
        const double size = std::abs(by_x) + std::abs(by_v) + std::abs(by_k) + std::abs(by_b);
        EXPECT_NEAR(by_x + by_v + by_k + by_b, loss_of(run, scene).slope, 4 * rounding() * size);
    }
}

TEST_P(Steps, GradientIsThatOfDualNumbers)
{
    const Scene scene = windy_scene(GetParam(), 2);
    // An entry may be a hundredth of what it is summed from. Seen: a fifth of it.
    EXPECT_LE(gradient_error(reference_gradient(scene), dual_gradient(scene)), 100 * rounding());
}

TEST_P(Steps, GradientIsTheLimitOfCentralDifferences)
{
    // At h = 1e-4 the error of the difference, some 40 h^2 = 4e-7 for the worst spring of several
    // scenes, meets the rounding of a loss of 1e3 over changes of h k g = 1e-3 for the least
    // entries: 1e3 eps / 1e-3 = 2e-10 for each of some 1e3 steps and terms. Seen: 1.4e-6.
    const Scene scene = windy_scene(GetParam(), 3);
    EXPECT_LE(gradient_error(reference_gradient(scene), difference_gradient(scene, 1e-4)), 5e-6);
}

TEST_P(Steps, GradientOfALawIsThatOfDualNumbers)
{
    // All eight kinds; otherwise as above.
    const Scene scene = law_scene(GetParam(), 2);
    EXPECT_LE(gradient_error(reference_gradient(scene), dual_gradient(scene)), 100 * rounding());
}

TEST_P(Steps, GradientOfALawIsTheLimitOfCentralDifferences)
{
    // As above, but where a spring passes a knot between the two runs, the slope is that of neither
    // side: with h = 1e-4 that happens to one spring and step in some 1e5, the number of all there
    // are. So h is a hundredth of it, and rounding a hundred times as large; a few times more for
    // the weak bends, which change the loss less. Seen: 7e-4.
    const Scene scene = law_scene(GetParam(), 3);
    EXPECT_LE(gradient_error(reference_gradient(scene), difference_gradient(scene, 1e-6)), 2e-3);
}

TEST(ClipAdjoint, CentralDifferencesApproachItWithTheSquareOfTheirStep)
{
    // The error of (f(h) - f(-h)) / 2h is f''' h^2 / 6 + O(h^4), plus rounding of f over h: along
    // a random direction it falls by a hundred per decade until rounding lifts it by ten.
    const Scene scene = windy_scene(500, 4);
    const Gradient gradient = reference_gradient(scene);
    const PlainRun<double> start(scene);
    Random random(7);
    PlainRun<double> direction = start;
    double slope = 0;
    for (std::size_t s = 0; s < direction.table.ends.size(); ++s) {
        slope += gradient.kinds[0][s] * (direction.table.stiffness[s] *= random.normal());
        slope += gradient.kinds[1][s] * (direction.table.damping[s] *= random.normal());
    }
    const auto loss = [&](double h) {
        PlainRun<double> run = start;
        for (std::size_t s = 0; s < run.table.ends.size(); ++s) {
            run.table.stiffness[s] += h * direction.table.stiffness[s];
            run.table.damping[s] += h * direction.table.damping[s];
        }
        return loss_of(run, scene);
    };
    std::vector<double> error;
    std::string sweep = fmt::format("derivative {:.6e}\n", slope);
    for (int decade = 1; decade <= 9; ++decade) {
        const double h = std::pow(10.0, -decade);
        error.push_back(std::abs((loss(h) - loss(-h)) / (2 * h) / slope - 1));
        sweep += fmt::format("h {:.0e}  relative error {:.2e}\n", h, error.back());
    }
    SCOPED_TRACE(sweep);
    fmt::print("{}", sweep);
    EXPECT_NEAR(std::log10(error[1] / error[2]), 2, 0.05);  // 1e-2 to 1e-3: O(h^4) is gone
    EXPECT_NEAR(std::log10(error[2] / error[3]), 2, 0.05);  // 1e-3 to 1e-4
    const double best = *std::min_element(error.begin(), error.end());
    EXPECT_LE(best, 1e-8);
    EXPECT_GE(error.back(), 10 * best);  // 1e-9: rounding rules
}

// ---- What the checks are worth ----

// The way back written out, with a drag of its own: anything but the true one is a bug.
Gradient hand_gradient(const Scene& scene, double drag)
{
    std::vector<PlainRun<double>> states{PlainRun<double>(scene)};
    while (states.back().steps < scene.steps) {
        states.push_back(states.back());
        states.back().step();
    }
    std::vector<double> mobility(scene.cloth.particle_count(), scene.options.dt);
    for (const int p : scene.handles.particles) mobility[p] = 0;
    Gradient gradient(scene.cloth);
    auto back_x = scene.loss.position, back_v = scene.loss.velocity;
    const auto pull = [&](const PlainRun<double>& at, const std::vector<Vec3d>& acceleration) {
        for (std::size_t p = 0; p < back_v.size(); ++p)
            back_v[p] += external_adjoint(acceleration[p], drag);
        for (std::size_t s = 0; s < at.table.ends.size(); ++s) {
            const auto [a, b] = at.table.ends[s];
            const Vec3d force = at.table.inverse_mass[a] * acceleration[a] -
                                at.table.inverse_mass[b] * acceleration[b];
            const auto back = spring_adjoint(
                at.position[b] - at.position[a], at.velocity[b] - at.velocity[a],
                at.table.rest_length[s], at.table.stiffness[s], at.table.damping[s], force);
            back_x[a] -= back.d;
            back_x[b] += back.d;
            back_v[a] -= back.v;
            back_v[b] += back.v;
            gradient.kinds[0][s] += back.stiffness;
            gradient.kinds[1][s] += back.damping;
        }
    };
    for (int step = scene.steps; step >= 0; --step) {
        const auto weights = scene.loss.acceleration.find(step);
        if (weights != scene.loss.acceleration.end()) pull(states[step], weights->second);
        if (step == 0) break;
        std::vector<Vec3d> acceleration(back_x.size());
        for (std::size_t p = 0; p < back_x.size(); ++p)
            acceleration[p] = euler_adjoint(back_x[p], back_v[p], mobility[p], scene.options.dt);
        pull(states[step - 1], acceleration);
    }
    return gradient;
}

TEST(GradientCheck, PassesTheWayBackWrittenOut)
{
    const Scene scene = windy_scene(500, 5);
    const Gradient hand = hand_gradient(scene, scene.options.environment.drag);
    // The same formulas, summed in another order.
    EXPECT_LE(gradient_error(hand, reference_gradient(scene)), 100 * kEpsilon * std::sqrt(500.0));
}

TEST(GradientCheck, CatchesDampingOfTheWrongSign)
{
    const Scene scene = windy_scene(500, 5);
    Gradient broken = reference_gradient(scene);
    for (double& entry : broken.kinds[1]) entry = -entry;
    EXPECT_NEAR(gradient_error(broken, difference_gradient(scene, 1e-4)), 2, 1e-5);
}

TEST(GradientCheck, CatchesForgottenDrag)
{
    const Scene scene = windy_scene(500, 5);
    const Gradient broken = hand_gradient(scene, 0);
    EXPECT_GT(gradient_error(broken, difference_gradient(scene, 1e-4)), 1);  // seen: 4.4
}

}  // namespace

}  // namespace springtime
