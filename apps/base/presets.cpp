#include "presets.h"

#include "config.h"

namespace springtime::app {

namespace {

// A setting, and the flag that says the same thing otherwise.
struct Setting {
    std::string key, value, unless;
};

std::vector<Setting> reference_settings()
{
    const MeshOptions material = reference_material();
    const GenerateOptions run = reference_run();
    const auto number = [](double value) { return fmt::format("{}", value); };
    return {
        {"source", toml_text("fem"), ""},
        {"mesh", toml_text(material.mesh), ""},
        {"length", number(kReferenceSheet.length), ""},
        {"width", number(kReferenceSheet.width), ""},
        {"mass", number(kReferenceSheet.mass), "density"},
        {"shear-stiffness", toml_text(material.shear_stiffness), ""},
        {"area-stiffness", toml_text(material.area_stiffness), ""},
        {"triangle-damping", toml_text(material.damping), ""},
        {"damping-kind", toml_text(material.damping_kind), ""},
        {"bending", toml_text(material.bending), ""},
        {"bending-time", number(material.bending_time), ""},
        {"drag", number(run.environment.drag), ""},
        {"anchors", number(run.anchors), ""},
        {"anchor-radius", number(run.anchor_radius), "anchor-size"},
        {"seconds", number(run.seconds), ""},
        {"dt", number(run.dt), ""},
    };
}

}  // namespace

MeshOptions reference_material()
{
    MeshOptions options;
    options.mesh = fmt::format("{}x{}", kReferenceMesh.rows, kReferenceMesh.cols);
    // The stripes lie over the bottom stripe: where they cross it is theirs, four times, not eight.
    options.shear_stiffness = options.area_stiffness =
        "300; rows 0.85-0.95 = 600; columns 0.10-0.30 0.70-0.90 = 1200; "
        "patch 0.34-0.66 0.34-0.66 = 1200";
    options.damping = "0.3";
    options.damping_kind = "deformation";
    options.bending = fmt::format("{}", kReferenceBending);
    options.bending_time = 1e-3;
    return options;
}

GenerateOptions reference_run()
{
    GenerateOptions run;
    // 0.1 N s/m for each of the particles of the reference mesh. Drag belongs to mass, so other
    // meshes of the sheet feel the same.
    const double particles = double(kReferenceMesh.rows) * kReferenceMesh.cols;
    run.environment.drag = 0.1 * particles / kReferenceSheet.mass;
    run.anchors = 2;
    run.anchor_radius = 1;
    run.seconds = 8;
    run.dt = 1e-3;
    return run;
}

Cloth reference_cloth(const Grid& mesh, MeshCut cut, double bending)
{
    MeshOptions material = reference_material();
    material.bending = fmt::format("{}", bending);
    return make_mesh_cloth(kReferenceSheet, make_grid_mesh(kReferenceSheet, mesh, cut),
                           mesh_material_from(material));
}

std::string preset_settings(const std::string& name, const std::vector<std::string>& given)
{
    if (name != "reference") {
        throw Error("--preset '{}': unknown; there is: reference", name);
    }
    if (has_argument(given, "source") && argument_value(given, "source") != "fem") {
        throw Error("--preset {}: is a sheet of finite elements; leave out --source {}", name,
                    argument_value(given, "source"));
    }
    std::string text;
    MeshOptions mesh;
    mesh.mesh = argument_value(given, "mesh");
    for (const Setting& setting : reference_settings()) {
        // A mesh of one's own brings its size, and the mass of the reference sheet is not its mass.
        const bool of_sheet =
            setting.key == "length" || setting.key == "width" || setting.key == "mass";
        if (of_sheet && is_mesh_file(mesh)) continue;
        if (!setting.unless.empty() && has_argument(given, setting.unless)) continue;
        text += fmt::format("{} = {}\n", setting.key, setting.value);
    }
    return text;
}

}  // namespace springtime::app
