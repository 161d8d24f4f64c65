// Normal equations by particle blocks, against a dense system that plain loops write down.
#include "learn/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "identifying.h"
#include "learn/balance_rows.h"
#include "physics/external.h"
#include "physics/spring.h"

namespace springtime {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Environment kWindy{{0.5, -9, 0.3}, 0.7, {2, 0.5, -1}};
const GridOptions kSmallGrid{4, 5, true, true, true, true};
const SpringLaw kWholeLaw{{-0.1, 0, 0.2}, true};

// All equations of a rollout, three for every frame of a particle: A x = y.
struct Dense {
    MatrixXd a;
    VectorXd y;
    std::vector<int> frame;  // of every equation
};

Vec3d vector_of(const std::vector<float>& values, const Rollout& rollout, std::size_t frame, int p)
{
    const float* from = values.data() + 3 * (frame * rollout.landmark_count() + p);
    return {from[0], from[1], from[2]};
}

// The force on the first end when one parameter is one and all others are zero.
Vec3d unit_force(const Cloth& cloth, std::size_t spring, int kind, const Vec3d& d, const Vec3d& v)
{
    const SpringSet& springs = cloth.springs;
    const double rest = springs.rest_length[spring];
    std::vector<SpringRange<double>> ranges;
    for (std::size_t j = 0; j < springs.ranges.size(); ++j) {
        const StiffnessRange& range = springs.ranges[j];
        ranges.push_back({range.from * rest, range.to * rest, kind == int(j) + 2 ? 1.0 : 0.0});
    }
    const bool isotropic =
        learned_parameters(cloth)[kind].kind->name == std::string_view("isotropic_damping");
    const RangeLaw<double> law{int(ranges.size()), ranges.data(), isotropic ? 1.0 : 0.0};
    return spring_force(d, v, rest, kind == 0 ? 1.0 : 0.0, kind == 1 ? 1.0 : 0.0, law);
}

bool usable(const Cloth& cloth, const Rollout& rollout, std::size_t frame, int particle)
{
    const auto& held = rollout.handles.particles;
    if (std::find(held.begin(), held.end(), particle) != held.end()) return false;
    if (!rollout.seen(frame, particle)) return false;
    for (const auto& [one, other] : cloth.springs.ends) {
        if (one != particle && other != particle) continue;
        if (!rollout.seen(frame, one) || !rollout.seen(frame, other)) return false;
    }
    return true;
}

// Rows where `also` has gaps are left out too.
Dense dense_system(const Cloth& cloth, const Rollout& rollout, const Rollout& also)
{
    const int kinds = learned_count(cloth);
    std::vector<std::pair<std::size_t, int>> places;
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        for (int p = 0; p < int(cloth.particle_count()); ++p) {
            if (usable(cloth, rollout, f, p) && usable(cloth, also, f, p)) places.push_back({f, p});
        }
    }
    const auto rows = Eigen::Index(3 * places.size());
    Dense dense{MatrixXd::Zero(rows, Eigen::Index(cloth.springs.spring_count()) * kinds),
                VectorXd(rows), std::vector<int>(3 * places.size())};
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [f, p] = places[i];
        const auto at = [&, f = f](const std::vector<float>& values, int q) {
            return vector_of(values, rollout, f, q);
        };
        const Vec3d needed =
            cloth.mass[p] * (at(rollout.acceleration, p) -
                             external_acceleration(at(rollout.velocity, p), kWindy.gravity,
                                                   kWindy.wind, kWindy.drag));
        for (int axis = 0; axis < 3; ++axis) {
            dense.y[Eigen::Index(3 * i) + axis] = needed[axis];
            dense.frame[3 * i + axis] = int(f);
        }
        for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
            const auto [one, other] = cloth.springs.ends[s];
            if (p != one && p != other) continue;
            const Vec3d d = at(rollout.position, other) - at(rollout.position, one);
            const Vec3d v = at(rollout.velocity, other) - at(rollout.velocity, one);
            for (int k = 0; k < kinds; ++k) {
                const Vec3d force = (p == one ? 1.0 : -1.0) * unit_force(cloth, s, k, d, v);
                for (int axis = 0; axis < 3; ++axis) {
                    dense.a(Eigen::Index(3 * i) + axis, Eigen::Index(s) * kinds + k) = force[axis];
                }
            }
        }
    }
    return dense;
}

Cloth lawful_cloth()
{
    return varied_cloth(kSmallGrid, kWholeLaw);
}

// Frames with handles, and with gaps where asked for.
Rollout look_at(const Cloth& cloth, double gaps, std::uint64_t seed)
{
    Rollout rollout = random_frames(cloth, kWindy, {{0, 7}, {}, {}}, 30, 0.1, seed);
    if (gaps > 0) {
        rollout = observe(rollout, header_for(cloth, kWindy, 4),
                          {.gaps = gaps, .gap_seconds = kIdentifyStep * 8}, seed, 0);
    }
    return rollout;
}

VectorXd true_parameters(const Cloth& cloth)
{
    const int kinds = learned_count(cloth);
    VectorXd x(Eigen::Index(cloth.springs.spring_count()) * kinds);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        x[i] = learned(cloth, int(i % kinds))[std::size_t(i / kinds)];
    }
    return x;
}

// Sums of some hundred products, in different orders: a hundred roundings of the largest.
constexpr double kRounding = 100 * 2.2e-16;

void expect_close(const MatrixXd& a, const MatrixXd& b)
{
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.cols(), b.cols());
    ASSERT_GT(b.cwiseAbs().maxCoeff(), 0);
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), kRounding * b.cwiseAbs().maxCoeff());
}

// Blocks of two looks against the dense products of both.
void expect_like_dense(const Cloth& cloth, const Rollout& one, const Rollout& other)
{
    const bool instruments = &one != &other;
    const BalanceRows rows_one = force_rows(cloth, kWindy, one, 1);
    const BalanceRows rows_other = force_rows(cloth, kWindy, other, 1);
    const BalancePair pair{rows_one, instruments ? rows_other : rows_one};
    NormalBlocks blocks(cloth);
    blocks.add(pair, 1);
    const Dense a = dense_system(cloth, one, other), b = dense_system(cloth, other, one);
    ASSERT_GT(a.a.rows(), 300);  // gaps leave enough
    EXPECT_EQ(blocks.row_count(), a.a.rows());
    EXPECT_EQ(blocks.unknown_count(), std::size_t(a.a.cols()));

    const BoundedSystem system = blocks.assemble();
    const MatrixXd product = a.a.transpose() * b.a;
    expect_close(MatrixXd(system.matrix), 0.5 * (product + product.transpose()));
    expect_close(system.right, 0.5 * (a.a.transpose() * b.y + b.a.transpose() * a.y));

    // A residual that is not small: half the true parameters.
    const VectorXd x = 0.5 * true_parameters(cloth);
    const VectorXd left_a = a.y - a.a * x, left_b = b.y - b.a * x;
    EXPECT_NEAR(blocks.residual(x), left_a.dot(left_b), kRounding * a.y.squaredNorm());

    const int groups = 3;
    std::vector<int> group(one.frame_count);
    for (std::size_t f = 0; f < group.size(); ++f) group[f] = int(f * f % groups);
    const NormalBlocks::Scores scores = blocks.scores(pair, x, group, groups, 1);
    MatrixXd of_group = MatrixXd::Zero(x.size(), groups), information = of_group;
    for (Eigen::Index row = 0; row < a.a.rows(); ++row) {
        const int g = group[std::size_t(a.frame[std::size_t(row)])];
        const auto here = a.a.row(row).transpose(), there = b.a.row(row).transpose();
        of_group.col(g) += 0.5 * (here * left_b[row] + there * left_a[row]);
        information.col(g) += here.cwiseProduct(there);
    }
    expect_close(scores.of_group, of_group);
    expect_close(scores.information, information);
    EXPECT_NEAR(scores.squares, 0.25 * (left_a + left_b).squaredNorm(),
                kRounding * a.y.squaredNorm());
}

TEST(Balance, BlocksAreTheDenseNormalEquations)
{
    const Cloth cloth = lawful_cloth();
    const Rollout rollout = look_at(cloth, 0, 1);
    expect_like_dense(cloth, rollout, rollout);
}

TEST(Balance, MissingLandmarksTakeTheirNeighboursAlong)
{
    const Cloth cloth = lawful_cloth();
    const Rollout rollout = look_at(cloth, 0.04, 2);
    expect_like_dense(cloth, rollout, rollout);
}

TEST(Balance, InstrumentsMultiplyOneLookWithTheOther)
{
    const Cloth cloth = lawful_cloth();
    expect_like_dense(cloth, look_at(cloth, 0.03, 3), look_at(cloth, 0.03, 4));
}

TEST(Balance, TheTrueParametersLeaveTheRoundingOfTheAccelerations)
{
    const Cloth cloth = lawful_cloth();
    const Rollout rollout = look_at(cloth, 0, 5);
    const Dense dense = dense_system(cloth, rollout, rollout);
    // Accelerations are stored to half a unit in the last place of a float, 2^-24 of the number.
    const double mass = cloth.mass[0];
    const double largest =
        *std::max_element(rollout.acceleration.begin(), rollout.acceleration.end(),
                          [](float a, float b) { return std::abs(a) < std::abs(b); });
    const double rounding = mass * std::abs(largest) * 0x1p-24;
    const VectorXd left = dense.y - dense.a * true_parameters(cloth);
    EXPECT_LE(left.cwiseAbs().maxCoeff(), 1.01 * rounding);
    EXPECT_GT(left.cwiseAbs().maxCoeff(), 0.01 * rounding);
}

TEST(Balance, SumsAddUp)
{
    const Cloth cloth = lawful_cloth();
    const BalanceRows one = force_rows(cloth, kWindy, look_at(cloth, 0.03, 6), 1);
    const BalanceRows other = force_rows(cloth, kWindy, look_at(cloth, 0, 7), 1);
    NormalBlocks together(cloth), first(cloth), second(cloth);
    together.add({one, one}, 1);
    together.add({other, other}, 1);
    first.add({one, one}, 1);
    second.add({other, other}, 1);
    first.add(second);
    const BoundedSystem sum = first.assemble(), expected = together.assemble();
    EXPECT_EQ(MatrixXd(sum.matrix), MatrixXd(expected.matrix));
    EXPECT_EQ(sum.right, expected.right);
    EXPECT_EQ(first.row_count(), together.row_count());
    const VectorXd x = true_parameters(cloth);
    EXPECT_EQ(first.residual(x), together.residual(x));
}

TEST(BalanceThreads, DoNotChangeABit)
{
    const Cloth cloth = lawful_cloth();
    const Rollout one = look_at(cloth, 0.03, 8), other = look_at(cloth, 0, 9);
    const VectorXd x = 0.5 * true_parameters(cloth);
    const std::vector<int> group(one.frame_count, 1);
    const auto run = [&](int threads) {
        const BalanceRows a = force_rows(cloth, kWindy, one, threads);
        const BalanceRows b = force_rows(cloth, kWindy, other, threads);
        NormalBlocks blocks(cloth);
        blocks.add({a, b}, threads);
        const BoundedSystem system = blocks.assemble();
        const NormalBlocks::Scores scores = blocks.scores({a, b}, x, group, 2, threads);
        return std::tuple(MatrixXd(system.matrix), system.right, blocks.residual(x),
                          scores.of_group, scores.information, scores.squares);
    };
    const auto expected = run(1);
    for (const int threads : {2, 3, 7}) EXPECT_EQ(run(threads), expected) << threads;
}

}  // namespace

}  // namespace springtime
