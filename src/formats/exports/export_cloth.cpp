#include <fmt/compile.h>

#include "core/atomic_file.h"
#include "formats/exports/map_picture.h"
#include "formats/exports/motion_exporter.h"
#include "formats/exports/npz_file.h"
#include "formats/exports/solver_parameters.h"
#include "formats/png.h"
#include "springtime/error.h"

namespace springtime {

namespace {

ExportScene scene_of(const Cloth& cloth, const ClothExport& options)
{
    ExportScene scene{options.source};
    scene.sheet = cloth.sheet;
    scene.rest = cloth.rest;
    scene.surface = make_surface(cloth.rest, cloth);
    scene.still = true;
    scene.scale = options.scale;
    scene.overwrite = options.overwrite;
    if (options.format != ExportFormat::obj) scene.maps = weight_maps(cloth, options.scale);
    if (options.format == ExportFormat::glb) scene.color = chosen_color(scene.maps, options.color);
    const bool flat_only =
        options.format == ExportFormat::csv || options.format == ExportFormat::npz;
    if (scene.surface.empty() && !flat_only) {
        throw Error("{}: {} particles at one place have no surface; export csv or npz",
                    options.source, scene.point_count());
    }
    return scene;
}

void check_options(const ClothExport& options)
{
    if (options.format == ExportFormat::mdd || options.format == ExportFormat::pc2) {
        throw Error(
            "{}: {} holds motion, and a cloth file has none; export a motion file, or the "
            "cloth to obj, ply, glb, csv, png, npz or usda",
            options.source, name_of(options.format));
    }
    constexpr int kLargest = 4096;
    if (options.size < 2 || options.size > kLargest) {
        throw Error(Field{"size"}, "{} pixels; 2 to {} are possible", options.size, kLargest);
    }
    check_not_input(options.out, options.inputs);
    check_not_input(ranges_path(options.out), options.inputs);
    if (options.format == ExportFormat::png) {
        check_folder_target(options.out, options.overwrite, ".png");
    } else {
        check_file_target(options.out, options.overwrite);
    }
    if (options.format != ExportFormat::obj && !holds_parameters(options.format)) {
        check_file_target(ranges_path(options.out), options.overwrite);
    }
}

void write_mesh(const std::filesystem::path& path, const ExportScene& scene,
                const MeshWriter& writer)
{
    fmt::memory_buffer bytes;
    writer(flat_position(scene.sheet, scene.rest), bytes);
    write_text(path, {bytes.data(), bytes.size()}, scene.overwrite);
}

void write_still(MotionExporter& exporter, const ExportScene& scene)
{
    const std::vector<float> position = flat_position(scene.sheet, scene.rest);
    exporter.frame({0, 0, position, {}});
    exporter.finish();
}

void write_csv(const std::filesystem::path& path, const ExportScene& scene)
{
    fmt::memory_buffer text;
    auto out = std::back_inserter(text);
    for (const WeightMap& map : scene.maps) {
        fmt::format_to(out, "# {}\n", range_text(map, scene.scale));
    }
    fmt::format_to(out, "vertex,u,v");
    for (const WeightMap& map : scene.maps) fmt::format_to(out, ",{}", map.name);
    for (std::size_t p = 0; p < scene.point_count(); ++p) {
        fmt::format_to(out, FMT_COMPILE("\n{},{},{}"), p, scene.rest[p].u, scene.rest[p].v);
        for (const WeightMap& map : scene.maps) {
            fmt::format_to(out, FMT_COMPILE(",{}"), map.weight[p]);
        }
    }
    text.push_back('\n');
    write_text(path, {text.data(), text.size()}, scene.overwrite);
}

void write_npz(const std::filesystem::path& path, const ExportScene& scene)
{
    NpzFile file(path, scene.overwrite);
    const std::size_t points = scene.point_count();
    const auto& triangles = scene.surface.triangles;
    const std::vector<float> position = flat_position(scene.sheet, scene.rest);
    file.add("rest", "<f8", {points, 2}, bytes_of_values(std::span<const SheetPoint>(scene.rest)));
    file.add("position", "<f4", {points, 3}, bytes_of_values(std::span<const float>(position)));
    file.add("triangles", "<i4", {triangles.size(), 3},
             bytes_of_values(std::span<const std::array<int, 3>>(triangles)));
    for (const WeightMap& map : scene.maps) {
        file.add(map.name, "<f4", {points}, bytes_of_values(std::span<const float>(map.weight)));
    }
    file.publish();
}

void write_pictures(const std::filesystem::path& path, const ExportScene& scene, int size)
{
    PartFolder folder(path, scene.overwrite);
    const MapPainter painter(scene, size);
    for (const WeightMap& map : scene.maps) {
        write_grey_png(folder.file(map.name + ".png"), {size, size, painter.paint(map.weight)},
                       range_text(map, scene.scale));
    }
    folder.publish();
}

void write(const ClothExport& options, const ExportScene& scene)
{
    switch (options.format) {
        case ExportFormat::csv:
            return write_csv(options.out, scene);
        case ExportFormat::glb:
            return write_still(*make_glb_exporter(options.out, scene), scene);
        case ExportFormat::npz:
            return write_npz(options.out, scene);
        case ExportFormat::obj:
            return write_mesh(options.out, scene, obj_writer(scene));
        case ExportFormat::ply:
            return write_mesh(options.out, scene, ply_writer(scene));
        case ExportFormat::png:
            return write_pictures(options.out, scene, options.size);
        case ExportFormat::usda:
            return write_still(*make_usda_exporter(options.out, scene), scene);
        case ExportFormat::arcsim:
        case ExportFormat::blender:
        case ExportFormat::newton:
        case ExportFormat::mdd:
        case ExportFormat::pc2:
            break;
    }
    throw Error("{}: no cloth goes to {}", options.source, name_of(options.format));
}

void add_remarks(ExportReport& report, const ExportScene& scene, const ClothExport& options)
{
    if (options.format == ExportFormat::obj) {
        report.remarks.push_back(
            "an OBJ file has no place for weight maps; ply, glb, usda, csv, "
            "npz and png have");
    }
    for (const WeightMap& map : scene.maps) {
        if (map.below_low == 0) continue;
        report.remarks.push_back(
            fmt::format("{}: {} vertices have 0 {}, which has no logarithm; their weight is 0",
                        map.name, map.below_low, map.unit));
    }
}

ExportReport export_parameters(const Cloth& cloth, const ClothExport& options)
{
    ExportReport report;
    write_text(options.out,
               solver_parameters(cloth, options.format, options.source, report.remarks),
               options.overwrite);
    report.files.push_back(options.out);
    report.point_count = cloth.particle_count();
    report.face_count = cloth.triangles.triangle_count();
    report.surface = "triangles of the cloth";
    return report;
}

}  // namespace

ExportReport export_cloth(const Cloth& cloth, const ClothExport& options)
{
    check_options(options);
    if (holds_parameters(options.format)) return export_parameters(cloth, options);
    const ExportScene scene = scene_of(cloth, options);
    write(options, scene);
    ExportReport report;
    report.files.push_back(options.out);
    if (options.format != ExportFormat::obj) {
        write_text(ranges_path(options.out), ranges_json(scene.maps, scene.scale),
                   options.overwrite);
        report.files.push_back(ranges_path(options.out));
    }
    report.frame_count = 1;
    report.point_count = scene.point_count();
    report.face_count = scene.surface.face_count();
    report.surface = scene.surface.made_of;
    report.maps = scene.maps;
    add_remarks(report, scene, options);
    return report;
}

}  // namespace springtime
