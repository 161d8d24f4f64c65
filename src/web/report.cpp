#include <algorithm>
#include <cmath>

#include "formats/exports/surface.h"
#include "springtime/error.h"
#include "springtime/evaluate.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "web/page.h"
#include "web/report_cloth.h"
#include "web/report_motion.h"
#include "web/report_payload.h"
#include "web/reported_run.h"

namespace springtime {

namespace {

constexpr std::size_t kMostLogRows = 1500;

// Terms that are zero all along were not in the loss.
struct LogColumn {
    const char* name;
    double (*value)(const TrainLog& log);
};
constexpr LogColumn kLogColumns[] = {
    {"total", [](const TrainLog& log) { return log.loss.total; }},
    {"force", [](const TrainLog& log) { return log.loss.force; }},
    {"impulse", [](const TrainLog& log) { return log.loss.impulse; }},
    {"position", [](const TrainLog& log) { return log.loss.position; }},
    {"trajectory", [](const TrainLog& log) { return log.loss.trajectory; }},
    {"negativity", [](const TrainLog& log) { return log.loss.negativity; }},
    {"validation", [](const TrainLog& log) { return log.validation_rmse.value_or(std::nan("")); }},
    {"round", [](const TrainLog& log) { return double(log.round); }},
    {"pass", [](const TrainLog& log) { return double(log.pass); }},
};

// Rows of a long log are left out, but never one with a validation.
std::vector<const TrainLog*> thinned(const std::vector<TrainLog>& log)
{
    const std::size_t stride = (log.size() + kMostLogRows - 1) / kMostLogRows;
    std::vector<const TrainLog*> rows;
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (i % stride == 0 || log[i].validation_rmse) rows.push_back(&log[i]);
    }
    return rows;
}

Result add_log(Payload& payload, const std::string& prefix, const std::vector<TrainLog>& log)
{
    if (log.empty()) return {};
    const std::vector<const TrainLog*> rows = thinned(log);
    std::vector<float> iterations;
    for (const TrainLog* row : rows) iterations.push_back(float(row->iteration));
    payload.add(prefix + "/iteration", {rows.size()}, std::span<const float>(iterations));
    Result columns = Result::tree();
    for (const LogColumn& column : kLogColumns) {
        std::vector<float> values;
        for (const TrainLog* row : rows) values.push_back(float(column.value(*row)));
        if (std::all_of(values.begin(), values.end(), [](float v) { return !(v != 0); })) continue;
        const std::string name = fmt::format("{}/log_{}", prefix, column.name);
        payload.add(name, {rows.size()}, std::span<const float>(values));
        columns.add(column.name, name);
    }
    Result result = Result::tree();
    result.add("iteration", prefix + "/iteration");
    result.add("rows", log.size());
    result.add("columns", columns);
    return result;
}

Result errors_of(const Cloth& cloth, const std::optional<Cloth>& truth)
{
    Result list = Result::list();
    if (!truth) return list;
    try {
        for (const ParameterError& error : parameter_errors(cloth, *truth)) {
            Result entry = Result::tree();
            entry.add("name", error.kind->name);
            entry.add("label", error.label);
            entry.add("element", name_of(error.kind->element));
            entry.add("unit", error.kind->unit);
            entry.add("rmse", error.all);
            entry.add("relative", error.relative);
            list.push(entry);
        }
    } catch (const Error&) {
        return Result::list();  // they share no elements: the map by cell is compared
    }
    return list;
}

Result add_run(Payload& payload, std::size_t index, const ReportedRun& run,
               const std::optional<Cloth>& truth)
{
    const std::string prefix = fmt::format("run{}", index);
    Result result = Result::tree();
    result.add("name", run.name);
    result.add("cloth_file", run.cloth_file);
    result.add("cloth", add_cloth(payload, prefix, run.cloth, truth));
    result.add("result", run.result);
    result.add("log", add_log(payload, prefix, run.log));
    result.add("parameter_errors", errors_of(run.cloth, truth));
    if (run.homogeneous) {
        result.add("homogeneous_parameter_errors", errors_of(*run.homogeneous, truth));
    }
    return result;
}

Result published_numbers(const ReportOptions& options)
{
    Result list = Result::list();
    for (const PublishedNumber& number : options.published) {
        Result entry = Result::tree();
        entry.add("what", number.what);
        entry.add("ours", number.ours);
        entry.add("published", number.published);
        entry.add("unit", number.unit);
        entry.add("source", number.source);
        list.push(entry);
    }
    return list;
}

std::optional<Cloth> truth_of(const ReportOptions& options, const std::optional<Motion>& motion)
{
    if (options.truth) return read_cloth(*options.truth);
    if (!motion || motion->header.source_cloth.empty()) return {};
    return cloth_from_json(motion->header.source_cloth,
                           options.motion->string() + ": source cloth");
}

}  // namespace

bool has_report_page()
{
    return has_page(Page::report);
}

Payload report_payload(const ReportOptions& options, const Progress& progress)
{
    if (options.runs.empty()) throw Error(Field{"runs"}, "report: no run; name at least one");
    std::vector<ReportedRun> runs;
    std::vector<std::string> remarks;
    for (const std::filesystem::path& path : options.runs) {
        runs.push_back(read_reported_run(path));
        remarks.insert(remarks.end(), runs.back().remarks.begin(), runs.back().remarks.end());
    }
    std::optional<Motion> motion;
    if (options.motion) motion = open_motion(*options.motion);
    const std::optional<Cloth> truth = truth_of(options, motion);
    Payload payload("report");
    Result& header = payload.header();
    header.add("version", kVersion);
    Result list = Result::list();
    for (std::size_t r = 0; r < runs.size(); ++r) list.push(add_run(payload, r, runs[r], truth));
    header.add("runs", list);
    if (truth) {
        header.add("truth", add_cloth(payload, "truth", *truth));
        header.add("truth_at_landmarks",
                   motion && same_points(*truth, motion->header.sheet, motion->header.rest));
    }
    if (motion) add_motion(payload, *motion, runs, options, progress, remarks);
    header.add("published", published_numbers(options));
    header.add("remarks", remarks);
    return payload;
}

std::string make_report(const ReportOptions& options, const Progress& progress)
{
    const std::string_view page = built_page(Page::report);
    return filled_page(page, report_payload(options, progress));
}

}  // namespace springtime
