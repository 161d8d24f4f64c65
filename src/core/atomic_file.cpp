#include "core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1 << 20;

// Zero, or the errno of what failed. Buffered data may only fail to reach the disk on closing.
int write_all(const fs::path& path, std::string_view text, const char* mode)
{
    File file(std::fopen(path.c_str(), mode));
    if (!file) return errno;
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return errno;
    return std::fclose(file.release()) == 0 ? 0 : errno;
}

[[noreturn]] void fail_exists(const fs::path& path)
{
    throw Error("{}: exists already; replace it with `overwrite`, or give another `out`",
                path.string());
}

void check_folder_of(const fs::path& path)
{
    std::error_code ignored;  // what cannot be looked at cannot be opened either, and says so then
    if (!path.has_parent_path() || fs::is_directory(path.parent_path(), ignored)) return;
    throw Error("{}: there is no directory {}; make it first or name another", path.string(),
                path.parent_path().string());
}

}  // namespace

// ---- Checks ----

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
    // To open a pipe waits for whoever writes to it, and a device may never end.
    if (type != fs::file_type::regular) {
        throw Error("{}: is {}, not a plain file; copy what it delivers to a file first",
                    path.string(), type == fs::file_type::fifo ? "a pipe" : "a device or socket");
    }
    if (::access(path.c_str(), R_OK) != 0) {
        throw Failure("{}: cannot be read ({}); check its permissions", path.string(),
                      std::strerror(errno));
    }
    if (path.extension() == ".part" && is_being_written(path)) {
        throw Failure("{}: another springtime is writing this; wait until it is done",
                      path.string());
    }
}

void check_target(const fs::path& path)
{
    if (path.empty()) throw Error("output file: the name is empty; give one");
    check_folder_of(path);
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) {
        throw Error("{}: is a directory; name a file in it", path.string());
    }
    // Renaming onto a device or a pipe would replace it by a plain file.
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        throw Error("{}: is not a plain file; name another", path.string());
    }
}

void check_file_target(const fs::path& path, bool overwrite)
{
    check_target(path);
    if (fs::exists(path) && !overwrite) fail_exists(path);
}

void check_not_input(const fs::path& path, const std::vector<fs::path>& inputs)
{
    std::error_code none;  // where one of them is not there they are not the same
    for (const fs::path& input : inputs) {
        if (!fs::equivalent(path, input, none)) continue;
        throw Error("{}: is read as well and is not replaced; name another", path.string());
    }
}

void check_folder_target(const fs::path& path, bool overwrite, std::string_view extension)
{
    if (path.empty()) throw Error("output folder: the name is empty; give one");
    check_folder_of(path);
    if (!fs::exists(path)) return;
    if (!fs::is_directory(path)) {
        throw Error("{}: is not a folder, but many files are to be written; name another",
                    path.string());
    }
    if (!overwrite) fail_exists(path);
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        if (entry.is_regular_file() && entry.path().extension() == extension) continue;
        throw Error(
            "{}: holds {}, which is not a {} file, so it is not replaced; name another folder",
            path.string(), entry.path().filename().string(), extension);
    }
}

// ---- Whole files ----

void fail_write(const fs::path& path, std::string_view reason)
{
    throw Failure("{}: cannot be written ({}); check permissions and free space, or name another",
                  path.string(), reason);
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
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    return text;
}

void write_text(const fs::path& path, std::string_view text)
{
    write_text(path, text, true);
}

void write_text(const fs::path& path, std::string_view text, bool overwrite)
{
    PartFile file(path, overwrite);
    file.write(text);
    file.publish();
}

void append_text(const fs::path& path, std::string_view text)
{
    if (const int reason = write_all(path, text, "ab")) fail_write(path, std::strerror(reason));
}

// ---- Files in parts ----

PartFile::PartFile(const fs::path& path, bool overwrite) : lock_(path, overwrite)
{
    lock_.clear();
    // The lock stays when this copy of the descriptor is closed.
    const int copy = ::fcntl(lock_.descriptor(), F_DUPFD_CLOEXEC, 0);
    file_.reset(copy < 0 ? nullptr : ::fdopen(copy, "wb"));
    if (!file_) fail();
    std::setvbuf(file_.get(), nullptr, _IOFBF, kBuffer);
}

void PartFile::fail() const
{
    fail_write(lock_.path(), std::strerror(errno));
}

void PartFile::write(std::string_view bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
}

void PartFile::write_at_start(std::string_view bytes, std::size_t offset)
{
    if (std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) != 0) fail();
    write(bytes);
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) fail();
}

void PartFile::publish()
{
    if (std::fclose(file_.release()) != 0) fail();
    lock_.publish();
}

PartFolder::PartFolder(const fs::path& path, bool overwrite) : path_(path), overwrite_(overwrite)
{
    const fs::path part = part_path(path);
    std::error_code status;
    fs::create_directory(part, status);
    if (status) fail_write(path, status.message());
    lock_ = lock_part_folder(path);
    for (const fs::directory_entry& entry : fs::directory_iterator(part)) {
        fs::remove_all(entry);  // what an interrupted export left
    }
}

PartFolder::~PartFolder()
{
    if (published_) return;
    std::error_code ignored;
    fs::remove_all(part_path(path_), ignored);
}

fs::path PartFolder::file(std::string_view name) const
{
    return part_path(path_) / name;
}

void PartFolder::write(std::string_view name, std::string_view bytes) const
{
    if (const int reason = write_all(file(name), bytes, "wb")) {
        fail_write(file(name), std::strerror(reason));
    }
}

void PartFolder::publish()
{
    rename_folder(part_path(path_), path_, overwrite_);
    published_ = true;
}

}  // namespace springtime
