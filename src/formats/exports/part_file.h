#pragma once

#include <bit>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace springtime {

// What exporters write as bytes is little-endian, as all machines are that this runs on.
static_assert(std::endian::native == std::endian::little);

template <class T>
std::string_view bytes_of_values(std::span<const T> values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Throws Error unless `path` is free, or a plain file that may be replaced.
void check_file_target(const std::filesystem::path& path, bool overwrite);

// The same for a folder. Only a folder with nothing in it but files that end in `extension` may be
// replaced: nobody means to lose what else lies there.
void check_folder_target(const std::filesystem::path& path, bool overwrite,
                         std::string_view extension);

// A file that is written from front to back as PATH.part. Without publish() it goes away.
class PartFile {
  public:
    explicit PartFile(const std::filesystem::path& path);
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    void write(std::string_view bytes);
    void write_at_start(std::string_view bytes, std::size_t offset);  // over what is there
    void publish();
    const std::filesystem::path& path() const { return path_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    void fail() const;

    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool published_ = false;
};

// The same for a folder of files.
class PartFolder {
  public:
    explicit PartFolder(const std::filesystem::path& path);
    ~PartFolder();
    PartFolder(const PartFolder&) = delete;
    PartFolder& operator=(const PartFolder&) = delete;

    std::filesystem::path file(std::string_view name) const;  // while it is written
    void write(std::string_view name, std::string_view bytes) const;
    void publish();  // replaces a folder that is there

  private:
    std::filesystem::path path_;
    bool published_ = false;
};

}  // namespace springtime
