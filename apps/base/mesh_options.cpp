#include "mesh_options.h"

#include "options.h"

namespace springtime::app {

namespace {

SheetMesh read_sheet_mesh(const MeshOptions& options, const SheetOptions& wanted, Sheet& sheet)
{
    SheetMesh mesh = sheet_mesh(read_obj(options.mesh), options.mesh);
    const Sheet own = sheet_around(mesh, 1);
    sheet.length = wanted.length.value_or(own.length);
    sheet.width = wanted.width.value_or(own.width);
    for (SheetPoint& point : mesh.points) {
        point.u *= sheet.length / own.length;
        point.v *= sheet.width / own.width;
    }
    return mesh;
}

SheetMesh make_sheet_mesh(const MeshOptions& options, const SheetOptions& wanted, Sheet& sheet)
{
    const Grid grid = parse_grid(options.mesh, "--mesh");
    sheet.length = wanted.length.value_or(sheet.length);
    sheet.width = wanted.width.value_or(sheet.width);
    return make_grid_mesh(sheet, grid, mesh_cut_named(options.cut));
}

}  // namespace

void add_mesh(const Flags& flags, MeshOptions& options)
{
    const Flags rare = flags.in("Finite elements (--source fem)");
    rare.add("--mesh", options.mesh, "Points as ROWSxCOLS, or a flat OBJ file")
        .type("ROWSxCOLS|FILE.obj");
    rare.add("--cut", options.cut, "How the cells of ROWSxCOLS are cut into triangles")
        .one_of({"diagonal", "antidiagonal", "alternating"});
    rare.add("--shear-stiffness", options.shear_stiffness,
             "mu of the triangles [N/m], in layers: docs/materials.md")
        .type("FIELD");
    rare.add("--area-stiffness", options.area_stiffness, "lambda of the triangles [N/m], likewise")
        .type("FIELD");
    rare.add("--warp-stiffness", options.warp_stiffness,
             "Stiffness that is added along the length, the warp of a woven fabric [N/m], likewise")
        .shows("")
        .type("FIELD");
    rare.add("--weft-stiffness", options.weft_stiffness, "The same along the width, the weft [N/m]")
        .shows("")
        .type("FIELD");
    rare.add("--triangle-damping", options.damping, "gamma of the triangles [N s/m], likewise")
        .type("FIELD");
    rare.add("--damping-kind", options.damping_kind,
             "What the damping works against: every change of deformation, which slows rotation "
             "too, or the rate of strain alone")
        .one_of({"deformation", "strain"});
    rare.add("--bending", options.bending, "Resistance B against folding [N m], likewise")
        .type("FIELD");
    rare.add("--bending-time", options.bending_time,
             "tau [s]: the damping of folds over their stiffness");
}

bool is_mesh_file(const MeshOptions& options)
{
    return options.mesh.ends_with(".obj") || options.mesh.ends_with(".OBJ");
}

MeshCut mesh_cut_named(const std::string& name)
{
    for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
        if (name == name_of(cut)) return cut;
    }
    throw Error("--cut '{}': unknown; use diagonal, antidiagonal or alternating", name);
}

MeshMaterial mesh_material_from(const MeshOptions& options)
{
    MeshMaterial material;
    material.shear_stiffness = read_material(options.shear_stiffness);
    material.area_stiffness = read_material(options.area_stiffness);
    if (!options.warp_stiffness.empty()) {
        material.warp_stiffness = read_material(options.warp_stiffness);
    }
    if (!options.weft_stiffness.empty()) {
        material.weft_stiffness = read_material(options.weft_stiffness);
    }
    material.damping = read_material(options.damping);
    material.bending = read_material(options.bending);
    material.bending_time = options.bending_time;
    material.damping_kind = options.damping_kind == name_of(TriangleDamping::strain)
                                ? TriangleDamping::strain
                                : TriangleDamping::deformation;
    return material;
}

Cloth make_fem_cloth(const MeshOptions& options, const SheetOptions& wanted, const Sheet& otherwise)
{
    Sheet sheet = otherwise;
    const bool file = is_mesh_file(options);
    const SheetMesh mesh =
        file ? read_sheet_mesh(options, wanted, sheet) : make_sheet_mesh(options, wanted, sheet);
    if (file && !wanted.mass && !wanted.density) {
        throw Error("--mesh {}: how heavy the sheet is, is not known; give --mass or --density",
                    options.mesh);
    }
    sheet.mass =
        wanted.density ? *wanted.density * mesh_area(mesh) : wanted.mass.value_or(otherwise.mass);
    return make_mesh_cloth(sheet, mesh, mesh_material_from(options));
}

}  // namespace springtime::app
