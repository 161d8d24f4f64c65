// Speed on one thread of reading tracked points from CSV, beside that of only loading the same
// file: a sheet of 15 x 15 points, 6 decimals, in every layout. An import goes over a file twice.
// Prints JSON.
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/atomic_file.h"
#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"
#include "timing.h"

using namespace springtime;

namespace {

namespace fs = std::filesystem;

constexpr int kSide = 15, kPoints = kSide * kSide, kFrames = 20000, kRounds = 3;

// Where coordinate `axis` of a point is in a frame [m]: a sheet that waves.
double coordinate(int frame, int point, int axis)
{
    const double u = 0.02 * (point % kSide), v = 0.02 * (point / kSide);
    if (axis < 2) return axis == 0 ? u - 0.14 : 1.2 - v;
    return 0.3 * v * std::sin(0.01 * frame + 20 * u);
}

class Folder {
  public:
    Folder()
    {
        std::string name = (fs::temp_directory_path() / "springtime-bench-XXXXXX").string();
        if (!mkdtemp(name.data())) throw Error("{}: cannot be made", name);
        path = name;
    }
    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    fs::path path;
};

std::string header(const std::string& kind)
{
    if (kind == "long") return "frame,time,point,x,y,z\n";
    if (kind == "blocks") return "";
    std::string text = "frame,time", types = ",Type", names = ",Name", measures = ",";
    for (int i = 0; i < 3 * kPoints; ++i) {
        types += ",Marker";
        names += fmt::format(",Cloth:{}", i / 3 + 1);
        measures += ",Position";
        text += kind == "motive" ? fmt::format(",{}", "XYZ"[i % 3])
                                 : fmt::format(",{}{}", "xyz"[i % 3], i / 3 + 1);
    }
    if (kind == "wide") return text + "\n";
    return "Format Version,1.23,Export Frame Rate,120.000000,Length Units,Meters\n\n" + types +
           "\n" + names + "\n" + measures + "\nFrame,Time (Seconds)" +
           text.substr(std::string("frame,time").size()) + "\n";
}

std::string frame_text(const std::string& kind, int frame)
{
    const std::string start = fmt::format("{},{:.6f}", frame, frame / 120.0);
    std::string text = kind == "long" ? "" : start;
    for (int i = 0; i < 3 * kPoints; ++i) {
        if (kind == "long" && i % 3 == 0) text += fmt::format("{},{}", start, i / 3 + 1);
        const bool blocks = kind == "blocks";
        text += fmt::format(",{:.6f}", coordinate(frame, blocks ? i % kPoints : i / 3,
                                                  blocks ? i / kPoints : i % 3));
        if (kind == "long" && i % 3 == 2) text += "\n";
    }
    return kind == "long" ? text : text + "\n";
}

fs::path write_file(const Folder& folder, const std::string& kind)
{
    const fs::path path = folder.path / (kind + ".csv");
    write_text(path, header(kind));
    std::string text;
    for (int frame = 0; frame < kFrames; ++frame) {
        text += frame_text(kind, frame);
        if (frame % 100 != 99) continue;
        append_text(path, text);
        text.clear();
    }
    return path;
}

void load(const fs::path& path)
{
    static std::array<char, 1 << 20> block;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                               std::fclose);
    while (file && std::fread(block.data(), 1, block.size(), file.get()) == block.size()) {
    }
}

void import_once(const fs::path& path)
{
    const auto reader = open_csv_tracks(path, {});
    TrackFrame frame;
    int frames = 0;
    while (reader->next(frame)) ++frames;
    if (frames != kFrames || reader->info().point_count != kPoints) {
        throw Error("{}: {} frames of {} points came back", path.string(), frames,
                    reader->info().point_count);
    }
}

}  // namespace

int main()
{
    const Folder folder;
    fmt::print("{{\"points\": {}, \"frames\": {}", kPoints, kFrames);
    for (const std::string kind : {"wide", "long", "blocks", "motive"}) {
        const fs::path path = write_file(folder, kind);
        const double megabytes = double(fs::file_size(path)) / 1e6;
        const auto seconds =
            bench::best_seconds({[&] { load(path); }, [&] { import_once(path); }}, kRounds);
        fmt::print(
            ",\n \"{}\": {{\"megabytes\": {:.0f}, \"load_mb_per_s\": {:.0f},"
            " \"read_mb_per_s\": {:.0f}, \"read_to_load\": {:.1f}}}",
            kind, megabytes, megabytes / seconds[0], megabytes / seconds[1],
            seconds[1] / seconds[0]);
        fs::remove(path);
    }
    fmt::print("}}\n");
}
