#include "crew/programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "springtime/error.h"

namespace springtime {

inline auto fields(Program& program)
{
    auto& [command, output] = program;
    return std::tie(command, output);
}

namespace {

using namespace std::chrono_literals;
// Where nobody may know how a program ended: whoever started this process ignores SIGCHLD.
constexpr int kLostCode = 255;
constexpr auto kPause = 5ms;  // between looks at programs that take seconds at least

// What tells a program that it is one of several ranks.
bool of_ranks(std::string_view variable)
{
    constexpr std::array<std::string_view, 6> kPrefixes{"OMPI_", "PMIX_", "PMI_",
                                                        "ORTE_", "PRTE_", "SLURM_PMI"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::vector<char*> environment_without_ranks()
{
    std::vector<char*> result;
    for (char** variable = environ; *variable; ++variable) {
        if (!of_ranks(*variable)) result.push_back(*variable);
    }
    result.push_back(nullptr);
    return result;
}

}  // namespace

RunningProgram::RunningProgram(const Program& program)
{
    std::vector<char*> arguments;
    for (const std::string& word : program.command) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    std::vector<char*> environment = environment_without_ranks();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, program.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    // Ranks that serve ignore signals; programs do not. In a group of their own they get them from
    // here alone: a second one would end them at once.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawn(&process_, arguments[0], &files, &attributes, arguments.data(),
                                  environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        throw Failure(
            "{}: cannot be started, with its output in {}: {}; check that both can be "
            "reached from here",
            program.command[0], program.output, std::strerror(error));
    }
}

RunningProgram::~RunningProgram()
{
    if (code_) return;
    kill(process_, SIGTERM);
    while (!ended()) std::this_thread::sleep_for(kPause);
}

std::optional<int> RunningProgram::ended()
{
    if (code_) return code_;
    int status = 0;
    const pid_t found = waitpid(process_, &status, WNOHANG);
    if (found == process_) {
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    } else if (found < 0 && errno != EINTR) {
        code_ = kLostCode;
    }
    return code_;
}

namespace {

class ProgramTask : public RankTask {
  public:
    explicit ProgramTask(const RankTools& tools) : heartbeat_(tools.heartbeat) {}

    void answer(WireReader& request, WireWriter& answer) override
    {
        RunningProgram running(request.next<Program>());
        while (!running.ended()) {
            heartbeat_();
            std::this_thread::sleep_for(kPause);
        }
        answer(*running.ended());
    }

  private:
    std::function<void()> heartbeat_;
};

// Where a program can run: here, or on another rank.
struct Place {
    int rank = 0;
    std::optional<std::size_t> program{};  // that runs there
    std::unique_ptr<RunningProgram> here{};
};

class Dealer {
  public:
    Dealer(const std::vector<Program>& programs, int jobs, Crew* crew) : programs_(programs)
    {
        if (crew && crew->count() > 1) {
            task_.emplace(*crew, kProgramTask, WireWriter{});
            for (int rank = 0; rank < crew->count(); ++rank) places_.push_back({rank});
        } else {
            places_.resize(std::size_t(std::max(1, jobs)));
        }
    }

    // False when all have ended.
    bool look(const std::function<void(std::size_t, int)>& done)
    {
        bool busy = false;
        for (Place& place : places_) {
            if (place.program) {
                if (const auto code = ended(place)) {
                    const std::size_t program = *place.program;
                    place.program.reset();
                    place.here.reset();
                    done(program, *code);
                }
            }
            if (!place.program && next_ < programs_.size()) start(place);
            busy = busy || place.program.has_value();
        }
        return busy;
    }

  private:
    void start(Place& place)
    {
        const Program& program = programs_[next_];
        place.program = next_++;
        if (place.rank == 0) {
            place.here = std::make_unique<RunningProgram>(program);
        } else {
            WireWriter request;
            request(program);
            task_->ask(place.rank, request);
        }
    }

    std::optional<int> ended(Place& place)
    {
        if (place.here) return place.here->ended();
        if (!task_->answered(place.rank)) return std::nullopt;
        return WireReader(task_->answer(place.rank)).next<int>();
    }

    const std::vector<Program>& programs_;
    std::size_t next_ = 0;
    std::optional<Crew::Task> task_;
    std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<RankTask> make_program_task(WireReader&, const RankTools& tools)
{
    return std::make_unique<ProgramTask>(tools);
}

void run_programs(const std::vector<Program>& programs, int jobs, Crew* crew,
                  const std::function<void(std::size_t program, int code)>& done,
                  const std::function<void()>& alive)
{
    Dealer dealer(programs, jobs, crew);
    while (dealer.look(done)) {
        alive();
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace springtime
