#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/part_lock.h"

// Whole files, and files that appear under their name only when they are complete: they are written
// as PATH.part and renamed, so that an interrupted write never destroys the last good file. What is
// there already is replaced only with `overwrite`, even if it came while we were writing.
namespace springtime {

// Throws Error unless `path` is a plain file, and Failure unless it may be read, or while it is
// being written.
void check_source(const std::filesystem::path& path);

// Throws Error unless a file can be put at `path`: the folder exists, and nothing stands there
// already that is more than a plain file.
void check_target(const std::filesystem::path& path);

// Throws Error unless `path` is free, or a plain file that may be replaced.
void check_file_target(const std::filesystem::path& path, bool overwrite);

// Throws Error when `path` is one of the files that the same command reads.
void check_not_input(const std::filesystem::path& path,
                     const std::vector<std::filesystem::path>& inputs);

// The same for a folder. Only a folder with nothing in it but files that end in `extension` may be
// replaced: what else lies there is not lost by mistake.
void check_folder_target(const std::filesystem::path& path, bool overwrite,
                         std::string_view extension);

[[noreturn]] void fail_write(const std::filesystem::path& path, std::string_view reason);

// Without the mark that some programs put before UTF-8.
std::string read_text(const std::filesystem::path& path);

// A failure leaves neither a part nor a changed `path`.
void write_text(const std::filesystem::path& path, std::string_view text);  // overwrites
void write_text(const std::filesystem::path& path, std::string_view text, bool overwrite);

// Adds to the end, making the file if need be, and closes it: the text outlives a crash of ours.
void append_text(const std::filesystem::path& path, std::string_view text);

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// A file that is written from front to back as PATH.part. Without publish() it goes away.
class PartFile {
  public:
    explicit PartFile(const std::filesystem::path& path, bool overwrite = true);

    void write(std::string_view bytes);
    void write_at_start(std::string_view bytes, std::size_t offset);  // over what is there
    void publish();
    std::FILE* stream() const { return file_.get(); }

  private:
    void fail() const;

    PartLock lock_;
    File file_;
};

// The same for a folder of files.
class PartFolder {
  public:
    explicit PartFolder(const std::filesystem::path& path, bool overwrite = true);
    ~PartFolder();
    PartFolder(const PartFolder&) = delete;
    PartFolder& operator=(const PartFolder&) = delete;

    std::filesystem::path file(std::string_view name) const;  // while it is written
    void write(std::string_view name, std::string_view bytes) const;
    void publish();

  private:
    std::filesystem::path path_;
    bool overwrite_, published_ = false;
    std::shared_ptr<void> lock_;
};

}  // namespace springtime
