#include "flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <new>

#include "config.h"
#include "manual.h"
#include "progress.h"
#include "rank_session.h"
#include "springtime/error.h"

namespace springtime::app {

namespace {

constexpr const char* kEssential = "Options";  // CLI11's heading for flags without a group

template <class T>
Flag add_option(CLI::App& verb, const std::string& group, const std::string& name, T& value,
                const std::string& text)
{
    CLI::Option* option = verb.add_option(name, value, text);
    if (!group.empty()) option->group(group);
    return Flag(option);
}

// What is no number at all is left to the conversion, which says so.
std::string refuse_not_finite(std::string& text)
{
    double number = 0;
    if (!CLI::detail::lexical_cast(text, number) || std::isfinite(number)) return {};
    return fmt::format("{} is not finite; give a number", text);
}

// Whole numbers that would wrap around or be cut off.
template <class T>
std::string refuse_beyond(std::string& text)
{
    T whole = 0;
    double number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), whole);
    const bool good = status == std::errc() && end == text.data() + text.size();
    if (good || !CLI::detail::lexical_cast(text, number)) return {};
    return fmt::format("{} is not a whole number from {} to {}", text,
                       std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

}  // namespace

// ---- One flag ----

Flag& Flag::required()
{
    option_->required();
    return *this;
}

Flag& Flag::type(const std::string& name)
{
    option_->type_name(name);
    return *this;
}

Flag& Flag::one_of(const std::vector<std::string>& words)
{
    option_->check(CLI::IsMember(words));
    return *this;
}

Flag& Flag::between(int low, int high)
{
    option_->check(CLI::Range(low, high));
    return *this;
}

Flag& Flag::not_negative()
{
    option_->check(CLI::NonNegativeNumber);
    return *this;
}

Flag& Flag::refusing(std::string (*refuse)(std::string& text))
{
    option_->check(CLI::Validator(refuse, ""));
    return *this;
}

Flag& Flag::shows(const std::string& value)
{
    option_->default_str(value);
    return *this;
}

Flag& Flag::repeated()
{
    option_->allow_extra_args(false)->take_all()->default_str("");
    return *this;
}

Flag& Flag::list()
{
    option_->take_all()->default_str("");
    return *this;
}

Flag& Flag::words()
{
    option_->delimiter(',')->take_all();
    return *this;
}

Flag& Flag::one_or_two()
{
    option_->expected(1, 2)->allow_extra_args(false);
    return *this;
}

Flag& Flag::three()
{
    option_->type_size(3)->expected(1)->allow_extra_args(false)->type_name("X Y Z");
    return *this;
}

Flag& Flag::excludes(const Flag& other)
{
    option_->excludes(other.option_);
    return *this;
}

// ---- All flags of a verb ----

Flags Flags::in(const std::string& group) const
{
    Flags copy = *this;
    copy.group_ = group;
    return copy;
}

Flag Flags::add(const std::string& name, std::string& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text);
}

Flag Flags::add(const std::string& name, double& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_not_finite);
}

Flag Flags::add(const std::string& name, int& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_beyond<int>);
}

Flag Flags::add(const std::string& name, long& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_beyond<long>);
}

Flag Flags::add(const std::string& name, std::uint64_t& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_beyond<std::uint64_t>);
}

Flag Flags::add(const std::string& name, std::optional<double>& value,
                const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_not_finite);
}

Flag Flags::add(const std::string& name, std::optional<int>& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_beyond<int>);
}

Flag Flags::add(const std::string& name, std::vector<std::string>& value,
                const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text);
}

Flag Flags::add(const std::string& name, std::vector<double>& value, const std::string& text) const
{
    return add_option(*verb_, group_, name, value, text).refusing(refuse_not_finite);
}

Flag Flags::add_switch(const std::string& name, bool& value, const std::string& text) const
{
    CLI::Option* option = verb_->add_flag(name, value, text);
    if (!group_.empty()) option->group(group_);
    return Flag(option);
}

bool Flags::given(const std::string& flag) const
{
    return verb_->get_option("--" + flag)->count() > 0;
}

bool Flags::has(const std::string& flag) const
{
    return verb_->get_option_no_throw("--" + flag) != nullptr;
}

std::vector<std::pair<std::string, std::string>> Flags::given_values() const
{
    std::vector<std::pair<std::string, std::string>> values;
    for (const CLI::Option* option : verb_->get_options()) {
        for (const std::string& value : option->results()) {
            values.emplace_back(option->get_single_name(), value);
        }
    }
    return values;
}

Flags add_verb(CLI::App& root, const std::string& name, const std::string& text)
{
    CLI::App* verb = root.add_subcommand(name, text);
    verb->set_help_flag("-h,--help", "The flags that most people need");
    verb->set_help_all_flag("--help-all", "All flags");
    return Flags(*verb);
}

// ---- The program ----

namespace {

// The settings of a verb that lie beneath what the user gave, as arguments behind it.
void add_settings(const Verb& verb, std::vector<std::string>& given)
{
    const auto append = [&](const std::string& text, const std::string& source) {
        const auto more = config_arguments(verb.flags, text, source, given);
        given.insert(given.end(), more.begin(), more.end());
    };
    std::string path = argument_value(given, "config");
    if (path.empty() && verb.default_config) path = verb.default_config(given);
    if (!path.empty()) append(read_text(path), path);
    if (verb.stored_config) append(verb.stored_config(given), "stored settings");
    if (verb.preset_config) append(verb.preset_config(given), "preset");
}

const Verb* verb_named(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments)
{
    if (arguments.empty() || arguments[0].starts_with('-')) return nullptr;
    std::string names;
    for (const Verb& verb : verbs) {
        const std::string name = verb.flags.verb().get_name();
        if (name == arguments[0]) return &verb;
        names += (names.empty() ? "" : ", ") + name;
    }
    const CLI::App& root = *verbs.front().flags.verb().get_parent();
    const std::string nearest = nearest_name(root, arguments[0]);
    throw Error("'{}': no such verb; {}there are {}", arguments[0],
                nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest), names);
}

// The first argument that looks like a flag and is none of the program or the verb; empty where
// all are known.
std::string unknown_flag(const CLI::App& app, const std::vector<std::string>& given)
{
    for (const std::string& argument : given) {
        if (argument == "--") break;
        const bool flag = argument.size() > 1 && argument[0] == '-' &&
                          !std::isdigit(static_cast<unsigned char>(argument[1])) &&
                          argument[1] != '.';
        const std::string name = argument.substr(0, argument.find('='));
        if (flag && !app.get_option_no_throw(name)) return name;
    }
    return {};
}

std::string about_unknown_flag(const CLI::App& app, const std::string& flag)
{
    const std::string nearest = nearest_name(app, flag);
    return fmt::format("{}: {} has no such flag{}", flag, app.get_name(),
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

// --help shows the flags that most people need.
void hide_groups(const Verb& verb)
{
    bool hidden = false;
    for (CLI::Option* option : verb.flags.verb().get_options()) {
        if (option->get_group() == kEssential) continue;
        option->group("");
        hidden = true;
    }
    if (hidden) {
        verb.flags.verb().footer(
            "--help-all shows all flags. Every flag can be a key of the TOML "
            "file that --config names.");
    }
}

int run_verb(CLI::App& root, const Verb* verb, std::vector<std::string> arguments)
{
    if (verb && verb->take_over) return verb->take_over({arguments.begin() + 1, arguments.end()});
    RankSession session;
    if (session.served()) return kDone;
    const std::vector<std::string> given(arguments.begin() + (verb ? 1 : 0), arguments.end());
    if (verb) {
        const std::string name = arguments[0];
        arguments.erase(arguments.begin());
        const bool short_help =
            std::find(arguments.begin(), arguments.end(), "-h") != arguments.end() ||
            has_argument(arguments, "help");
        if (short_help) hide_groups(*verb);
        add_settings(*verb, arguments);
        arguments.insert(arguments.begin(), name);
    }
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
        root.parse(arguments);
    } catch (const CLI::Success& success) {
        return root.exit(success);
    } catch (const CLI::ParseError& error) {
        const CLI::App& app = verb ? verb->flags.verb() : root;
        const std::string unknown = unknown_flag(app, given);
        fmt::print(stderr, "springtime: {}\nRun with --help for what is understood.\n",
                   unknown.empty() ? error.what() : about_unknown_flag(app, unknown));
        return kBadInput;
    }
    return verb ? verb->run() : kBadInput;
}

}  // namespace

std::string flag_of(const std::string& field)
{
    // Members whose flags have shorter names.
    static const std::vector<std::pair<std::string, std::string>> kNames{
        {"longest_step", "dt"},    {"frame_rate", "fps"},
        {"rate", "fps"},           {"format", "to"},
        {"csv_layout", "layout"},  {"long_rows", "layout"},
        {"dropped", "drop"},       {"region_count", "regions"},
        {"region_map", "regions"}, {"single_elements", "regions"}};
    std::string name = field;
    for (const auto& [member, flag] : kNames) {
        if (field == member) name = flag;
    }
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

std::string with_flags(const std::string& message)
{
    std::string text;
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t begin = message.find('`', at);
        const std::size_t end = begin == std::string::npos ? begin : message.find('`', begin + 1);
        if (end == std::string::npos) return text + message.substr(at);
        text +=
            message.substr(at, begin - at) + flag_of(message.substr(begin + 1, end - begin - 1));
        at = end + 1;
    }
    return text;
}

namespace {

// What an error is about, where that is a flag of the verb.
std::string prefix_of(const Error& error, const Verb* verb)
{
    if (error.field().empty() || !verb) return {};
    const std::string flag = flag_of(error.field());
    return verb->flags.has(flag.substr(2)) ? flag + ": " : "";
}

// Whether it was asked for what installation needs: completion or the manual page.
bool describe_itself(const CLI::App& root, const std::vector<std::string>& arguments)
{
    if (has_argument(arguments, "manual") && arguments.size() == 1) {
        std::fputs(manual_page(root).c_str(), stdout);  // with_output_checked() sees if it arrives
        return true;
    }
    const std::string shell =
        arguments.size() <= 2 ? argument_value(arguments, "completion") : std::string();
    if (shell.empty()) return false;
    std::fputs(completion_for(shell, root).c_str(), stdout);
    return true;
}

int complain(int code, const std::string& message)
{
    fmt::print(stderr, "springtime: {}\n", message);
    return code;
}

}  // namespace

namespace {

// A file that is opened while standard output is closed would take its place, and the result would
// be written into it. /dev/null takes the place instead; it is open for reading only, so what is
// written still fails.
void fill_closed_streams()
{
    for (int id = STDIN_FILENO; id <= STDERR_FILENO; ++id) {
        if (::fcntl(id, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDONLY);
    }
}

// A result that did not arrive is a failure: what is buffered may only fail to be written now.
int with_output_checked(int code)
{
    std::cout.flush();
    const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good();
    if (arrived || code != kDone) return code;
    return complain(kFailed,
                    "standard output: cannot be written, and the result is lost; check "
                    "where it goes");
}

bool is_failure(const std::error_code& code)
{
    for (const std::errc failure :
         {std::errc::permission_denied, std::errc::operation_not_permitted,
          std::errc::no_space_on_device, std::errc::read_only_file_system, std::errc::io_error}) {
        if (code == failure) return true;
    }
    return false;
}

int run_checked(const std::vector<AddVerb>& adders, const std::vector<std::string>& arguments)
{
    CLI::App root{"Learns mass-spring cloth from motion, and runs it.", "springtime"};
    root.option_defaults()->always_capture_default();
    root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    root.set_version_flag("--version", std::string("springtime ") + kVersion);
    root.require_subcommand(1);
    root.footer(
        "Every verb explains itself: springtime VERB --help. Exit codes: 0 done, 1 failure, 2 bad "
        "input.");
    root.add_option("--completion", "Print the completion of words for bash, zsh or fish")
        ->type_name("SHELL");
    bool manual =
        false;  // like the flag before, it is only listed here: describe_itself() reads it
    root.add_flag("--manual", manual, "Print the manual page");
    std::vector<Verb> verbs;
    for (const AddVerb& add : adders) verbs.push_back(add(root));
    const Verb* verb = nullptr;
    try {
        if (describe_itself(root, arguments)) return kDone;
        verb = verb_named(verbs, arguments);
        return run_verb(root, verb, arguments);
    } catch (const Error& error) {
        return complain(kBadInput, prefix_of(error, verb) + with_flags(error.what()));
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(is_failure(error.code()) ? kFailed : kBadInput,
                        fmt::format("{}: {}; name another file or folder", error.path1().string(),
                                    error.code().message()));
    } catch (const std::bad_alloc&) {
        return complain(kFailed,
                        "out of memory; use a smaller grid, fewer threads or a larger stride");
    } catch (const Cancelled&) {
        return complain(kFailed, "interrupted");
    } catch (const std::exception& error) {
        return complain(kFailed, with_flags(error.what()));
    }
}

}  // namespace

int run_program(const std::vector<AddVerb>& adders, const std::vector<std::string>& arguments)
{
    fill_closed_streams();
    return with_output_checked(run_checked(adders, arguments));
}

}  // namespace springtime::app
