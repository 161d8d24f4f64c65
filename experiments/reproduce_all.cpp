#include <algorithm>
#include <sstream>

#include "progress.h"
#include "reproduce.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

ReproduceArguments part_of(const ReproduceArguments& all, const Experiment& experiment)
{
    ReproduceArguments part = all;
    part.experiment = experiment.name;
    part.out = (fs::path(all.out) / experiment.name).string();
    part.inside = true;
    part.no_report = true;  // one page shows all of them
    part.shared = fs::path(all.out) / "shared";
    if (experiment.name != "generalisation") part.baselines = false;
    return part;
}

// Networks that were stopped before their end go on.
bool is_finished(const nlohmann::json& result, const ReproduceArguments& part)
{
    if (result.value("scale", "") != part.scale) return false;
    if (result.value("baselines", false) != part.baselines) return false;
    if (!part.baselines) return true;
    return std::all_of(result["rows"].begin(), result["rows"].end(),
                       [](const nlohmann::json& row) { return row.value("trained", true); });
}

// A part that an earlier run has finished is taken as it is.
nlohmann::json result_of(const Experiment& experiment, const ReproduceArguments& part)
{
    const fs::path file = fs::path(part.out) / "result.json";
    const auto there = [&] { return nlohmann::json::parse(read_text(file)); };
    if (fs::exists(file)) {
        nlohmann::json result = there();
        if (is_finished(result, part)) return result;
    }
    note(part.common, fmt::format("---- {}", experiment.name));
    run_experiment(experiment, part);
    return there();
}

// Without its heading and the line that says how it was made; its parts one level lower.
std::string text_in(const fs::path& out)
{
    constexpr int kHead = 4;  // lines
    std::istringstream file(read_text(out / "result.md"));
    std::string text, line;
    for (int number = 0; std::getline(file, line); ++number) {
        if (number < kHead) continue;
        text += (line.starts_with("## ") ? "#" : "") + line + "\n";
    }
    return text;
}

}  // namespace

int reproduce_all(const ReproduceArguments& arguments)
{
    nlohmann::json results;
    std::string text;
    for (const Experiment& experiment : experiments()) {
        if (!experiment.of_publication) continue;
        const ReproduceArguments part = part_of(arguments, experiment);
        results[experiment.name] = result_of(experiment, part);
        text += fmt::format("## {}\n\n{}\n", results[experiment.name]["title"].get<std::string>(),
                            text_in(part.out));
    }
    write_result(arguments, "Every experiment of the publication", {{"experiments", results}},
                 text);
    return kDone;
}

}  // namespace springtime::app
