#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "flags.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/generate.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

namespace springtime::app {

// What every verb takes.
struct CommonOptions {
    std::string config;
    std::uint64_t seed = 1;
    int threads = 0;
    std::string device = "auto";
    bool quiet = false;
    bool json = false;
};

// The flags of ClothOptions that mean springs, without their dashes.
inline constexpr std::array kSpringFlags{
    "grid",  "families",        "stiffness",         "damping",        "law",
    "knots", "range-stiffness", "isotropic-damping", "bend-stiffness", "bend-damping"};

// How a cloth of springs is made.
struct ClothOptions {
    std::string grid = "32x32";
    double length = 15.5, width = 15.5, mass = 102.4;
    std::vector<std::string> families{"structural", "diagonal", "antidiagonal", "bending"};
    std::string stiffness = "25; columns 0.10-0.30 0.70-0.90 = 50; patch 0.34-0.66 0.34-0.66 = 100";
    std::string damping = "6";
    std::string law = "published";
    std::vector<double> knots;                 // strains
    std::vector<std::string> range_stiffness;  // one per range, or none
    std::string isotropic_damping;             // empty: none, or zero
    std::string bend_stiffness, bend_damping;  // likewise
};

// Empty where not given: a motion file may know better.
struct EnvironmentOptions {
    std::vector<double> gravity, wind;
    std::optional<double> drag;
};

// What the cloth may touch.
struct ContactOptions {
    std::vector<std::string> obstacles;
    std::optional<double> thickness, friction;
    std::string self_distance = "0";
};

// What --length and --width mean, in all verbs.
inline constexpr const char* kLengthText =
    "Length of the sheet, from the first column to the last [m]";
inline constexpr const char* kWidthText = "Width of the sheet, from the first row to the last [m]";

inline constexpr const char* kRunGroup = "How it runs";
inline constexpr const char* kClothGroup = "The cloth";
inline constexpr const char* kTimeGroup = "Time";
inline constexpr const char* kWorldGroup = "The world";

void add_common(const Flags& flags, CommonOptions& options);
void add_cloth(const Flags& flags, ClothOptions& options);
// `from_start`: what is not given comes from the start of the run, if that knows it.
void add_environment(const Flags& flags, EnvironmentOptions& options, bool from_start = false);

void add_contact_flags(const Flags& flags, ContactOptions& options);
// Reads the obstacles; says on standard error where bare ones were put.
void add_contact(SimulationOptions& to, const ContactOptions& options, const Sheet& sheet,
                 bool quiet);
// "auto" is the distance of neighbouring particles: with less, two layers whose particles lie over
// each other's gaps would pass through. [m]
double self_distance_from(const std::string& text, const Cloth& cloth);

void add_knots(const Flags& flags, std::vector<double>& knots);
void add_families(const Flags& flags, std::vector<std::string>& families);
GridOptions grid_options(const std::string& grid, const std::vector<std::string>& families);

Cloth make_cloth(const ClothOptions& options);
Environment environment_from(const EnvironmentOptions& options, const Environment& otherwise);
// A run folder stands for the cloth in it; other paths for themselves.
std::filesystem::path in_run_folder(const std::string& path);
// `flag` is named when the text is no grid.
Grid parse_grid(const std::string& text, const std::string& flag = "--grid");

// Whether the whole text is a number.
bool parse_int(const std::string& text, int& value);

// "auto", or a number of sub-steps. Says on standard error what auto chose, or warns when the step
// looks too long.
int substeps_from(const std::string& text, const Cloth& cloth, const Environment& environment,
                  double dt, bool quiet);

// Steps between stored frames when each is cut into sub-steps.
int stride_in_substeps(int stride, int substeps);

// A motion file as the library likes to read it; the reader must outlive it.
Motion source_of(const MotionReader& reader);
// The same motion, whose reading throws Cancelled once the user has interrupted.
Motion until_interrupted(Motion motion);

// A motion file that a verb reads. Says on standard error, also with --quiet, when it is not
// finished.
Motion open_input(const std::filesystem::path& path);
void warn_if_unfinished(const std::filesystem::path& path, const Motion& motion);

// To standard error. --quiet silences remarks, but not what begins with "warning: ".
void note(const CommonOptions& options, const std::string& text);

// Prints a result to standard output, as text or as JSON.
void print(const CommonOptions& options, const Result& result);

}  // namespace springtime::app
