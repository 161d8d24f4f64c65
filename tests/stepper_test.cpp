// What every backend must do with a cloth, compared with closed forms of the discrete scheme
//   v_{n+1} = v_n + h a(x_n, v_n),   x_{n+1} = x_n + h v_{n+1},
// with conservation laws and with invariances.
#include <cmath>
#include <complex>
#include <numeric>

#include "backends.h"
#include "cloths.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

class EveryBackend : public testing::TestWithParam<Backend> {
  protected:
    State run(const Cloth& cloth, const State& start, const Handles& handles,
              const SimulationOptions& options, int steps) const
    {
        return advanced(GetParam(), cloth, start, handles, options, steps);
    }

    // A step rounds a handful of numbers as large as `size`, half an epsilon each; in a stable
    // system the errors of n steps add up at worst.
    double rounding(int steps, double size) const { return 4 * GetParam().epsilon * steps * size; }

    // The same where many particles and all directions take part, and no constant is off in all
    // steps alike: errors of either sign add up like a random walk.
    double mixed_rounding(int steps, double size) const
    {
        return 4 * GetParam().epsilon * std::sqrt(steps) * size;
    }

    // Rounding in motion that nothing holds back: an error of the speed goes on to grow with time.
    double rounding_in_flight(int steps, double dt, double size, double speed) const
    {
        return rounding(steps, size + steps * dt * speed);
    }
};

INSTANTIATE_TEST_SUITE_P(All, EveryBackend, testing::ValuesIn(all_backends()), backend_name);

// A single particle may not be a cloth of its own, so two fly side by side without a force.
Cloth two_loose_particles(std::optional<Grid> grid)
{
    return chain_cloth(2, 1, 0.3, 0, 0, grid);
}

// ---- Motion of a particle through the air ----

TEST_P(EveryBackend, FreeFallFollowsSemiImplicitEuler)
{
    // v_n = v_0 + n g h, so x_n = x_0 + n h v_0 + g h^2 n (n + 1) / 2: only rounding is left.
    const Vec3d g{0.5, -9.81, 0.25}, v0{1, 2, -1};
    const double h = 1.0 / 240;
    const int n = 200;
    const SimulationOptions options{h, {g, 0, {}}, Device::automatic};
    for (const auto& grid : chain_grids(2)) {
        const Cloth cloth = two_loose_particles(grid);
        State start = flat_state(cloth);
        start.velocity = {v0, v0};
        const State end = run(cloth, start, {}, options, n);
        for (int p = 0; p < 2; ++p) {
            const Vec3d expected = start.position[p] + n * h * v0 + h * h * (0.5 * n * (n + 1)) * g;
            EXPECT_LE(length(end.position[p] - expected), rounding_in_flight(n, h, 7, 8));
            EXPECT_LE(length(end.velocity[p] - (v0 + n * h * g)), rounding(n, 8));
        }
        EXPECT_NEAR(end.time, n * h, 1e-12);  // kept in double by all
    }
}

TEST_P(EveryBackend, FallThroughWindyAirFollowsTheGeometricSeries)
{
    // v_{n+1} = v_n + h (g + c (w - v_n)). With the terminal velocity u = w + g / c this is
    // v_n - u = q^n (v_0 - u), q = 1 - h c, and x_n = x_0 + n h u + h (v_0 - u) q (1 - q^n)/(1 -
    // q).
    const Vec3d g{0, -9.81, 0}, wind{3, 0, -2}, v0{-1, 4, 0};
    const double h = 1.0 / 240, c = 2.5, q = 1 - h * c;
    const int n = 200;
    const Vec3d u = wind + (1 / c) * g;
    const SimulationOptions options{h, {g, c, wind}, Device::automatic};
    for (const auto& grid : chain_grids(2)) {
        const Cloth cloth = two_loose_particles(grid);
        State start = flat_state(cloth);
        start.velocity = {v0, v0};
        const State end = run(cloth, start, {}, options, n);
        const double decay = std::pow(q, n);
        for (int p = 0; p < 2; ++p) {
            const Vec3d expected =
                start.position[p] + n * h * u + h * q * (1 - decay) / (1 - q) * (v0 - u);
            EXPECT_LE(length(end.position[p] - expected), rounding_in_flight(n, h, 4, 6));
            EXPECT_LE(length(end.velocity[p] - (u + decay * (v0 - u))), rounding(n, 6));
        }
    }
}

TEST_P(EveryBackend, FallThroughWindEndsAtTheTerminalVelocity)
{
    // u = w + g / c; what is left of the start, q^n = 0.99^4000 = 3e-18, is below rounding. A
    // velocity stops changing when h c |v - u| is half an epsilon of u, at |v - u| = eps u / (2 h
    // c).
    const Vec3d g{0, -9.81, 0}, wind{3, 0, -2};
    const double h = 0.005, c = 2;
    const SimulationOptions options{h, {g, c, wind}, Device::automatic};
    const Cloth cloth = two_loose_particles(std::nullopt);
    const State end = run(cloth, flat_state(cloth), {}, options, 4000);
    const Vec3d u = wind + (1 / c) * g;
    for (int p = 0; p < 2; ++p) {
        EXPECT_LE(length(end.velocity[p] - u), 2 * GetParam().epsilon * length(u) / (h * c));
    }
}

// ---- Two masses on a spring ----

// The stretch s of a spring whose ends move along it obeys s'' = -w^2 s - c s', discretely
//   s_{n+1} - (2 - h c - h^2 w^2) s_n + (1 - h c) s_{n-1} = 0,
// so s_n = A z_1^n + B z_2^n with the roots of z^2 - (2 - h c - h^2 w^2) z + (1 - h c).
struct Oscillator {
    double w2, c, h;  // w^2 [1/s^2], c [1/s], h [s]

    double stretch(double s0, double v0, int n) const
    {
        const std::complex<double> middle = 1 - h * c / 2 - h * h * w2 / 2;
        const std::complex<double> root = std::sqrt(middle * middle - (1 - h * c));
        const auto z1 = middle + root, z2 = middle - root;
        const double s1 = s0 + h * (v0 - h * w2 * s0 - h * c * v0);
        const auto a = (s1 - z2 * s0) / (z1 - z2), b = s0 - a;
        return (a * std::pow(z1, n) + b * std::pow(z2, n)).real();
    }
};

// Two unequal masses on a spring that points nowhere in particular.
struct TwoMasses {
    Vec3d direction{2.0 / 3, -1.0 / 3, 2.0 / 3};  // of length one
    double light = 0.2, heavy = 0.6, rest_length = 0.75;
    double reduced_mass() const { return light * heavy / (light + heavy); }

    Cloth cloth(double stiffness, double damping, std::optional<Grid> grid) const
    {
        Cloth two = chain_cloth(2, rest_length, light, stiffness, damping, grid);
        two.mass[1] = heavy;
        return two;
    }
    State start(double stretch) const
    {
        State state;
        state.position = {{0.1, 0.2, -0.3},
                          Vec3d{0.1, 0.2, -0.3} + (rest_length + stretch) * direction};
        state.velocity.resize(2);
        return state;
    }
    double stretch(const State& state) const
    {
        return dot(state.position[1] - state.position[0], direction) - rest_length;
    }
};

TEST_P(EveryBackend, UndampedSpringOscillatesAtTheDiscreteFrequency)
{
    // s_n = s_0 (cos(n t) + B sin(n t)), cos t = 1 - h^2 w^2 / 2, from s_1 = s_0 (1 - h^2 w^2).
    const TwoMasses two;
    const double k = 60, h = 0.01, s0 = 0.25;
    const double hw2 = h * h * k / two.reduced_mass();
    const double t = std::acos(1 - hw2 / 2), B = (1 - hw2 - std::cos(t)) / std::sin(t);
    for (const auto& grid : chain_grids(2)) {
        const Cloth cloth = two.cloth(k, 0, grid);
        for (const int n : {1, 2, 17, 500}) {
            const State end = run(cloth, two.start(s0), {}, {h, kEmptySpace, {}}, n);
            const double expected = s0 * (std::cos(n * t) + B * std::sin(n * t));
            EXPECT_NEAR(two.stretch(end), expected, rounding(n, 1)) << "after " << n << " steps";
        }
    }
}

TEST_P(EveryBackend, DampedSpringFollowsTheRootsOfItsRecurrence)
{
    const TwoMasses two;
    const double k = 60, h = 0.01, drag = 0.5, s0 = 0.25;
    // Under-damped, near critical (2 sqrt(k mu) = 6), and over-damped.
    for (const double b : {0.3, 2.0, 5.0, 12.0}) {
        const Oscillator oscillator{k / two.reduced_mass(), b / two.reduced_mass() + drag, h};
        for (const auto& grid : chain_grids(2)) {
            const Cloth cloth = two.cloth(k, b, grid);
            for (const int n : {1, 5, 40, 200}) {
                const State end = run(cloth, two.start(s0), {}, {h, {{}, drag, {}}, {}}, n);
                EXPECT_NEAR(two.stretch(end), oscillator.stretch(s0, 0, n), rounding(n, 1))
                    << "b = " << b << " after " << n << " steps";
            }
        }
    }
}

TEST_P(EveryBackend, UndampedSpringKeepsTheDiscreteInvariant)
{
    // Semi-implicit Euler does not keep v^2 + w^2 s^2 but I = v^2 + w^2 s^2 - h w^2 s v. With
    // v = v' + h w^2 s for the speed v' after the step, and s' = s + h v':
    //   I  = v'^2 + 2 h w^2 s v' + h^2 w^4 s^2 + w^2 s^2 - h w^2 s v' - h^2 w^4 s^2
    //      = v'^2 + w^2 s^2 + h w^2 s v'
    //   I' = v'^2 + w^2 (s + h v')^2 - h w^2 (s + h v') v' = v'^2 + w^2 s^2 + h w^2 s v' = I.
    const TwoMasses two;
    const double k = 60, h = 0.01, s0 = 0.25, w2 = k / two.reduced_mass();
    const Cloth cloth = two.cloth(k, 0, std::nullopt);
    const auto stepper = GetParam().make(cloth, {h, kEmptySpace, {}});
    State state = two.start(s0);
    const double expected = w2 * s0 * s0;
    double plain_least = expected, plain_most = expected;
    for (int n = 1; n <= 300; ++n) {
        state = advanced(*stepper, state, {}, h, 1);
        const double s = two.stretch(state);
        const double v = dot(state.velocity[1] - state.velocity[0], two.direction);
        const double plain = v * v + w2 * s * s;
        plain_least = std::min(plain_least, plain);
        plain_most = std::max(plain_most, plain);
        // dI = 2 w^2 s ds, and an error of the position counts against lengths of one metre.
        EXPECT_NEAR(plain - h * w2 * s * v, expected, 2 * w2 * s0 * rounding(n, 1));
    }
    // The plain energy swings by h w / 2 = 10 % to each side: the correction is not idle.
    EXPECT_GT(plain_most - plain_least, 0.15 * expected);
}

TEST_P(EveryBackend, HandleThatMovesOnDragsItsNeighbour)
{
    // Seen from a handle of constant velocity V the neighbour is an oscillator of its own mass that
    // starts with the speed -V: w^2 = k / m, c = b / m.
    const double k = 60, b = 0.4, m = 0.2, h = 0.01, L = 0.75, V = 1.5;
    const Oscillator oscillator{k / m, b / m, h};
    for (const auto& grid : chain_grids(2)) {
        const Cloth cloth = chain_cloth(2, L, m, k, b, grid);
        const Handles handles{{0}, {-1, 9}, {{-V, 0, 0}, {9 * V, 0, 0}}};
        State start;
        start.position = {{0, 0, 0}, {L, 0, 0}};
        start.velocity.resize(2);
        for (const int n : {1, 10, 200}) {
            const State end = run(cloth, start, handles, {h, kEmptySpace, {}}, n);
            const double stretch = end.position[1].x - end.position[0].x - L;
            const double way = n * h * V;
            EXPECT_NEAR(end.position[0].x, way, GetParam().epsilon * (V + way));
            EXPECT_NEAR(stretch, oscillator.stretch(0, -V, n), rounding(n, L + way));
        }
    }
}

// ---- Handles ----

TEST_P(EveryBackend, PinsDoNotMove)
{
    const Cloth cloth = uneven_grid({5, 6, true, true, true, true});
    const Handles pins{{0, 5, 13, 29}, {}, {}};
    const SimulationOptions options{2e-3, {}, Device::automatic};
    State start = shaken_state(cloth, 1);  // with velocities, which pins must lose
    const State loaded = run(cloth, start, pins, options, 0);
    const State end = run(cloth, start, pins, options, 300);
    for (const int p : pins.particles) {
        for (int axis = 0; axis < 3; ++axis) {
            EXPECT_EQ(end.position[p][axis], loaded.position[p][axis]);
            EXPECT_EQ(end.velocity[p][axis], 0);
        }
    }
    EXPECT_GT(length(end.position[20] - loaded.position[20]), 0.1);  // the others fall
}

TEST_P(EveryBackend, MovingHandlesAreOnTheirPathAtEveryStep)
{
    // Position as prescribed at the time of the step, velocity the way of the last step over h.
    const double h = 4e-3;
    const Cloth cloth = uneven_grid({4, 7, true, true, true, true});
    State start = shaken_state(cloth, 2);
    start.time = 0.3;
    const Vec3d a = start.position[3], b = start.position[24];
    const Handles handles{
        {3, 24}, {0.3, 0.4, 0.5}, {a, b, a + Vec3d{0.1, 0, 0.2}, b, a, b + Vec3d{0, 0.3, 0}}};
    const auto stepper = GetParam().make(cloth, {h, {}, {}});
    State state = with_handles(start, handles, h);
    stepper->load(0, state, handles);
    for (int n = 1; n <= 60; ++n) {
        stepper->advance(1);
        stepper->store(0, state);
        EXPECT_NEAR(state.time, 0.3 + n * h, 1e-12);
        for (int i = 0; i < 2; ++i) {
            const Vec3d now = handles.position(i, state.time);
            const Vec3d before = handles.position(i, state.time - h);
            const int p = handles.particles[i];
            // Stored once in the backend's precision: half an epsilon of numbers up to 4.
            const double once = 2 * GetParam().epsilon;
            EXPECT_LE(length(state.position[p] - now), 2 * once);
            EXPECT_LE(length(state.velocity[p] - (1 / h) * (now - before)), 2 * once + 1e-12);
        }
    }
}

// ---- Statics ----

TEST_P(EveryBackend, HangingChainSettlesAtTheStaticLengths)
{
    // The spring above n particles carries n m g: it is n m g / k longer than at rest.
    const int count = 6;
    const double m = 0.1, k = 50, L = 0.5, g = 9.81, h = 1e-3, drag = 12;
    const SimulationOptions options{h, {{0, -g, 0}, drag, {}}, Device::automatic};
    // The slowest mode, w = 2 sqrt(k / m) sin(pi / (4 count - 2)) = 6.4 / s, is a little below
    // critical at this drag: after 6 s it is down by exp(-drag t / 2) = 2e-16. At the end a step of
    // h v no longer moves x when it is below half an epsilon of it; that v costs a force m c v,
    // which holds the chain off its place by c v / w^2.
    const double w = 2 * std::sqrt(k / m) * std::sin(M_PI / (4 * count - 2));
    const double depth = 6;
    const double tolerance = 2 * GetParam().epsilon * depth / h * drag / (w * w) + 1e-12;
    for (const auto& grid : chain_grids(count)) {
        const Cloth cloth = chain_cloth(count, L, m, k, 0.5, grid);
        State start;
        for (int p = 0; p < count; ++p) start.position.push_back({0, -L * p, 0});
        start.velocity.resize(count);
        const State end = run(cloth, start, {{0}, {}, {}}, options, 6000);
        for (int p = 0; p + 1 < count; ++p) {
            const double hanging = count - 1 - p;
            const double spring = end.position[p].y - end.position[p + 1].y;
            EXPECT_NEAR(spring, L + hanging * m * g / k, tolerance) << "spring " << p;
            EXPECT_EQ(end.position[p].x, 0);
        }
    }
}

TEST_P(EveryBackend, FlatSheetAtRestStaysAtRest)
{
    // Only the rounding of rest lengths pulls: strains of epsilon, a swing of that size.
    const Cloth cloth = make_grid_cloth({4, 3, 3}, {7, 9, true, true, true, true},
                                        MaterialField::uniform(50), MaterialField::uniform(1));
    const State start = flat_state(cloth);
    const State end = run(cloth, start, {}, {1e-3, kEmptySpace, {}}, 200);
    EXPECT_LE(largest_distance(end.position, start.position), mixed_rounding(200, 2.5));
}

// ---- Conservation ----

struct Momentum {
    Vec3d linear, angular;
    double linear_size = 0, angular_size = 0;  // sums of absolute values
};

Momentum momentum_of(const Cloth& cloth, const State& state)
{
    Momentum sum;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const Vec3d impulse = cloth.mass[p] * state.velocity[p];
        sum.linear += impulse;
        sum.angular += cross(state.position[p], impulse);
        sum.linear_size += length(impulse);
        sum.angular_size += length(state.position[p]) * length(impulse);
    }
    return sum;
}

TEST_P(EveryBackend, FreeClothKeepsItsMomentum)
{
    // Spring forces are opposite and central, so sum m v stays, and sum m x cross v as well:
    // sum m (x + h v') cross v' = sum m x cross v' = sum m x cross v + h sum x cross f, whose last
    // term is zero. Damping changes nothing of that.
    const int n = 200;
    const SimulationOptions options{2e-3, kEmptySpace, Device::automatic};
    Cloth grid = uneven_grid({6, 11, true, true, true, true}), list = grid;
    list.grid.reset();
    for (const Cloth& cloth : {grid, list}) {
        const State start = run(cloth, shaken_state(cloth, 3), {}, options, 0);
        const State end = run(cloth, start, {}, options, n);
        const Momentum before = momentum_of(cloth, start), after = momentum_of(cloth, end);
        EXPECT_LE(length(after.linear - before.linear), mixed_rounding(n, before.linear_size));
        EXPECT_LE(length(after.angular - before.angular), mixed_rounding(n, before.angular_size));
        EXPECT_GT(largest_distance(end.velocity, start.velocity), 0.5);  // it did oscillate
    }
}

TEST_P(EveryBackend, DampedClothLosesEnergyInEveryStep)
{
    // For one mode with m = 1 the step changes v^2 / 2 + w^2 s^2 / 2 by
    //   -(1 - h^2 w^2) v'^2 / 2 + (1 - h c) v v' - v^2 / 2,
    // never positive while (1 - h c)^2 <= 1 - h^2 w^2. Springs with b = t k have c = t w^2, and
    // that becomes h <= 2 t - h t^2 w^2. Here t = 0.04 s, h = 2 ms and w^2 <= 10.2 k / m = 5100:
    // 0.002 <= 0.08 - 0.016. Gravity only shifts s.
    const Cloth cloth = make_grid_cloth({3, 3, 4.9}, {7, 7, true, true, true, true},
                                        MaterialField::uniform(50), MaterialField::uniform(2));
    const double h = 2e-3;
    const Environment environment{{0, -9.81, 0}, 0, {}};
    const Handles pins{{0, 6}, {}, {}};
    const auto stepper = GetParam().make(cloth, {h, environment, {}});
    State state = with_handles(shaken_state(cloth, 4), pins, h);
    stepper->load(0, state, pins);
    double last = energy_of(cloth, environment, state).total();
    const double first = last;
    for (int n = 0; n < 1000; ++n) {
        stepper->advance(1);
        stepper->store(0, state);
        const Energy energy = energy_of(cloth, environment, state);
        const double size = energy.kinetic + energy.elastic + std::abs(energy.gravitational);
        // A step rounds positions, and with them the energy by a few parts in epsilon.
        ASSERT_LE(energy.total(), last + 8 * GetParam().epsilon * size) << "step " << n;
        last = energy.total();
    }
    EXPECT_LT(last, first - 10);  // 4.9 kg fell by about a metre
}

// ---- Accuracy ----

TEST_P(EveryBackend, ErrorHalvesWithTheStep)
{
    // First order: e(h) = C h + O(h^2). Against a solution with a step h/128 that is
    // (1 - 1/128) / (1/2 - 1/128) = 2.016 from h to h/2 and 2.032 from h/2 to h/4; the O(h^2) are
    // some hw = 0.1 of e, and half of that falls out of the ratio. Seen: 2.027 and 2.038.
    const Cloth cloth = uneven_grid({5, 6, true, true, true, true});
    const State start = shaken_state(cloth, 5);
    const Handles pins{{0, 5}, {}, {}};
    const double h = 2e-3;
    const int n = 100;
    const auto solution = [&](const Backend& backend, int refinement) {
        return advanced(backend, cloth, start, pins, {h / refinement, {}, {}}, n * refinement)
            .position;
    };
    const auto exact = solution(all_backends().front(), 128);
    const double coarse = largest_distance(solution(GetParam(), 1), exact);
    const double middle = largest_distance(solution(GetParam(), 2), exact);
    const double fine = largest_distance(solution(GetParam(), 4), exact);
    EXPECT_NEAR(coarse / middle, 2.016, 0.05);
    EXPECT_NEAR(middle / fine, 2.032, 0.05);
}

// ---- Invariance ----

TEST_P(EveryBackend, RenumberingParticlesRenumbersTheResult)
{
    const Cloth cloth = uneven_grid({6, 7, true, true, true, true});
    const State start = shaken_state(cloth, 6);
    const int count = static_cast<int>(cloth.particle_count()), n = 200;
    const auto moved = [&](int p) { return (p * 11 + 5) % count; };  // 11 and 42 share no factor
    Cloth other = cloth;
    other.grid.reset();
    State other_start = start;
    for (int p = 0; p < count; ++p) {
        other.rest[moved(p)] = cloth.rest[p];
        other.mass[moved(p)] = cloth.mass[p];
        other_start.position[moved(p)] = start.position[p];
        other_start.velocity[moved(p)] = start.velocity[p];
    }
    for (auto& ends : other.springs.ends) ends = {moved(ends[1]), moved(ends[0])};
    const SimulationOptions options{1e-3, {}, Device::automatic};
    const State plain = run(cloth, start, {{0, 6}, {}, {}}, options, n);
    const State renumbered = run(other, other_start, {{moved(6), moved(0)}, {}, {}}, options, n);
    State back = plain;
    for (int p = 0; p < count; ++p) back.position[p] = renumbered.position[moved(p)];
    // Sums are taken in another order: each step rounds differently.
    EXPECT_LE(largest_distance(back.position, plain.position), mixed_rounding(n, 2));
}

TEST_P(EveryBackend, RigidMotionOfTheStartIsThatOfTheResult)
{
    // Without gravity nothing prefers a direction or a place; drag acts alike on all.
    const Cloth cloth = uneven_grid({6, 7, true, true, true, true});
    const State start = shaken_state(cloth, 7);
    const Vec3d shift{1, -2, 0.5};
    const auto turned =
        [](const Vec3d& a) {  // by 120 degrees about (1, 1, 1), then by some about z
            const double c = 0.8, s = 0.6;
            return Vec3d{c * a.y - s * a.z, s * a.y + c * a.z, a.x};
        };
    State other = start;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        other.position[p] = turned(start.position[p]) + shift;
        other.velocity[p] = turned(start.velocity[p]);
    }
    const SimulationOptions options{1e-3, {{}, 1.0, {}}, Device::automatic};
    const int n = 200;
    const State plain = run(cloth, start, {{8}, {}, {}}, options, n);
    const State moved = run(cloth, other, {{8}, {}, {}}, options, n);
    State expected = plain;
    for (Vec3d& x : expected.position) x = turned(x) + shift;
    EXPECT_LE(largest_distance(moved.position, expected.position), mixed_rounding(n, 4));
}

TEST_P(EveryBackend, MovingFrameChangesNothingButTheVelocity)
{
    // x_n + n h V solves the same equations when start velocities and wind are raised by V.
    const Cloth cloth = uneven_grid({5, 4, true, true, true, true});
    const State start = shaken_state(cloth, 8);
    const Vec3d V{2, -1, 0.5}, wind{0.5, 0.25, 1};
    const double h = 1e-3;
    const int n = 200;
    State other = start;
    for (Vec3d& v : other.velocity) v += V;
    const Vec3d g{0, -9.81, 0};
    const State plain = run(cloth, start, {}, {h, {g, 0.5, wind}, {}}, n);
    const State moved = run(cloth, other, {}, {h, {g, 0.5, wind + V}, {}}, n);
    State expected = plain;
    for (Vec3d& x : expected.position) x += n * h * V;
    EXPECT_LE(largest_distance(moved.position, expected.position), mixed_rounding(n, 2));
}

TEST_P(EveryBackend, StepsInPartsAreTheStepsInOne)
{
    const Cloth cloth = uneven_grid({5, 6, true, true, true, true});
    const SimulationOptions options{1e-3, {}, Device::automatic};
    const auto whole = GetParam().make(cloth, options), parts = GetParam().make(cloth, options);
    State a = shaken_state(cloth, 9), b = a;
    whole->load(0, a, {});
    parts->load(0, b, {});
    whole->advance(60);
    for (const int n : {1, 9, 50}) parts->advance(n);
    whole->store(0, a);
    parts->store(0, b);
    EXPECT_EQ(largest_distance(a.position, b.position), 0);  // the same operations
    EXPECT_EQ(a.time, b.time);
}

}  // namespace

}  // namespace springtime
