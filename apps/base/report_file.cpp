#include "report_file.h"

#include "progress.h"

namespace springtime::app {

void add_report_switch(const Flags& flags, bool& leave_out)
{
    flags.add_switch("--no-report", leave_out, "Write no report for a browser");
}

std::optional<std::string> leave_report(const CommonOptions& common, ReportOptions options,
                                        const std::filesystem::path& out, bool overwrite)
{
    if (!has_report_page()) {
        note(common,
             "no report: this build of springtime has no page for it; in its source folder, run "
             "scripts/setup viewer, then scripts/build");
        return {};
    }
    options.threads = common.threads;
    options.device = device_named(common.device);
    try {
        write_text(out, make_report(options, show_progress(common.quiet, "report")), overwrite);
        return out.string();
    } catch (const Cancelled&) {
        throw;
    } catch (const std::runtime_error& error) {
        note(common, fmt::format("warning: no report: {}", error.what()));
        return {};
    }
}

}  // namespace springtime::app
