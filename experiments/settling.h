#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace springtime::app {

struct NamedCloth {
    std::string name;
    Cloth cloth;
};

// A sheet that came to rest, or did not, for comparison with others.
struct SettledSheet {
    NamedCloth sheet;
    State state;
    Settling settling;
    double wall = 0;  // [s]
};

// A start that is not level: the flat sheet turned about a horizontal axis through its centre.
struct Tilt {
    double angle, towards;  // [rad]; the side that goes up, from the x axis to the z axis
};

struct SettlingOptions {
    Environment environment;
    std::vector<Obstacle> obstacles;
    double thickness = 0;                             // [m]
    double longest = 60;                              // [s]
    std::function<Handles(const Cloth&)> handles_of;  // none when empty
    std::optional<Tilt> tilt{};                       // absent: level
    std::optional<std::filesystem::path> pictures{};  // a folder; absent: none are drawn
};

// The sheet of the reference benchmark, side x side particles.
NamedCloth reference_mesh(int side, double bending);

// A free sheet of the reference benchmark, and below it what `simulate --obstacle` would put there.
SettlingOptions drape_options(const std::string& obstacle, double longest);

// Runs a flat sheet until it rests, and draws it to a picture in the folder. A blow-up is a
// Failure.
SettledSheet settle_sheet(const NamedCloth& sheet, const SettlingOptions& options,
                          const std::filesystem::path& folder, const CommonOptions& common);

// Time, speeds, and depth of corners and centroid below the start.
nlohmann::json report_of(const SettledSheet& sheet);
// How far one sheet lies from another: particle by particle, and from its particles to the nearest
// point of the other's surface.
nlohmann::json distance_of(const SettledSheet& sheet, const SettledSheet& other);

// Settles all sheets, side by side, and compares the others with the first. One report for each.
nlohmann::json settle_all(const NamedCloth& first, const std::vector<NamedCloth>& others,
                          const SettlingOptions& options, const CommonOptions& common);

// One line for each sheet of a list of reports, as Markdown.
std::string settling_table(const nlohmann::json& reports);

}  // namespace springtime::app
