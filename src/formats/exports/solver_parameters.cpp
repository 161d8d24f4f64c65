#include "formats/exports/solver_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "draw/moduli.h"
#include "geometry/polygon.h"
#include "springtime/error.h"
#include "springtime/report.h"

namespace springtime {

namespace {

using Json = nlohmann::ordered_json;
using Remarks = std::vector<std::string>;

// Stiffness of a sheet at small strain. [N/m]
struct SheetStiffness {
    double c11, c12, c22, c66;
};

// From E = C11 - C12^2/C22 and nu = C12/C22 in both directions.
SheetStiffness sheet_stiffness(const Fabric& fabric)
{
    const double nu1 = fabric.poisson_warp.median, nu2 = fabric.poisson_weft.median;
    const double c11 = fabric.young_warp.median / (1 - nu1 * nu2);
    const double c22 = fabric.young_weft.median / (1 - nu1 * nu2);
    return {c11, nu1 * c22, c22, fabric.shear.median};
}

double median_or_zero(const std::optional<FabricValue>& value)
{
    return value ? value->median : 0;
}

void remark_on_spread(const Fabric& fabric, std::string_view solver, Remarks& remarks)
{
    constexpr double kAlike = 1.05;
    if (fabric.young_warp.high <= kAlike * fabric.young_warp.low) return;
    remarks.push_back(
        fmt::format("{} takes one material for the sheet: these are medians, and Young's modulus "
                    "along the warp goes from {:.4g} to {:.4g} N/m; weight maps hold the pattern",
                    solver, fabric.young_warp.low, fabric.young_warp.high));
}

// ---- Newton and Warp

struct EdgeShape {
    double length, area;  // of the edge [m], and of both triangles beside it [m^2]
};

EdgeShape edge_shape(const Cloth& cloth, const std::array<int, 4>& corners)
{
    const SheetPoint a = cloth.rest[corners[0]], b = cloth.rest[corners[1]];
    double area = 0;
    for (const int across : {corners[2], corners[3]}) {
        area += 0.5 * std::abs(turn(a, b, cloth.rest[across]));
    }
    return {std::hypot(b.u - a.u, b.v - a.v), area};
}

// These solvers have no stiffness of their own along warp and weft. That of stretch goes into the
// area stiffness, half of each; shear stays as it is, and Poisson's ratio does not.
std::vector<double> isotropic_area_stiffness(const TriangleSet& set)
{
    std::vector<double> values = set.area_stiffness;
    for (const auto* added : {&set.warp_stiffness, &set.weft_stiffness}) {
        for (std::size_t t = 0; t < added->size(); ++t) values[t] += (*added)[t] / 2;
    }
    return values;
}

// Our energy is that of Warp's and Newton's semi-implicit solvers. Their hinges leave out that an
// angle changes by less if the triangles are larger: they push a corner with edge_ke |e|^2 theta,
// we with K |e| theta / (2 A), so edge_ke = K / (|e| 2 A); 2 A is A1 + A2. The rate of the angle
// lacks the same factor once more.
Json semi_implicit(const Cloth& cloth, const std::vector<double>& area_stiffness)
{
    std::vector<double> stiffness, damping;
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        const auto [length, area] = edge_shape(cloth, cloth.hinges.corners[h]);
        stiffness.push_back(cloth.hinges.stiffness[h] / (length * area));
        damping.push_back(cloth.hinges.damping[h] / (length * area * area));
    }
    return {{"tri_ke", cloth.triangles.shear_stiffness},
            {"tri_ka", area_stiffness},
            {"tri_kd", cloth.triangles.damping},
            {"edge_ke", stiffness},
            {"edge_kd", damping}};
}

// Newton's VBD adds mu to its lambda, has hinges of edge_ke |e|/2 theta^2, and damps the rate of
// F^T F: its stress is 4 tri_kd F times the rate of strain, ours gamma F times that, without the
// part of area.
Json vertex_block_descent(const Cloth& cloth, const std::vector<double>& area_stiffness)
{
    std::vector<double> lambda = area_stiffness, gamma = cloth.triangles.damping;
    for (std::size_t t = 0; t < lambda.size(); ++t) {
        lambda[t] -= cloth.triangles.shear_stiffness[t];
        gamma[t] /= 4;
    }
    std::vector<double> stiffness, damping;
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        const double length = edge_shape(cloth, cloth.hinges.corners[h]).length;
        stiffness.push_back(cloth.hinges.stiffness[h] / length);
        damping.push_back(cloth.hinges.damping[h] / length);
    }
    return {{"tri_ke", cloth.triangles.shear_stiffness},
            {"tri_ka", lambda},
            {"tri_kd", gamma},
            {"edge_ke", stiffness},
            {"edge_kd", damping}};
}

void remark_on_newton(const Cloth& cloth, Remarks& remarks)
{
    const TriangleSet& set = cloth.triangles;
    if (!set.warp_stiffness.empty() || !set.weft_stiffness.empty()) {
        remarks.push_back(
            "Newton and Warp have no stiffness of their own along warp and weft: shear and the "
            "mean "
            "of stretch are kept, Poisson's ratio is not");
    }
    remarks.push_back(
        set.damping_kind == TriangleDamping::deformation
            ? "damping is that of the semi-implicit solvers; VBD damps strain alone, so rotation "
              "is "
              "not slowed there"
            : "damping acts on strain alone, as that of VBD does; the semi-implicit solvers damp "
              "every change of deformation, so rotation is slowed there");
    const auto zero = std::count(set.area_stiffness.begin(), set.area_stiffness.end(), 0.0);
    if (zero > 0) {
        remarks.push_back(
            fmt::format("{} triangles have no area stiffness; the semi-implicit solvers then leave "
                        "out the term that keeps the rest shape free of force",
                        zero));
    }
}

Json newton_json(const Cloth& cloth, Remarks& remarks)
{
    const std::vector<double> area_stiffness = isotropic_area_stiffness(cloth.triangles);
    Json rest = Json::array(), edges = Json::array();
    for (const SheetPoint& point : cloth.rest) rest.push_back({point.u, point.v});
    // The corners across come first there.
    for (const auto& [a, b, c, d] : cloth.hinges.corners) edges.push_back({c, d, a, b});
    remark_on_newton(cloth, remarks);
    return {{"particle_rest", rest},
            {"particle_mass", cloth.mass},
            {"tri_indices", cloth.triangles.corners},
            {"edge_indices", edges},
            {"semi_implicit", semi_implicit(cloth, area_stiffness)},
            {"vbd", vertex_block_descent(cloth, area_stiffness)}};
}

// ---- ARCSim

// ARCSim doubles the numbers of stretching; that of shear belongs to half of the angle, squared and
// doubled. Its six rows are one at rest and five stretched ones, which are the same here. Bending
// has rows for folds along the warp, the bias and the weft, and columns for curvature. A fold along
// the warp curves the weft.
Json arcsim_json(const Cloth& cloth, Remarks& remarks)
{
    const Fabric fabric = fabric_of(cloth);
    const SheetStiffness c = sheet_stiffness(fabric);
    const double warp = median_or_zero(fabric.bending_warp) / kArcsimRigidity;
    const double weft = median_or_zero(fabric.bending_weft) / kArcsimRigidity;
    Json stretching = Json::array(), bending = Json::array();
    for (int row = 0; row < 6; ++row) {
        stretching.push_back({c.c11 / 2, c.c12 / 2, c.c22 / 2, c.c66});
    }
    for (const double fold : {weft, (warp + weft) / 2, warp}) {
        bending.push_back(std::vector<double>(5, fold));
    }
    remark_on_spread(fabric, "ARCSim", remarks);
    if (c.c12 < 0) {
        remarks.push_back(
            "the sheet widens when it is stretched (area stiffness below shear stiffness); ARCSim "
            "takes a negative coupling for zero");
    }
    remarks.push_back(
        "\"damping\" is the shear of damping over stiffness; ARCSim reads it from the scene, and "
        "damps in proportion to stiffness");
    return {{"density", fabric.density},
            {"stretching", stretching},
            {"bending", bending},
            {"damping", c.c66 > 0 ? fabric.damping.median / c.c66 : 0}};
}

// ---- Blender

// For a mesh of square cells of size h: springs of tension/h along the edges and of shear/h along
// both diagonals give C66 = shear/h and C11 = (tension + shear)/h. An angular spring turns its two
// cells by the force bending h theta/10, shared by their corners, so the rigidity is
// bending h^2 / 20; its damping acts on half of the rate of the angle.
Json blender_json(const Cloth& cloth, Remarks& remarks)
{
    const Fabric fabric = fabric_of(cloth);
    const SheetStiffness c = sheet_stiffness(fabric);
    double area = 0;
    for (const auto& [a, b, d] : cloth.triangles.corners) {
        area += 0.5 * std::abs(turn(cloth.rest[a], cloth.rest[b], cloth.rest[d]));
    }
    const double cell = std::sqrt(2 * area / double(cloth.triangles.triangle_count()));
    const double tension = ((c.c11 + c.c22) / 2 - c.c66) * cell;
    const double rigidity =
        (median_or_zero(fabric.bending_warp) + median_or_zero(fabric.bending_weft)) / 2;
    const double bending = 20 * rigidity / (cell * cell);
    remark_on_spread(fabric, "Blender", remarks);
    remarks.push_back(fmt::format(
        "Blender's cloth is made of springs: the numbers are for quads of {:.4g} m, stretch is the "
        "mean of warp and weft, Poisson's ratio follows from shear, and damping is of the right "
        "size only",
        cell));
    return {{"cell_size", cell},
            {"bending_model", "ANGULAR"},
            {"mass", fabric.density * cell * cell},
            {"tension_stiffness", tension},
            {"compression_stiffness", tension},
            {"shear_stiffness", c.c66 * cell},
            {"bending_stiffness", bending},
            {"tension_damping", fabric.damping.median},
            {"compression_damping", fabric.damping.median},
            {"shear_damping", fabric.damping.median},
            {"bending_damping", 0.2 * median_or_zero(fabric.bending_time) * bending}};
}

}  // namespace

std::string solver_parameters(const Cloth& cloth, ExportFormat format, const std::string& source,
                              Remarks& remarks)
{
    if (cloth.triangles.triangle_count() == 0) {
        throw Error(
            "{}: has no triangles, and {} takes the parameters of triangles; learn them with "
            "elements of triangles, or export weight maps",
            source, name_of(format));
    }
    if (cloth.springs.spring_count() > 0) {
        remarks.push_back("the springs of this cloth are left out; triangles and hinges are not");
    }
    const Json document = format == ExportFormat::newton   ? newton_json(cloth, remarks)
                          : format == ExportFormat::arcsim ? arcsim_json(cloth, remarks)
                                                           : blender_json(cloth, remarks);
    return document.dump(1) + "\n";
}

}  // namespace springtime
