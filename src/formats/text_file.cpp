#include "formats/text_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_write(const fs::path& path, int reason)
{
    throw Error("{}: cannot be written ({}); check permissions and free space, or name another",
                path.string(), std::strerror(reason));
}

// Zero, or the errno of what failed. Buffered data may only fail to reach the disk on closing.
int write_all(const fs::path& path, std::string_view text, const char* mode)
{
    File file(std::fopen(path.c_str(), mode));
    if (!file) return errno;
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return errno;
    return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

void check_source(const fs::path& path)
{
    std::error_code status;
    const fs::file_type type = fs::status(path, status).type();
    if (type == fs::file_type::not_found) {
        throw Error("{}: no such file; check the name", path.string());
    }
    if (type == fs::file_type::none) {
        throw Error("{}: cannot be reached ({}); check its permissions", path.string(),
                    status.message());
    }
    if (type == fs::file_type::directory) {
        throw Error("{}: is a directory; name a file in it", path.string());
    }
}

void check_target(const fs::path& path)
{
    std::error_code ignored;  // what cannot be looked at cannot be opened either, and says so then
    if (path.empty()) throw Error("output file: the name is empty; give one");
    if (path.has_parent_path() && !fs::is_directory(path.parent_path(), ignored)) {
        throw Error("{}: there is no directory {}; make it first or name another", path.string(),
                    path.parent_path().string());
    }
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) {
        throw Error("{}: is a directory; name a file in it", path.string());
    }
    // Renaming onto a device or a pipe would replace it by a plain file.
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        throw Error("{}: is no plain file; name another", path.string());
    }
}

fs::path part_path(const fs::path& path)
{
    fs::path part = path;
    part += ".part";
    return part;
}

void publish_part(const fs::path& path)
{
    std::error_code status;
    fs::rename(part_path(path), path, status);
    if (status) {
        throw Error("{}: cannot be renamed to {} ({}); rename it yourself or free that name",
                    part_path(path).string(), path.string(), status.message());
    }
}

std::string read_text(const fs::path& path)
{
    check_source(path);
    const File file(std::fopen(path.c_str(), "rb"));
    std::string text;
    std::array<char, 1 << 16> block;
    while (file) {
        const std::size_t got = std::fread(block.data(), 1, block.size(), file.get());
        text.append(block.data(), got);
        if (got < block.size()) break;
    }
    if (!file || std::ferror(file.get())) {
        throw Error("{}: cannot be read ({}); check its permissions", path.string(),
                    std::strerror(errno));
    }
    return text;
}

void write_text(const fs::path& path, std::string_view text)
{
    check_target(path);
    const fs::path part = part_path(path);
    if (const int reason = write_all(part, text, "wb")) {
        std::error_code ignored;
        fs::remove(part, ignored);
        fail_write(path, reason);
    }
    publish_part(path);
}

void append_text(const fs::path& path, std::string_view text)
{
    if (const int reason = write_all(path, text, "ab")) fail_write(path, reason);
}

}  // namespace springtime
