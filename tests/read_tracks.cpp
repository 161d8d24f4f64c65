// Prints what a reader of tracks finds, one line of words per thing, for tests in other languages.
#include <cstdio>

#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"

namespace springtime {
namespace {

std::unique_ptr<TrackReader> open(const std::vector<std::filesystem::path>& paths,
                                  const std::string& array)
{
    const std::string ending = paths.front().extension().string();
    if (ending == ".npy" || ending == ".npz")
        return open_numpy_tracks(paths.front(), {"auto", array});
    if (ending == ".obj" || ending == ".ply") return open_mesh_tracks(paths);
    return open_cache_tracks(paths.front());
}

void print_numbers(const char* word, const std::vector<double>& numbers)
{
    fmt::print("{}", word);
    for (const double number : numbers) fmt::print(" {}", number);
    fmt::print("\n");
}

void print_tracks(TrackReader& reader)
{
    const TrackInfo& info = reader.info();
    fmt::print("points {}\n", info.point_count);
    if (info.rate) fmt::print("rate {}\n", *info.rate);
    for (const std::string& name : info.names) fmt::print("name {}\n", name);
    for (const auto& [a, b, c] : info.triangles) fmt::print("triangle {} {} {}\n", a, b, c);
    TrackFrame frame;
    while (reader.next(frame)) {
        fmt::print("time {}\n", frame.time);
        print_numbers("position", frame.position);
        if (info.velocities) print_numbers("velocity", frame.velocity);
    }
}

}  // namespace
}  // namespace springtime

int main(int argc, char** argv)
{
    std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
    std::string array;
    if (paths.size() > 2 && paths.front() == "--array") {
        array = paths[1].string();
        paths.erase(paths.begin(), paths.begin() + 2);
    }
    if (paths.empty()) {
        std::fputs("usage: read_tracks [--array NAME] FILE...\n", stderr);
        return 2;
    }
    try {
        springtime::print_tracks(*springtime::open(paths, array));
    } catch (const springtime::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
