#include <algorithm>
#include <optional>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

bool holds_gaps(ExportFormat format)
{
    return format == ExportFormat::csv || format == ExportFormat::npz;
}

bool needs_surface(ExportFormat format)
{
    return !holds_gaps(format);
}

bool holds_maps(ExportFormat format)
{
    return format == ExportFormat::glb || format == ExportFormat::ply ||
           format == ExportFormat::usda;
}

bool is_folder(ExportFormat format)
{
    return format == ExportFormat::obj || format == ExportFormat::ply;
}

void check_options(const Motion& motion, const MotionExport& options)
{
    if (options.format == ExportFormat::png) {
        throw Error(
            "{}: png holds the weight maps of a cloth, not motion; export a cloth file, or "
            "this one to another format",
            options.source);
    }
    if (holds_parameters(options.format)) {
        throw Error(
            "{}: {} holds the parameters of a cloth, not motion; export a cloth file, or this one "
            "to another format",
            options.source, name_of(options.format));
    }
    if (options.rollout >= motion.frame_counts.size()) {
        throw Error(Field{"rollout"}, "{} was asked for, but {} has 0 to {}", options.rollout,
                    options.source, motion.frame_counts.size() - 1);
    }
    if (options.long_rows && options.format != ExportFormat::csv) {
        throw Error(Field{"long_rows"}, "only csv has layouts; leave it out, or export csv");
    }
    if (options.maps && !holds_maps(options.format)) {
        throw Error(Field{"maps"}, "{} has no place for weight maps; export ply, glb or usda",
                    name_of(options.format));
    }
}

void check_targets(const MotionExport& options)
{
    for (const fs::path& path :
         {options.out, rest_obj_path(options.out), ranges_path(options.out)}) {
        check_not_input(path, options.inputs);
    }
    if (is_folder(options.format)) {
        check_folder_target(options.out, options.overwrite,
                            fmt::format(".{}", name_of(options.format)));
    } else {
        check_file_target(options.out, options.overwrite);
    }
    if (options.format == ExportFormat::mdd || options.format == ExportFormat::pc2) {
        check_file_target(rest_obj_path(options.out), options.overwrite);
    }
    if (options.maps) check_file_target(ranges_path(options.out), options.overwrite);
}

// The cloth that moved, where the file has it and the landmarks are its particles.
std::optional<Cloth> source_cloth(const MotionHeader& header, const std::string& source,
                                  std::vector<std::string>& remarks)
{
    if (header.source_cloth.empty()) return {};
    try {
        Cloth cloth = cloth_from_json(header.source_cloth, source + ": /source_cloth");
        if (same_points(cloth, header.sheet, header.rest)) return cloth;
        remarks.push_back(
            "the landmarks are not the particles of the source cloth, so its surface "
            "is not taken");
    } catch (const Error& error) {
        remarks.push_back(
            fmt::format("the source cloth cannot be read ({}), so its surface is not "
                        "taken",
                        error.what()));
    }
    return {};
}

// Nothing where no landmark is missing, or the format says so itself.
std::optional<GapTable> checked_gaps(const Motion& motion, const MotionExport& options,
                                     const FrameSelection& plan)
{
    if (!motion.header.gaps || (holds_gaps(options.format) && !options.fill)) return {};
    GapTable gaps(motion, options.rollout);
    const std::size_t missing = gaps.missing(plan.first, plan.last_stored());
    if (missing == 0) return {};
    if (const auto landmark = gaps.never_seen()) {
        throw Error(
            "{}: rollout {}: landmark {} is in no frame, so it cannot be drawn; export csv or npz, "
            "which leave it out, or import the motion without it",
            options.source, options.rollout, *landmark);
    }
    if (!options.fill) {
        const auto [frame, landmark] = gaps.first_missing(plan.first);
        throw Error(
            "{}: rollout {}: landmarks are missing at {} places, first landmark {} in frame {}; {} "
            "cannot leave a landmark out: export csv or npz, or give `fill` to draw them on "
            "straight "
            "lines",
            options.source, options.rollout, missing, landmark, frame, name_of(options.format));
    }
    return gaps;
}

ExportScene scene_of(const Motion& motion, const MotionExport& options, const FrameSelection& plan,
                     std::vector<std::string>& remarks)
{
    const MotionHeader& header = motion.header;
    ExportScene scene{options.source};
    scene.sheet = header.sheet;
    scene.rest = header.rest;
    scene.surface = make_surface(header.rest, source_cloth(header, options.source, remarks));
    scene.frame_count = plan.count;
    scene.rate = plan.rate;
    scene.velocities = header.velocities;
    scene.scale = options.scale;
    scene.overwrite = options.overwrite;
    scene.handles = motion.read(options.rollout, 0, 1).handles;
    if (scene.surface.empty() && needs_surface(options.format)) {
        throw Error("{}: {} landmarks at one place have no surface; export csv or npz",
                    options.source, scene.point_count());
    }
    if (options.maps) {
        if (!same_points(*options.maps, header.sheet, header.rest)) {
            throw Error(
                Field{"maps"},
                "a cloth of {} particles on a sheet of {} m x {} m, but {} has {} landmarks "
                "elsewhere; give a cloth with its particles at the landmarks",
                options.maps->particle_count(), options.maps->sheet.length,
                options.maps->sheet.width, options.source, scene.point_count());
        }
        scene.maps = weight_maps(*options.maps, options.scale);
        if (options.format == ExportFormat::glb)
            scene.color = chosen_color(scene.maps, options.color);
    }
    return scene;
}

std::unique_ptr<MotionExporter> make_exporter(const MotionExport& options, const ExportScene& scene)
{
    switch (options.format) {
        case ExportFormat::csv:
            return make_csv_exporter(options.out, scene, options.long_rows);
        case ExportFormat::glb:
            return make_glb_exporter(options.out, scene);
        case ExportFormat::mdd:
            return make_mdd_exporter(options.out, scene);
        case ExportFormat::npz:
            return make_npz_exporter(options.out, scene);
        case ExportFormat::obj:
            return make_obj_exporter(options.out, scene);
        case ExportFormat::pc2:
            return make_pc2_exporter(options.out, scene);
        case ExportFormat::ply:
            return make_ply_exporter(options.out, scene);
        case ExportFormat::usda:
            return make_usda_exporter(options.out, scene);
        case ExportFormat::arcsim:
        case ExportFormat::blender:
        case ExportFormat::newton:
        case ExportFormat::png:
            break;
    }
    throw Error("{}: no motion goes to {}", options.source, name_of(options.format));
}

void write_frames(FrameStream& stream, MotionExporter& exporter, std::size_t count,
                  const Progress& progress)
{
    ExportFrame frame;
    while (stream.next(frame)) {
        exporter.frame(frame);
        progress.report({"export", double(frame.number + 1), double(count), "frames", ""});
    }
    exporter.finish();
}

void add_remarks(ExportReport& report, const FrameSelection& plan, const MotionExport& options)
{
    if (plan.interpolates()) {
        report.remarks.push_back(fmt::format(
            "{:.6g} frames/s do not divide the stored {:.6g}: positions are interpolated "
            "linearly between stored frames",
            plan.rate, 1 / plan.interval));
    }
    if (report.filled > 0) {
        report.remarks.push_back(fmt::format(
            "landmarks were missing at {} places and are drawn on straight lines in time",
            report.filled));
    }
    if (options.format == ExportFormat::mdd || options.format == ExportFormat::pc2) {
        report.remarks.push_back(
            fmt::format("{} holds the flat sheet with its faces and texture "
                        "coordinates; the cache moves its points",
                        rest_obj_path(options.out).string()));
    }
}

}  // namespace

ExportReport export_motion(const Motion& motion, const MotionExport& options,
                           const Progress& progress)
{
    check_options(motion, options);
    check_targets(options);
    const FrameSelection plan =
        select_frames(motion.frame_counts[options.rollout], motion.header.frame_interval(),
                      {options.rate, options.from, options.until}, options.source);
    ExportReport report;
    const ExportScene scene = scene_of(motion, options, plan, report.remarks);
    const std::optional<GapTable> gaps = checked_gaps(motion, options, plan);
    const auto exporter = make_exporter(options, scene);
    FrameStream stream(motion, options.rollout, plan, gaps ? &*gaps : nullptr);
    write_frames(stream, *exporter, plan.count, progress);

    report.files.push_back(options.out);
    if (options.format == ExportFormat::mdd || options.format == ExportFormat::pc2) {
        report.files.push_back(rest_obj_path(options.out));
    }
    if (!scene.maps.empty()) {
        write_text(ranges_path(options.out), ranges_json(scene.maps, scene.scale),
                   options.overwrite);
        report.files.push_back(ranges_path(options.out));
    }
    report.frame_count = plan.count;
    report.point_count = scene.point_count();
    report.face_count = scene.surface.face_count();
    report.surface = scene.surface.made_of;
    report.filled = gaps ? gaps->missing(plan.first, plan.last_stored()) : 0;
    report.maps = scene.maps;
    add_remarks(report, plan, options);
    return report;
}

}  // namespace springtime
