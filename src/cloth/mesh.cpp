#include "springtime/cloth.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cloth/hinge_shape.h"
#include "geometry/mesh_edges.h"
#include "geometry/polygon.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Signed: positive when the corners turn from u towards v.
double area_of(const SheetMesh& mesh, const std::array<int, 3>& triangle)
{
    const auto& [a, b, c] = triangle;
    return 0.5 * turn(mesh.points[a], mesh.points[b], mesh.points[c]);
}

void check_triangles(const SheetMesh& mesh, std::string_view source)
{
    const int count = static_cast<int>(mesh.points.size());
    double first_area = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const auto& [a, b, c] = mesh.triangles[t];
        for (const int corner : {a, b, c}) {
            if (corner < 0 || corner >= count) {
                throw Error("{}: triangle {} has corner {}; corners must lie in 0 to {}", source, t,
                            corner, count - 1);
            }
        }
        const double area = area_of(mesh, mesh.triangles[t]);
        double longest = 0;
        for (int i = 0; i < 3; ++i) {
            const SheetPoint p = mesh.points[mesh.triangles[t][i]];
            const SheetPoint q = mesh.points[mesh.triangles[t][(i + 1) % 3]];
            longest = std::max(longest, std::hypot(p.u - q.u, p.v - q.v));
        }
        // Flatter than a millionth of its length: its stiffness would be a matter of rounding.
        if (std::abs(area) <= 0.5e-6 * longest * longest) {
            throw Error(
                "{}: triangle {} with corners {}, {}, {} is degenerate: its area is {:.3g} m^2; "
                "remove it, or merge its corners",
                source, t, a, b, c, std::abs(area));
        }
        if (t == 0) first_area = area;
        if ((area > 0) != (first_area > 0)) {
            throw Error(
                "{}: triangle {} with corners {}, {}, {} is upside down compared with the first; "
                "make all of them turn the same way, and the sheet flat without folds",
                source, t, a, b, c);
        }
    }
}

void check_edges(const SheetMesh& mesh, std::string_view source)
{
    for (const auto& [ends, sides] : edges_of(mesh.triangles)) {
        if (sides.size() > 2) {
            throw Error(
                "{}: the edge from point {} to {} is non-manifold: {} triangles share it; a sheet "
                "has at most two there",
                source, ends.first, ends.second, sides.size());
        }
        if (sides.size() < 2) continue;
        const auto from = [&](const EdgeSide& side) {
            return mesh.triangles[side.triangle][side.corner];
        };
        if (from(sides[0]) == from(sides[1])) {
            throw Error(
                "{}: triangles {} and {} overlap: both lie on the same side of the edge from "
                "point {} to {}; remove one",
                source, sides[0].triangle, sides[1].triangle, ends.first, ends.second);
        }
    }
}

void check_points(const SheetMesh& mesh, std::string_view source)
{
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
        if (!std::isfinite(mesh.points[p].u) || !std::isfinite(mesh.points[p].v)) {
            throw Error("{}: point {} is not finite", source, p);
        }
    }
}

void check_all_used(const SheetMesh& mesh, std::string_view source)
{
    std::vector<bool> used(mesh.points.size(), false);
    for (const auto& triangle : mesh.triangles) {
        for (const int corner : triangle) used[corner] = true;
    }
    const auto loose = std::find(used.begin(), used.end(), false);
    if (loose != used.end()) {
        throw Error("{}: point {} belongs to no triangle, so it would have no mass; remove it",
                    source, loose - used.begin());
    }
}

void add_triangle(Cloth& cloth, const std::array<int, 3>& corners, const MeshMaterial& material)
{
    double u = 0, v = 0;
    for (const int corner : corners) {
        u += cloth.rest[corner].u / (3 * cloth.sheet.length);
        v += cloth.rest[corner].v / (3 * cloth.sheet.width);
    }
    TriangleSet& set = cloth.triangles;
    set.corners.push_back(corners);
    set.shear_stiffness.push_back(material.shear_stiffness.at(u, v));
    set.area_stiffness.push_back(material.area_stiffness.at(u, v));
    set.damping.push_back(material.damping.at(u, v));
    if (!material.warp_stiffness && !material.weft_stiffness) return;
    const auto at = [&](const std::optional<MaterialField>& field) {
        return field ? field->at(u, v) : 0;
    };
    set.warp_stiffness.push_back(at(material.warp_stiffness));
    set.weft_stiffness.push_back(at(material.weft_stiffness));
}

// The ends of an inner edge, then the corners across it.
std::array<int, 4> hinge_corners(const SheetMesh& mesh, const std::vector<EdgeSide>& sides)
{
    const auto corner = [&](const EdgeSide& side, int ahead) {
        return mesh.triangles[side.triangle][(side.corner + ahead) % 3];
    };
    return {corner(sides[0], 0), corner(sides[0], 1), corner(sides[0], 2), corner(sides[1], 2)};
}

// K = 3 B |e|^2 / (A1 + A2): the same sheet, whatever the size of its triangles. Its rigidity D,
// the moment per length and curvature along rows or columns of a grid, is 3 B.
void add_hinge(Cloth& cloth, const SheetMesh& mesh, const std::vector<EdgeSide>& sides,
               const MeshMaterial& material)
{
    const std::array<int, 4> corners = hinge_corners(mesh, sides);
    const SheetPoint pa = mesh.points[corners[0]], pb = mesh.points[corners[1]];
    const double bending = material.bending.at((pa.u + pb.u) / (2 * cloth.sheet.length),
                                               (pa.v + pb.v) / (2 * cloth.sheet.width));
    const double stiffness = bending * hinge_shape(mesh.points, corners);
    cloth.hinges.corners.push_back(corners);
    cloth.hinges.stiffness.push_back(stiffness);
    cloth.hinges.damping.push_back(stiffness * material.bending_time);
}

void share_mass(Cloth& cloth, const SheetMesh& mesh)
{
    cloth.mass.assign(mesh.points.size(), 0);
    const double density = cloth.sheet.mass / mesh_area(mesh);  // [kg/m^2]
    for (const auto& triangle : mesh.triangles) {
        const double share = density * std::abs(area_of(mesh, triangle)) / 3;
        for (const int corner : triangle) cloth.mass[corner] += share;
    }
}

std::vector<std::array<int, 3>> grid_triangles(const Grid& grid, MeshCut cut)
{
    std::vector<std::array<int, 3>> triangles;
    for (int r = 0; r + 1 < grid.rows; ++r) {
        for (int c = 0; c + 1 < grid.cols; ++c) {
            const int nw = r * grid.cols + c, ne = nw + 1, sw = nw + grid.cols, se = sw + 1;
            const bool falling =
                cut == MeshCut::diagonal || (cut == MeshCut::alternating && (r + c) % 2 == 0);
            if (falling) {
                triangles.push_back({nw, sw, se});
                triangles.push_back({nw, se, ne});
            } else {
                triangles.push_back({nw, sw, ne});
                triangles.push_back({ne, sw, se});
            }
        }
    }
    return triangles;
}

}  // namespace

std::string_view name_of(MeshCut cut)
{
    switch (cut) {
        case MeshCut::diagonal:
            return "diagonal";
        case MeshCut::antidiagonal:
            return "antidiagonal";
        case MeshCut::alternating:
            return "alternating";
    }
    return "unknown";
}

SheetMesh make_grid_mesh(const Sheet& sheet, const Grid& grid, MeshCut cut)
{
    return {grid_points(sheet, grid), grid_triangles(grid, cut), grid};
}

void check_mesh(const SheetMesh& mesh, std::string_view source)
{
    if (mesh.triangles.empty()) throw Error("{}: no triangles; a sheet needs at least one", source);
    check_points(mesh, source);
    check_triangles(mesh, source);
    check_edges(mesh, source);
    check_all_used(mesh, source);
}

double mesh_area(const SheetMesh& mesh)
{
    double area = 0;
    for (const auto& triangle : mesh.triangles) area += std::abs(area_of(mesh, triangle));
    return area;
}

Cloth make_mesh_cloth(const Sheet& sheet, const SheetMesh& mesh, const MeshMaterial& material)
{
    check_sheet(sheet);
    check_mesh(mesh, "mesh");
    if (!std::isfinite(material.bending_time) || material.bending_time < 0) {
        throw Error("mesh: bending time {} s; it must be finite and not negative",
                    material.bending_time);
    }
    Cloth cloth;
    cloth.sheet = sheet;
    cloth.grid = mesh.grid;
    cloth.rest = mesh.points;
    cloth.triangles.damping_kind = material.damping_kind;
    share_mass(cloth, mesh);
    for (const auto& corners : mesh.triangles) add_triangle(cloth, corners, material);
    for (const auto& [ends, sides] : edges_of(mesh.triangles)) {
        if (sides.size() == 2) add_hinge(cloth, mesh, sides, material);
    }
    check_cloth(cloth, "mesh cloth");
    return cloth;
}

Cloth make_mesh_network(const Sheet& sheet, const SheetMesh& mesh, const MaterialField& stiffness,
                        const MaterialField& damping)
{
    check_sheet(sheet);
    check_mesh(mesh, "mesh");
    Cloth cloth;
    cloth.sheet = sheet;
    cloth.grid = mesh.grid;
    cloth.rest = mesh.points;
    share_mass(cloth, mesh);
    std::set<std::pair<int, int>> joined;
    const auto join = [&](int a, int b, SpringFamily family) {
        if (!joined.insert(std::minmax(a, b)).second) return;
        const SheetPoint pa = mesh.points[a], pb = mesh.points[b];
        cloth.springs.ends.push_back({std::min(a, b), std::max(a, b)});
        cloth.springs.family.push_back(family);
        cloth.springs.rest_length.push_back(std::hypot(pb.u - pa.u, pb.v - pa.v));
    };
    const auto edges = edges_of(mesh.triangles);
    for (const auto& [ends, sides] : edges) {
        join(ends.first, ends.second, SpringFamily::structural);
    }
    for (const auto& [ends, sides] : edges) {
        if (sides.size() < 2) continue;
        const std::array<int, 4> corners = hinge_corners(mesh, sides);
        join(corners[2], corners[3], SpringFamily::bending);
    }
    cloth.springs.stiffness = at_springs(cloth, stiffness);
    cloth.springs.damping = at_springs(cloth, damping);
    check_cloth(cloth, "mesh network");
    return cloth;
}

std::vector<double> hinge_shapes(const Cloth& cloth)
{
    std::vector<double> shapes;
    for (const auto& corners : cloth.hinges.corners) {
        shapes.push_back(hinge_shape(cloth.rest, corners));
    }
    return shapes;
}

std::vector<std::array<int, 3>> surface_triangles(const Cloth& cloth)
{
    if (cloth.triangles.triangle_count() > 0) return cloth.triangles.corners;
    if (!cloth.grid || cloth.grid->rows < 2 || cloth.grid->cols < 2) return {};
    return grid_triangles(*cloth.grid, MeshCut::antidiagonal);
}

}  // namespace springtime
