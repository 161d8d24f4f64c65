#include "rank_session.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

Crew* present_crew = nullptr;  // MPI, too, is there once for a process

int number_in(const char* variable)
{
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : 0;
}

// How many ranks Open MPI or MPICH say they have started; zero if they say nothing.
int told_ranks()
{
    return std::max(number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"));
}

// The same, as far as Slurm tells where they do not. Zero: no launcher.
int started_ranks()
{
    if (const int told = told_ranks(); told > 0) return told;
    return std::getenv("PMIX_RANK") ? std::max(1, number_in("SLURM_NTASKS")) : 0;
}

fs::path component()
{
    constexpr const char* kName = "springtime_mpi.so";
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    const fs::path beside = folder / kName;
    return fs::exists(beside) ? beside : folder / SPRINGTIME_LIBRARIES / kName;
}

std::unique_ptr<Ranks> load(const fs::path& path)
{
    // Open MPI loads parts of its own, which look for its symbols. It is never unloaded: it leaves
    // handlers behind.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (!library) {
        throw Error(
            "{}: cannot be loaded: {}; build it again where MPI is installed, with "
            "scripts/setup mpi and scripts/build",
            path.string(), dlerror());
    }
    using Open = Ranks* (*)(const char*);
    const auto open = reinterpret_cast<Open>(dlsym(library, "springtime_open_ranks"));
    std::unique_ptr<Ranks> ranks(open ? open(kVersion) : nullptr);
    if (!ranks) {
        throw Error("{}: is of another version than this program, {}; build both together",
                    path.string(), kVersion);
    }
    return ranks;
}

// Each rank of a machine takes a GPU of its own, as far as there are any. Those that the launcher
// has chosen are shared out; all that there are otherwise.
void choose_gpu(int place)
{
    const char* allowed = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string chosen;
    if (allowed && *allowed) {
        const std::string list = std::string(allowed) + ",";
        const auto count = int(std::count(list.begin(), list.end(), ','));
        std::size_t begin = 0;
        for (int i = 0; i < place % count; ++i) begin = list.find(',', begin) + 1;
        chosen = list.substr(begin, list.find(',', begin) - begin);
    } else if (!allowed) {
        int count = 0;
        while (fs::exists("/dev/nvidia" + std::to_string(count))) ++count;
        if (count > 0) chosen = std::to_string(place % count);
    }
    if (!chosen.empty()) setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), 1);
}

}  // namespace

RankSession::RankSession()
{
    const int started = started_ranks();
    if (started == 0 || told_ranks() == 1) return;  // alone, it needs no MPI, which costs time
    const fs::path path = component();
    if (!fs::exists(path)) {
        if (started == 1) return;  // alone, it needs none
        throw Error(
            "{} ranks were started, but this program has no MPI component, {}; install MPI with "
            "scripts/setup mpi and build again with scripts/build, or start it without mpirun",
            started, path.string());
    }
    ranks_ = load(path);
    choose_gpu(ranks_->place());
    if (ranks_->rank() > 0 || ranks_->count() == 1) return;  // who is alone leads nobody
    crew_ = lead(*ranks_);
    present_crew = crew_.get();
}

RankSession::~RankSession()
{
    present_crew = nullptr;
}

bool RankSession::served()
{
    if (!ranks_ || ranks_->rank() == 0) return false;
    // The first rank says when to end: it may want to write what is finished.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    try {
        serve(*ranks_, [](const std::string& path) { return open_motion(path); });
    } catch (const std::exception& error) {
        fmt::print(stderr, "springtime: rank {}: {}\n", ranks_->rank(), error.what());
        ranks_->abort();
    }
    return true;
}

Crew* crew()
{
    return present_crew;
}

}  // namespace springtime::app
