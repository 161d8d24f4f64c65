// Speed at which binary files of tracked points are read, on one core, beside a plain fread of the
// same bytes just before. The files come from the cache of the system. Prints JSON.
#include <fmt/core.h>
#include <unistd.h>
#include <zip.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/random.h"
#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"
#include "timing.h"

using namespace springtime;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kFrames = 1000, kPoints = 32 * 32 * 4;  // 49 MB of floats
constexpr std::uint32_t kMeshFrames = 500;
constexpr int kRounds = 3;
using Paths = std::vector<fs::path>;

// A smooth motion with the noise of a camera: numbers that deflate as real ones do.
std::string float_bytes()
{
    Random random(1);
    std::vector<float> values(std::size_t(3) * kFrames * kPoints);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = float(0.001 * double(i % (3 * kPoints)) + 1e-4 * random.normal());
    }
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string number(std::uint32_t value, bool big)
{
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += char(value >> 8 * (big ? 3 - i : i) & 0xff);
    return bytes;
}

// Big-endian from little-endian.
std::string turned(std::string bytes)
{
    for (std::size_t i = 0; i + 3 < bytes.size(); i += 4) {
        std::swap(bytes[i], bytes[i + 3]);
        std::swap(bytes[i + 1], bytes[i + 2]);
    }
    return bytes;
}

std::string npy_of(const std::string& numbers)
{
    std::string text = fmt::format(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, 3), }}", kFrames, kPoints);
    text.resize(117, ' ');
    return std::string("\x93NUMPY\x01\0\x76\0", 10) + text + "\n" + numbers;
}

fs::path put(const fs::path& path, const std::string& bytes)
{
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
        std::fclose(file) != 0) {
        throw Failure("{}: cannot be written; free some space", path.string());
    }
    return path;
}

fs::path put_npz(const fs::path& path, const std::string& npy, int method)
{
    zip_t* const zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    zip_source_t* const source = zip_source_buffer(zip, npy.data(), npy.size(), 0);
    const auto member = zip_file_add(zip, "position.npy", source, 0);
    zip_set_file_compression(zip, zip_uint64_t(member), method, 0);
    if (zip_close(zip) != 0) throw Failure("{}: {}", path.string(), zip_strerror(zip));
    return path;
}

Paths put_ply(const fs::path& folder, const std::string& numbers)
{
    const std::string header = fmt::format(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\n"
        "property float y\nproperty float z\nend_header\n",
        kPoints);
    const std::size_t frame = std::size_t(12) * kPoints;
    Paths paths;
    for (std::size_t f = 0; f < kMeshFrames; ++f) {
        paths.push_back(
            put(folder / fmt::format("{:05}.ply", f), header + numbers.substr(f * frame, frame)));
    }
    return paths;
}

double megabytes(const Paths& paths)
{
    double bytes = 0;
    for (const fs::path& path : paths) bytes += double(fs::file_size(path));
    return bytes / 1e6;
}

void read_plain(const Paths& paths)
{
    std::vector<char> block(1 << 18);
    for (const fs::path& path : paths) {
        std::FILE* const file = std::fopen(path.c_str(), "rb");
        while (std::fread(block.data(), 1, block.size(), file) == block.size()) continue;
        std::fclose(file);
    }
}

template <class Open>
void measure(const char* name, const Paths& paths, Open open)
{
    double sum = 0;
    const auto times = bench::best_seconds({[&] { read_plain(paths); },
                                            [&] {
                                                const auto reader = open();
                                                TrackFrame frame;
                                                while (reader->next(frame))
                                                    sum += frame.position[0];
                                            }},
                                           kRounds);
    const double size = megabytes(paths);
    fmt::print(
        "{{\"file\": \"{}\", \"MB\": {:.1f}, \"MB_per_s\": {:.0f}, \"fread_MB_per_s\": "
        "{:.0f}, \"check\": {:.3g}}}\n",
        name, size, size / times[1], size / times[0], sum);
}

void measure_all(const fs::path& folder)
{
    const std::string numbers = float_bytes(), npy = npy_of(numbers);
    const auto numpy = [&](const char* name, const fs::path& path) {
        measure(name, {path}, [&] { return open_numpy_tracks(path, {}); });
    };
    const auto cache = [&](const char* name, const fs::path& path) {
        measure(name, {path}, [&] { return open_cache_tracks(path); });
    };
    numpy("npy", put(folder / "a.npy", npy));
    numpy("npz stored", put_npz(folder / "stored.npz", npy, ZIP_CM_STORE));
    numpy("npz deflated", put_npz(folder / "deflated.npz", npy, ZIP_CM_DEFLATE));
    cache("mdd", put(folder / "a.mdd", number(kFrames, true) + number(kPoints, true) +
                                           std::string(4 * kFrames, '\0') + turned(numbers)));
    cache("pc2", put(folder / "a.pc2", std::string("POINTCACHE2\0", 12) + number(1, false) +
                                           number(kPoints, false) + std::string(4, '\0') +
                                           std::string("\0\0\x80\x3f", 4) + number(kFrames, false) +
                                           numbers));
    const Paths ply = put_ply(folder, numbers);
    measure("binary ply sequence", ply, [&] { return open_mesh_tracks(ply); });
}

}  // namespace

int main()
{
    std::string folder = (fs::temp_directory_path() / "springtime-bench-XXXXXX").string();
    if (!mkdtemp(folder.data())) return 1;
    try {
        measure_all(folder);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    fs::remove_all(folder);
}
