// Triangles, hinges and couplings identified by linear least squares, against those that made the
// motion.
#include <gtest/gtest.h>

#include <cmath>

#include "cloths.h"
#include "error_of.h"
#include "gradients.h"
#include "identifying.h"
#include "learn/balance.h"
#include "learn/balance_rows.h"
#include "learn/displacement_balance.h"
#include "learn/mesh_surrogate.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

IdentifyOptions options_of(const Cloth& truth)
{
    IdentifyOptions options;
    options.cloth = truth;
    options.validation_share = 0.05;
    for (const Parameter& parameter : learned_parameters(truth)) {  // what it must find
        for (double& value : values_of(*options.cloth, parameter)) value = 1;
    }
    return options;
}

// Root of the mean squared error of a parameter over its mean, of elements that were seen.
double relative_error(const Cloth& found, const Cloth& truth, std::size_t parameter)
{
    const Parameter which = learned_parameters(truth)[parameter];
    const std::vector<double>&ours = values_of(found, which), &theirs = values_of(truth, which);
    double squares = 0, sum = 0, count = 0;
    for (std::size_t e = 0; e < ours.size(); ++e) {
        if (found.errors && std::isinf(found.errors->parameters[parameter][e])) continue;
        squares += std::pow(ours[e] - theirs[e], 2);
        sum += theirs[e];
        ++count;
    }
    return std::sqrt(squares / count) / (sum / count);
}

Cloth woven_mesh(TriangleDamping kind)
{
    Cloth cloth = uneven_mesh({6, 5}, MeshCut::alternating, kind);
    add_uneven_fibres(cloth);
    return cloth;
}

// ---- Columns of the balance

// The columns times the parameters are the forces of the simulator, for every type of element.
TEST(ElementColumns, TimesParametersAreTheForces)
{
    Cloth coupled = varied_cloth({4, 5, true, true, true, true}, law_named("coupled"));
    Random random(3);
    for (double& c : coupled.couplings.stiffness) c = 10 * random.normal();
    for (const Cloth& cloth :
         {woven_mesh(TriangleDamping::deformation), woven_mesh(TriangleDamping::strain), coupled}) {
        const Rollout frames = random_frames(cloth, {}, {}, 4, 0.05, 7);
        const BalanceRows rows = force_rows(cloth, {}, frames, 1);
        NormalBlocks blocks(cloth);
        blocks.add({rows, rows}, 1);
        const Unknowns unknowns(cloth);
        Eigen::VectorXd x(static_cast<Eigen::Index>(unknowns.size()));
        const ParameterValues values = parameters_of(cloth);
        for (std::size_t k = 0; k < values.size(); ++k) {
            for (std::size_t e = 0; e < values[k].size(); ++e) {
                x[static_cast<Eigen::Index>(unknowns.number(k, e))] =
                    values[k][e] / unknowns.scale(k, e);
            }
        }
        // Accelerations are floats: 2^-24 of them, squared, is 4e-15.
        EXPECT_LE(std::abs(blocks.residual(x)), 2e-13 * blocks.squares());
        EXPECT_GT(blocks.squares(), 0);
    }
}

// ---- Recovery

TEST(IdentifyTriangles, RecoversEveryElement)
{
    for (const TriangleDamping kind : kTriangleDampings) {
        const Cloth truth = uneven_mesh({6, 5}, MeshCut::alternating, kind);
        const Identification found = identify(falls(truth, 6, 2, 60), options_of(truth));
        EXPECT_EQ(found.form, BalanceForm::force);
        EXPECT_LE(found.unexplained, 1e-4);
        for (std::size_t k = 0; k < learned_parameters(truth).size(); ++k) {
            // Seen: 3e-3 for damping of hinges, which moves little.
            EXPECT_LE(relative_error(found.cloth, truth, k), k == 4 ? 1e-2 : 1e-3) << k;
        }
    }
}

// On a grid, two triangles beside an edge along the warp stretch alike there: motion shows the sum
// of their warp stiffnesses alone. The standard errors must say so.
TEST(IdentifyTriangles, KnowsWhatOfFibresCannotBeSeen)
{
    constexpr std::size_t kWarp = 3;
    const Cloth truth = woven_mesh(TriangleDamping::deformation);
    const Identification found = identify(falls(truth, 6, 2, 60), options_of(truth));
    EXPECT_LE(found.unexplained, 1e-4);
    EXPECT_LE(relative_error(found.cloth, truth, 0), 1e-3);
    const TriangleSet &ours = found.cloth.triangles, &theirs = truth.triangles;
    // Triangles 0 and 8 lie beside the edge from particle 5 to 6.
    EXPECT_NEAR(ours.warp_stiffness[0] + ours.warp_stiffness[8],
                theirs.warp_stiffness[0] + theirs.warp_stiffness[8], 0.1);
    for (const std::size_t t : {0, 8}) {
        EXPECT_GT(found.cloth.errors->parameters[kWarp][t], 10);
        EXPECT_LE(std::abs(ours.warp_stiffness[t] - theirs.warp_stiffness[t]),
                  3 * found.cloth.errors->parameters[kWarp][t]);
    }
    // What all have in common is seen.
    const Sheet sheet{2, 2, 2.5};
    MeshMaterial material;
    material.warp_stiffness = MaterialField::uniform(150);
    material.weft_stiffness = MaterialField::uniform(40);
    const Cloth woven =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {5, 5}, MeshCut::diagonal), material);
    IdentifyOptions options = options_of(woven);
    options.regions = one_region(woven);
    const Cloth even = identify(falls(woven, 2, 2, 60), options).cloth;
    EXPECT_NEAR(even.triangles.warp_stiffness[0], 150, 0.01);
    EXPECT_NEAR(even.triangles.weft_stiffness[0], 40, 0.01);
}

TEST(IdentifyTriangles, RecoversStiffnessFromPositionsWithGaps)
{
    const Cloth truth = uneven_mesh({6, 5}, MeshCut::diagonal, TriangleDamping::deformation);
    const Motion clean = falls(truth, 8, 3, 60);
    for (const double gaps : {0.0, 0.01}) {
        const Identification found =
            identify(observed(clean, {.gaps = gaps, .gap_seconds = 0.1}), options_of(truth));
        EXPECT_EQ(found.form, BalanceForm::weak);
        EXPECT_LE(relative_error(found.cloth, truth, 0), 0.03) << gaps;
        EXPECT_LE(relative_error(found.cloth, truth, 1), 0.03) << gaps;
        EXPECT_LE(relative_error(found.cloth, truth, 3), 0.1) << gaps;
    }
}

// Most of what was found lies within 1.96 standard errors of the truth.
TEST(IdentifyTriangles, IntervalsHoldTheTruth)
{
    const Cloth truth = uneven_mesh({6, 5}, MeshCut::diagonal, TriangleDamping::deformation);
    const Identification found =
        identify(observed(falls(truth, 12, 3, 60), {.noise = 1e-5}), options_of(truth));
    const ParameterValues ours = parameters_of(found.cloth), theirs = parameters_of(truth);
    for (std::size_t k = 0; k < 2; ++k) {
        double inside = 0, count = 0;
        for (std::size_t e = 0; e < ours[k].size(); ++e) {
            const double error = found.cloth.errors->parameters[k][e];
            if (std::isinf(error)) continue;
            inside += std::abs(ours[k][e] - theirs[k][e]) <= 1.96 * error;
            ++count;
        }
        EXPECT_GE(inside / count, 0.85) << k;
    }
}

// Noise takes stiffness away, because forces of a stretched sheet nearly cancel. Displacements, and
// what as much noise again takes away, mend that.
TEST(IdentifyTriangles, FindsStiffnessBelowNoise)
{
    const Sheet sheet{2.5, 2.5, 3.6};
    Cloth truth = make_mesh_cloth(sheet, make_grid_mesh(sheet, {6, 6}, MeshCut::diagonal), {});
    for (std::size_t t = 0; t < truth.triangles.triangle_count() / 2; ++t) {
        truth.triangles.shear_stiffness[t] *= 3;
        truth.triangles.area_stiffness[t] *= 3;
    }
    const Motion noisy = observed(falls(truth, 8, 2, 60), {.noise = 1e-3});
    IdentifyOptions options = options_of(truth);
    options.instruments = Instruments::none;
    const Identification biased = identify(noisy, options);
    EXPECT_FALSE(biased.displacements);
    options.instruments = Instruments::automatic;
    const Identification mended = identify(noisy, options);
    EXPECT_TRUE(mended.displacements);
    for (const std::size_t stiffness : {0, 1, 3}) {
        EXPECT_LT(relative_error(mended.cloth, truth, stiffness),
                  0.5 * relative_error(biased.cloth, truth, stiffness))
            << stiffness;
    }
    double inside = 0;
    for (std::size_t t = 0; t < truth.triangles.triangle_count(); ++t) {
        inside += std::abs(mended.cloth.triangles.shear_stiffness[t] -
                           truth.triangles.shear_stiffness[t]) <=
                  1.96 * mended.cloth.errors->parameters[0][t];
    }
    EXPECT_GE(inside / double(truth.triangles.triangle_count()), 0.8);
    options.threads = 1;  // the same bits on any number of threads
    EXPECT_EQ(identify(noisy, options).cloth.triangles.shear_stiffness,
              mended.cloth.triangles.shear_stiffness);
    options.regions = one_region(truth);
    options.threads = 0;
    const double even = identify(noisy, options).cloth.triangles.shear_stiffness[0] / 300;
    EXPECT_GT(even, 1);
    EXPECT_LT(even, 3);
}

// Two fabrics sewn together are found as two regions, and then known far better than single
// elements.
TEST(IdentifyTriangles, FindsTheRegionsOfNoisySheets)
{
    const Sheet sheet{3.5, 3.5, 6.4};
    Cloth truth = make_mesh_cloth(sheet, make_grid_mesh(sheet, {8, 8}, MeshCut::diagonal), {});
    TriangleSet& triangles = truth.triangles;
    for (std::size_t t = 0; t < triangles.triangle_count(); ++t) {
        if (truth.rest[std::size_t(triangles.corners[t][0])].u < 1.6) continue;
        triangles.shear_stiffness[t] *= 3;
        triangles.area_stiffness[t] *= 2;
    }
    const Motion noisy = observed(falls(truth, 8, 3, 60), {.noise = 1e-3});
    IdentifyOptions options = options_of(truth);
    const Identification found = identify(noisy, options);
    ASSERT_TRUE(found.regions);
    EXPECT_EQ(found.regions->triangles, 2);
    EXPECT_EQ(found.regions->hinges, 1);
    EXPECT_LT(found.regions->left_by_regions, found.regions->left_by_elements);
    EXPECT_LE(relative_error(found.cloth, truth, 2), 0.03);  // damping
    EXPECT_LE(relative_error(found.cloth, truth, 3), 0.03);  // bending
    // Hardly anything stretches a triangle in a corner of the sheet. Seen: one in the wrong region,
    // all others within 1e-3.
    int wrong = 0;
    for (std::size_t t = 0; t < triangles.triangle_count(); ++t) {
        const double ours = found.cloth.triangles.shear_stiffness[t];
        wrong += std::abs(ours / triangles.shear_stiffness[t] - 1) > 0.02;
    }
    EXPECT_LE(wrong, 2);
    options.search.reset();
    const Identification single = identify(noisy, options);
    EXPECT_FALSE(single.regions);
    EXPECT_LT(relative_error(found.cloth, truth, 0), relative_error(single.cloth, truth, 0));
}

// Stiffness that changes smoothly has no regions, and the motion says so.
TEST(IdentifyTriangles, LeavesSmoothSheetsWithoutRegions)
{
    const Sheet sheet{3.5, 3.5, 6.4};
    Cloth truth = make_mesh_cloth(sheet, make_grid_mesh(sheet, {8, 8}, MeshCut::diagonal), {});
    for (std::size_t t = 0; t < truth.triangles.triangle_count(); ++t) {
        const SheetPoint at = truth.rest[std::size_t(truth.triangles.corners[t][0])];
        const double factor = std::exp(std::sin(1.8 * at.u) + 0.8 * at.v - 1.4);
        truth.triangles.shear_stiffness[t] *= factor;
        truth.triangles.area_stiffness[t] *= factor;
    }
    const Motion noisy = observed(falls(truth, 8, 3, 60), {.noise = 5e-4});
    const Identification found = identify(noisy, options_of(truth));
    ASSERT_TRUE(found.regions);
    EXPECT_EQ(found.regions->triangles, 0);
    EXPECT_LT(found.regions->left_by_elements, found.regions->left_by_regions);
}

// The weighted normal equations against their definition with dense matrices.
TEST(DisplacementBalance, IsLeastSquaresOfDisplacements)
{
    const Cloth truth = uneven_mesh({4, 4}, MeshCut::diagonal, TriangleDamping::deformation);
    const Motion noisy = observed(falls(truth, 2, 2, 60), {.noise = 1e-3});
    const IdentifyOptions options = options_of(truth);
    const BalanceReader reader(noisy, options);
    const Scheme scheme{BalanceForm::weak, Instruments::noise, 8, 1e-3};
    Work work;
    DisplacementBalance balance(reader, std::nullopt, scheme, std::size_t(1) << 30, work);
    balance.weigh(truth);
    const auto size = static_cast<Eigen::Index>(balance.unknowns().size());
    Eigen::MatrixXd normal(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
        normal.col(i) = balance.multiply({}, Eigen::VectorXd::Unit(size, i));
    }
    EXPECT_LE((normal - normal.transpose()).norm(), 1e-4 * normal.norm());
    const Eigen::VectorXd right = balance.right({});
    const double all = balance.squares({}).displacements;
    Random random(3);
    for (int draw = 0; draw < 3; ++draw) {
        Eigen::VectorXd x(size);
        for (double& value : x) value = 100 * random.uniform();
        const double expected = x.dot(normal * x) - 2 * right.dot(x) + all;
        EXPECT_NEAR(balance.squares({}, &x).displacements, expected, 1e-3 * expected);
        // Half the gradient of the squares, over all stretches.
        const Eigen::VectorXd score = balance.scores({}, x, 4).rowwise().sum();
        EXPECT_LE((score - (right - normal * x)).norm(), 1e-3 * score.norm());
        EXPECT_NEAR(balance.squares_by_stretch({}, x, 4).sum(), expected, 1e-3 * expected);
    }
    // Shared unknowns: sums of rows and columns.
    std::vector<std::size_t> shared;
    Eigen::MatrixXd map = Eigen::MatrixXd::Zero(5, size);
    for (std::size_t i = 0; i < std::size_t(size); ++i) {
        shared.push_back(balance.unknowns().parameter_of(i));
        map(index_of(shared[i]), index_of(i)) = 1;
    }
    const Eigen::MatrixXd both = balance.shared_system({}, shared, 5);
    const Eigen::MatrixXd summed = map * normal * map.transpose();
    const Eigen::VectorXd summed_right = map * right;
    for (Eigen::Index i = 0; i < 5; ++i) {
        EXPECT_NEAR(both(i, 5), summed_right[i], 1e-3 * std::sqrt(summed(i, i) * all));
        for (Eigen::Index j = 0; j < 5; ++j) {
            EXPECT_NEAR(both(i, j), summed(i, j), 1e-3 * std::sqrt(summed(i, i) * summed(j, j)));
        }
    }
    // Estimates from random vectors, four at each of some hundred places.
    const DisplacementBalance::Blocks blocks = balance.blocks();
    const Unknowns& unknowns = balance.unknowns();
    for (std::size_t t = 0; t < truth.triangles.triangle_count(); ++t) {
        const std::size_t mu = unknowns.number(0, t), lambda = unknowns.number(1, t);
        const auto of_both = [&](std::size_t i, std::size_t j) {
            return normal(index_of(i), index_of(j));
        };
        const double scale = std::sqrt(of_both(mu, mu) * of_both(lambda, lambda));
        EXPECT_NEAR(blocks.at(mu, lambda), of_both(mu, lambda), 0.5 * scale);
        EXPECT_NEAR(blocks.at(mu, mu), of_both(mu, mu), 0.5 * of_both(mu, mu));
    }
    // Halves make up the whole.
    const Eigen::VectorXd halves = balance.right({false, 0}) + balance.right({false, 1});
    EXPECT_LE((halves - right).norm(), 1e-9 * right.norm());
    // The truth leaves displacements of the size of the noise, averaged over a window.
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(size);
    EXPECT_GT(all, 0);
    EXPECT_NEAR(balance.squares({}, &none).displacements, all, 1e-6 * all);
}

TEST(IdentifyCouplings, RecoversEitherSign)
{
    Cloth truth = varied_cloth({5, 5, true, true, true, false}, {{}, false, false, true});
    Random random(8);
    for (double& c : truth.couplings.stiffness) c = 4 * random.normal();
    const Identification found = identify(falls(truth, 6, 2, 60), options_of(truth));
    const std::size_t last = learned_parameters(truth).size() - 1;
    double worst = 0;
    for (std::size_t i = 0; i < truth.couplings.coupling_count(); ++i) {
        worst = std::max(
            worst, std::abs(found.cloth.couplings.stiffness[i] - truth.couplings.stiffness[i]));
    }
    EXPECT_LE(worst, 0.01);
    EXPECT_EQ(found.held_count[last], 0);
}

TEST(IdentifyMeshNetwork, RecoversSpringsAlongTheEdges)
{
    const Sheet sheet{2, 2, 2.5};
    const SheetMesh mesh = make_grid_mesh(sheet, {5, 5}, MeshCut::alternating);
    Cloth truth =
        make_mesh_network(sheet, mesh, MaterialField::uniform(40), MaterialField::uniform(0.5));
    // 40 edges of cells and 16 diagonals, and as many pairs of corners across the 40 inner edges as
    // there are different ones: the 16 other diagonals and 16 that lie two cells apart.
    EXPECT_EQ(truth.springs.spring_count(), 40u + 16u + 32u);
    Random random(4);
    for (double& k : truth.springs.stiffness) k *= 0.5 + random.uniform();
    const Identification found = identify(falls(truth, 6, 2, 60), options_of(truth));
    EXPECT_LE(relative_error(found.cloth, truth, 0), 1e-3);
    EXPECT_LE(relative_error(found.cloth, truth, 1), 1e-3);
}

// ---- Meshes and regions

TEST(ChooseMesh, NoticesHowCellsAreCut)
{
    for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
        const Cloth truth = uneven_mesh({6, 5}, cut, TriangleDamping::deformation);
        const Motion motion = falls(truth, 4, 4, 60);
        LearnOptions options;
        options.elements = LearnElements::triangles;
        std::vector<Motion> views{motion, observed(motion, {})};
        if (cut == MeshCut::antidiagonal) views.push_back(observed(motion, {.noise = 1e-3}));
        for (const Motion& seen : views) {
            EXPECT_EQ(choose_mesh(options, seen).mesh.triangles,
                      make_grid_mesh(truth.sheet, {6, 5}, cut).triangles)
                << name_of(cut);
        }
    }
}

// Points of a sheet without its south-east quarter: no triangle lies in that.
TEST(ChooseMesh, LeavesBaysOfTheOutlineOpen)
{
    Motion motion;
    motion.header.sheet = {4, 4, 1};
    Random random(2);
    for (const SheetPoint& p : grid_points(motion.header.sheet, {9, 9})) {
        if (p.u > 2.1 && p.v > 2.1) continue;
        motion.header.rest.push_back(
            {p.u + 0.01 * random.uniform(), p.v + 0.01 * random.uniform()});
    }
    motion.frame_counts = {2};
    LearnOptions options;
    options.elements = LearnElements::triangles;
    const SheetMesh mesh = choose_mesh(options, motion).mesh;
    EXPECT_NEAR(mesh_area(mesh), 12, 0.3);  // half a cell may be bridged at each end of the bay
    options.cut = MeshCut::diagonal;
    EXPECT_EQ(field_of([&] { choose_mesh(options, motion); }), "cut");
}

TEST(Regions, OfAMapShareTheirParameters)
{
    const Sheet sheet{2, 2, 2.5};
    MeshMaterial material;
    material.shear_stiffness.paint({MaterialField::Patch{{0, 0.5}, {0, 1}}, 2, true});
    const Cloth truth =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {5, 5}, MeshCut::diagonal), material);
    const Regions regions = regions_of_map(truth, {1, 2, {0, 1}});
    ASSERT_EQ(regions.count, 2);
    IdentifyOptions options = options_of(truth);
    options.regions = regions;
    const Identification found = identify(falls(truth, 2, 2, 60), options);
    EXPECT_LE(relative_error(found.cloth, truth, 0), 1e-4);
    // Hinges have the bending of the material in common, whatever their shape.
    EXPECT_LE(relative_error(found.cloth, truth, 3), 1e-4);
    EXPECT_EQ(clustered_regions(found.cloth, 2).of[std::size_t(Element::triangle)],
              clustered_regions(truth, 2).of[std::size_t(Element::triangle)]);
    EXPECT_EQ(regions_of_values(found.cloth).count, 2);
}

// ---- The recipe

TEST(LearnTriangles, SolvesExactlyAndSaysWhichElementsDoNotFit)
{
    const Cloth truth = uneven_mesh({5, 5}, MeshCut::antidiagonal, TriangleDamping::deformation);
    Cloth even = truth;  // landmarks do not say how uneven masses are
    const Sheet& sheet = truth.sheet;
    even.mass =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {5, 5}, MeshCut::antidiagonal), {}).mass;
    const Motion motion = falls(even, 4, 2, 60);
    LearnOptions options;
    options.elements = LearnElements::triangles;
    const Learned learned = learn(motion, options);
    EXPECT_TRUE(learned.steps.empty());  // nothing was left to refine
    EXPECT_LE(relative_error(learned.cloth, even, 0), 1e-3);
    options.law = law_named("full");
    EXPECT_EQ(field_of([&] { learn(motion, options); }), "law");
    options = {};
    options.orthotropic = true;
    EXPECT_EQ(field_of([&] { learn(motion, options); }), "orthotropic");
}

}  // namespace

}  // namespace springtime
