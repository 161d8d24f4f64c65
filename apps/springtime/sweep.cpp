#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "ensemble.h"
#include "outputs.h"
#include "progress.h"
#include "rank_session.h"
#include "report_file.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/ranks.h"
#include "study.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct SweepArguments {
    CommonOptions common;
    std::string study, out = "study";
    int jobs = 0;
    bool overwrite = false, no_report = false;
    std::optional<Flags> flags;
};

// Where the parts of a study lie.
struct Places {
    fs::path root;
    fs::path run(const StudyMember& member) const { return root / "members" / member.name; }
    fs::path beside(const StudyMember& member, const std::string& ending) const
    {
        return root / "members" / (member.name + ending);
    }
    fs::path result(const StudyMember& member) const { return run(member) / "result.json"; }
    fs::path cloth(const StudyMember& member) const { return run(member) / "cloth.json"; }
};

bool gpu_is_there()
{
    try {
        device_named("cuda");
        return true;
    } catch (const Error&) {
        return false;
    }
}

// Trainings side by side would share the GPU and its memory.
bool takes_gpu(const SweepArguments& arguments, const std::vector<const StudyMember*>& members)
{
    const auto on = [&](const std::string& device) {
        return std::any_of(members.begin(), members.end(), [&](const StudyMember* member) {
            const bool told = arguments.flags->given("device");
            return (told ? arguments.common.device : member->device) == device;
        });
    };
    return on("cuda") || (on("auto") && gpu_is_there());
}

int jobs_of(const SweepArguments& arguments, const std::vector<const StudyMember*>& missing)
{
    if (arguments.jobs > 0) return arguments.jobs;
    if (crew()) return 1;  // on every rank
    const auto cores = std::size_t(cores_of(nullptr));
    const int jobs = int(std::clamp<std::size_t>(missing.size(), 1, cores));
    return jobs > 1 && takes_gpu(arguments, missing) ? 1 : jobs;
}

// How a member is trained, or goes on.
Program program_of(const SweepArguments& arguments, const Places& places, const StudyMember& member,
                   int jobs)
{
    const CommonOptions& common = arguments.common;
    const fs::path run = places.run(member), settings = places.beside(member, ".toml");
    Program program{{fs::read_symlink("/proc/self/exe").string(), "train"},
                    places.beside(member, ".log").string()};
    const auto add = [&](std::initializer_list<std::string> words) {
        program.command.insert(program.command.end(), words);
    };
    if (fs::exists(run / "config.toml") && !arguments.overwrite) {
        add({"--resume", run.string(), member.motion.string()});
    } else {
        write_text(settings, member.settings);
        add({member.motion.string(), "--out", run.string(), "--config", settings.string()});
        if (arguments.overwrite) add({"--overwrite"});
        if (arguments.flags->given("device")) add({"--device", common.device});
    }
    const int threads =
        common.threads > 0 ? common.threads : std::max(1, cores_of(crew()) / std::max(1, jobs));
    add({"--threads", std::to_string(threads), "--quiet", "--no-report"});
    return program;
}

// What a program that failed has said last.
std::string reason_of(const fs::path& log, int code)
{
    if (code < 0) return fmt::format("ended by signal {}", -code);
    std::istringstream text(fs::exists(log) ? read_text(log) : std::string());
    std::string line, last;
    while (std::getline(text, line)) {
        if (line.starts_with("springtime: ")) last = line.substr(12);
    }
    return last.empty() ? fmt::format("exit code {}", code) : last;
}

// ---- Training

using Failures = std::map<std::string, std::string>;  // why, by the name of member or ensemble

void fail(const SweepArguments& arguments, const std::string& name, const std::string& reason,
          Failures& failures)
{
    failures[name] = reason;
    note(arguments.common, fmt::format("warning: {}: {}", name, reason));
}

Failures train_missing(const SweepArguments& arguments, const Study& study, const Places& places)
{
    std::vector<const StudyMember*> missing;
    for (const StudyMember& member : study.members) {
        if (arguments.overwrite || !fs::exists(places.result(member))) missing.push_back(&member);
    }
    const std::size_t total = study.members.size();
    if (missing.size() < total) {
        note(arguments.common,
             fmt::format("{} of {} members are there already", total - missing.size(), total));
    }
    const int jobs = jobs_of(arguments, missing);
    std::vector<Program> programs;
    for (const StudyMember* member : missing) {
        programs.push_back(program_of(arguments, places, *member, crew() ? 1 : jobs));
    }
    Failures failures;
    const Progress progress = show_progress(arguments.common.quiet);
    std::size_t ended = total - missing.size();
    const auto report = [&] {
        const std::string remark =
            failures.empty() ? std::string() : fmt::format("{} failed", failures.size());
        progress.report({"sweep", double(ended), double(total), "members", remark});
    };
    run_programs(
        programs, jobs, crew(),
        [&](std::size_t program, int code) {
            ++ended;
            const StudyMember& member = *missing[program];
            if (code == kDone) return;
            fail(arguments, member.name, reason_of(places.beside(member, ".log"), code), failures);
        },
        report);
    report();
    return failures;
}

// ---- The table

// The error on the test motion, which is measured once.
std::optional<double> test_error(const SweepArguments& arguments, const Study& study,
                                 const Places& places, const StudyMember& member,
                                 const std::optional<Motion>& test)
{
    if (!test || !fs::exists(places.cloth(member))) return std::nullopt;
    const fs::path kept = places.run(member) / "test.json";
    const bool known = fs::exists(kept) && text_in(kept, "motion") == study.test->string();
    if (!known || arguments.overwrite) {
        Evaluation found;
        compare_with_motion(
            read_cloth(places.cloth(member)), *test,
            {device_named(arguments.common.device), arguments.common.threads, std::nullopt, crew()},
            found, show_progress(true));
        Result result = Result::tree();
        result.add("motion", study.test->string());
        result.add("motion_rmse", found.surrogate.mean, "m");
        result.add("nothing_moves_rmse", found.nothing_moves.mean, "m");
        write_text(kept, to_json(result, 1) + "\n");
    }
    return number_in(kept, "motion_rmse");
}

struct Row {
    const StudyMember* member;
    std::string state;
    std::optional<double> validation, test, seconds;

    double error() const
    {
        return test.value_or(validation.value_or(std::numeric_limits<double>::infinity()));
    }
};

std::vector<Row> rows_of(const SweepArguments& arguments, const Study& study, const Places& places,
                         Failures& failures)
{
    std::optional<Motion> test;
    if (study.test) test = open_input(*study.test);
    std::vector<Row> rows;
    for (const StudyMember& member : study.members) {
        Row& row = rows.emplace_back(Row{&member, "done", {}, {}, {}});
        if (failures.contains(member.name) || !fs::exists(places.result(member))) {
            row.state = "failed";
            continue;
        }
        try {
            row.validation = number_in(places.result(member), "validation_rmse");
            row.seconds = number_in(places.result(member), "training_seconds");
            row.test = test_error(arguments, study, places, member, test);
        } catch (const Failure& failure) {  // a cloth that blows up
            note(arguments.common, fmt::format("warning: {}: {}", member.name, failure.what()));
        } catch (const Error& error) {  // a cloth that does not fit the test, or is no cloth
            row.state = "failed";
            fail(arguments, member.name, error.what(), failures);
        }
    }
    return rows;
}

Result table_of(const std::vector<Row>& rows)
{
    Result table = Result::tree();
    for (const Row& row : rows) {
        Result line = Result::tree();
        Result settings = Result::tree();
        for (const auto& [key, value] : row.member->differs) settings.add(key, value);
        line.add("settings", settings).data_only();
        line.add("state", row.state);
        line.add("validation_rmse", row.validation, "m").label("validation RMSE");
        line.add("test_rmse", row.test, "m").label("test RMSE");
        line.add("seconds", row.seconds, "s").label("learned in");
        table.add(row.member->name, line);
    }
    return table.first(rows.size());
}

Result ensembles_of(const SweepArguments& arguments, const Study& study, const Places& places,
                    const std::vector<Row>& rows, Failures& failures)
{
    std::vector<Ensemble> ensembles;
    for (const Row& row : rows) {
        const std::string& group = row.member->group;
        if (ensembles.empty() || ensembles.back().name != group) ensembles.push_back({group, {}});
        const fs::path cloth = places.cloth(*row.member);
        if (row.state == "done" && fs::exists(cloth)) ensembles.back().cloths.push_back(cloth);
    }
    Result table = Result::tree();
    const std::string test = study.test ? study.test->string() : std::string();
    for (const Ensemble& ensemble : ensembles) {
        const auto without = [&](const std::exception& reason) {
            Result line = Result::tree();
            line.add("members", ensemble.cloths.size());
            table.add(ensemble.name, line);
            fail(arguments, ensemble.name, reason.what(), failures);
        };
        const fs::path folder = places.root / "ensembles" / ensemble.name;
        try {
            table.add(ensemble.name, write_ensemble(ensemble, folder, test, arguments.common));
        } catch (const Failure& failure) {
            without(failure);
        } catch (const Error& error) {
            without(error);
        }
    }
    return table.first(ensembles.size());
}

// ---- The verb

void add_report_of(const SweepArguments& arguments, const Study& study, const Places& places,
                   std::vector<Row> rows, Result& result)
{
    constexpr std::size_t kMost = 8;  // cloths that a page shows side by side
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.error() < b.error(); });
    std::vector<fs::path> runs;
    for (const Row& row : rows) {
        const bool shown = runs.size() < kMost && fs::exists(places.cloth(*row.member));
        if (shown && row.state == "done") runs.push_back(places.run(*row.member));
    }
    if (runs.empty() || arguments.no_report) return;
    const ReportOptions options{
        .runs = runs, .motion = study.test.value_or(rows[0].member->motion), .seen = !study.test};
    result.add("report", leave_report(arguments.common, options, places.root / "report.html"))
        .label("report for a browser");
}

Result result_of(const SweepArguments& arguments, const Study& study, const Places& places,
                 Failures& failures)
{
    const std::vector<Row> rows = rows_of(arguments, study, places, failures);
    Result result = Result::tree();
    result.label(places.root.string());
    result.add("out", places.root.string()).data_only();
    result.add("members", table_of(rows));
    if (study.ensemble) {
        result.add("ensembles", ensembles_of(arguments, study, places, rows, failures));
    }
    Result reasons = Result::tree();
    for (const auto& [name, reason] : failures) reasons.add(name, reason);
    result.add("failures", reasons).unless_zero();
    const auto best = std::min_element(
        rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.error() < b.error(); });
    if (std::isfinite(best->error())) result.add("best", best->member->name);
    add_report_of(arguments, study, places, rows, result);
    return result;
}

// A wrong name is told now, and not after hours.
void check_motions(const Study& study)
{
    std::set<fs::path> motions;
    for (const StudyMember& member : study.members) motions.insert(member.motion);
    if (study.test) motions.insert(*study.test);
    for (const fs::path& motion : motions) open_motion(motion.string());
}

int run_sweep(const SweepArguments& arguments)
{
    if (arguments.flags->given("seed")) {
        throw Error(
            "--seed: the study says which seeds there are: seeds = [1, 2, 3], or "
            "ensemble = 3");
    }
    const Study study = read_study(arguments.study);
    const Places places{fs::absolute(arguments.out)};
    check_motions(study);
    const auto lock = claim_folder(
        {places.root, "study.toml", read_text(arguments.study), {}, true, trainings_of},
        arguments.overwrite);
    fs::create_directories(places.root / "members");
    Failures failures;
    try {
        failures = train_missing(arguments, study, places);
    } catch (const Cancelled&) {
        fmt::print(stderr,
                   "springtime: interrupted; what is learned so far is kept, and the same command "
                   "goes on\n");
        return kFailed;
    }
    const Result result = result_of(arguments, study, places, failures);
    write_text(places.root / "result.json", to_json(result, 1) + "\n");
    write_text(places.root / "result.txt", to_text(result));
    print(arguments.common, result);
    return failures.empty() ? kDone : kFailed;
}

}  // namespace

Verb add_sweep(CLI::App& root)
{
    auto arguments = std::make_shared<SweepArguments>();
    const Flags flags = add_verb(
        root, "sweep", "Run the many trainings of a study, as many at a time as there is room for");
    arguments->flags = flags;
    flags
        .add("study", arguments->study,
             "TOML file that says what is trained with which settings (docs/formats.md)")
        .required()
        .type("FILE");
    flags.add("--out", arguments->out, "Folder for the study; the same command goes on in it")
        .type("FOLDER");
    flags
        .add("--jobs", arguments->jobs,
             "Trainings at a time; 0: one per core, or one where they take the GPU. Under mpirun "
             "there is one on every rank")
        .between(0, 4096);
    add_report_switch(flags.in(kRunGroup), arguments->no_report);
    add_overwrite(flags.in(kRunGroup), arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_sweep(*arguments); }};
}

}  // namespace springtime::app
