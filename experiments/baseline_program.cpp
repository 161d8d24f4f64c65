#include "baseline_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "progress.h"
#include "reproduce.h"
#include "springtime/error.h"

namespace springtime::app {

namespace fs = std::filesystem;

BaselineProgram::BaselineProgram(bool quiet)
    : path_(fs::read_symlink("/proc/self/exe").parent_path() / "springtime-baseline"), quiet_(quiet)
{
    if (fs::exists(path_)) return;
    throw Error(
        "--baselines: they are a program of their own, {}, which is not there; install LibTorch "
        "and build with -DSPRINGTIME_BASELINES=ON (docs/baselines.md)",
        path_.string());
}

void BaselineProgram::run(const std::vector<std::string>& arguments) const
{
    std::vector<std::string> words{path_.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    catch_interrupts();
    const pid_t child = fork();
    if (child < 0) throw Failure("{}: cannot be started", path_.string());
    if (child == 0) {
        if (!quiet_) dup2(STDERR_FILENO, STDOUT_FILENO);  // results alone go to standard output
        execv(path_.c_str(), pointers.data());
        _exit(127);
    }
    int status = 0;
    bool told = false;
    for (pid_t ended = 0; ended != child; ended = waitpid(child, &status, WNOHANG)) {
        if (ended < 0 && errno != EINTR) {
            throw Failure("{}: how it ended is not known: {}; start it again", path_.string(),
                          std::strerror(errno));
        }
        if (interrupted() && !told) {
            kill(child, SIGTERM);
            told = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (interrupted()) throw Failure(kInterrupted);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        throw Error("{}: refused its input, as it says above", path_.string());
    }
    throw Failure("{}: failed, as it says above; what it had finished is kept", path_.string());
}

}  // namespace springtime::app
