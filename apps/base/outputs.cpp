#include "outputs.h"

#include <algorithm>
#include <utility>

#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

// Files that a value may mean: FILE, FILE#ROLLOUT, or a text with names of files in it.
std::vector<fs::path> files_in(const std::string& value)
{
    std::vector<fs::path> files{value, value.substr(0, value.rfind('#'))};
    std::string word;
    for (const char c : value + " ") {
        if (std::string_view(" ;,=\t\n").find(c) == std::string_view::npos) {
            word += c;
        } else if (!word.empty()) {
            files.emplace_back(std::exchange(word, {}));
        }
    }
    return files;
}

void check_not_input(const Output& output, const std::vector<fs::path>& inputs)
{
    std::error_code none;  // where one of them is not there they are not the same
    for (const fs::path& input : inputs) {
        if (!fs::equivalent(output.path, input, none)) continue;
        throw Error("{} {}: is read as well; give another name", output.flag, output.path.string());
    }
}

void check_place(const Output& output, bool overwrite)
{
    const fs::path& path = output.path;
    if (path.has_parent_path() && !fs::is_directory(path.parent_path())) {
        throw Error("{} {}: there is no directory {}; make it first or name another", output.flag,
                    path.string(), path.parent_path().string());
    }
    if (fs::is_directory(path)) {
        throw Error("{} {}: is a directory; name a file in it", output.flag, path.string());
    }
    if (fs::exists(path) && !overwrite) {
        throw Error("{}: exists already; replace it with --overwrite, or give another {}",
                    path.string(), output.flag);
    }
}

}  // namespace

void add_overwrite(const Flags& flags, bool& overwrite)
{
    flags.add_switch("--overwrite", overwrite, "Replace what is there");
}

void check_no_stream(const std::string& flag, const fs::path& path)
{
    if (path != "-") return;
    throw Error("{} -: files are not written to standard output; name one, such as ./-", flag);
}

void check_outputs(const Flags& flags, const std::vector<Output>& outputs, bool overwrite,
                   const std::vector<fs::path>& more)
{
    const auto is_output = [&](const std::string& name) {
        return std::any_of(outputs.begin(), outputs.end(),
                           [&](const Output& output) { return output.flag == "--" + name; });
    };
    std::vector<fs::path> inputs = more;
    for (const auto& [name, value] : flags.given_values()) {
        if (is_output(name)) continue;
        const std::vector<fs::path> files = files_in(value);
        inputs.insert(inputs.end(), files.begin(), files.end());
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        check_no_stream(outputs[i].flag, outputs[i].path);
        if (outputs[i].path.empty())
            throw Error("{}: the name is empty; give one", outputs[i].flag);
        check_not_input(outputs[i], inputs);
        check_place(outputs[i], overwrite);
        for (std::size_t j = 0; j < i; ++j) {
            if (fs::weakly_canonical(outputs[i].path) != fs::weakly_canonical(outputs[j].path)) {
                continue;
            }
            throw Error("{} and {} are both {}; give two names", outputs[j].flag, outputs[i].flag,
                        outputs[i].path.string());
        }
    }
}

// ---- Folders ----

namespace {

// What input that was refused leaves: the marker, and nothing else.
bool is_only_marked(const OutputFolder& folder)
{
    return std::distance(fs::directory_iterator(folder.path), {}) <= 1;
}

void check_folder(const OutputFolder& folder, bool overwrite)
{
    check_no_stream("--out", folder.path);
    const std::string name = folder.path.string();
    if (name.empty()) throw Error("--out: the name is empty; give one");
    if (!fs::exists(folder.path)) return;
    if (!fs::is_directory(folder.path)) throw Error("--out {}: is a file; name a folder", name);
    if (fs::is_empty(folder.path)) return;
    const auto is_there = [&](const std::string& file) {
        return fs::is_regular_file(folder.path / file);
    };
    const bool marked = is_there(folder.marker);
    const bool old = std::all_of(folder.of_old.begin(), folder.of_old.end(), is_there);
    if (!marked && !old) {
        throw Error(
            "--out {}: holds {}, but no {}, so it is not ours and nothing in it is replaced; name "
            "another folder",
            name, fs::directory_iterator(folder.path)->path().filename().string(), folder.marker);
    }
    if (overwrite || (marked && is_only_marked(folder))) return;
    if (!marked) {
        throw Error(
            "{}: was filled by an older version; replace it with --overwrite, or give another "
            "--out",
            name);
    }
    if (!folder.goes_on) {
        throw Error("{}: is filled already; replace it with --overwrite, or give another --out",
                    name);
    }
    const std::string settings = read_text(folder.path / folder.marker);
    if (settings == folder.settings) return;
    if (folder.essence && folder.essence(settings) == folder.essence(folder.settings)) return;
    throw Error(
        "{}: is filled with other settings ({} has them); replace it with --overwrite, or give "
        "another --out",
        name, folder.marker);
}

}  // namespace

std::shared_ptr<void> claim_folder(const OutputFolder& folder, bool overwrite)
{
    check_folder(folder, overwrite);
    fs::create_directories(folder.path);
    std::shared_ptr<void> lock = lock_folder(folder.path);
    check_folder(folder, overwrite);  // another program may have filled it since
    write_text(folder.path / folder.marker, folder.settings);
    return lock;
}

}  // namespace springtime::app
