#include "web/reported_run.h"

#include <array>

#include "formats/result_json.h"
#include "formats/run_log.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

// What a run has learned: its cloth or, while it is not finished, the best that there is.
std::string cloth_name(const fs::path& folder)
{
    for (const char* name : {"cloth.json", "best.json", "linear.json", "homogeneous.json"}) {
        if (fs::exists(folder / name)) return name;
    }
    throw Error(
        "{}: holds no cloth.json, so there is nothing to report; name the folder of a run that has "
        "learned a cloth, or a cloth file",
        folder.string());
}

void add_folder(ReportedRun& run, const fs::path& folder, const std::string& shown)
{
    const fs::path homogeneous = folder / "homogeneous.json", log = folder / "log.jsonl",
                   result = folder / "result.json";
    if (shown != "homogeneous.json" && fs::exists(homogeneous)) {
        run.homogeneous = read_cloth(homogeneous);
    }
    if (fs::exists(log)) run.log = read_train_log(log);
    if (fs::exists(result)) run.result = result_from_json(read_text(result), result.string());
    if (shown != "cloth.json") {
        run.remarks.push_back(
            fmt::format("{} is not finished: {} is the best cloth so far", run.name, shown));
    }
}

}  // namespace

ReportedRun read_reported_run(const fs::path& path)
{
    ReportedRun run{path.string(), {}, {}};
    if (!fs::exists(path)) {
        throw Error("{}: is not there; name a run folder or a cloth file", path.string());
    }
    if (!fs::is_directory(path)) {
        run.cloth = read_cloth(path);
        run.cloth_file = path.string();
        if (path.filename() == "cloth.json") add_folder(run, path.parent_path(), "cloth.json");
        return run;
    }
    const std::string name = cloth_name(path);
    run.cloth_file = (path / name).string();
    run.cloth = read_cloth(run.cloth_file);
    add_folder(run, path, name);
    return run;
}

}  // namespace springtime
