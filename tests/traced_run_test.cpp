#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

namespace springtime {
namespace {

constexpr int kFrames = 8;
constexpr double kFrame = 1.0 / 60;

Cloth small_cloth()
{
    Cloth cloth = make_grid_cloth({1, 0.8, 0.2}, {4, 4}, MaterialField::uniform(30),
                                  MaterialField::uniform(0.05));
    return cloth;
}

SimulationOptions options_of(Device device)
{
    SimulationOptions options;
    options.dt = kFrame;
    options.device = device;
    options.substeps = 4;
    return options;
}

// Two corners on paths with a key for every other frame; a pin beside them has none.
Handles two_hands(const State& start)
{
    Handles hands{{0, 3}, {}, {}};
    for (int key = 0; key <= kFrames / 2; ++key) {
        hands.key_time.push_back(2 * key * kFrame);
        for (const int p : hands.particles) {
            hands.key_position.push_back(start.position[std::size_t(p)] +
                                         Vec3d{0.02 * key, 0.01 * key * key, -0.03 * key});
        }
    }
    return hands;
}

std::vector<Vec3d> some_vectors(std::size_t count, std::uint64_t seed)
{
    Random random = Random::stream(seed, 0);
    std::vector<Vec3d> all(count);
    for (Vec3d& x : all) x = {random.normal(), random.normal(), random.normal()};
    return all;
}

double product(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
}

std::vector<Vec3d> moved(std::vector<Vec3d> x, double by, const std::vector<Vec3d>& direction)
{
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * direction[i];
    return x;
}

// Central differences of sum w . x over all frames, with an error of O(h^2).
TEST(TracedRun, GradientsAreThoseOfTheRun)
{
    const Cloth cloth = small_cloth();
    State start = flat_state(cloth);
    start.position = moved(start.position, 0.01, some_vectors(16, 1));
    start.velocity = some_vectors(16, 2);
    const Handles hands = two_hands(start);
    const SimulationOptions options = options_of(Device::reference);
    const std::vector<Vec3d> weights = some_vectors(16 * (kFrames + 1), 3);
    const auto value = [&](const State& from, const Handles& held) {
        return product(weights, TracedRun(cloth, from, held, options, kFrames).positions());
    };
    TracedRun run(cloth, start, hands, options, kFrames);
    ASSERT_EQ(run.frame_count(), std::size_t(kFrames + 1));
    const RunGradient found = run.back(weights);
    constexpr double h = 1e-5;

    const std::vector<Vec3d> by_key = some_vectors(hands.key_position.size(), 4);
    Handles up = hands, down = hands;
    up.key_position = moved(hands.key_position, h, by_key);
    down.key_position = moved(hands.key_position, -h, by_key);
    EXPECT_NEAR(product(found.key_position, by_key),
                (value(start, up) - value(start, down)) / (2 * h), 1e-5);

    const std::vector<Vec3d> by_start = some_vectors(16, 5);
    for (std::vector<Vec3d> State::*part : {&State::position, &State::velocity}) {
        State high = start, low = start;
        high.*part = moved(start.*part, h, by_start);
        low.*part = moved(start.*part, -h, by_start);
        EXPECT_NEAR(product(found.start.*part, by_start),
                    (value(high, hands) - value(low, hands)) / (2 * h), 1e-5);
    }
}

// A pin stays where it starts, so all frames depend on its start alone.
TEST(TracedRun, APinMovesWithItsStart)
{
    const Cloth cloth = small_cloth();
    const State start = flat_state(cloth);
    TracedRun run(cloth, start, {{5}, {}, {}}, options_of(Device::reference), kFrames);
    std::vector<Vec3d> weights(run.positions().size());
    for (int f = 0; f <= kFrames; ++f) weights[std::size_t(16 * f + 5)] = {1, 0, 0};
    const RunGradient found = run.back(weights);
    EXPECT_DOUBLE_EQ(found.start.position[5].x, kFrames + 1);
    EXPECT_EQ(found.start.velocity[5].x, 0);
    EXPECT_TRUE(found.key_position.empty());
}

TEST(TracedRun, IsTheSimulation)
{
    const Cloth cloth = small_cloth();
    const State start = flat_state(cloth);
    const TracedRun run(cloth, start, {{0}, {}, {}}, options_of(Device::reference), kFrames);
    Simulation simulation(cloth, start, {{0}, {}, {}}, options_of(Device::reference));
    for (int f = 0; f <= kFrames; ++f) {
        if (f > 0) {
            ASSERT_FALSE(simulation.advance());
        }
        for (std::size_t p = 0; p < 16; ++p) {
            const Vec3d off =
                run.positions()[std::size_t(16 * f) + p] - simulation.state().position[p];
            EXPECT_LT(length(off), 1e-12) << f << " " << p;  // sums in another order
        }
    }
}

TEST(TracedRun, RefusesContactAndNumbersThatDoNotFit)
{
    const Cloth cloth = small_cloth();
    const State start = flat_state(cloth);
    SimulationOptions contact = options_of(Device::cpu);
    contact.self_distance = 0.1;
    EXPECT_THROW(TracedRun(cloth, start, {}, contact, 1), Error);
    EXPECT_THROW(TracedRun(cloth, start, {}, options_of(Device::cpu), -1), Error);
    TracedRun run(cloth, start, {}, options_of(Device::cpu), 2);
    EXPECT_THROW(run.back(std::vector<Vec3d>(3)), Error);
    Cloth stiff = cloth;
    for (double& k : stiff.springs.stiffness) k = 1e9;
    State stretched = start;
    stretched.position[0].x -= 0.1;
    EXPECT_THROW(TracedRun(stiff, stretched, {}, options_of(Device::cpu), 20), Failure);
}

}  // namespace
}  // namespace springtime
