#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "options.h"
#include "springtime/export.h"

namespace springtime::app {

// --no-report, for verbs that write a report by default.
void add_report_switch(const Flags& flags, bool& leave_out);

// Writes the report of work that is done. What cannot be reported does not spoil the work: it is a
// warning. Returns the path, or nothing where there is no report.
std::optional<std::string> leave_report(const CommonOptions& common, ReportOptions options,
                                        const std::filesystem::path& out, bool overwrite = true);

}  // namespace springtime::app
