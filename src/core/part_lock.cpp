#include "core/part_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/atomic_file.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

// ---- Descriptors ----

Descriptor::Descriptor(Descriptor&& other) noexcept : id_(std::exchange(other.id_, std::nullopt)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept
{
    std::swap(id_, other.id_);
    return *this;
}

Descriptor::~Descriptor()
{
    if (id_) ::close(*id_);
}

fs::path part_path(const fs::path& path)
{
    fs::path part = path;
    part += ".part";
    return part;
}

// ---- The lock of a part ----

namespace {

// The whole file. These locks belong to the open file and not to the process, so they also part two
// writers of one process. They do not meet flock(), which HDF5 uses.
struct flock whole_file()
{
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    return range;
}

struct OpenPart {
    Descriptor file;
    bool created;
};

// Never follows a link: it may lead to a file of somebody else.
OpenPart open_part(const fs::path& path)
{
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const fs::path part = part_path(path);
    int id = ::open(part.c_str(), kFlags | O_EXCL, 0666);
    const bool created = id >= 0;
    if (id < 0 && errno == EEXIST) id = ::open(part.c_str(), kFlags, 0666);
    if (id < 0) fail_write(path, std::strerror(errno));
    OpenPart opened{Descriptor(id), created};
    struct stat status {};
    if (::fstat(id, &status) != 0 || !S_ISREG(status.st_mode)) {
        fail_write(path, part.filename().string() + " is not a plain file");
    }
    return opened;
}

[[noreturn]] void fail_busy(const fs::path& path)
{
    throw Failure("{}: another springtime is writing this; wait until it is done, or name another",
                  path.string());
}

void lock_part(const OpenPart& opened, const fs::path& path)
{
    struct flock range = whole_file();
    if (::fcntl(opened.file.id(), F_OFD_SETLK, &range) == 0) return;
    if (errno == EAGAIN || errno == EACCES) fail_busy(path);
    // Some network disks know no locks. There, only who made the part may write it.
    if (opened.created) return;
    throw Failure(
        "{}: is there already, and this disk cannot say whether another springtime is writing it "
        "({}); remove it if none is, or name another",
        part_path(path).string(), std::strerror(errno));
}

// False when another process has renamed or removed it between our opening and our lock.
bool is_still_there(int file, const fs::path& path)
{
    struct stat ours {
    }, there{};
    return ::fstat(file, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

PartLock::PartLock(const fs::path& path, bool overwrite) : path_(path), overwrite_(overwrite)
{
    check_file_target(path, overwrite);
    do {
        OpenPart opened = open_part(path);
        lock_part(opened, path);
        ours_ = opened.created;
        file_.emplace(std::move(opened.file));
    } while (!is_still_there(descriptor(), part()));
    try {
        check_file_target(path, overwrite);  // another process may have made it since
    } catch (...) {
        if (ours_) ::unlink(part().c_str());
        throw;
    }
}

PartLock::~PartLock()
{
    if (file_ && ours_) ::unlink(part().c_str());  // before the lock ends
}

void PartLock::clear()
{
    if (::ftruncate(descriptor(), 0) != 0) fail_write(path_, std::strerror(errno));
    ours_ = true;
}

void PartLock::release()
{
    file_.reset();
}

void PartLock::publish()
{
    rename_file(part(), path_, overwrite_);
    file_.reset();
}

bool is_being_written(const fs::path& part)
{
    const int id = ::open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (id < 0) return false;
    const Descriptor file(id);
    struct flock range = whole_file();
    return ::fcntl(id, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

// ---- The lock of a folder ----

namespace {

// Nothing when another process has it.
std::shared_ptr<void> try_to_lock(const fs::path& folder)
{
    const int id = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool gone = id < 0 && errno == ENOENT && folder.extension() == ".part";
    if (gone) return nullptr;  // another process has just finished with it
    if (id < 0) fail_write(folder, std::strerror(errno));
    auto file = std::make_shared<Descriptor>(id);
    // What other errors there are come from disks that know no locks on folders.
    const bool busy = ::flock(id, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return busy || !is_still_there(id, folder) ? nullptr : file;
}

}  // namespace

std::shared_ptr<void> lock_folder(const fs::path& folder)
{
    std::shared_ptr<void> lock = try_to_lock(folder);
    if (lock) return lock;
    throw Failure(
        "{}: another springtime is writing into this folder; wait until it is done, or name "
        "another",
        folder.string());
}

std::shared_ptr<void> lock_part_folder(const fs::path& path)
{
    std::shared_ptr<void> lock = try_to_lock(part_path(path));
    if (!lock) fail_busy(path);
    return lock;
}

// ---- Renaming ----

namespace {

[[noreturn]] void fail_rename(const fs::path& from, const fs::path& to, int reason)
{
    if (reason == EEXIST) {
        throw Failure("{}: was made by another program meanwhile and is not replaced; name another",
                      to.string());
    }
    throw Failure("{}: cannot be renamed to {} ({}); rename it yourself or free that name",
                  from.string(), to.string(), std::strerror(reason));
}

// Zero, or the reason. Disks that cannot do it answer EINVAL.
int rename_with(const fs::path& from, const fs::path& to, unsigned flags)
{
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0 ? 0 : errno;
}

int rename_plainly(const fs::path& from, const fs::path& to)
{
    return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int link_and_unlink(const fs::path& from, const fs::path& to)
{
    if (::link(from.c_str(), to.c_str()) != 0) return errno;
    return ::unlink(from.c_str()) == 0 ? 0 : errno;
}

}  // namespace

void rename_file(const fs::path& from, const fs::path& to, bool replace)
{
    int reason = replace ? rename_plainly(from, to) : rename_with(from, to, RENAME_NOREPLACE);
    if (!replace && reason == EINVAL) reason = link_and_unlink(from, to);
    if (reason != 0) fail_rename(from, to, reason);
}

void rename_folder(const fs::path& from, const fs::path& to, bool replace)
{
    int reason = rename_with(from, to, RENAME_NOREPLACE);
    if (reason == EEXIST && replace) {
        reason = rename_with(from, to, RENAME_EXCHANGE);  // no moment without the folder
        std::error_code ignored;
        fs::remove_all(reason == 0 ? from : to, ignored);
        if (reason == EINVAL) reason = rename_plainly(from, to);
    } else if (reason == EINVAL) {
        if (replace) fs::remove_all(to);
        reason = rename_plainly(from, to);  // replaces a folder only if it is empty
    }
    if (reason == ENOTEMPTY) reason = EEXIST;
    if (reason != 0) fail_rename(from, to, reason);
}

}  // namespace springtime
