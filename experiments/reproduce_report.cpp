#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

#include "report_file.h"
#include "reproduce.h"
#include "unseen_motion.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRuns = 4;  // side by side on a page
// Where there are more, these say most.
constexpr std::array<std::string_view, kMostRuns> kFirstRuns{"default", "published-law",
                                                             "coupled-long", "whole"};

struct Found {
    std::vector<fs::path> runs, unseen, seen;
};

// The run folders of an experiment that are finished, and the motions that it made.
Found found_in(const fs::path& out)
{
    Found found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(out)) {
        const fs::path& path = entry.path();
        const std::string name = path.filename().string();
        if (name == "config.toml" && fs::exists(path.parent_path() / "cloth.json")) {
            found.runs.push_back(path.parent_path());
        }
        if (path.extension() != ".h5") continue;
        const bool unseen = name.starts_with("test") || name.starts_with("unseen");
        (unseen ? found.unseen : found.seen).push_back(path);
    }
    for (std::vector<fs::path>* paths : {&found.runs, &found.unseen, &found.seen}) {
        std::sort(paths->begin(), paths->end());
    }
    return found;
}

// Rows of motion never seen that have a published one.
void add_motion_errors(const nlohmann::json& result, const std::string& scale,
                       std::vector<PublishedNumber>& numbers)
{
    constexpr std::array<std::array<const char*, 2>, 4> kPairs{
        {{"published-law", "published-springs"},
         {"default", "published-springs"},
         {"mesh-graph-nets", "published-mesh-graph-nets"},
         {"neural-ode-published", "published-neural-ode"}}};
    std::map<std::string, nlohmann::json> rows;
    for (const nlohmann::json& row : result["rows"]) {
        if (row.contains("unseen") && row["unseen"]["mean"].is_number()) rows[row["key"]] = row;
    }
    for (const auto& [ours, published] : kPairs) {
        if (rows.count(ours) == 0 || rows.count(published) == 0) continue;
        numbers.push_back({"motion RMSE, " + rows[ours]["name"].get<std::string>(),
                           rows[ours]["unseen"]["mean"].get<double>(),
                           rows[published]["unseen"]["mean"].get<double>(), "m",
                           "published for another cloth of that size, here scale " + scale});
    }
}

std::vector<PublishedNumber> published_in(const nlohmann::json& result, const std::string& scale)
{
    std::vector<PublishedNumber> numbers;
    if (result.contains("experiments")) {
        for (const auto& [name, part] : result["experiments"].items()) {
            const std::vector<PublishedNumber> more = published_in(part, scale);
            numbers.insert(numbers.end(), more.begin(), more.end());
        }
    }
    const std::string experiment = result.value("experiment", "");
    if (experiment == "generalisation" || experiment == "baselines") {
        add_motion_errors(result, scale, numbers);
    }
    if (!result.contains("methods")) return numbers;
    for (const auto& [name, method] : result["methods"].items()) {
        for (const auto& [key, label, unit] : {std::tuple{"stiffness_rmse", "stiffness", "N/m"},
                                               std::tuple{"damping_rmse", "damping", "N s/m"}}) {
            const nlohmann::json published = method.value("published", nlohmann::json::object());
            if (!published.contains(key) || published[key].is_null()) continue;
            numbers.push_back(
                {fmt::format("RMSE of {}, {}", label, name), method.at(key).get<double>(),
                 published[key].get<double>(), unit,
                 fmt::format("docs/results.md; published for 512 rollouts of 32 × 32 particles, "
                             "here scale {}",
                             scale)});
        }
    }
    return numbers;
}

}  // namespace

void leave_report_of(const ReproduceArguments& arguments, const nlohmann::json& result)
{
    if (arguments.no_report) return;
    // Runs can be compared where their motion is the same: of all experiments, on the one about
    // motion never seen.
    const bool all = arguments.experiment == "all";
    Found found = found_in(fs::path(arguments.out) / (all ? "generalisation" : ""));
    if (found.runs.empty()) return;
    if (found.runs.size() > kMostRuns) {
        const auto place = [](const fs::path& run) {
            return std::find(kFirstRuns.begin(), kFirstRuns.end(), run.filename().string());
        };
        std::stable_sort(found.runs.begin(), found.runs.end(),
                         [&](const fs::path& a, const fs::path& b) { return place(a) < place(b); });
        std::string names;
        for (std::size_t i = 0; i < kMostRuns; ++i) {
            names += (i > 0 ? ", " : "") + found.runs[i].filename().string();
        }
        note(arguments.common, fmt::format("the report shows {} of {} runs: {}", kMostRuns,
                                           found.runs.size(), names));
        found.runs.resize(kMostRuns);
    }
    ReportOptions options{.runs = found.runs};
    options.seen = found.unseen.empty();
    const std::vector<fs::path>& motions = options.seen ? found.seen : found.unseen;
    if (!motions.empty()) {
        const auto usual = std::find_if(motions.begin(), motions.end(), [](const fs::path& path) {
            return path.filename().string() == unseen_file(kUsualAnchors);
        });
        options.motion = usual != motions.end() ? *usual : motions.front();
    }
    options.published = published_in(result, arguments.scale);
    const auto path =
        leave_report(arguments.common, options, fs::path(arguments.out) / "report.html");
    if (path) note(arguments.common, fmt::format("report for a browser: {}", *path));
}

}  // namespace springtime::app
