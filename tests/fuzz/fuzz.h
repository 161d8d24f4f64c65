#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/tracks/track_reader.h"
#include "springtime/error.h"

// What the fuzz targets share. libFuzzer calls the entry that each target defines with bytes of its
// own invention and stops at a crash, a hang, too much memory, and any exception that gets out.
namespace springtime::fuzz {

inline void check_message(const std::exception& thrown)
{
    if (*thrown.what() != '\0') return;
    std::fputs("an exception without a message\n", stderr);
    std::abort();
}

// Runs a reader, which may refuse its input in words, and in no other way.
template <class Read>
int only_words(Read read)
{
    try {
        read();
    } catch (const Error& error) {
        check_message(error);
    } catch (const Failure& failure) {
        check_message(failure);
    }
    return 0;
}

// A file that has a name, but is in memory only.
class MemoryFile {
  public:
    explicit MemoryFile(const std::string& name)
    {
        file_ = memfd_create("fuzz", 0);
        std::string folder = (std::filesystem::temp_directory_path() / "fuzz-XXXXXX").string();
        if (file_ < 0 || !mkdtemp(folder.data())) std::abort();
        path_ = std::filesystem::path(folder) / name;
        std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file_), path_);
    }
    ~MemoryFile()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_.parent_path(), ignored);
        close(file_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    // The path of a file with these bytes.
    const std::filesystem::path& with(std::string_view bytes)
    {
        if (ftruncate(file_, 0) != 0) std::abort();
        if (pwrite(file_, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size())) std::abort();
        return path_;
    }

  private:
    int file_ = -1;
    std::filesystem::path path_;
};

inline std::string_view text_of(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

// Reads to the end and holds the reader to what it promises.
inline void read_all(TrackReader& reader)
{
    const TrackInfo& info = reader.info();
    const std::size_t numbers = 3 * info.point_count;
    const auto need = [](bool kept) {
        if (!kept) std::abort();
    };
    need(info.point_count > 0 && !info.format.empty() && !info.source.empty());
    need(info.names.empty() || info.names.size() == info.point_count);
    for (const auto& triangle : info.triangles) {
        for (const int p : triangle) need(p >= 0 && std::size_t(p) < info.point_count);
    }
    TrackFrame frame;
    while (reader.next(frame)) {
        need(frame.position.size() == numbers);
        need(frame.velocity.size() == (info.velocities ? numbers : 0));
        need(reader.share() >= 0 && reader.share() <= 1);
    }
}

}  // namespace springtime::fuzz
