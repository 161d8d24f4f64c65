#include "formats/film_file.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "springtime/error.h"

extern char** environ;

namespace springtime {

namespace {

std::filesystem::path part_of(std::filesystem::path path)
{
    return path += ".part";
}

// Raw pictures in, a file for every player out. An absolute name never looks like an option or a
// protocol.
std::vector<std::string> command(const std::filesystem::path& part, int width, int height,
                                 double fps)
{
    return {"ffmpeg",
            "-loglevel",
            "error",
            "-nostdin",
            "-y",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            fmt::format("{}x{}", width, height),
            "-r",
            fmt::format("{}", fps),
            "-i",
            "pipe:0",
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-crf",
            "18",
            "-pix_fmt",
            "yuv420p",
            "-movflags",
            "+faststart",
            "-f",
            "mp4",
            "file:" + std::filesystem::absolute(part).string()};
}

// Starts the program with `input` as its standard input; the number of an error, or zero. It has a
// process group of its own, so that Ctrl-C reaches us alone, who end it in order.
int start(const std::vector<std::string>& words, int input, pid_t& child)
{
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int fault =
        posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

}  // namespace

FilmFile::FilmFile(const std::filesystem::path& path, int width, int height, double fps,
                   bool overwrite)
    : path_(path), part_(path, overwrite)
{
    // A socket instead of a pipe: writing to a program that has ended is an error then, and no
    // signal that would end us.
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail(std::strerror(errno));
    }
    const int fault = start(command(part_of(path), width, height, fps), ends[0], child_);
    close(ends[0]);
    pipe_ = ends[1];
    if (fault == 0) return;
    child_ = -1;
    close(std::exchange(pipe_, -1));
    if (fault == ENOENT) {
        throw Failure(
            "{}: films are made by the program ffmpeg, which is not installed; install it (on "
            "Debian: apt-get install ffmpeg), or write single pictures: --out frame.png",
            path.string());
    }
    fail(std::strerror(fault));
}

FilmFile::~FilmFile()
{
    if (pipe_ >= 0) close(pipe_);
    if (child_ < 0) return;
    kill(child_, SIGKILL);
    wait();
}

void FilmFile::fail(const char* what) const
{
    throw Failure("{}: ffmpeg could not make it ({}); see its message above, and check the disk",
                  path_.string(), what);
}

int FilmFile::wait()
{
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

void FilmFile::write(const Picture& picture)
{
    const auto* bytes = picture.rgb.data();
    for (std::size_t done = 0; done < picture.rgb.size();) {
        const ssize_t count = send(pipe_, bytes + done, picture.rgb.size() - done, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail("it ended early");
        done += std::size_t(count);
    }
}

void FilmFile::publish()
{
    close(std::exchange(pipe_, -1));
    if (const int status = wait(); !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("it failed");
    }
    part_.publish();
}

}  // namespace springtime
