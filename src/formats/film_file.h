#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/atomic_file.h"
#include "springtime/report.h"

namespace springtime {

// An MP4 file that the program ffmpeg makes of pictures, as PATH.part until it is complete. Without
// publish() nothing is left.
class FilmFile {
  public:
    // Throws Failure where ffmpeg is not installed.
    FilmFile(const std::filesystem::path& path, int width, int height, double fps, bool overwrite);
    ~FilmFile();
    FilmFile(const FilmFile&) = delete;
    FilmFile& operator=(const FilmFile&) = delete;

    void write(const Picture& picture);
    void publish();

  private:
    [[noreturn]] void fail(const char* what) const;
    int wait();  // for the end of ffmpeg; its exit status

    std::filesystem::path path_;
    PartFile part_;
    int pipe_ = -1;
    pid_t child_ = -1;
};

}  // namespace springtime
