#include "manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <vector>

#include "springtime/error.h"

namespace springtime::app {

namespace {

// ---- What a verb has ----

struct FlagEntry {
    std::string name, value, text;   // "--fps", "FLOAT", what it does
    std::vector<std::string> words;  // that the value may be; empty: anything
    bool takes_file = false;
};

struct VerbEntry {
    std::string name, text;
    std::vector<FlagEntry> flags;
    std::vector<std::string> places;  // names of what stands without a flag
};

// CLI11 shows the words of a flag as TEXT:{one,other}.
std::vector<std::string> words_in(const std::string& type)
{
    const auto begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

FlagEntry entry_of(const CLI::Option& option)
{
    FlagEntry entry;
    entry.name = option.get_name();  // with dashes: "--fps", "-h,--help"
    const auto& longs = option.get_lnames();
    if (!longs.empty()) entry.name = "--" + longs.front();
    entry.text = option.get_description();
    if (option.get_items_expected_max() == 0) return entry;
    if (!option.get_default_str().empty()) {
        entry.text += fmt::format("; by default {}", option.get_default_str());
    }
    entry.value = option.get_type_name();
    entry.words = words_in(entry.value);
    if (!entry.words.empty()) entry.value = fmt::format("{}", fmt::join(entry.words, "|"));
    entry.value = entry.value.substr(0, entry.value.find(':'));
    entry.takes_file = entry.value.find("FILE") != std::string::npos ||
                       entry.value.find("FOLDER") != std::string::npos ||
                       entry.value.find("MAP") != std::string::npos;
    return entry;
}

VerbEntry entry_of(const CLI::App& verb)
{
    VerbEntry entry{verb.get_name(), verb.get_description(), {}, {}};
    for (const CLI::Option* option : verb.get_options()) {
        if (option->get_positional()) entry.places.push_back(option->get_name(true));
        if (!option->get_lnames().empty()) entry.flags.push_back(entry_of(*option));
    }
    return entry;
}

std::vector<VerbEntry> entries_of(const CLI::App& root)
{
    std::vector<VerbEntry> entries;
    for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
        entries.push_back(entry_of(*verb));
    }
    return entries;
}

std::string replaced(std::string text, const std::string& what, const std::string& by)
{
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}

// ---- The manual page ----

// A line that begins with a dot or a quote would be a command of troff.
std::string troff(const std::string& text)
{
    std::string plain = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    if (plain.starts_with('.') || plain.starts_with('\'')) plain.insert(0, "\\&");
    return plain;
}

std::string manual_of(const VerbEntry& verb)
{
    std::string page = fmt::format(".SS springtime {}", troff(verb.name));
    for (const std::string& place : verb.places) page += " " + troff(place);
    page += fmt::format(" [FLAGS]\n{}.\n", troff(verb.text));
    for (const FlagEntry& flag : verb.flags) {
        page += fmt::format(".TP\n.B {}{}\n{}\n", troff(flag.name),
                            flag.value.empty() ? "" : " \\fI" + troff(flag.value) + "\\fR",
                            troff(flag.text));
    }
    return page;
}

// ---- Completion ----

std::string names_of(const std::vector<FlagEntry>& flags)
{
    std::vector<std::string> names;
    for (const FlagEntry& flag : flags) names.push_back(flag.name);
    return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_completion(const std::vector<VerbEntry>& verbs)
{
    std::string cases, values, names;
    for (const VerbEntry& verb : verbs) {
        names += (names.empty() ? "" : " ") + verb.name;
        cases += fmt::format("        {}) flags=\"{}\" ;;\n", verb.name, names_of(verb.flags));
        for (const FlagEntry& flag : verb.flags) {
            if (flag.words.empty()) continue;
            values += fmt::format("        {}:{}) words=\"{}\" ;;\n", verb.name, flag.name,
                                  fmt::join(flag.words, " "));
        }
    }
    return fmt::format(R"(# Completion of springtime for bash, made from its flags.
_springtime() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} flags= words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    case ${{COMP_WORDS[1]}}:$before in
{}    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _springtime springtime
)",
                       names, cases, values);
}

// Colons and brackets part the fields of a specification.
std::string zsh_text(const std::string& text)
{
    std::string plain = replaced(text, "'", "'\\''");
    for (const char* special : {"[", "]", ":"}) {
        plain = replaced(plain, special, std::string("\\") + special);
    }
    return plain;
}

std::string zsh_completion(const std::vector<VerbEntry>& verbs)
{
    std::string list, cases;
    for (const VerbEntry& verb : verbs) {
        list += fmt::format("        '{}:{}'\n", verb.name, zsh_text(verb.text));
        cases += fmt::format("        {})\n            _arguments -s '*:file:_files'", verb.name);
        for (const FlagEntry& flag : verb.flags) {
            cases += fmt::format(" \\\n                '*{}[{}]", flag.name, zsh_text(flag.text));
            if (!flag.words.empty()) {
                cases += fmt::format(":value:({})", fmt::join(flag.words, " "));
            } else if (!flag.value.empty()) {
                cases +=
                    fmt::format(":{}:{}", zsh_text(flag.value), flag.takes_file ? "_files" : " ");
            }
            cases += "'";
        }
        cases += "\n            ;;\n";
    }
    return fmt::format(R"(#compdef springtime
# Completion of springtime for zsh, made from its flags.
_springtime() {{
    local -a verbs
    verbs=(
{}    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    local verb=$words[2]
    shift words
    (( CURRENT-- ))
    case $verb in
{}    esac
}}
_springtime "$@"
)",
                       list, cases);
}

std::string fish_completion(const std::vector<VerbEntry>& verbs)
{
    const auto quoted = [](const std::string& text) {
        return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
    };
    std::string text = "# Completion of springtime for fish, made from its flags.\n";
    for (const VerbEntry& verb : verbs) {
        text += fmt::format("complete -c springtime -n __fish_use_subcommand -f -a {} -d {}\n",
                            verb.name, quoted(verb.text));
        for (const FlagEntry& flag : verb.flags) {
            text += fmt::format(
                "complete -c springtime -n '__fish_seen_subcommand_from {}' -l {} -d {}", verb.name,
                flag.name.substr(2), quoted(flag.text));
            if (!flag.words.empty()) {
                text +=
                    fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(flag.words, " "))));
            } else if (!flag.value.empty()) {
                text += flag.takes_file ? " -r" : " -x";
            }
            text += "\n";
        }
    }
    return text;
}

// ---- Mistyped names ----

// How many letters have to be changed, added, left out or swapped with their neighbour (Damerau
// 1964; each pair of letters at most once).
std::size_t edit_distance(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> two_before, before, row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        two_before = std::move(before);
        before = row;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], two_before[j - 2] + 1);
            }
        }
    }
    return row.back();
}

std::string without_dashes(const std::string& name)
{
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

std::string manual_page(const CLI::App& root)
{
    std::string page = fmt::format(
        ".TH SPRINGTIME 1 \"\" \"springtime {}\" \"User Commands\"\n"
        ".SH NAME\nspringtime \\- learns mass\\-spring cloth from motion, and runs it\n"
        ".SH SYNOPSIS\n.B springtime\n\\fIVERB\\fR [\\fIFLAGS\\fR]\n"
        ".SH DESCRIPTION\n{}\nEvery flag of a verb can be a key of the TOML file that "
        "\\-\\-config names.\n.SH VERBS\n",
        kVersion, troff(root.get_description()));
    for (const VerbEntry& verb : entries_of(root)) page += manual_of(verb);
    return page + ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nfailure\n.TP\n.B 2\nbad input\n";
}

std::string completion_for(const std::string& shell, const CLI::App& root)
{
    const std::vector<VerbEntry> verbs = entries_of(root);
    if (shell == "bash") return bash_completion(verbs);
    if (shell == "zsh") return zsh_completion(verbs);
    if (shell == "fish") return fish_completion(verbs);
    throw Error("--completion '{}': there are bash, zsh and fish", shell);
}

std::string nearest_name(const CLI::App& app, const std::string& mistyped)
{
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(verb->get_name());
    }
    const std::string plain = without_dashes(mistyped);
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, plain.size() / 3) + 1;  // beyond it is no slip
    for (const std::string& name : names) {
        const std::size_t distance = edit_distance(plain, without_dashes(name));
        if (distance >= least) continue;
        least = distance;
        nearest = name;
    }
    // A beginning is often short of more letters than any slip.
    constexpr std::size_t kTelling = 3;
    for (const std::string& name : names) {
        const bool begins = plain.size() >= kTelling && without_dashes(name).starts_with(plain);
        if (nearest.empty() && begins) nearest = name;
    }
    return nearest;
}

}  // namespace springtime::app
