#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include "config.h"
#include "progress.h"
#include "springtime/springtime.h"
#include "verbs.h"

using namespace springtime;
using namespace springtime::app;

namespace {

// [verb, what the user gave, settings of --config, stored settings, settings of --preset]
std::vector<std::string> merged_arguments(const std::vector<Verb>& verbs,
                                          std::vector<std::string> arguments)
{
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& candidate) {
        return !arguments.empty() && candidate.app->get_name() == arguments[0];
    });
    if (verb == verbs.end()) {
        if (arguments.empty() || arguments[0].starts_with('-')) return arguments;
        std::string names;
        for (const Verb& known : verbs)
            names += (names.empty() ? "" : ", ") + known.app->get_name();
        throw Error("'{}': no such verb; there are {}", arguments[0], names);
    }
    std::vector<std::string> given(arguments.begin() + 1, arguments.end());
    std::string path = argument_value(given, "config");
    if (path.empty() && verb->default_config) path = verb->default_config(given);
    if (!path.empty()) {
        const auto more = config_arguments(*verb->app, read_text(path), path, given);
        given.insert(given.end(), more.begin(), more.end());
    }
    for (const auto& [beneath, name] : {std::pair{verb->stored_config, "stored settings"},
                                        std::pair{verb->preset_config, "preset"}}) {
        const std::string text = beneath ? beneath(given) : "";
        const auto more = config_arguments(*verb->app, text, name, given);
        given.insert(given.end(), more.begin(), more.end());
    }
    given.insert(given.begin(), arguments[0]);
    return given;
}

int run(int argc, char** argv)
{
    CLI::App root{"Learns mass-spring cloth from motion, and runs it.", "springtime"};
    root.option_defaults()->always_capture_default();
    root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    root.set_version_flag("--version", std::string("springtime ") + kVersion);
    root.require_subcommand(1);
    root.footer(
        "Every verb explains itself: springtime VERB --help. Exit codes: 0 done, 1 failure, "
        "2 bad input.");
    const std::vector<Verb> verbs{add_generate(root), add_import(root),    add_train(root),
                                  add_evaluate(root), add_simulate(root),  add_inspect(root),
                                  add_export(root),   add_reproduce(root), add_demo(root)};
    std::vector<std::string> arguments =
        merged_arguments(verbs, std::vector<std::string>(argv + 1, argv + argc));
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
        root.parse(arguments);
    } catch (const CLI::Success& success) {
        return root.exit(success);
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "springtime: {}\nRun with --help for what is understood.\n",
                   error.what());
        return kBadInput;
    }
    catch_interrupts();
    for (const Verb& verb : verbs) {
        if (verb.app->parsed()) return verb.run();
    }
    return kBadInput;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const Error& error) {
        fmt::print(stderr, "springtime: {}\n", error.what());
        return kBadInput;
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "springtime: {}: {}; name another place\n", error.path1().string(),
                   error.code().message());
        return kBadInput;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr,
                   "springtime: out of memory; use a smaller grid, fewer threads or a "
                   "larger stride\n");
        return kFailed;
    } catch (const std::exception& error) {
        fmt::print(stderr, "springtime: {}\n", error.what());
        return kFailed;
    }
}
