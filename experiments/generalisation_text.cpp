#include "generalisation_text.h"

#include <cmath>
#include <map>

namespace springtime::app {

namespace {

std::string introduction(const GeneralisationScale& scale)
{
    return fmt::format(
        "Springs learn from {} rollouts of a finite-element sheet ({} s, held by two anchors), and "
        "then run by themselves on rollouts that nothing was chosen by. The figures are the motion "
        "RMSE [m]: the distance from the free landmarks, root mean square, mean and standard "
        "deviation over all frames. The first column has {} rollouts like those of the training, "
        "the next ones {} each with other numbers of anchors, the fifth the seconds from {} to {} "
        "of {} rollouts that run on. The map is the stiffness of each cell; its correlation is "
        "that with the map of the source. The source itself with a finer mesh, or a little "
        "stiffer, says how close any cloth can come. Published figures belong to another cloth of "
        "that size.\n\n",
        scale.rollouts, scale.seconds, scale.test_rollouts, scale.anchored_rollouts, scale.seconds,
        scale.longer, scale.longer_rollouts);
}

std::string number_in(const nlohmann::json& row, const char* key, const char* pattern)
{
    const bool there = row.contains(key) && row[key].is_number();
    return there ? fmt::format(fmt::runtime(pattern), row[key].get<double>()) : std::string("-");
}

std::string error_table(const nlohmann::json& rows, const GeneralisationScale& scale)
{
    const auto mean = [](const nlohmann::json& row, const char* key) {
        return row.contains(key) ? number_in(row[key], "mean", "{:.3f}") : std::string("-");
    };
    std::string text =

        fmt::format(
            "| cloth | two anchors | one | three | four | {} to {} s | correlation of the map | "
            "training [s] |\n"
            "|---|---|---|---|---|---|---|---|\n",
            scale.seconds, scale.longer);
    for (const nlohmann::json& row : rows) {
        text += fmt::format(
            "| {} | {} ± {} | {} | {} | {} | {} | {} | {} |\n", row["name"].get<std::string>(),
            mean(row, "unseen"), number_in(row["unseen"], "std", "{:.3f}"), mean(row, "anchors_1"),
            mean(row, "anchors_3"), mean(row, "anchors_4"), number_in(row, "after", "{:.3f}"),
            number_in(row, "map_correlation", "{:.2f}"), number_in(row, "seconds", "{:.0f}"));
    }
    return text;
}

// Springs that are compared with networks, and the networks.
bool is_compared(const nlohmann::json& row)
{
    return row.contains("baseline") || row["key"] == "default" || row["key"] == "published-law";
}

std::string training_table(const nlohmann::json& rows)
{
    std::string text =
        "\n| | training | steps | training [s] | parameters | for one simulated second [s] | of "
        "one step and particle [µs] | noise, error after trials |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const nlohmann::json& row : rows) {
        if (!is_compared(row)) continue;
        const bool has_trials = row.contains("noise_trials") && row["noise_trials"].is_string();
        nlohmann::json in_microseconds;
        if (number_in(row, "seconds_per_step_and_particle", "{}") != "-") {
            in_microseconds["time"] = 1e6 * row["seconds_per_step_and_particle"].get<double>();
        }
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n",
                            row["name"].get<std::string>(), row.value("verdict", "`train`"),
                            number_in(row, "steps", "{:.0f}"), number_in(row, "seconds", "{:.0f}"),
                            number_in(row, "parameters", "{:.0f}"),
                            number_in(row, "seconds_per_simulated_second", "{:.3g}"),
                            number_in(in_microseconds, "time", "{:.3g}"),
                            has_trials ? row["noise_trials"].get<std::string>() : "-");
    }
    return text;
}

// Of the rollouts that run on: the mean over the rollouts at some times.
std::string table_over_time(const nlohmann::json& rows, const GeneralisationScale& scale)
{
    constexpr int kTimes = 6;
    std::string text = "\n| error [m] at", line = "|---|";
    for (int i = 1; i <= kTimes; ++i) {
        text += fmt::format(" | {:.3g} s", scale.longer * i / kTimes);
        line += "---|";
    }
    text += " |\n" + line + "\n";
    for (const nlohmann::json& row : rows) {
        if (!is_compared(row) && row["key"] != "still" && row["key"] != "homogeneous") continue;
        text += fmt::format("| {} |", row["name"].get<std::string>());
        const nlohmann::json& longer = row["longer"];
        for (int i = 1; i <= kTimes; ++i) {
            nlohmann::json error;
            if (longer.contains("over_time")) {
                const double frames =
                    scale.longer * i / kTimes / longer["frame_interval"].get<double>();
                const auto last = longer["over_time"].size() - 1;
                error["at"] = longer["over_time"][std::min(std::size_t(std::lround(frames)), last)];
            }
            text += fmt::format(" {} |", number_in(error, "at", "{:.3f}"));
        }
        text += "\n";
    }
    return text;
}

std::string comparison_text(const nlohmann::json& rows)
{
    const nlohmann::json ratios = springs_over_networks(rows);
    if (ratios.is_null()) return {};
    return fmt::format(
        "\nSprings have {} of the motion RMSE of MeshGraphNets, which {}, and were trained in one "
        "part in {} of the time.\n",
        number_in(ratios, "motion", "{:.2f}"),
        ratios["trained"].get<bool>() ? "were trained" : "were not trained to their end",
        number_in(ratios, "networks_over_springs_seconds", "{:.0f}"));
}

}  // namespace

nlohmann::json springs_over_networks(const nlohmann::json& rows)
{
    std::map<std::string, nlohmann::json> by_key;
    for (const nlohmann::json& row : rows) by_key[row["key"]] = row;
    const nlohmann::json &springs = by_key["default"], &networks = by_key["mesh-graph-nets"];
    if (springs.is_null() || networks.is_null() || !networks["unseen"]["mean"].is_number() ||
        !springs["unseen"]["mean"].is_number()) {
        return nullptr;
    }
    return {{"motion",
             springs["unseen"]["mean"].get<double>() / networks["unseen"]["mean"].get<double>()},
            {"networks_over_springs_seconds",
             networks["seconds"].get<double>() / springs["seconds"].get<double>()},
            {"trained", networks["trained"]},
            {"networks_on", networks["trained_on"]}};
}

std::string generalisation_text(const nlohmann::json& rows, const GeneralisationScale& scale)
{
    return introduction(scale) + error_table(rows, scale) + training_table(rows) +
           table_over_time(rows, scale) + comparison_text(rows);
}

}  // namespace springtime::app
