#include "config.h"

#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "springtime/error.h"

namespace springtime::app {

namespace {

// Flags that are no settings.
bool is_beside_settings(const std::string& name)
{
    return name == "help" || name == "help-all" || name == "config";
}

// A setting that older versions wrote into run folders. It may stay where it says what is done now.
struct DroppedSetting {
    std::string_view verb, key, value, reason;
};

constexpr std::array kDropped{DroppedSetting{
    "train", "solver", "direct", "the solve by conjugate gradients was slower at every size"}};

// Throws Error when it asks for what is gone.
bool is_dropped(const std::string& verb, const std::string& key, const toml::node& node,
                const std::string& where)
{
    for (const DroppedSetting& dropped : kDropped) {
        if (verb != dropped.verb || key != dropped.key) continue;
        if (node.value_or(std::string()) == dropped.value) return true;
        throw Error("{}: this setting is gone, since {}; delete the line", where, dropped.reason);
    }
    return false;
}

std::string key_list(const CLI::App& verb)
{
    std::string keys;
    for (const CLI::Option* option : verb.get_options()) {
        const std::string name = option->get_single_name();
        if (option->get_lnames().empty() || is_beside_settings(name)) continue;
        keys += (keys.empty() ? "" : ", ") + name;
    }
    return keys;
}

std::string text_of(const toml::node& node, const std::string& where)
{
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    throw Error("{}: a value must be a text, a number, true, false or a list of those", where);
}

// What is no number where one is needed; the command line would not know in which file it stands.
std::string value_of(const CLI::Option& option, const toml::node& node, const std::string& where)
{
    const std::string text = text_of(node, where), type = option.get_type_name();
    double number = 0;
    const bool needed = type == "FLOAT" || type == "INT" || type == "UINT";
    if (needed && !CLI::detail::lexical_cast(text, number)) {
        throw Error("{} is '{}'; a number is needed: {}", where, text, option.get_description());
    }
    return text;
}

void append_key(const CLI::Option& option, const std::string& key, const toml::node& node,
                const std::string& where, std::vector<std::string>& arguments)
{
    const std::string flag = "--" + key;
    if (const auto* on = node.as_boolean()) {
        if (on->get()) arguments.push_back(flag);
        return;
    }
    const toml::array* list = node.as_array();
    if (list == nullptr) {
        arguments.push_back(flag + "=" + value_of(option, node, where));
    } else if (option.get_items_expected_min() > 1) {  // a vector: all numbers behind one flag
        arguments.push_back(flag);
        for (const toml::node& item : *list) arguments.push_back(value_of(option, item, where));
    } else {
        for (const toml::node& item : *list) {
            arguments.push_back(flag + "=" + value_of(option, item, where));
        }
    }
}

// A number as TOML writes it: .5 and 05 are none.
bool is_toml_number(const std::string& text)
{
    try {
        return toml::parse("x = " + text)["x"].is_number();
    } catch (const toml::parse_error&) {
        return false;
    }
}

std::string toml_value(const CLI::Option& option)
{
    const std::vector<std::string> values =
        option.count() > 0 ? option.results() : CLI::detail::split(option.get_default_str(), ' ');
    const auto one = [](const std::string& text) {
        return text == "true" || text == "false" || is_toml_number(text) ? text : toml_text(text);
    };
    if (option.get_items_expected_max() <= 1) {
        return one(option.count() > 0 ? values.back() : option.get_default_str());
    }
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + one(value);
    return "[" + list + "]";
}

bool is_verb(const CLI::App& root, const std::string& name)
{
    const auto verbs = root.get_subcommands([](const CLI::App*) { return true; });
    return std::any_of(verbs.begin(), verbs.end(),
                       [&](const CLI::App* verb) { return verb->get_name() == name; });
}

}  // namespace

void check_same_config(const std::string& stored, const std::string& now, const std::string& free,
                       const std::string& source)
{
    const auto lines = [](const std::string& text) { return CLI::detail::split(text, '\n'); };
    const auto old_lines = lines(stored);
    for (const std::string& line : lines(now)) {
        const std::string key = line.substr(0, line.find(" = "));
        if (line.empty() || key == free) continue;
        if (std::find(old_lines.begin(), old_lines.end(), line) != old_lines.end()) continue;
        const auto old = std::find_if(old_lines.begin(), old_lines.end(),
                                      [&](const auto& l) { return l.starts_with(key + " = "); });
        throw Error(
            "{}: cannot resume with '{}', it was made with '{}'; leave that setting out, or write "
            "somewhere else",
            source, line, old == old_lines.end() ? "(unset)" : *old);
    }
}

std::string text_setting(const std::string& text, const std::string& key)
{
    try {
        return toml::parse(text)[key].value_or(std::string());
    } catch (const toml::parse_error&) {
        return {};
    }
}

std::string toml_text(const std::string& text)
{
    std::ostringstream quoted;
    quoted << toml::value<std::string>(text);
    return quoted.str();
}

bool has_argument(const std::vector<std::string>& arguments, const std::string& name)
{
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return argument == "--" + name || argument.starts_with("--" + name + "=");
    });
}

std::string argument_value(const std::vector<std::string>& arguments, const std::string& name)
{
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].starts_with("--" + name + "="))
            return arguments[i].substr(name.size() + 3);
        if (arguments[i] == "--" + name && i + 1 < arguments.size()) return arguments[i + 1];
    }
    return {};
}

namespace {

// Whether a value stands among the arguments that no flag takes.
bool has_value_without_flag(const CLI::App& verb, const std::vector<std::string>& given)
{
    int taken = 0;  // values that the flag before may still take
    for (const std::string& argument : given) {
        const bool is_flag = argument.starts_with("--") || argument == "-h";
        if (!is_flag && taken == 0) return true;
        if (!is_flag) {
            --taken;
            continue;
        }
        const CLI::Option* option = verb.get_option_no_throw(argument);
        taken = option ? option->get_items_expected_max() : 0;  // none after --flag=value
        const bool endless = taken >= CLI::detail::expected_max_vector_size;
        if (endless && !option->get_allow_extra_args()) taken = option->get_type_size_max();
    }
    return false;
}

}  // namespace

std::vector<std::string> config_arguments(const Flags& flags, const std::string& text,
                                          const std::string& source,
                                          const std::vector<std::string>& given)
{
    const CLI::App& verb = flags.verb();
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        throw Error("{}:{}:{}: not TOML: {}", source, error.source().begin.line,
                    error.source().begin.column, error.description());
    }
    std::vector<std::string> arguments;
    const toml::table* own = table[verb.get_name()].as_table();
    const auto take = [&](const toml::table& from, bool top) {
        for (const auto& [name, node] : from) {
            const std::string key(name.str());
            const std::string where =
                fmt::format("{}:{}: key '{}'", source, node.source().begin.line, key);
            if (top && node.is_table()) {
                if (is_verb(*verb.get_parent(), key)) continue;
                throw Error("{}: no such table; tables are named like the verbs", where);
            }
            const CLI::Option* option = verb.get_option_no_throw("--" + key);
            if (is_dropped(verb.get_name(), key, node, where)) continue;
            if (option == nullptr || is_beside_settings(key)) {
                throw Error("{}: '{}' has no such setting; it has: {}", where, verb.get_name(),
                            key_list(verb));
            }
            const bool by_place = option->get_positional() && has_value_without_flag(verb, given);
            const bool in_own_table = top && own != nullptr && own->contains(key);
            if (by_place || in_own_table || has_argument(given, key)) continue;
            append_key(*option, key, node, where, arguments);
        }
    };
    take(table, true);
    if (own != nullptr) take(*own, false);
    return arguments;
}

std::string merged_config(const Flags& flags, const std::vector<std::string>& without)
{
    std::string text;
    for (const CLI::Option* option : flags.verb().get_options()) {
        const std::string name = option->get_single_name();
        const bool left_out = std::find(without.begin(), without.end(), name) != without.end();
        if (option->get_lnames().empty() || left_out || is_beside_settings(name)) continue;
        if (option->count() == 0 && option->get_default_str().empty()) continue;
        text += fmt::format("{} = {}\n", name, toml_value(*option));
    }
    return text;
}

}  // namespace springtime::app
