#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace springtime::app {

inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2;  // exit codes

struct Verb {
    CLI::App* app = nullptr;
    std::function<int()> run;
    // Settings that lie beneath everything the user gives, as TOML; may be empty.
    std::function<std::string(const std::vector<std::string>& given)> stored_config{};
    // The same, beneath the stored ones: what a preset sets.
    std::function<std::string(const std::vector<std::string>& given)> preset_config{};
    // A configuration file that is taken when the user names none; may be empty.
    std::function<std::string(const std::vector<std::string>& given)> default_config{};
};

Verb add_generate(CLI::App& root);
Verb add_import(CLI::App& root);
Verb add_train(CLI::App& root);
Verb add_simulate(CLI::App& root);
Verb add_inspect(CLI::App& root);
Verb add_reproduce(CLI::App& root);
Verb add_evaluate(CLI::App& root);
Verb add_demo(CLI::App& root);
Verb add_export(CLI::App& root);

}  // namespace springtime::app
