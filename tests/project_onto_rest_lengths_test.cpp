// Noise taken out of the springs of an observed start.
#include <gtest/gtest.h>

#include <cmath>

#include "handkerchiefs.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

double mean_square_strain(const Cloth& cloth, const State& state)
{
    double sum = 0, count = 0;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::bending) continue;
        const auto [a, b] = cloth.springs.ends[s];
        const double rest = cloth.springs.rest_length[s];
        const double strain = length(state.position[b] - state.position[a]) / rest - 1;
        sum += strain * strain;
        ++count;
    }
    return sum / count;
}

double mean_square_distance(const State& a, const State& b)
{
    double sum = 0;
    for (std::size_t p = 0; p < a.position.size(); ++p) {
        const Vec3d difference = a.position[p] - b.position[p];
        sum += dot(difference, difference);
    }
    return sum / double(a.position.size());
}

State noisy(State state, double noise)
{
    Random random(5);
    for (Vec3d& x : state.position)
        for (int axis = 0; axis < 3; ++axis) x[axis] += noise * random.normal();
    return state;
}

TEST(Calm, TakesNoiseOutOfSpringsAndComesCloserToTheTruth)
{
    const Cloth cloth = handkerchief(15, 100, 100, 0.02);
    const State truth = flat_state(cloth), seen = noisy(truth, 1e-3);
    State calmed = seen;
    project_onto_rest_lengths(calmed, cloth, {});
    // The energy that noise put in is all but gone.
    EXPECT_LE(mean_square_strain(cloth, calmed), 0.02 * mean_square_strain(cloth, seen));
    // Two of three coordinates lie in the sheet, whose springs know better.
    EXPECT_LE(mean_square_distance(calmed, truth), 0.7 * mean_square_distance(seen, truth));
}

TEST(Calm, LeavesWhatIsAtRestAndWhatIsHeld)
{
    const Cloth cloth = handkerchief(7, 100, 100, 0.02);
    const State flat = flat_state(cloth);
    State same = flat;
    project_onto_rest_lengths(same, cloth, {});
    // Rounding of 1 - L/l, some 1e-16 of 5 cm, in each of the sweeps.
    EXPECT_LE(largest_distance(same.position, flat.position), 1e-14);
    const State seen = noisy(flat, 1e-3);
    State held = seen;
    project_onto_rest_lengths(held, cloth, {0, 6});
    EXPECT_EQ(length(held.position[0] - seen.position[0]), 0);
    EXPECT_EQ(length(held.position[6] - seen.position[6]), 0);
    EXPECT_GT(length(held.position[1] - seen.position[1]), 0);
}

TEST(Calm, LeavesAStretchThatNeighboursShare)
{
    // Stretched by 5 % along u: the pulls on inner particles cancel, and only what lies within a
    // sweep's reach of the free edges gives way; the middle of 31 columns is 15 away.
    const Cloth cloth = make_grid_cloth({0.3, 0.1, 0.03}, {11, 31, true, true, true, true},
                                        MaterialField::uniform(100), MaterialField::uniform(0.1));
    State stretched = flat_state(cloth);
    for (Vec3d& x : stretched.position) x.x *= 1.05;
    State calmed = stretched;
    project_onto_rest_lengths(calmed, cloth, {});
    const int middle = 5 * 31 + 15;
    const double spacing = 0.01;
    const double strain =
        (calmed.position[middle + 1].x - calmed.position[middle - 1].x) / (2 * spacing) - 1;
    EXPECT_NEAR(strain, 0.05, 0.01);
}

}  // namespace

}  // namespace springtime
