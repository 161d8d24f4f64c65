#include <gtest/gtest.h>

#include <cmath>

#include "cloths.h"
#include "draw/fabric.h"
#include "error_of.h"
#include "springtime/error.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

namespace springtime {
namespace {

struct Material {
    double mu, lambda, warp, weft, gamma = 0.1, bending = 0.01;
};

MeshMaterial mesh_material(const Material& material)
{
    MeshMaterial fields;
    fields.shear_stiffness = MaterialField::uniform(material.mu);
    fields.area_stiffness = MaterialField::uniform(material.lambda);
    fields.damping = MaterialField::uniform(material.gamma);
    fields.bending = MaterialField::uniform(material.bending);
    if (material.warp > 0) fields.warp_stiffness = MaterialField::uniform(material.warp);
    if (material.weft > 0) fields.weft_stiffness = MaterialField::uniform(material.weft);
    return fields;
}

Cloth mesh_cloth(const Sheet& sheet, const Grid& grid, const Material& material,
                 MeshCut cut = MeshCut::alternating)
{
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, grid, cut), mesh_material(material));
}

// The flat sheet after u += uu u + uv v, v += vv v. Its centre is the origin, level.
State strained(const Cloth& cloth, double uu, double vv, double uv = 0)
{
    State state{0, {}, std::vector<Vec3d>(cloth.particle_count())};
    for (const SheetPoint& p : cloth.rest) {
        state.position.push_back({(1 + uu) * p.u + uv * p.v, 0, (1 + vv) * p.v});
    }
    return state;
}

// Nothing is held and nothing moves, so these are the forces of the elements. [N]
std::vector<Vec3d> element_forces(const Cloth& cloth, const State& state)
{
    const State still{0, state.position, std::vector<Vec3d>(cloth.particle_count())};
    std::vector<Vec3d> forces =
        Simulation(cloth, still, {}, {1e-4, {{}, 0, {}}, Device::reference}).acceleration();
    for (std::size_t p = 0; p < forces.size(); ++p) forces[p] = cloth.mass[p] * forces[p];
    return forces;
}

double sum_at(const std::vector<Vec3d>& forces, const std::vector<int>& particles, int axis)
{
    double sum = 0;
    for (const int p : particles) sum += axis == 0 ? forces[p].x : forces[p].z;
    return sum;
}

// ---- The card against the sheet itself

// A strip whose ends are drawn apart and held. Its middle is far from the ends, so it contracts
// freely there: what the ends are pulled with, and how wide the middle is, give Young's modulus and
// Poisson's ratio. Linear triangles have uniform strain exactly; what is left are the strain itself
// (the law is not linear) and the ends.
TEST(Fabric, StripTestGivesTheNumbersOfTheCard)
{
    constexpr int kRows = 5, kCols = 41;
    constexpr double kStrain = 1e-4;
    const Sheet sheet{2, 0.2, 0.08};
    for (const Material& material :
         {Material{40, 60, 0, 0}, Material{60, 40, 0, 0}, Material{40, 60, 120, 60}}) {
        const Cloth cloth = mesh_cloth(sheet, {kRows, kCols}, material);
        const Fabric card = fabric_of(cloth);
        const SimulationOptions options{2e-3, {{}, 100, {}}, Device::reference, {}, 0,
                                        0,    kAutomatic};
        Handles held;
        for (const char* end : {"edge-west", "edge-east"}) {
            for (const int p : particles_named(cloth, end)) held.particles.push_back(p);
        }
        Simulation simulation(cloth, strained(cloth, kStrain, 0), held, options);
        ASSERT_FALSE(simulation.advance(400));
        const State& rest = simulation.state();
        ASSERT_LT(speeds_of(rest).largest, 1e-9);
        const std::vector<Vec3d> forces = element_forces(cloth, rest);
        const double tension = sum_at(forces, particles_named(cloth, "edge-west"), 0) / sheet.width;

        const int middle = kCols / 2, south = (kRows - 1) * kCols;
        const double along = (rest.position[middle + 4].x - rest.position[middle - 4].x) /
                                 (8 * sheet.length / (kCols - 1)) -
                             1;
        const double across =
            (rest.position[south + middle].z - rest.position[middle].z) / sheet.width - 1;
        EXPECT_NEAR(tension / along / card.young_warp.median, 1, 1e-3);
        EXPECT_NEAR(-across / along, card.poisson_warp.median, 1e-3);
    }
}

// All particles move as u += g v: every triangle has the same strain, so forces cancel inside, and
// along the north edge the sheet is held back with G g per length.
TEST(Fabric, PatchTestGivesTheShearModulus)
{
    const Sheet sheet{1.2, 0.8, 0.1};
    const double shear = 1e-6;
    const Cloth cloth = mesh_cloth(sheet, {7, 9}, {40, 60, 120, 60});
    const std::vector<Vec3d> forces = element_forces(cloth, strained(cloth, 0, 0, shear));
    for (int r = 1; r + 1 < 7; ++r) {
        for (int c = 1; c + 1 < 9; ++c) {
            EXPECT_NEAR(length(forces[std::size_t(r * 9 + c)]), 0, 1e-13);
        }
    }
    const double along = sum_at(forces, particles_named(cloth, "edge-north"), 0);
    EXPECT_NEAR(along / (sheet.length * shear), fabric_of(cloth).shear.median, 1e-3);
}

// A grid that is bent along rows or columns has D = 3 B, whatever its cells and its cut.
TEST(Fabric, BendingOfAGridIsThreeTimesThatOfItsHinges)
{
    const Sheet sheet{1.2, 0.8, 0.1};
    for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
        const Fabric card = fabric_of(mesh_cloth(sheet, {5, 9}, {40, 60, 0, 0, 0.1, 0.01}, cut));
        EXPECT_NEAR(card.bending_warp->median, 0.03, 1e-12);
        EXPECT_NEAR(card.bending_weft->median, 0.03, 1e-12);
        EXPECT_NEAR(card.bending_time->median, 1e-3, 1e-15);
        EXPECT_NEAR(card.density, 0.1 / (1.2 * 0.8), 1e-12);
    }
}

// Hinges that run north to south bend when rows are curved, the others when columns are. Their
// energy in a sheet that is curved like z = k u^2/2 is D k^2/2 per area; the strips at both ends,
// half a cell wide, are flat.
TEST(Fabric, BendingDiffersAlongWarpAndWeft)
{
    const Sheet sheet{1, 1, 0.1};
    Cloth cloth = mesh_cloth(sheet, {9, 9}, {0, 0, 0, 0, 0, 0.01}, MeshCut::diagonal);
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        const auto& [a, b, c, d] = cloth.hinges.corners[h];
        if (cloth.rest[a].u == cloth.rest[b].u) cloth.hinges.stiffness[h] *= 4;
    }
    const Fabric card = fabric_of(cloth);
    EXPECT_NEAR(card.bending_warp->median, 0.12, 1e-12);
    EXPECT_NEAR(card.bending_weft->median, 0.03, 1e-12);
    const double curvature = 1e-3, cell = 1.0 / 8;
    State state = strained(cloth, 0, 0);
    for (Vec3d& x : state.position) x.y = curvature * x.x * x.x / 2;
    const double energy = energy_of(cloth, {{}, 0, {}}, state).elastic;
    EXPECT_NEAR(energy / (curvature * curvature / 2 * (1 - cell)), 0.12, 1e-6);
}

TEST(Fabric, OrthotropicModuliByHand)
{
    // C11 = 1000, C22 = 500, C12 = 20, C66 = 40.
    const Fabric card = fabric_of(mesh_cloth({1, 1, 0.1}, {3, 3}, {40, 60, 900, 400}));
    EXPECT_TRUE(card.orthotropic);
    EXPECT_NEAR(card.young_warp.median, 1000 - 400.0 / 500, 1e-9);
    EXPECT_NEAR(card.young_weft.median, 500 - 400.0 / 1000, 1e-9);
    EXPECT_NEAR(card.poisson_warp.median, 0.04, 1e-12);
    EXPECT_NEAR(card.poisson_weft.median, 0.02, 1e-12);
    EXPECT_EQ(card.shear.median, 40);
    EXPECT_EQ(card.damping.median, 0.1);
}

// ---- Errors

// The same relative error of every parameter, a hundredth.
Cloth with_errors(Cloth cloth)
{
    ParameterValues errors = parameters_of(cloth);
    for (auto& values : errors) {
        for (double& value : values) value /= 100;
    }
    cloth.errors = StandardErrors{errors, 0.1};
    return cloth;
}

// First order: the error is the root of the squared differences that each parameter makes alone.
TEST(Fabric, ErrorsArePropagatedToFirstOrder)
{
    const Material material{40, 60, 900, 400};
    const auto card_of = [](const Material& changed) {
        return fabric_of(mesh_cloth({1, 1, 0.1}, {3, 3}, changed));
    };
    const Fabric card = fabric_of(with_errors(mesh_cloth({1, 1, 0.1}, {3, 3}, material)));
    double young = 0, poisson = 0;
    for (double Material::*parameter :
         {&Material::mu, &Material::lambda, &Material::warp, &Material::weft}) {
        Material up = material, down = material;
        const double error = material.*parameter / 100;
        up.*parameter += error / 100;  // central differences over a hundredth of the error
        down.*parameter -= error / 100;
        const Fabric high = card_of(up), low = card_of(down);
        young += std::pow(50 * (high.young_warp.median - low.young_warp.median), 2);
        poisson += std::pow(50 * (high.poisson_weft.median - low.poisson_weft.median), 2);
    }
    EXPECT_NEAR(*card.young_warp.error / std::sqrt(young), 1, 1e-6);
    EXPECT_NEAR(*card.poisson_weft.error / std::sqrt(poisson), 1, 1e-6);
    EXPECT_NEAR(*card.shear.error, 0.4, 1e-12);
    EXPECT_NEAR(*card.bending_warp->error, 0.01 * card.bending_warp->median, 1e-15);
    // d/K with a hundredth of error each.
    EXPECT_NEAR(*card.bending_time->error, std::sqrt(2.0) * 0.01 * 1e-3, 1e-12);
    EXPECT_FALSE(card_of(material).young_warp.error);
}

// The triangles of one region are one unknown; those with values of their own are independent.
TEST(Fabric, MeansAverageIndependentElementsOnly)
{
    const Cloth alike = with_errors(mesh_cloth({1, 1, 0.1}, {5, 5}, {40, 60, 0, 0}));
    EXPECT_NEAR(*fabric_of(alike).shear.mean_error, 0.4, 1e-12);
    Cloth own = alike;
    for (std::size_t t = 0; t < 32; ++t) own.triangles.shear_stiffness[t] *= 1 + 1e-6 * double(t);
    EXPECT_NEAR(*fabric_of(own).shear.mean_error, 0.4 / std::sqrt(32.0), 1e-12);
    EXPECT_NEAR(*fabric_of(own).shear.error, 0.4, 1e-12);
}

TEST(Fabric, UnseenElementsAreLeftOutOfTheMean)
{
    Cloth cloth = with_errors(mesh_cloth({1, 1, 0.1}, {5, 5}, {40, 60, 0, 0}));
    cloth.errors->parameters[0][3] = std::numeric_limits<double>::infinity();
    cloth.triangles.shear_stiffness[3] = 1e6;
    const Fabric card = fabric_of(cloth);
    EXPECT_NEAR(card.shear.mean, 40, 1e-9);
    EXPECT_NEAR(*card.shear.mean_error, 0.4, 1e-12);
    for (double& error : cloth.errors->parameters[0]) {
        error = std::numeric_limits<double>::infinity();
    }
    EXPECT_TRUE(std::isinf(*fabric_of(cloth).shear.error));
    EXPECT_TRUE(std::isinf(*fabric_of(cloth).shear.mean_error));
}

// ---- Reports

TEST(Fabric, RangeIsByArea)
{
    const Sheet sheet{1, 1, 0.1};
    MeshMaterial material = mesh_material({40, 60, 0, 0});
    material.shear_stiffness.paint({MaterialField::ColumnStripes{{{0, 0.25}}}, 10});
    const Fabric card = fabric_of(
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {9, 9}, MeshCut::diagonal), material));
    EXPECT_EQ(card.shear.median, 40);
    EXPECT_EQ(card.shear.low, 10);
    EXPECT_EQ(card.shear.high, 40);
    EXPECT_NEAR(card.shear.mean, 0.75 * 40 + 0.25 * 10, 1e-12);
}

TEST(Fabric, RegionsAreListedWhereThereAreFew)
{
    const Sheet sheet{1, 1, 0.1};
    MeshMaterial material = mesh_material({40, 60, 0, 0});
    material.shear_stiffness.paint({MaterialField::ColumnStripes{{{0, 0.25}}}, 10});
    const Result report = report_fabric(
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {9, 9}, MeshCut::diagonal), material));
    const Result* regions = report.find("regions");
    ASSERT_TRUE(regions && regions->is_list());
    ASSERT_EQ(regions->entries().size(), 2u);
    EXPECT_DOUBLE_EQ(*regions->entries()[0].value.find("share")->get_if<double>(), 0.75);
    EXPECT_EQ(*regions->entries()[0].value.find("shear")->get_if<double>(), 40);
    EXPECT_EQ(*regions->entries()[1].value.find("shear")->get_if<double>(), 10);
    EXPECT_TRUE(report.find("bending_regions")->is_nothing());  // one region only
    EXPECT_NE(to_text(report).find("Young's modulus, warp"), std::string::npos);
}

// The database has isotropic.json with (40, 0, 40, 40): a sheet without contraction, for which
// C66 = C11/2. It shows that stretching is doubled and shear is not. Denim, by hand:
// C11 = 410.704, C12 = 20.468, C22 = 2027.77.
TEST(Fabric, MeasuredFabricsAreConverted)
{
    for (const MeasuredFabric& fabric : measured_fabrics()) {
        EXPECT_GT(fabric.young_warp, 0) << fabric.name;
        EXPECT_LT(fabric.bending_warp, 1e-4) << fabric.name;
        if (fabric.use != "jeans") continue;
        EXPECT_NEAR(fabric.young_warp, 410.704 - 20.468 * 20.468 / 2027.77, 1e-2);
        EXPECT_NEAR(fabric.shear, 53.387, 1e-3);
        EXPECT_NEAR(fabric.bending_warp, 96.951576e-6 / 4, 1e-12);
    }
}

TEST(Fabric, NeedsTriangles)
{
    EXPECT_TRUE(mentions(error_of([] {
                             fabric_of(uneven_grid({3, 3}));
                         }),
                         {"fabric", "no triangles", "learn"}));
}

}  // namespace
}  // namespace springtime
