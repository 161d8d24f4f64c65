#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/learn.h"
#include "springtime/report.h"

namespace springtime {

// All that a report tells of one learned cloth, beside its motion.
struct ReportedRun {
    std::string name;  // as the user gave it
    std::string cloth_file;
    Cloth cloth;
    std::optional<Cloth> homogeneous{};
    std::vector<TrainLog> log{};  // of the descent
    Result result{};              // what train wrote; nothing without it
    std::vector<std::string> remarks{};
};

// A run folder, another folder with a cloth.json, or a cloth file, which brings the rest of its
// folder if it is the cloth.json there. Throws Error where there is no cloth, or a file is damaged.
ReportedRun read_reported_run(const std::filesystem::path& path);

}  // namespace springtime
