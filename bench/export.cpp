// Seconds to export a rollout of 8 s of the 32 x 32 cloth (201 frames), and the maps of the cloth,
// to each format, beside a plain write of as many bytes. Reading the motion file is part of it, as
// it is for whoever waits. Prints JSON.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;

std::uintmax_t bytes_in(const fs::path& path)
{
    if (!fs::is_directory(path)) return fs::file_size(path);
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(path)) bytes += entry.file_size();
    return bytes;
}

std::uintmax_t bytes_of(const ExportReport& report)
{
    std::uintmax_t bytes = 0;
    for (const fs::path& file : report.files) bytes += bytes_in(file);
    return bytes;
}

void write_plainly(const fs::path& path, const std::vector<char>& bytes)
{
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
        throw Failure("{}: cannot be written", path.string());
    }
    std::fclose(file);
}

void measure(const char* what, std::string_view format, const fs::path& folder,
             const std::function<ExportReport()>& work, bool last)
{
    const ExportReport report = work();
    const std::vector<char> bytes(bytes_of(report), 'x');
    const auto best = bench::best_seconds(
        {[&] { work(); }, [&] { write_plainly(folder / "plain", bytes); }}, kRounds);
    fmt::print(
        "  {{\"what\": \"{}\", \"to\": \"{}\", \"seconds\": {:.4f}, \"megabytes\": {:.2f}, "
        "\"plain_write_seconds\": {:.4f}}}{}\n",
        what, format, best[0], double(bytes.size()) / 1e6, best[1], last ? "" : ",");
}

void measure_all(const fs::path& folder)
{
    const Cloth cloth = make_grid_cloth(
        {}, {},
        parse_material("25; columns 0.10-0.30 0.70-0.90 = 50; patch 0.34-0.66 0.34-0.66 = 100", {}),
        MaterialField::uniform(6));
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.source_cloth = cloth_to_json(cloth);
    MotionWriter writer(folder / "motion.h5", header);
    GenerateOptions options;
    options.rollouts = 1;
    generate(cloth, options, 0, [&](int, const Rollout& rollout) { writer.append(rollout); }, {});
    writer.finish();

    const auto to_motion = [&](ExportFormat format) {
        const MotionReader reader(folder / "motion.h5");
        Motion motion{reader.header(), {reader.frame_count(0)}, {}};
        motion.read = [&](auto... place) { return reader.read(place...); };
        MotionExport how;
        how.format = format;
        how.out = folder / name_of(format);
        how.overwrite = true;
        return export_motion(motion, how);
    };
    const auto to_cloth = [&](ExportFormat format) {
        ClothExport how;
        how.format = format;
        how.out = folder / fmt::format("cloth-{}", name_of(format));
        how.overwrite = true;
        return export_cloth(cloth, how);
    };
    using enum ExportFormat;
    for (const ExportFormat format : {csv, glb, mdd, npz, obj, pc2, ply, usda}) {
        measure(
            "motion", name_of(format), folder, [&] { return to_motion(format); }, false);
    }
    for (const ExportFormat format : {csv, glb, npz, obj, ply, png, usda}) {
        measure(
            "cloth", name_of(format), folder, [&] { return to_cloth(format); }, format == usda);
    }
}

}  // namespace

int main()
{
    std::string name = (fs::temp_directory_path() / "springtime-XXXXXX").string();
    if (!mkdtemp(name.data())) return 1;
    fmt::print("[\n");
    measure_all(name);
    fmt::print("]\n");
    fs::remove_all(name);
}
