#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options.h"
#include "springtime/evaluate.h"
#include "springtime/generate.h"
#include "springtime/learn.h"

namespace springtime::app {

struct ReproduceArguments {
    CommonOptions common;
    std::string experiment, out = "reproduction", scale = "full";
    std::vector<std::string> obstacles;
    bool baselines = false;
    std::string baseline_device = "auto";
    std::vector<double> baseline_minutes;  // of MeshGraphNets and of the neural ODE
    std::optional<int> training_rollouts;  // of generalisation; absent: as the scale says
    bool overwrite = false;
    bool no_report = false;
    bool plan = false;               // show the rows instead of making them
    bool inside = false;             // a part of `all`, which prints the results
    std::filesystem::path shared{};  // of `all`: what several experiments need; empty: none
};

inline constexpr const char* kInterrupted = "interrupted; run the same command again to go on";

// Runs the experiment that is named; returns an exit code.
int run_reproduce(const ReproduceArguments& arguments);

// Each writes result.json and result.md to the folder, and takes up what an interrupted run left.
int reproduce_reconstruction(const ReproduceArguments& arguments);
int reproduce_locking(const ReproduceArguments& arguments);
int reproduce_drape(const ReproduceArguments& arguments);
int reproduce_generalisation(const ReproduceArguments& arguments);
int reproduce_baselines(const ReproduceArguments& arguments);
int reproduce_identification(const ReproduceArguments& arguments);
int reproduce_maps(const ReproduceArguments& arguments);
int reproduce_all(const ReproduceArguments& arguments);

// The keys of the rows that each will have. They do not depend on the scale.
using RowKeys = std::vector<std::string>;
RowKeys reconstruction_rows(const ReproduceArguments& arguments);
RowKeys locking_rows(const ReproduceArguments& arguments);
RowKeys drape_rows(const ReproduceArguments& arguments);
RowKeys generalisation_rows(const ReproduceArguments& arguments);
RowKeys baseline_row_keys(const ReproduceArguments& arguments);
RowKeys identification_rows(const ReproduceArguments& arguments);
RowKeys maps_rows(const ReproduceArguments& arguments);

struct Experiment {
    std::string name;
    int (*run)(const ReproduceArguments&);
    RowKeys (*rows)(const ReproduceArguments&);
    bool of_publication = true;  // a part of `all`
};
const std::vector<Experiment>& experiments();

// Runs one experiment in its folder, which it claims.
int run_experiment(const Experiment& experiment, const ReproduceArguments& arguments);

// Writes both and a report, and prints the text, or the JSON with --json.
void write_result(const ReproduceArguments& arguments, const std::string& title,
                  nlohmann::json result, const std::string& text);

// Writes report.html to the folder, of the runs that are in it.
void leave_report_of(const ReproduceArguments& arguments, const nlohmann::json& result);

// As a camera with 60 frames a second sees it.
inline void film(GenerateOptions& run)
{
    run.dt = 1.0 / 1020;
    run.stride = 17;
}

// Makes the motion file, or what is missing of it. Throws Failure when interrupted.
void make_motion(const std::filesystem::path& path, const Cloth& cloth, GenerateOptions run,
                 const CommonOptions& common, const ObserveOptions& camera = {});

// A run folder for one way to train, new or as an earlier sitting left it.
RunFolder open_run(const std::filesystem::path& path, const std::string& method,
                   const CommonOptions& common);

// learn() in a run folder, with a progress bar.
Learned learn_in(RunFolder run, const std::filesystem::path& motion, LearnOptions options,
                 const CommonOptions& common);

}  // namespace springtime::app
