#include "springtime/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/atomic_file.h"
#include "core/fingerprint.h"
#include "formats/checkpoint.h"
#include "formats/run_log.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

constexpr const char *kConfig = "config.toml", *kFingerprint = "fingerprint.json";
constexpr const char* kLog = "log.jsonl";
constexpr std::array kCheckpoints{"checkpoint-a.bin", "checkpoint-b.bin"};
constexpr const char *kCloth = "cloth.json", *kBest = "best.json",
                     *kHomogeneous = "homogeneous.json", *kLinear = "linear.json",
                     *kIdentification = "identification.json";

// The cloths of the steps after the homogeneous network, counted from 1 in the folder.
std::string step_file(std::size_t number)
{
    return fmt::format("step-{}.json", number + 1);
}

// ---- The two checkpoints of a folder

struct Slot {
    fs::path path;
    std::optional<TrainState> state;
    std::string fault;  // why the file is refused; without state and fault, there is none
};

Slot read_slot(const fs::path& path)
{
    Slot slot{path, {}, {}};
    std::error_code ignored;  // what cannot be looked at cannot be read either, and says so then
    const fs::file_status status = fs::status(path, ignored);
    if (status.type() == fs::file_type::not_found) return slot;
    try {
        if (fs::exists(status) && !fs::is_regular_file(status)) {
            throw Error("{}: is not a plain file", path.string());
        }
        slot.state = decode_checkpoint(read_text(path), path.string());
    } catch (const Error& error) {
        slot.fault = error.what();
    }
    return slot;
}

std::array<Slot, 2> read_slots(const fs::path& folder)
{
    return {read_slot(folder / kCheckpoints[0]), read_slot(folder / kCheckpoints[1])};
}

// Where a state of this iteration goes: over the same iteration, else where nothing usable is,
// else over the older one. Damaged files count as nothing, so that the last good one survives.
fs::path slot_to_write(const std::array<Slot, 2>& slots, int iteration)
{
    for (const Slot& slot : slots) {
        if (slot.state && slot.state->iteration > iteration) {
            throw Error(
                "{}: is of iteration {}, ahead of iteration {} which was to be stored; "
                "resume the run from it, or begin a new run in another folder",
                slot.path.string(), slot.state->iteration, iteration);
        }
    }
    for (const Slot& slot : slots) {
        if (slot.state && slot.state->iteration == iteration) return slot.path;
    }
    for (const Slot& slot : slots) {
        if (!slot.state) return slot.path;
    }
    const bool first_is_older = slots[0].state->iteration < slots[1].state->iteration;
    return slots[first_is_older ? 0 : 1].path;
}

// ---- Log

// Null for what is not finite, which JSON does not have.
std::string log_line(const TrainLog& log)
{
    using json = nlohmann::ordered_json;
    json line;
    line["iteration"] = log.iteration;
    line["round"] = log.round;
    line["pass"] = log.pass;
    line["loss"] = {{"total", log.loss.total},           {"force", log.loss.force},
                    {"impulse", log.loss.impulse},       {"position", log.loss.position},
                    {"trajectory", log.loss.trajectory}, {"negativity", log.loss.negativity}};
    line["gradient_norm"] = log.gradient_norm;
    for (const auto& [kind, low, high] : log.bounds) {
        const json bounds = {{"min", low}, {"max", high}};
        json& place = line[std::string(kind->name)];
        if (kind->presence == ParameterPresence::per_range) {
            place.push_back(bounds);
        } else {
            place = bounds;
        }
    }
    line["validation_rmse"] = log.validation_rmse ? json(*log.validation_rmse) : json();
    line["seconds"] = log.seconds;
    return line.dump() + "\n";
}

// NaN for null, which stands for what is not finite.
double number_in(const nlohmann::json& value)
{
    return value.is_null() ? std::nan("") : value.get<double>();
}

std::vector<ParameterBounds> bounds_in(const nlohmann::json& line)
{
    std::vector<ParameterBounds> bounds;
    const auto add = [&](const ParameterKind& kind, const nlohmann::json& value) {
        bounds.push_back({&kind, number_in(value.at("min")), number_in(value.at("max"))});
    };
    for (const ParameterKind& kind : parameter_kinds()) {
        const auto found = line.find(kind.name);
        if (found == line.end()) continue;
        if (kind.presence != ParameterPresence::per_range) {
            add(kind, *found);
            continue;
        }
        for (const nlohmann::json& range : *found) add(kind, range);
    }
    return bounds;
}

// Nothing when the line is not the log of an iteration.
std::optional<TrainLog> parsed_line(std::string_view text)
{
    const auto line = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    try {
        TrainLog log;
        log.iteration = line.at("iteration").get<int>();
        log.round = line.at("round").get<int>();
        log.pass = line.at("pass").get<int>();
        const nlohmann::json& loss = line.at("loss");
        log.loss = {number_in(loss.at("force")),    number_in(loss.at("impulse")),
                    number_in(loss.at("position")), number_in(loss.at("negativity")),
                    number_in(loss.at("total")),    number_in(loss.at("trajectory"))};
        log.gradient_norm = number_in(line.at("gradient_norm"));
        log.bounds = bounds_in(line);
        const nlohmann::json& error = line.at("validation_rmse");
        if (!error.is_null()) log.validation_rmse = error.get<double>();
        log.seconds = number_in(line.at("seconds"));
        return log;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

// The iterations before the given one, as the text has them and as what they say. Only the last
// line may be torn.
struct KeptLines {
    std::string text;
    std::vector<TrainLog> logs;
};

KeptLines lines_before(std::string_view text, int iteration, const fs::path& path)
{
    KeptLines kept;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::optional<TrainLog> log = parsed_line(line);
        if (!log && !text.empty()) {
            throw Error("{}: line {} is not the log of an iteration; repair or remove that line",
                        path.string(), number);
        }
        if (!log || log->iteration >= iteration) continue;
        kept.text.append(line).push_back('\n');
        kept.logs.push_back(*log);
    }
    return kept;
}

}  // namespace

std::vector<TrainLog> read_train_log(const fs::path& path)
{
    return lines_before(read_text(path), std::numeric_limits<int>::max(), path).logs;
}

namespace {

// ---- What a run was begun with

struct RunFingerprint {
    std::string config;
    std::optional<std::string> motion;  // nothing where the motion was no file
};

std::string hexadecimal(std::uint64_t number)
{
    return fmt::format("{:016x}", number);
}

void write_fingerprint(const fs::path& folder, const RunFingerprint& fingerprint)
{
    nlohmann::ordered_json json{{"config", fingerprint.config}};
    if (fingerprint.motion) json["motion"] = *fingerprint.motion;
    write_text(folder / kFingerprint, json.dump(1) + "\n");
}

// Nothing for a run of a version that kept none.
std::optional<RunFingerprint> read_fingerprint(const fs::path& folder)
{
    const fs::path path = folder / kFingerprint;
    if (!fs::exists(path)) return std::nullopt;
    const std::string text = read_text(path);
    try {
        const nlohmann::json json = nlohmann::json::parse(text);
        RunFingerprint fingerprint{json.at("config").get<std::string>(), {}};
        if (json.contains("motion")) fingerprint.motion = json["motion"].get<std::string>();
        return fingerprint;
    } catch (const nlohmann::json::exception&) {
        throw Error("{}: is damaged; put back a good copy, or begin a new run in another folder",
                    path.string());
    }
}

// ---- Folder

// All that a run leaves in its folder, with what train and inspect write beside it.
bool is_run_file(const std::string& name)
{
    static const std::vector<std::string> kNames{
        kConfig,         kFingerprint,        kLog,
        kCheckpoints[0], kCheckpoints[1],     kCloth,
        kBest,           kHomogeneous,        kLinear,
        kIdentification, "result.json",       "stiffness.png",
        "bending.png",   "determination.png", "report.html"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           (name.starts_with("step-") && name.ends_with(".json"));
}

std::vector<fs::path> run_files(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (is_run_file(entry.path().filename().string())) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// An interrupted create() leaves an empty log and a fingerprint.
bool is_unused(const fs::path& file)
{
    std::error_code ignored;
    const std::string name = file.filename().string();
    if (name == kLog) return fs::is_empty(file, ignored);
    return name == kFingerprint && read_fingerprint(file.parent_path());
}

// Throws Error when a new run would mix with what is there. Files that are of no run are never
// replaced.
void check_no_run(const fs::path& folder)
{
    for (const fs::path& file : run_files(folder)) {
        if (is_unused(file)) continue;
        throw Error(
            "{}: holds {}, but no {}, so it is of no run and is not replaced; remove it, or name "
            "another folder",
            folder.string(), file.filename().string(), kConfig);
    }
}

void remove_run(const fs::path& folder, const std::optional<fs::path>& motion)
{
    const std::vector<fs::path> files = run_files(folder);
    for (const fs::path& file : files) {
        std::error_code ignored;  // what is not there is no file at all
        if (!motion || !fs::equivalent(file, *motion, ignored)) continue;
        throw Error("{}: is read as well and would be replaced; name another folder",
                    file.string());
    }
    for (const fs::path& file : files) fs::remove(file);
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {}

bool RunFolder::exists() const
{
    std::error_code ignored;
    return fs::is_regular_file(path_ / kConfig, ignored);
}

void RunFolder::create(const std::string& config, bool overwrite)
{
    if (path_.empty()) throw Error("run folder: the name is empty; give one");
    std::error_code status;
    if (fs::exists(path_, status) && !fs::is_directory(path_, status)) {
        throw Error("{}: is a file; name a folder", path_.string());
    }
    fs::create_directories(path_, status);
    if (status == std::errc::not_a_directory) {
        throw Error("{}: cannot be made ({}); check the folder it is to be in, or name another",
                    path_.string(), status.message());
    }
    if (status) fail_write(path_, status.message());
    if (!lock_) lock_ = lock_folder(path_);
    if (exists() && !overwrite) {
        throw Error(
            "{}: already holds a run; resume it, replace it with `overwrite`, or name another "
            "folder",
            path_.string());
    }
    if (exists()) {
        remove_run(path_, motion_);
    } else {
        check_no_run(path_);
    }
    RunFingerprint fingerprint{hexadecimal(text_fingerprint(config)), {}};
    if (motion_) fingerprint.motion = hexadecimal(file_fingerprint(*motion_));
    write_fingerprint(path_, fingerprint);
    write_text(path_ / kLog, "");
    write_text(path_ / kConfig, config);  // last: it is what makes the folder a run
}

std::string RunFolder::config() const
{
    if (!exists()) {
        throw Error("{}: holds no run: there is no {}; name the folder of a run", path_.string(),
                    kConfig);
    }
    std::string text = read_text(path_ / kConfig);
    const std::optional<RunFingerprint> began = read_fingerprint(path_);
    if (began && began->config != hexadecimal(text_fingerprint(text))) {
        throw Error(
            "{}: is not what the run was begun with; put back the old one, or begin a new run in "
            "another folder",
            (path_ / kConfig).string());
    }
    return text;
}

// Learning from another motion would mix two answers. A run that was begun without a motion takes
// this one.
void RunFolder::check_motion() const
{
    if (!motion_) return;
    RunFingerprint began = read_fingerprint(path_).value_or(
        RunFingerprint{hexadecimal(text_fingerprint(config())), {}});
    const std::string now = hexadecimal(file_fingerprint(*motion_));
    if (began.motion && *began.motion != now) {
        throw Error(
            "{}: is not the motion that {} was begun with, its content is another; name the old "
            "one, wherever it is now, or begin a new run in another folder",
            motion_->string(), path_.string());
    }
    if (began.motion) return;
    began.motion = now;
    write_fingerprint(path_, began);
}

void RunFolder::append_log(const TrainLog& log)
{
    append_text(path_ / kLog, log_line(log));
}

std::vector<TrainLog> RunFolder::cut_log(int iteration)
{
    const fs::path path = path_ / kLog;
    std::error_code ignored;
    if (fs::status(path, ignored).type() == fs::file_type::not_found) return {};
    KeptLines kept = lines_before(read_text(path), iteration, path);
    write_text(path, kept.text);
    return std::move(kept.logs);
}

void RunFolder::write_checkpoint(const TrainState& state)
{
    if (const std::string fault = state_fault(state); !fault.empty()) {
        throw Failure("{}: iteration {} cannot be stored: {}; the checkpoints before it are kept",
                      path_.string(), state.iteration, fault);
    }
    write_text(slot_to_write(read_slots(path_), state.iteration), encode_checkpoint(state));
}

bool RunFolder::has_checkpoint() const
{
    return std::any_of(kCheckpoints.begin(), kCheckpoints.end(),
                       [&](const char* name) { return fs::exists(path_ / name); });
}

std::optional<TrainState> RunFolder::read_checkpoint(std::vector<std::string>& remarks) const
{
    std::array<Slot, 2> slots = read_slots(path_);
    Slot* newest = nullptr;
    std::vector<std::string> faults;
    for (Slot& slot : slots) {
        if (!slot.fault.empty()) faults.push_back(slot.fault);
        if (!slot.state) continue;
        if (!newest || slot.state->iteration > newest->state->iteration) newest = &slot;
    }
    if (!newest && faults.empty()) return {};
    if (!newest) {
        throw Error(
            "{}; no checkpoint is left: put back a good copy, or begin a new run in "
            "another folder",
            fmt::join(faults, "; "));
    }
    for (const std::string& fault : faults) {
        remarks.push_back(fmt::format("{}; {} of iteration {} is used instead", fault,
                                      newest->path.filename().string(), newest->state->iteration));
    }
    return std::move(newest->state);
}

// ---- What learn() keeps

LearnState RunFolder::open()
{
    if (new_run_) {
        create(new_run_->config, new_run_->overwrite);
    } else {
        if (!lock_) lock_ = lock_folder(path_);
        check_motion();
    }
    new_run_.reset();
    LearnState state;
    const auto cloth_in = [&](const char* name) -> std::optional<Cloth> {
        if (!fs::exists(path_ / name)) return std::nullopt;
        return read_cloth(path_ / name);
    };
    state.homogeneous = cloth_in(kHomogeneous);
    while (const std::optional<Cloth> step = cloth_in(step_file(state.steps.size()).c_str())) {
        state.steps.push_back(*step);
    }
    const std::optional<Cloth> linear = cloth_in(kLinear);
    if (linear && fs::exists(path_ / kIdentification)) {
        const fs::path path = path_ / kIdentification;
        state.linear = identification_from_json(read_text(path), path.string(), *linear);
    }
    state.descent = read_checkpoint(state.warnings);
    state.log = cut_log(state.descent ? state.descent->iteration : 0);
    return state;
}

void RunFolder::keep_homogeneous(const Cloth& cloth)
{
    write_cloth(path_ / kHomogeneous, cloth);
}

void RunFolder::keep_step(std::size_t number, const Cloth& cloth)
{
    write_cloth(path_ / step_file(number), cloth);
}

void RunFolder::keep_linear(const Identification& linear)
{
    write_text(path_ / kIdentification, identification_to_json(linear));
    write_cloth(path_ / kLinear, linear.cloth);  // last: without it the other one does not count
}

void RunFolder::keep_best(const Cloth& cloth)
{
    write_cloth(path_ / kBest, cloth);
}

void RunFolder::finish(const Learned& learned)
{
    write_cloth(path_ / kCloth, learned.cloth);
    std::error_code ignored;
    fs::remove(path_ / kBest, ignored);
}

}  // namespace springtime
