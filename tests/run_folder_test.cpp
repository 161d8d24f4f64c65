#include "springtime/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "temp_folder.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Limits = std::numeric_limits<double>;

constexpr std::size_t kHeaderBytes = 40, kWord = 8;

// Two springs, and numbers that only their bits describe.
TrainState small_state(int iteration)
{
    TrainState state;
    state.iteration = iteration;
    state.parameters = {{1.0 / 3, -0.0}, {Limits::denorm_min(), -Limits::denorm_min()}};
    state.mean = {{Limits::max(), Limits::lowest()}, {std::nextafter(1.0, 2), 0.0}};
    state.square = {{Limits::min(), std::nextafter(Limits::min(), 0)}, {0.1 + 0.2, M_PI}};
    state.stiffness_scale = std::nextafter(40.0, 0);
    state.damping_scale = -0.0;
    state.lowest_validation = 1e-301;
    state.best_validation = 1e-300;
    state.best_iteration = iteration / 2;
    state.best = {{7, 8}, {9, iteration + 0.5}};
    return state;
}

using Bits = std::vector<std::uint64_t>;

Bits bits_of(const std::vector<double>& values)
{
    Bits bits;
    for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    return bits;
}

void expect_same(const TrainState& a, const TrainState& b)
{
    EXPECT_EQ(a.iteration, b.iteration);
    EXPECT_EQ(a.best_iteration, b.best_iteration);
    const auto scalars = [](const TrainState& s) {
        return bits_of({s.stiffness_scale, s.damping_scale, s.lowest_validation,
                        s.best_validation.value_or(-1)});
    };
    EXPECT_EQ(scalars(a), scalars(b));
    for (const auto array :
         {&TrainState::parameters, &TrainState::mean, &TrainState::square, &TrainState::best,
          &TrainState::level_mean, &TrainState::level_square, &TrainState::average}) {
        ASSERT_EQ((a.*array).size(), (b.*array).size());
        for (std::size_t kind = 0; kind < (a.*array).size(); ++kind) {
            EXPECT_EQ(bits_of((a.*array)[kind]), bits_of((b.*array)[kind]));
        }
    }
}

// A word of 8 bytes as docs/formats.md says, written independently of the library.
std::string word(std::uint64_t value)
{
    std::string bytes;
    for (std::size_t i = 0; i < kWord; ++i, value /= 256) bytes += char(value % 256);
    return bytes;
}

std::uint64_t fnv1a(const std::string& bytes)
{
    std::uint64_t hash = 14695981039346656037u;
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
    return hash;
}

// A whole file around any content, sound or not.
std::string checkpoint_around(const std::string& content)
{
    return "springtime-state" + word(4) + word(content.size()) + word(fnv1a(content)) + content;
}

struct Folder : testing::Test {
    TempFolder temp;
    RunFolder run{temp / "run"};
    fs::path a = temp / "run/checkpoint-a.bin", b = temp / "run/checkpoint-b.bin";
    fs::path log = temp / "run/log.jsonl";
    std::vector<std::string> remarks;

    TrainState read()
    {
        remarks.clear();
        auto state = run.read_checkpoint(remarks);
        if (!state) throw Error("no checkpoint");
        return *state;
    }
    std::string read_error()
    {
        return error_of([&] { run.read_checkpoint(remarks); });
    }
};

using RunFolderCreate = Folder;
using RunFolderLog = Folder;

struct RunFolderCheckpoint : Folder {
    RunFolderCheckpoint() { run.create(""); }
};

// ---- Creating

TEST_F(RunFolderCreate, MakesTheFolderAndThoseItLiesIn)
{
    RunFolder deep(temp / "x/y/run");
    EXPECT_FALSE(deep.exists());
    deep.create("seed = 1\n\n[grid]\nrows = 4\n");
    EXPECT_TRUE(deep.exists());
    EXPECT_EQ(deep.config(), "seed = 1\n\n[grid]\nrows = 4\n");
    EXPECT_EQ(bytes_of(deep.path() / "log.jsonl"), "");
    EXPECT_TRUE(fs::is_regular_file(deep.path() / "log.jsonl"));
    EXPECT_EQ(std::distance(fs::directory_iterator(deep.path()), {}), 3);  // no part is left
}

TEST_F(RunFolderCreate, TakesAFolderThatHoldsNoRun)
{
    fs::create_directory(temp / "run");
    write_bytes(temp / "run/notes.txt", "mine");
    write_bytes(log, "");  // as an interrupted create() leaves it
    run.create("a");
    EXPECT_EQ(run.config(), "a");
    EXPECT_EQ(bytes_of(temp / "run/notes.txt"), "mine");
}

TEST_F(RunFolderCreate, RefusesARunAndItsRemains)
{
    const std::string name = run.path().string();
    run.create("first");
    EXPECT_TRUE(mentions(error_of([&] { run.create("second"); }), {name, "already holds a run"}));
    EXPECT_EQ(run.config(), "first");

    run.write_checkpoint(small_state(1));
    fs::remove(temp / "run/config.toml");
    for (const bool overwrite : {false, true}) {
        EXPECT_TRUE(mentions(error_of([&] { run.create("second", overwrite); }),
                             {name, "checkpoint-a.bin", "config.toml"}));
    }
    fs::remove(a);
    write_bytes(log, "{}\n");
    EXPECT_TRUE(
        mentions(error_of([&] { run.create("second"); }), {name, "log.jsonl", "config.toml"}));
    EXPECT_FALSE(run.exists());
}

TEST_F(RunFolderCreate, ReplacesARunWhenAskedAndNothingElse)
{
    run.create("first");
    run.write_checkpoint(small_state(1));
    write_bytes(temp / "run/step-3.json", "{}");
    write_bytes(temp / "run/notes.txt", "mine");
    run.create("second", true);
    EXPECT_EQ(run.config(), "second");
    EXPECT_FALSE(run.has_checkpoint());
    EXPECT_FALSE(fs::exists(temp / "run/step-3.json"));
    EXPECT_EQ(bytes_of(temp / "run/notes.txt"), "mine");
}

TEST_F(RunFolderCreate, HasTheFolderToItself)
{
    run.create("first");
    RunFolder other(run.path());
    EXPECT_EQ(other.config(), "first");  // whoever only looks is welcome
    for (const std::string& message :
         {failure_of([&] { other.open(); }), failure_of([&] { other.create("second", true); })}) {
        EXPECT_TRUE(mentions(message, {run.path().string(), "another springtime"})) << message;
    }
    run = RunFolder(temp / "elsewhere");
    other.open();
}

// ---- What a run was begun with

TEST_F(RunFolderCreate, RefusesAConfigThatHasChangedInAnyBit)
{
    const std::string config = "seed = 1\nmotion = \"m.h5\"\n";
    run.create(config);
    for (std::size_t bit = 0; bit < 8 * config.size(); ++bit) {
        std::string changed = config;
        changed[bit / 8] = char(changed[bit / 8] ^ (1 << bit % 8));
        write_bytes(temp / "run/config.toml", changed);
        EXPECT_TRUE(mentions(error_of([&] { run.config(); }), {"config.toml", "begun"})) << bit;
    }
    write_bytes(temp / "run/config.toml", config);
    EXPECT_EQ(run.config(), config);
    fs::remove(temp / "run/fingerprint.json");  // as in runs of earlier versions
    EXPECT_EQ(run.config(), config);
    write_bytes(temp / "run/fingerprint.json", "{");
    EXPECT_TRUE(mentions(error_of([&] { run.config(); }), {"fingerprint.json", "damaged"}));
}

TEST_F(RunFolderCreate, GoesOnWithTheSameMotionUnderAnyName)
{
    const fs::path motion = temp / "m.h5", moved = temp / "moved.h5";
    write_bytes(motion, "positions");
    run.learns_from(motion);
    run.create("a");
    run.open();
    fs::rename(motion, moved);
    run.learns_from(moved);
    run.open();
    write_bytes(moved, "position5");
    EXPECT_TRUE(mentions(error_of([&] { run.open(); }), {moved.string(), run.path().string()}));
    // A run that was begun without a motion takes the first it is given.
    RunFolder late(temp / "late");
    late.create("b");
    late.learns_from(moved);
    late.open();
    write_bytes(moved, "positions");
    EXPECT_THROW(late.open(), Error);
}

TEST_F(RunFolderCreate, RefusesWhatCanBeNoFolder)
{
    const fs::path file = temp / "file";
    write_bytes(file, "mine");
    EXPECT_EQ(error_of([&] { RunFolder(file).create(""); }),
              file.string() + ": is a file; name a folder");
    EXPECT_EQ(error_of([&] { RunFolder(file / "run").create(""); }),
              (file / "run").string() +
                  ": cannot be made (Not a directory); check the folder it "
                  "is to be in, or name another");
    EXPECT_EQ(error_of([&] { RunFolder("").create(""); }),
              "run folder: the name is empty; give one");
    EXPECT_FALSE(RunFolder(file).exists());
    EXPECT_EQ(bytes_of(file), "mine");
}

TEST_F(RunFolderCreate, ConfigNeedsARun)
{
    EXPECT_EQ(
        error_of([&] { run.config(); }),
        run.path().string() + ": holds no run: there is no config.toml; name the folder of a run");
}

// ---- Log

const ParameterKind* kind_named(std::string_view name)
{
    const auto kinds = parameter_kinds();
    return &*std::find_if(kinds.begin(), kinds.end(),
                          [&](const ParameterKind& kind) { return kind.name == name; });
}

TrainLog log_of(int iteration)
{
    TrainLog log;
    log.iteration = iteration;
    log.round = 1;
    log.pass = 2;
    log.loss = {0.5, 0.25, 0.125, 1.0 / 3, 17};
    log.gradient_norm = 3.5;
    log.bounds = {{kind_named("stiffness"), -0.5, 80}, {kind_named("damping"), 0.0625, 2}};
    log.seconds = 1.5;
    return log;
}

TEST_F(RunFolderLog, HasOneLineOfJsonPerIteration)
{
    run.create("");
    TrainLog second = log_of(1);
    second.validation_rmse = 0.1 + 0.2;
    run.append_log(log_of(0));
    EXPECT_EQ(
        bytes_of(log),
        R"({"iteration":0,"round":1,"pass":2,"loss":{"total":17.0,"force":0.5,"impulse":0.25,)"
        R"("position":0.125,"trajectory":0.0,"negativity":0.3333333333333333},)"
        R"("gradient_norm":3.5,)"
        R"("stiffness":{"min":-0.5,"max":80.0},"damping":{"min":0.0625,"max":2.0},)"
        R"("validation_rmse":null,"seconds":1.5})"
        "\n");
    run.append_log(second);
    const std::string text = bytes_of(log);
    EXPECT_EQ(text.back(), '\n');
    const json line = json::parse(text.substr(text.find('\n') + 1));
    EXPECT_EQ(line["iteration"], 1);
    EXPECT_EQ(line["validation_rmse"].get<double>(), 0.1 + 0.2);  // every digit is kept
}

TEST_F(RunFolderLog, NamesEveryParameterAndListsThoseOfRanges)
{
    run.create("");
    TrainLog law = log_of(0);
    law.bounds.push_back({kind_named("range_stiffness"), 1, 3});
    law.bounds.push_back({kind_named("range_stiffness"), 2, 4});
    law.bounds.push_back({kind_named("isotropic_damping"), 0, 0.5});
    run.append_log(law);
    const json line = json::parse(bytes_of(log));
    EXPECT_EQ(line["range_stiffness"].dump(), R"([{"max":3.0,"min":1.0},{"max":4.0,"min":2.0}])");
    EXPECT_EQ(line["isotropic_damping"].dump(), R"({"max":0.5,"min":0.0})");
}

TEST_F(RunFolderLog, WritesNullForWhatIsNotFinite)
{
    run.create("");
    TrainLog wild = log_of(0);
    wild.validation_rmse = Limits::infinity();
    wild.gradient_norm = Limits::quiet_NaN();
    run.append_log(wild);
    const json line = json::parse(bytes_of(log));
    EXPECT_TRUE(line["validation_rmse"].is_null());
    EXPECT_TRUE(line["gradient_norm"].is_null());
}

TEST_F(RunFolderLog, IsCutFromAnIterationOn)
{
    run.create("");
    std::vector<std::string> texts;  // of the log before each iteration
    for (int i = 0; i <= 12; ++i) {  // 10 sorts before 9 as text, not as a number
        texts.push_back(bytes_of(log));
        run.append_log(log_of(i));
    }
    for (const int iteration : {12, 10, 9, 9, 3}) {
        run.cut_log(iteration);
        EXPECT_EQ(bytes_of(log), texts[std::size_t(iteration)]);
    }
    run.append_log(log_of(3));
    EXPECT_EQ(bytes_of(log), texts[4]);
    run.cut_log(100);
    EXPECT_EQ(bytes_of(log), texts[4]);
    run.cut_log(0);
    EXPECT_EQ(bytes_of(log), "");
    run.cut_log(0);
    fs::remove(log);
    run.cut_log(5);
    EXPECT_FALSE(fs::exists(log));
    EXPECT_FALSE(fs::exists(temp / "run/log.jsonl.part"));
}

TEST_F(RunFolderLog, LosesATornLastLineAtEveryLength)
{
    run.create("");
    run.append_log(log_of(0));
    const std::string first = bytes_of(log);
    run.append_log(log_of(1));
    const std::string both = bytes_of(log);
    for (std::size_t length = first.size(); length < both.size(); ++length) {
        write_bytes(log, both.substr(0, length));
        run.cut_log(2);
        // Without its line end alone, the last line is still whole.
        EXPECT_EQ(bytes_of(log), length + 1 == both.size() ? both : first) << length;
    }
    for (const std::string& torn : {std::string(20, '\0'), std::string("\xff{"), std::string("7"),
                                    std::string("{\"iteration\":\"1\"}\n"), std::string("\n")}) {
        write_bytes(log, first + torn);
        run.cut_log(2);
        EXPECT_EQ(bytes_of(log), first);
    }
}

TEST_F(RunFolderLog, RefusesADamagedLineWithin)
{
    run.create("");
    run.append_log(log_of(0));
    const std::string line = bytes_of(log);
    const std::string damaged = line + line.substr(0, 30) + "\n" + line;
    write_bytes(log, damaged);
    EXPECT_TRUE(error_of([&] { run.cut_log(1); }).starts_with(log.string() + ": line 2 "));
    EXPECT_EQ(bytes_of(log), damaged);
}

TEST_F(RunFolderLog, NeedsTheFolder)
{
    EXPECT_EQ(failure_of([&] { run.append_log(log_of(0)); }),
              log.string() +
                  ": cannot be written (No such file or directory); check permissions "
                  "and free space, or name another");
}

// ---- Checkpoints

TEST_F(RunFolderCheckpoint, ComesBackBitForBit)
{
    EXPECT_FALSE(run.read_checkpoint(remarks).has_value());
    for (const int iteration : {0, 3, std::numeric_limits<int>::max()}) {
        run.write_checkpoint(small_state(iteration));
        expect_same(read(), small_state(iteration));
    }
    EXPECT_TRUE(remarks.empty());
}

TEST_F(RunFolderCheckpoint, OfNoSpringsComesBack)
{
    TrainState none;
    none.parameters = none.mean = none.square = none.best = ParameterValues(2);
    run.write_checkpoint(none);
    expect_same(read(), none);
}

TEST_F(RunFolderCheckpoint, OfADescentOnTrajectoriesComesBack)
{
    TrainState state = small_state(3);
    state.level_mean = {{1.0 / 3}, {}};  // one family, and none
    state.level_square = {{1e-30}, {}};
    state.average = state.mean;
    run.write_checkpoint(state);
    expect_same(read(), state);
}

TEST_F(RunFolderCheckpoint, HasTheBytesOfTheFormat)
{
    TrainState state;
    state.iteration = 258;
    state.best_iteration = 5;
    state.stiffness_scale = 1;
    state.damping_scale = -2;
    state.lowest_validation = 0.25;
    state.best_validation = 0.5;
    double value = 1;
    // Two parameters: one of one element, the other of two.
    std::string content = word(258) + word(5) + word(0x3ff0000000000000) +
                          word(0xc000000000000000) + word(0x3fd0000000000000) +
                          word(0x3fe0000000000000);
    for (auto* array : {&state.parameters, &state.mean, &state.square, &state.best}) {
        content += word(2) + word(1) + word(2);
        for (const int count : {1, 2}) {
            auto& values = array->emplace_back();
            for (int i = 0; i < count; ++i, value *= 3) {
                values.push_back(value);
                content += word(std::bit_cast<std::uint64_t>(value));
            }
        }
    }
    for (int field = 0; field < 3; ++field) content += word(0);  // of trajectories
    run.write_checkpoint(state);
    EXPECT_EQ(bytes_of(a), checkpoint_around(content));
}

TEST_F(RunFolderCheckpoint, AlternatesSoThatTheOneBeforeSurvives)
{
    std::string before;
    for (int i = 1; i <= 6; ++i) {
        run.write_checkpoint(small_state(i));
        const fs::path& written = i % 2 == 1 ? a : b;
        const fs::path& other = i % 2 == 1 ? b : a;
        EXPECT_EQ(bytes_of(other), before) << i;
        before = bytes_of(written);
        EXPECT_EQ(read().iteration, i);
        EXPECT_FALSE(fs::exists(written.string() + ".part"));
        // Another process that opens the same folder goes on in turn.
        run = RunFolder(run.path());
    }
}

TEST_F(RunFolderCheckpoint, OfTheSameIterationReplacesThatOne)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string first = bytes_of(a);
    TrainState again = small_state(2);
    again.best_validation = 0.75;
    run.write_checkpoint(again);
    EXPECT_EQ(bytes_of(a), first);
    expect_same(read(), again);
}

TEST_F(RunFolderCheckpoint, IsNotWrittenBehindALaterOne)
{
    run.write_checkpoint(small_state(8));
    run.write_checkpoint(small_state(9));
    const std::string bytes_a = bytes_of(a), bytes_b = bytes_of(b);
    EXPECT_EQ(error_of([&] { run.write_checkpoint(small_state(8)); }),
              b.string() +
                  ": is of iteration 9, ahead of iteration 8 which was to be stored; "
                  "resume the run from it, or begin a new run in another folder");
    EXPECT_EQ(bytes_of(a), bytes_a);
    EXPECT_EQ(bytes_of(b), bytes_b);
}

TEST_F(RunFolderCheckpoint, ReplacesADamagedOneAndNotTheLastGoodOne)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string good = bytes_of(a);
    write_bytes(b, bytes_of(b) + "x");
    run.write_checkpoint(small_state(2));
    EXPECT_EQ(bytes_of(a), good);
    expect_same(read(), small_state(2));
    EXPECT_TRUE(remarks.empty());
}

TEST_F(RunFolderCheckpoint, DamagedInAnyByteFallsBackToTheOneBefore)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string whole = bytes_of(b);
    // Six words; four fields of two parameters of two springs; three fields without any.
    ASSERT_EQ(whole.size(), kHeaderBytes + (6 + 4 * (1 + 2 + 4) + 3) * kWord);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[i] = char(damaged[i] ^ flip);
            write_bytes(b, damaged);
            expect_same(read(), small_state(1));
            ASSERT_EQ(remarks.size(), 1u) << "byte " << i << " ^ " << flip;
            EXPECT_TRUE(remarks[0].starts_with(b.string() + ": ")) << remarks[0];
            EXPECT_TRUE(remarks[0].ends_with("; checkpoint-a.bin of iteration 1 is used instead"))
                << remarks[0];
        }
    }
}

TEST_F(RunFolderCheckpoint, TruncatedAnywhereFallsBackToTheOneBefore)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string whole = bytes_of(b);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        write_bytes(b, whole.substr(0, length));
        expect_same(read(), small_state(1));
        ASSERT_EQ(remarks.size(), 1u) << length;
    }
    // The newest survives the older one's damage as well.
    write_bytes(b, whole);
    write_bytes(a, "");
    expect_same(read(), small_state(2));
    EXPECT_EQ(remarks,
              std::vector{a.string() + ": 0 bytes that do not begin with 'springtime-state'; "
                                       "checkpoint-b.bin of iteration 2 is used instead"});
}

// Each fault of the header by name, in a file that is otherwise whole.
TEST_F(RunFolderCheckpoint, RemarksNameWhatIsWrongWithTheFile)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string whole = bytes_of(b), content = whole.substr(kHeaderBytes);
    std::string flipped = content;
    flipped[0] = 3;
    const std::string cases[][2] = {
        {"{}", "2 bytes that do not begin with 'springtime-state'"},
        {whole.substr(0, 39), "39 bytes, but the header alone has 40"},
        {"springtime-state" + word(2) + whole.substr(24),
         "version 2, but only version 4 can be read"},
        {whole.substr(0, 100), "60 bytes after the header, but it announces 296"},
        {whole + "x", "297 bytes after the header, but it announces 296"},
        {whole.substr(0, kHeaderBytes) + flipped,
         fmt::format("the checksum is {:016x}, but the header announces {:016x}", fnv1a(flipped),
                     fnv1a(content))},
    };
    for (const auto& [bytes, fault] : cases) {
        write_bytes(b, bytes);
        expect_same(read(), small_state(1));
        EXPECT_EQ(remarks, std::vector{b.string() + ": " + fault +
                                       "; checkpoint-a.bin of iteration 1 is used instead"});
    }
    fs::remove(b);
    fs::create_directory(b);
    expect_same(read(), small_state(1));
    EXPECT_EQ(
        remarks,
        std::vector{b.string() +
                    ": is not a plain file; checkpoint-a.bin of iteration 1 is used instead"});
}

// A right checksum around contents that no run could have written.
TEST_F(RunFolderCheckpoint, RemarksNameWhatIsWrongWithTheState)
{
    run.write_checkpoint(small_state(1));
    run.write_checkpoint(small_state(2));
    const std::string content = bytes_of(b).substr(kHeaderBytes);
    const auto with = [&](std::size_t place, std::uint64_t value) {
        return std::string(content).replace(place * kWord, kWord, word(value));
    };
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const std::uint64_t huge = ~std::uint64_t(0);
    // Words: iteration, best iteration, four scalars; then for each of parameters, mean, square and
    // best 2 parameters, 2 values of each, and the values; and three fields without any.
    const std::string cases[][2] = {
        {"", "0 bytes after the header, but a state has 104 or more, in words of 8"},
        {content.substr(0, 103),
         "103 bytes after the header, but a state has 104 or more, in words "
         "of 8"},
        {content + "x", "297 bytes after the header, but a state has 104 or more, in words of 8"},
        {with(0, huge), "iteration is 18446744073709551615, more than any run has"},
        {with(1, 1ull << 31), "best_iteration is 2147483648, more than any run has"},
        {with(1, 3), "best_iteration 3 is not between 0 and iteration 2"},
        {with(3, bits(Limits::infinity())), "damping_scale is inf"},
        {with(6, huge), "18446744073709551615 arrays of parameters, but only 30 words follow"},
        {content.substr(0, 48) + std::string(7 * kWord, 0), "parameters is empty"},
        {content.substr(0, content.size() - kWord), "average is missing"},
        {with(7, huge), "18446744073709551615 values of parameters 0, but only 29 words follow"},
        {content + word(0), "1 words too many"},
        {with(10, bits(Limits::quiet_NaN())), "parameters of parameter 0 is nan for element 1"},
        {with(32, bits(-Limits::infinity())), "best of parameter 1 is -inf for element 0"},
    };
    for (const auto& [bytes, fault] : cases) {
        write_bytes(b, checkpoint_around(bytes));
        expect_same(read(), small_state(1));
        EXPECT_EQ(remarks, std::vector{b.string() + ": " + fault +
                                       "; checkpoint-a.bin of iteration 1 is used instead"});
    }
}

TEST_F(RunFolderCheckpoint, ThatIsTheOnlyOneOrLikeTheOtherDamagedIsAnError)
{
    const std::string advice =
        "; no checkpoint is left: put back a good copy, or begin a new run in another folder";
    const std::string fault_a = a.string() + ": 3 bytes that do not begin with 'springtime-state'";
    const std::string fault_b = b.string() + ": 16 bytes, but the header alone has 40";
    write_bytes(a, "bad");
    EXPECT_EQ(read_error(), fault_a + advice);
    write_bytes(b, "springtime-state");
    EXPECT_EQ(read_error(), fault_a + "; " + fault_b + advice);
    fs::remove(a);
    EXPECT_EQ(read_error(), fault_b + advice);
    EXPECT_TRUE(remarks.empty());
}

TEST_F(RunFolderCheckpoint, IsNotWrittenOfAStateThatCannotGoOn)
{
    run.write_checkpoint(small_state(1));
    const auto failure_of = [&](const TrainState& state) -> std::string {
        try {
            run.write_checkpoint(state);
        } catch (const Failure& failure) {
            return failure.what();
        }
        return "(no failure)";
    };
    const std::string start = run.path().string() + ": iteration 2 cannot be stored: ";
    const std::string end = "; the checkpoints before it are kept";
    TrainState state = small_state(2);
    state.mean[1][1] = Limits::quiet_NaN();
    EXPECT_EQ(failure_of(state), start + "mean of parameter 1 is nan for element 1" + end);
    state = small_state(2);
    state.best[1].push_back(1);
    EXPECT_EQ(failure_of(state), start + "best of parameter 1 has 3 entries for 2 elements" + end);
    state.best.pop_back();
    EXPECT_EQ(failure_of(state), start + "best has 1 arrays, but parameters has 2" + end);
    state = small_state(2);
    state.best_iteration = 3;
    EXPECT_EQ(failure_of(state), start + "best_iteration 3 is not between 0 and iteration 2" + end);
    state = small_state(0);
    state.iteration = -1;
    EXPECT_EQ(
        failure_of(state),
        run.path().string() + ": iteration -1 cannot be stored: iteration -1 is negative" + end);
    EXPECT_FALSE(fs::exists(b));
    expect_same(read(), small_state(1));
}

}  // namespace
}  // namespace springtime
