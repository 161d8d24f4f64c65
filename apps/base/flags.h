#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// CLI11 takes seconds to compile: flags.cpp and config.cpp alone include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace springtime::app {

inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2;  // exit codes

// A flag that was added: what parsing and help should know of it.
class Flag {
  public:
    explicit Flag(CLI::Option* option) : option_(option) {}

    Flag& required();
    Flag& type(const std::string& name);  // of the value, as help shows it
    Flag& one_of(const std::vector<std::string>& words);
    Flag& between(int low, int high);
    Flag& not_negative();
    Flag& refusing(std::string (*refuse)(std::string& text));  // why not; empty: it is good
    Flag& shows(const std::string& value);  // as its default; nothing where it is empty
    Flag& repeated();                       // may be given again and again, with one value each
    Flag& list();                           // takes all values that follow
    Flag& words();                          // the same, and commas part them
    Flag& one_or_two();                     // takes one value or two
    Flag& three();                          // takes three
    Flag& excludes(const Flag& other);

  private:
    CLI::Option* option_;
};

// The flags of a verb. A handle: copies mean the same verb.
class Flags {
  public:
    explicit Flags(CLI::App& verb) : verb_(&verb) {}

    // Flags that are added to the copy stand under this heading, which --help-all shows and --help
    // does not.
    Flags in(const std::string& group) const;

    Flag add(const std::string& name, std::string& value, const std::string& text) const;
    Flag add(const std::string& name, double& value, const std::string& text) const;
    Flag add(const std::string& name, int& value, const std::string& text) const;
    Flag add(const std::string& name, long& value, const std::string& text) const;
    Flag add(const std::string& name, std::uint64_t& value, const std::string& text) const;
    Flag add(const std::string& name, std::optional<double>& value, const std::string& text) const;
    Flag add(const std::string& name, std::optional<int>& value, const std::string& text) const;
    Flag add(const std::string& name, std::vector<std::string>& value,
             const std::string& text) const;
    Flag add(const std::string& name, std::vector<double>& value, const std::string& text) const;
    Flag add_switch(const std::string& name, bool& value, const std::string& text) const;

    bool given(const std::string& flag) const;  // whether the user, or a file, set --flag
    bool has(const std::string& flag) const;
    // All that was given, flag by flag; what stands without a flag has the name of its place.
    std::vector<std::pair<std::string, std::string>> given_values() const;
    CLI::App& verb() const { return *verb_; }

  private:
    CLI::App* verb_;
    std::string group_;
};

struct Verb {
    Flags flags;
    std::function<int()> run;
    // Settings that lie beneath everything the user gives, as TOML; may be empty.
    std::function<std::string(const std::vector<std::string>& given)> stored_config{};
    // The same, beneath the stored ones: what a preset sets.
    std::function<std::string(const std::vector<std::string>& given)> preset_config{};
    // A configuration file that is taken when the user names none; may be empty.
    std::function<std::string(const std::vector<std::string>& given)> default_config{};
    // Does all itself with the arguments as they stand.
    std::function<int(const std::vector<std::string>& given)> take_over{};
};
using AddVerb = Verb (*)(CLI::App& root);

Flags add_verb(CLI::App& root, const std::string& name, const std::string& text);

// Parses the arguments, runs the verb they name, and turns what is thrown into messages and an exit
// code.
int run_program(const std::vector<AddVerb>& verbs, const std::vector<std::string>& arguments);

// The flag of an option of the library: "self_distance" is --self-distance.
std::string flag_of(const std::string& field);
// Names of options in a message of the library, `self_distance`, become flags.
std::string with_flags(const std::string& message);

}  // namespace springtime::app
