#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

// Who may write a file or into a folder: one process at a time. A lock ends with the process that
// holds it, however that ends, so what has no lock is what a killed run left.
namespace springtime {

// An open file, closed by the destructor.
class Descriptor {
  public:
    explicit Descriptor(int id) : id_(id) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int id() const { return *id_; }

  private:
    std::optional<int> id_;  // nothing after a move
};

// The name a file has while it is written.
std::filesystem::path part_path(const std::filesystem::path& path);

// The right to write a file. It is PATH.part, locked; publish() gives it its name. Two processes
// that write the same name never meet: who comes second is refused with Failure, before anything
// is changed.
class PartLock {
  public:
    // Opens PATH.part as it is, or makes it. Throws Error when `path` is there and may not be
    // replaced.
    PartLock(const std::filesystem::path& path, bool overwrite);
    ~PartLock();  // removes the part, unless it was published or released
    PartLock(const PartLock&) = delete;
    PartLock& operator=(const PartLock&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path part() const { return part_path(path_); }
    int descriptor() const { return file_->id(); }

    void clear();    // drops what an earlier run left in the part
    void release();  // ends the lock and leaves the part behind
    void publish();  // Failure when another program has taken the name meanwhile

  private:
    std::filesystem::path path_;
    bool overwrite_, ours_ = false;  // ours: nothing of an earlier run is in it
    std::optional<Descriptor> file_;
};

// Whether a process has the right to write PATH.part, given as `part`.
bool is_being_written(const std::filesystem::path& part);

// The right to write into a folder, until the last copy goes. Throws Failure when another process
// has it.
std::shared_ptr<void> lock_folder(const std::filesystem::path& folder);
// The same for PATH.part where that is a folder.
std::shared_ptr<void> lock_part_folder(const std::filesystem::path& path);

// Both throw Failure. With `replace`, what is at `to` goes.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to, bool replace);
void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to,
                   bool replace);

}  // namespace springtime
