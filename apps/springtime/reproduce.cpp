#include <unistd.h>

#include <filesystem>

#include "springtime/error.h"
#include "verbs.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

// Runs the program that lies beside this one; comes back only when that fails.
int run_reproduce(const std::vector<std::string>& arguments)
{
    const fs::path program =
        fs::read_symlink("/proc/self/exe").parent_path() / "springtime-reproduce";
    if (!fs::exists(program)) {
        throw Error(
            "reproduce: is a program of its own, {}, which is not there; make it with "
            "scripts/build",
            program.string());
    }
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    throw Failure("{}: cannot be run; build it again with scripts/build", program.string());
}

}  // namespace

Verb add_reproduce(CLI::App& root)
{
    Verb verb{add_verb(root, "reproduce",
                       "Run a published experiment from end to end, with the published numbers "
                       "beside ours"),
              {}};
    verb.take_over = run_reproduce;
    return verb;
}

}  // namespace springtime::app
