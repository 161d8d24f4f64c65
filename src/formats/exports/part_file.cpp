#include "formats/exports/part_file.h"

#include <cerrno>
#include <cstring>

#include "formats/text_file.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1 << 20;

[[noreturn]] void fail_write(const fs::path& path, int reason)
{
    throw Error("{}: cannot be written ({}); check permissions and free space, or name another",
                path.string(), std::strerror(reason));
}

[[noreturn]] void fail_exists(const fs::path& path)
{
    throw Error("{}: exists already; replace it with `overwrite`, or give another `out`",
                path.string());
}

}  // namespace

void check_file_target(const fs::path& path, bool overwrite)
{
    check_target(path);
    if (fs::exists(path) && !overwrite) fail_exists(path);
}

void check_folder_target(const fs::path& path, bool overwrite, std::string_view extension)
{
    if (path.empty()) throw Error("output folder: the name is empty; give one");
    std::error_code ignored;
    if (path.has_parent_path() && !fs::is_directory(path.parent_path(), ignored)) {
        throw Error("{}: there is no directory {}; make it first or name another", path.string(),
                    path.parent_path().string());
    }
    if (!fs::exists(path)) return;
    if (!fs::is_directory(path)) {
        throw Error("{}: is not a folder, but many files are to be written; name another",
                    path.string());
    }
    if (!overwrite) fail_exists(path);
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        if (entry.is_regular_file() && entry.path().extension() == extension) continue;
        throw Error("{}: holds {}, which is not a {} file, so it is not replaced; name another folder",
                    path.string(), entry.path().filename().string(), extension);
    }
}

PartFile::PartFile(const fs::path& path) : path_(path)
{
    check_target(path);
    file_.reset(std::fopen(part_path(path).c_str(), "wb"));
    if (!file_) fail_write(path, errno);
    std::setvbuf(file_.get(), nullptr, _IOFBF, kBuffer);
}

PartFile::~PartFile()
{
    if (published_) return;
    file_.reset();
    std::error_code ignored;
    fs::remove(part_path(path_), ignored);
}

void PartFile::fail() const
{
    fail_write(path_, errno);
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
    publish_part(path_);
    published_ = true;
}

PartFolder::PartFolder(const fs::path& path) : path_(path)
{
    std::error_code status;
    fs::remove_all(part_path(path), status);  // what an interrupted export left
    if (!fs::create_directory(part_path(path), status)) fail_write(path, status.value());
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
    std::FILE* const out = std::fopen(file(name).c_str(), "wb");
    if (!out) fail_write(file(name), errno);
    const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
    const int reason = errno;
    if (std::fclose(out) != 0 || !whole) fail_write(file(name), whole ? errno : reason);
}

void PartFolder::publish()
{
    std::error_code status;
    fs::remove_all(path_, status);
    publish_part(path_);
    published_ = true;
}

}  // namespace springtime
