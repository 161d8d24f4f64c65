#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "error_of.h"
#include "exports.h"
#include "springtime/simulation.h"

namespace springtime {
namespace {

using nlohmann::json;

Cloth sheet_of(const Grid& grid, const MeshMaterial& material = {})
{
    const Sheet sheet{1.2, 0.6, 0.3};
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, grid, MeshCut::alternating), material);
}

json exported(const Cloth& cloth, ExportFormat format, std::vector<std::string>* remarks = nullptr)
{
    const TempFolder folder;
    ClothExport options;
    options.format = format;
    options.out = folder / "parameters.json";
    options.source = "cloth";
    const ExportReport report = export_cloth(cloth, options);
    if (remarks) *remarks = report.remarks;
    return json::parse(bytes_of(options.out));
}

// A rumpled sheet that moves.
State rumpled(const Cloth& cloth)
{
    State state{0, {}, {}};
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const double u = cloth.rest[p].u, v = cloth.rest[p].v;
        state.position.push_back({1.05 * u + 0.02 * v, 0.1 * std::sin(3 * u + 5 * v), 0.97 * v});
        state.velocity.push_back({std::sin(7 * v), std::cos(4 * u), std::sin(u - v)});
    }
    return state;
}

std::vector<Vec3d> our_forces(const Cloth& cloth, const State& state)
{
    std::vector<Vec3d> forces =
        Simulation(cloth, state, {}, {1e-4, {{}, 0, {}}, Device::reference}).acceleration();
    for (std::size_t p = 0; p < forces.size(); ++p) forces[p] = cloth.mass[p] * forces[p];
    return forces;
}

Vec3d unit_of(const Vec3d& a)
{
    return (1 / length(a)) * a;
}

void expect_equal_forces(const std::vector<Vec3d>& ours, const std::vector<Vec3d>& theirs)
{
    double size = 0;
    for (const Vec3d& force : ours) size = std::max(size, length(force));
    for (std::size_t p = 0; p < ours.size(); ++p) {
        EXPECT_LT(length(ours[p] - theirs[p]), 1e-9 * size) << p;
    }
}

// The membrane of the semi-implicit solvers, written after its description: P = ke F + kd Fdot
// + (ka (J - 1 - ke/ka) + kd Jdot) dJ/dF, force = -A P Dm^-T.
TEST(SolverParameters, NewtonsTrianglesPullAsOurs)
{
    Cloth cloth = sheet_of({4, 5});
    cloth.hinges = {};
    const json found = exported(cloth, ExportFormat::newton);
    const json& parameters = found["semi_implicit"];
    const State state = rumpled(cloth);
    std::vector<Vec3d> theirs(cloth.particle_count());
    for (std::size_t t = 0; t < found["tri_indices"].size(); ++t) {
        const std::array<int, 3> at = found["tri_indices"][t];
        const double ke = parameters["tri_ke"][t], ka = parameters["tri_ka"][t],
                     kd = parameters["tri_kd"][t];
        const auto edge = [&](int i) {
            return SheetPoint{cloth.rest[at[i]].u - cloth.rest[at[0]].u,
                              cloth.rest[at[i]].v - cloth.rest[at[0]].v};
        };
        const SheetPoint e = edge(1), f = edge(2);
        const double det = e.u * f.v - f.u * e.v, area = std::abs(det) / 2;
        const double inverse[2][2]{{f.v / det, -f.u / det}, {-e.v / det, e.u / det}};
        const auto gradient = [&](const std::vector<Vec3d>& of, int column) {
            return inverse[0][column] * (of[at[1]] - of[at[0]]) +
                   inverse[1][column] * (of[at[2]] - of[at[0]]);
        };
        const Vec3d f0 = gradient(state.position, 0), f1 = gradient(state.position, 1);
        const Vec3d r0 = gradient(state.velocity, 0), r1 = gradient(state.velocity, 1);
        const Vec3d across = cross(f0, f1);
        const double ratio = length(across);
        const Vec3d unit = (1 / ratio) * across;
        const Vec3d g0 = cross(f1, unit), g1 = cross(unit, f0);
        const double rate = dot(g0, r0) + dot(g1, r1);
        const double pressure = ka * (ratio - 1 - ke / ka) + kd * rate;
        const Vec3d p0 = ke * f0 + kd * r0 + pressure * g0, p1 = ke * f1 + kd * r1 + pressure * g1;
        for (int i = 1; i < 3; ++i) {
            const Vec3d force = -area * (inverse[i - 1][0] * p0 + inverse[i - 1][1] * p1);
            theirs[at[i]] += force;
            theirs[at[0]] -= force;
        }
    }
    expect_equal_forces(our_forces(cloth, state), theirs);
}

// The hinges of the semi-implicit solvers: along d the force is -|e| (ke theta + kd d.v), with
// d = -|e| n at the corners across (n the unit normals) and what balances it at the ends. Their
// normals are of length one, where ours are over twice the area of the bent triangles, so a small
// fold is compared: the difference is of second order. Triangles of a grid are equally large.
TEST(SolverParameters, NewtonsHingesPushAsOurs)
{
    Cloth cloth = sheet_of({4, 5});
    const json found = exported(cloth, ExportFormat::newton);
    cloth.triangles = {};
    State state{0, {}, {}};
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const SheetPoint at = cloth.rest[p];
        state.position.push_back({at.u, 1e-6 * std::sin(3 * at.u + 5 * at.v), at.v});
        state.velocity.push_back({0, 1e-3 * std::cos(4 * at.u - at.v), 0});
    }
    std::vector<Vec3d> theirs(cloth.particle_count());
    const json& parameters = found["semi_implicit"];
    for (std::size_t h = 0; h < found["edge_indices"].size(); ++h) {
        const std::array<int, 4> at = found["edge_indices"][h];  // across, across, ends
        const auto x = [&](int i) { return state.position[at[i]]; };
        const Vec3d edge = x(3) - x(2);
        const double size = length(edge);
        const Vec3d n1 = unit_of(cross(x(2) - x(0), x(3) - x(0)));
        const Vec3d n2 = unit_of(cross(x(3) - x(1), x(2) - x(1)));
        const double angle = std::atan2(dot(cross(n1, n2), edge) / size, dot(n1, n2));
        const auto share = [&](int i) { return dot(x(i) - x(2), edge) / (size * size); };
        std::array<Vec3d, 4> d{-size * n1, -size * n2};
        d[3] = -share(0) * d[0] - share(1) * d[1];
        d[2] = -(d[0] + d[1] + d[3]);
        double rate = 0;
        for (int i = 0; i < 4; ++i) rate += dot(d[i], state.velocity[at[i]]);
        const double force = -size * (double(parameters["edge_ke"][h]) * angle +
                                      double(parameters["edge_kd"][h]) * rate);
        for (int i = 0; i < 4; ++i) theirs[at[i]] += force * d[i];
    }
    const std::vector<Vec3d> ours = our_forces(cloth, state);
    double size = 0;
    for (const Vec3d& force : ours) size = std::max(size, std::abs(force.y));
    for (std::size_t p = 0; p < ours.size(); ++p) {
        EXPECT_NEAR(ours[p].y, theirs[p].y, 1e-5 * size) << p;
    }
}

// psi = ke/2 (tr F^T F - 2) + (ka + ke)/2 (J - 1 - ke/(ka + ke))^2 per area, and
// edge_ke |e|/2 theta^2: one square that is stretched, and folded along its diagonal.
TEST(SolverParameters, NewtonsVbdHasOurEnergy)
{
    const Sheet sheet{1, 1, 0.1};
    const Cloth cloth =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {2, 2}, MeshCut::diagonal), {});
    const json vbd = exported(cloth, ExportFormat::newton)["vbd"];
    const auto energy = [&](const std::vector<Vec3d>& position) {
        return energy_of(cloth, {{}, 0, {}}, {0, position, std::vector<Vec3d>(4)}).elastic;
    };
    const double ke = vbd["tri_ke"][0], lambda = double(vbd["tri_ka"][0]) + ke;
    const double stretched =
        ke / 2 * (1.1 * 1.1 + 1 - 2) +
        lambda / 2 * (std::pow(1.1 - 1 - ke / lambda, 2) - std::pow(ke / lambda, 2));
    EXPECT_NEAR(energy({{0, 0, 0}, {1.1, 0, 0}, {0, 0, 1}, {1.1, 0, 1}}), stretched, 1e-12);
    // The corner 1 stands up at a right angle.
    const double fold = M_PI / 2, edge = std::sqrt(2.0);
    const std::vector<Vec3d> folded{{0, 0, 0}, {0.5, std::sqrt(0.5), 0.5}, {0, 0, 1}, {1, 0, 1}};
    EXPECT_NEAR(energy(folded), double(vbd["edge_ke"][0]) * edge / 2 * fold * fold, 1e-12);
    EXPECT_NEAR(double(vbd["edge_kd"][0]) * edge, cloth.hinges.damping[0], 1e-15);
    EXPECT_DOUBLE_EQ(vbd["tri_kd"][0], 0.3 / 4);
}

MeshMaterial woven()
{
    MeshMaterial material;
    material.shear_stiffness = MaterialField::uniform(40);
    material.area_stiffness = MaterialField::uniform(60);
    material.warp_stiffness = MaterialField::uniform(900);
    material.weft_stiffness = MaterialField::uniform(400);
    return material;
}

// C11 = 1000, C22 = 500, C12 = 20, C66 = 40; D = 3 B = 0.069, and ARCSim's k = 4 D.
TEST(SolverParameters, ArcsimByHand)
{
    const json found = exported(sheet_of({5, 9}, woven()), ExportFormat::arcsim);
    ASSERT_EQ(found["stretching"].size(), 6u);
    ASSERT_EQ(found["bending"].size(), 3u);
    for (const json& row : found["stretching"]) {
        EXPECT_NEAR(row[0], 500, 1e-9);
        EXPECT_NEAR(row[1], 10, 1e-9);
        EXPECT_NEAR(row[2], 250, 1e-9);
        EXPECT_NEAR(row[3], 40, 1e-9);
    }
    for (const json& row : found["bending"]) {
        ASSERT_EQ(row.size(), 5u);
        EXPECT_NEAR(row[2], 4 * 0.069, 1e-9);
    }
    EXPECT_NEAR(found["density"], 0.3 / (1.2 * 0.6), 1e-12);
    EXPECT_NEAR(found["damping"], 0.3 / 40, 1e-12);
}

// Cells of 0.15 m.
TEST(SolverParameters, BlenderByHand)
{
    std::vector<std::string> remarks;
    const json found = exported(sheet_of({5, 9}, woven()), ExportFormat::blender, &remarks);
    EXPECT_NEAR(found["cell_size"], 0.15, 1e-12);
    EXPECT_NEAR(found["tension_stiffness"], (750 - 40) * 0.15, 1e-9);
    EXPECT_NEAR(found["shear_stiffness"], 40 * 0.15, 1e-9);
    EXPECT_NEAR(found["bending_stiffness"], 20 * 0.069 / (0.15 * 0.15), 1e-9);
    EXPECT_NEAR(found["mass"], 0.3 / (1.2 * 0.6) * 0.15 * 0.15, 1e-12);
    EXPECT_EQ(found["bending_model"], "ANGULAR");
    EXPECT_FALSE(remarks.empty());
}

TEST(SolverParameters, SayWhatASolverCannotDo)
{
    std::vector<std::string> remarks;
    const json found = exported(sheet_of({3, 3}, woven()), ExportFormat::newton, &remarks);
    EXPECT_TRUE(mentions(remarks[0], {"warp and weft", "Poisson"}));
    EXPECT_EQ(found["semi_implicit"]["tri_ka"][0], 60 + 650);
    const TempFolder folder;
    ClothExport options;
    options.format = ExportFormat::newton;
    options.out = folder / "a.json";
    options.source = "cloth.json";
    EXPECT_TRUE(mentions(error_of([&] { export_cloth(numbered_grid(), options); }),
                         {"cloth.json", "no triangles", "newton"}));
    EXPECT_TRUE(mentions(
        error_of([&] { export_motion(small_motion(), export_to(ExportFormat::arcsim, "m")); }),
        {"arcsim", "parameters", "not motion"}));
}

}  // namespace
}  // namespace springtime
