// Several ranks: whatever they share out, the result is that of one process to the last bit, what
// goes wrong on one of them is told with its number, and nobody waits for an answer that is no
// longer wanted.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <numeric>

#include "core/parallel.h"
#include "core/tree_sum.h"
#include "crew/wire_cloth.h"
#include "in_process_ranks.h"
#include "springtime/error.h"
#include "springtime/evaluate.h"
#include "springtime/identify.h"
#include "temp_folder.h"
#include "training.h"

namespace springtime {

namespace {

// ---- One tree of sums ----

struct AddDoubles {
    void operator()(double& to, double& value) const { to += value; }
};
using DoubleSum = TreeSum<double, AddDoubles>;

// Numbers whose sum depends on the order: 1, 1e-16, 1, 1e-16 ... rounds away what comes alone.
std::vector<double> touchy_numbers(std::size_t count)
{
    Random random(5);
    std::vector<double> numbers(count);
    for (double& number : numbers) number = std::exp(20 * random.normal());
    return numbers;
}

TEST(TreeSum, IsTheSameHoweverItIsCutIntoParts)
{
    for (const std::size_t count : {1, 2, 3, 7, 8, 13, 32}) {
        const std::vector<double> numbers = touchy_numbers(count);
        DoubleSum whole{{}};
        for (std::size_t i = 0; i < count; ++i) whole.add({i, 1, numbers[i]});
        const double expected = whole.total();
        for (std::size_t cut = 0; cut <= count; ++cut) {
            for (std::size_t later = cut; later <= count; ++later) {
                DoubleSum sum{{}};
                const std::size_t bounds[] = {0, cut, later, count};
                for (int part = 0; part < 3; ++part) {
                    DoubleSum own{{}};
                    for (std::size_t i = bounds[part]; i < bounds[part + 1]; ++i) {
                        own.add({i, 1, numbers[i]});
                    }
                    for (auto& node : own.parts()) sum.add(node);
                }
                EXPECT_EQ(sum.total(), expected) << count << ", " << cut << ", " << later;
            }
        }
    }
}

TEST(PartOf, CoversAllInOrderAndKeepsGroupsWhole)
{
    for (const std::size_t count : {0, 1, 5, 16, 33, 100}) {
        for (const std::size_t group : {1, 4, 16}) {
            for (int parts = 1; parts < 9; ++parts) {
                std::size_t next = 0;
                for (int number = 0; number < parts; ++number) {
                    const auto [begin, end] = part_of(count, group, number, parts);
                    EXPECT_EQ(begin, next);
                    EXPECT_LE(begin, end);
                    // Whole groups, where there is one for each.
                    if (count >= group * std::size_t(parts) && end < count) {
                        EXPECT_EQ((end - begin) % group, 0U);
                    }
                    next = end;
                }
                EXPECT_EQ(next, count);
            }
        }
    }
}

// ---- What is sent ----

TEST(Wire, BringsBackACloth)
{
    Cloth cloth = patchwork();
    set_law(cloth, law_named("full"));
    WireWriter writer;
    writer(cloth);
    WireReader reader(writer.bytes());
    const auto found = reader.next<Cloth>();
    EXPECT_EQ(parameters_of(found), parameters_of(cloth));
    EXPECT_EQ(found.springs.ends, cloth.springs.ends);
    EXPECT_EQ(found.springs.rest_length, cloth.springs.rest_length);
    EXPECT_EQ(found.mass, cloth.mass);
    EXPECT_TRUE(same_places(found.rest, cloth.rest));
}

TEST(Wire, RefusesWhatIsCutOff)
{
    WireWriter writer;
    writer(patchwork());
    const auto& bytes = writer.bytes();
    for (const std::size_t size : {std::size_t(0), bytes.size() / 2, bytes.size() - 1}) {
        WireReader reader(std::span<const std::byte>(bytes).first(size));
        EXPECT_THROW(reader.next<Cloth>(), Failure) << size;
    }
}

// ---- Asking ----

// Answers with the double of what it is asked, or goes wrong.
class Doubling : public RankTask {
  public:
    explicit Doubling(const RankTools& tools) : tools_(tools) {}
    void answer(WireReader& request, WireWriter& answer) override
    {
        const int number = request.next<int>();
        if (number == -1) throw Error(Field{"number"}, "number -1: negative");
        if (number == -2) throw Failure("no room");
        while (number == 0) tools_.heartbeat();  // until the answer is not wanted any more
        answer(2 * number);
    }

  private:
    RankTools tools_;
};

std::unique_ptr<RankTask> make_doubling(WireReader&, const RankTools& tools)
{
    return std::make_unique<Doubling>(tools);
}

WireWriter question(int number)
{
    WireWriter bytes;
    bytes(number);
    return bytes;
}

TEST(CrewThreads, EveryRankAnswersForItself)
{
    ThreadCrew ranks(4, {{"double", make_doubling}});
    Crew::Task task(*ranks.crew(), "double", {});
    for (int rank = 1; rank < 4; ++rank) task.ask(rank, question(10 * rank));
    for (int rank = 3; rank > 0; --rank) {
        const auto bytes = task.answer(rank);
        EXPECT_EQ(WireReader(bytes).next<int>(), 20 * rank);
    }
}

TEST(CrewThreads, ErrorsNameTheRankAndKeepTheirKind)
{
    ThreadCrew ranks(3, {{"double", make_doubling}});
    Crew::Task task(*ranks.crew(), "double", {});
    task.ask(2, question(-1));
    try {
        task.answer(2);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.field(), "number");
        EXPECT_NE(std::string(error.what()).find("rank 2"), std::string::npos);
    }
    task.ask(1, question(-2));
    try {
        task.answer(1);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos);
    }
    task.ask(1, question(4));  // it serves on
    EXPECT_EQ(WireReader(task.answer(1)).next<int>(), 8);
}

TEST(CrewThreads, WhatIsNoLongerWantedIsGivenUp)
{
    ThreadCrew ranks(2, {{"double", make_doubling}});
    Crew::Task task(*ranks.crew(), "double", {});
    task.ask(1, question(0));  // takes for ever
    EXPECT_THROW(task.answer(1, [] { throw Cancelled("enough"); }), Cancelled);
    task.ask(1, question(21));
    EXPECT_EQ(WireReader(task.answer(1)).next<int>(), 42);
    task.ask(1, question(0));  // and the crew may go all the same
}

TEST(CrewThreads, RanksThatMayUseTheSameCoresShareThem)
{
    EXPECT_EQ(cores_of(nullptr), thread_count(0));
    for (const int count : {1, 2, 3}) {
        ThreadCrew ranks(count);
        EXPECT_EQ(cores_of(ranks.crew()), std::max(1, thread_count(0) / count));
        EXPECT_EQ(ranks.crew()->threads(5), 5);  // where somebody says how many
    }
}

TEST(Crew, RefusesAnotherKindOfDevice)
{
    const SimulationOptions options{.dt = 1e-3};
    EXPECT_NO_THROW(check_same_device(patchwork(), options, device_of(patchwork(), options)));
    EXPECT_THROW(check_same_device(patchwork(), options, "cpu/abacus"), Error);
}

// ---- The same bits ----

std::vector<Rollout> rollouts_by(Crew* crew, int first = 0)
{
    GenerateOptions options = short_falls(21, 0.1);
    options.crew = crew;
    std::vector<Rollout> made;
    generate(patchwork(), options, first,
             [&](int, const Rollout& rollout) { made.push_back(rollout); });
    return made;
}

TEST(RanksThreads, GenerateTheSameRollouts)
{
    const std::vector<Rollout> expected = rollouts_by(nullptr);
    for (const int count : {1, 2, 3, 4}) {
        ThreadCrew ranks(count);
        const std::vector<Rollout> found = rollouts_by(ranks.crew(), count);
        EXPECT_TRUE(ranks.all_answered());
        ASSERT_EQ(found.size(), expected.size() - std::size_t(count));
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Rollout& one = expected[i + std::size_t(count)];
            EXPECT_EQ(found[i].position, one.position);
            EXPECT_EQ(found[i].velocity, one.velocity);
            EXPECT_EQ(found[i].acceleration, one.acceleration);
        }
    }
}

TEST(RanksThreads, CancelAndGoOn)
{
    ThreadCrew ranks(3);
    GenerateOptions options = short_falls(200, 0.5);
    options.crew = ranks.crew();
    int made = 0, calls = 0;
    const Progress third([&](const ProgressUpdate&) { return ++calls < 3; });
    EXPECT_THROW(generate(
                     patchwork(), options, 0, [&](int, const Rollout&) { ++made; }, third),
                 Cancelled);
    EXPECT_LT(made, 200);
    EXPECT_EQ(rollouts_by(ranks.crew())[20].position, rollouts_by(nullptr)[20].position);
}

TEST(RanksThreads, TellTheSameBlowUp)
{
    GenerateOptions options = short_falls(20, 0.4);
    options.dt = 0.2;
    options.stride = 1;
    const auto message = [&](Crew* crew) -> std::string {
        options.crew = crew;
        try {
            generate(patchwork(), options, 0, [](int, const Rollout&) {});
        } catch (const Failure& failure) {
            return failure.what();
        }
        return "none";
    };
    ThreadCrew ranks(2);
    EXPECT_EQ(message(ranks.crew()), message(nullptr));
    EXPECT_NE(message(nullptr), "none");
}

TEST(RanksThreads, EvaluateTheSame)
{
    const auto error_by = [](Crew* crew) {
        return surrogate_error(patchwork(), patchwork_motion(), Device::automatic, 1, {}, 1, crew);
    };
    const MotionError expected = error_by(nullptr);
    for (const int count : {2, 3}) {
        ThreadCrew ranks(count);
        const MotionError found = error_by(ranks.crew());
        EXPECT_TRUE(ranks.all_answered());
        EXPECT_EQ(found.mean, expected.mean);
        EXPECT_EQ(found.std, expected.std);
        EXPECT_EQ(found.per_rollout, expected.per_rollout);
        EXPECT_EQ(found.over_time, expected.over_time);
    }
}

Identification identified_by(Crew* crew, const Motion& motion, const IdentifyOptions& base)
{
    IdentifyOptions options = base;
    options.crew = crew;
    options.threads = 1;
    return identify(motion, options);
}

IdentifyOptions springs_of_a_grid()
{
    IdentifyOptions options;
    options.grid = {6, 6, true, true, true, true};
    return options;
}

void expect_same_identification(const Motion& motion, const IdentifyOptions& options)
{
    const Identification expected = identified_by(nullptr, motion, options);
    for (const int count : {2, 4}) {
        ThreadCrew ranks(count);
        const Identification found = identified_by(ranks.crew(), motion, options);
        EXPECT_TRUE(ranks.all_answered());
        EXPECT_EQ(parameters_of(found.cloth), parameters_of(expected.cloth));
        EXPECT_EQ(found.cloth.errors->parameters, expected.cloth.errors->parameters);
        EXPECT_EQ(found.equation_error, expected.equation_error);
        EXPECT_EQ(found.equation_count, expected.equation_count);
    }
}

TEST(RanksThreads, IdentifyTheSameFromForces)
{
    expect_same_identification(patchwork_motion(), springs_of_a_grid());
}

TEST(RanksThreads, IdentifyTheSameFromWindows)
{
    IdentifyOptions options = springs_of_a_grid();
    options.form = BalanceForm::weak;
    options.instruments = Instruments::frames;
    expect_same_identification(patchwork_motion(), options);
}

TEST(RanksThreads, IdentifyTheSameTrianglesInRegions)
{
    const SheetMesh mesh = make_grid_mesh({2.5, 2.5, 3.6}, {6, 6}, MeshCut::diagonal);
    const Cloth cloth = make_mesh_cloth({2.5, 2.5, 3.6}, mesh, {});
    IdentifyOptions options = springs_of_a_grid();
    options.cloth = cloth;
    Regions regions;
    regions.count = 2;
    for (const Element type : {Element::triangle, Element::hinge}) {
        std::vector<int>& of = regions.of[std::size_t(type)];
        for (std::size_t e = 0; e < element_count(cloth, type); ++e) of.push_back(int(e / 7 % 2));
    }
    options.regions = regions;
    expect_same_identification(patchwork_motion(), options);
}

void expect_same_training(const TrainOptions& base)
{
    const auto trained_by = [&](Crew* crew) {
        TrainOptions options = base;
        options.crew = crew;
        options.threads = 1;
        return train(patchwork_motion(), options, nullptr, {});
    };
    const TrainResult expected = trained_by(nullptr);
    for (const int count : {2, 3}) {
        ThreadCrew ranks(count);
        const TrainResult found = trained_by(ranks.crew());
        EXPECT_TRUE(ranks.all_answered());
        EXPECT_EQ(found.state.parameters, expected.state.parameters);
        EXPECT_EQ(found.validation_rmse, expected.validation_rmse);
        EXPECT_EQ(found.final_loss, expected.final_loss);
    }
}

TEST(RanksThreads, TrainTheSameByPublishedLosses)
{
    TrainOptions options = quick_options(6, 6, dual_pass(2, 2, {}));
    options.batch = 37;  // groups of lanes that are not full
    options.stiffness_start = 20;
    options.damping_start = 1;
    expect_same_training(options);
}

TEST(RanksThreads, LearnTheSameByTrajectories)
{
    const auto learned_by = [&](Crew* crew) {
        LearnOptions options;
        options.method = LearnMethod::trajectory;
        options.law = SpringLaw{};
        options.horizons = {{3, 0.2}};
        options.homogeneous_iterations = 2;
        options.batch = 11;
        options.threads = 1;
        options.crew = crew;
        return learn(patchwork_motion(), options);
    };
    const Learned expected = learned_by(nullptr);
    for (const int count : {2, 4}) {
        ThreadCrew ranks(count);
        const Learned found = learned_by(ranks.crew());
        EXPECT_TRUE(ranks.all_answered());
        EXPECT_EQ(parameters_of(found.cloth), parameters_of(expected.cloth));
        EXPECT_EQ(found.validation_rmse, expected.validation_rmse);
        ASSERT_EQ(found.log.size(), expected.log.size());
        for (std::size_t i = 0; i < found.log.size(); ++i) {
            EXPECT_EQ(found.log[i].loss.total, expected.log[i].loss.total);
            EXPECT_EQ(found.log[i].gradient_norm, expected.log[i].gradient_norm);
        }
    }
}

// ---- Ranks that read files by themselves ----

// A motion as if it came from a file.
Motion as_file(Motion motion)
{
    motion.source = MotionSource{"motion.h5", {}};
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) motion.source->rollouts.push_back(r);
    return motion;
}

// What other ranks find at its path, and how often they read from it. Single frames do not count:
// fingerprints look at some.
class OtherFile {
  public:
    explicit OtherFile(Motion motion) : motion_(as_file(std::move(motion))) {}

    OpenMotion opener()
    {
        return [this](const std::string&) {
            Motion opened = motion_;
            opened.read = [this](std::size_t rollout, std::size_t first, std::size_t count) {
                if (count > 1) ++reads_;
                return motion_.read(rollout, first, count);
            };
            return opened;
        };
    }
    int reads() const { return reads_; }

  private:
    Motion motion_;
    std::atomic<int> reads_{0};
};

Learned descended_by(Crew* crew)
{
    LearnOptions options;
    options.method = LearnMethod::trajectory;
    options.law = SpringLaw{};
    options.horizons = {{2, 0.2}};
    options.homogeneous_iterations = 1;
    options.batch = 32;  // other ranks have some to read
    options.threads = 1;
    options.crew = crew;
    return learn(as_file(patchwork_motion()), options);
}

// Of the same shape as patchwork_motion(), and with the same header.
Motion stale_motion()
{
    GenerateOptions options = short_falls(12, 1.2);
    options.seed = 4;
    Motion stale = generated_motion(patchwork(), options);
    stale.header = patchwork_motion().header;
    return stale;
}

TEST(RanksThreads, ReadTheSameFileByThemselves)
{
    const Learned expected = descended_by(nullptr);
    for (const int count : {2, 3}) {
        OtherFile file(patchwork_motion());
        ThreadCrew ranks(count, {}, file.opener());
        const Learned found = descended_by(ranks.crew());
        EXPECT_EQ(parameters_of(found.cloth), parameters_of(expected.cloth));
        EXPECT_EQ(found.validation_rmse, expected.validation_rmse);
        EXPECT_GT(file.reads(), 0);
    }
    const Motion motion = as_file(patchwork_motion());
    const Identification one = identified_by(nullptr, motion, springs_of_a_grid());
    OtherFile file(patchwork_motion());
    ThreadCrew ranks(3, {}, file.opener());
    const Identification found = identified_by(ranks.crew(), motion, springs_of_a_grid());
    EXPECT_EQ(parameters_of(found.cloth), parameters_of(one.cloth));
    EXPECT_GT(file.reads(), 0);
}

TEST(RanksThreads, RefuseAnOldFileOfTheSameName)
{
    const Motion motion = as_file(patchwork_motion());
    const Identification one = identified_by(nullptr, motion, springs_of_a_grid());
    const Learned expected = descended_by(nullptr);
    Motion slower = patchwork_motion();
    slower.header.dt *= 2;
    for (const Motion& old : {stale_motion(), slower}) {
        ASSERT_EQ(old.frame_counts, motion.frame_counts);
        OtherFile file(old);
        ThreadCrew ranks(2, {}, file.opener());
        const Identification found = identified_by(ranks.crew(), motion, springs_of_a_grid());
        EXPECT_EQ(parameters_of(found.cloth), parameters_of(one.cloth));
        const Learned learned = descended_by(ranks.crew());
        EXPECT_EQ(parameters_of(learned.cloth), parameters_of(expected.cloth));
        EXPECT_EQ(learned.validation_rmse, expected.validation_rmse);
        EXPECT_EQ(file.reads(), 0);
    }
}

// The first rank has nothing to do but wait for one that reads on and on.
TEST(RanksThreads, AnIdentificationThatWaitsForARankCanBeCancelled)
{
    std::atomic<bool> reading{false}, told{false};
    const auto slow = [&](const std::string&) {
        Motion opened = as_file(patchwork_motion());
        opened.read = [&](std::size_t rollout, std::size_t first, std::size_t count) {
            reading = reading || count > 1;
            for (int i = 0; count > 1 && !told && i < 1000; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            return patchwork_motion().read(rollout, first, count);
        };
        return opened;
    };
    ThreadCrew ranks(2, {}, slow);
    IdentifyOptions options = springs_of_a_grid();
    options.crew = ranks.crew();
    const Progress until_it_reads([&](const ProgressUpdate&) { return !reading; });
    EXPECT_THROW(identify(as_file(patchwork_motion()), options, until_it_reads), Cancelled);
    EXPECT_TRUE(reading);
    told = true;
    const Motion motion = patchwork_motion();
    EXPECT_EQ(parameters_of(identified_by(ranks.crew(), motion, springs_of_a_grid()).cloth),
              parameters_of(identified_by(nullptr, motion, springs_of_a_grid()).cloth));
}

// ---- Programs ----

TEST(ProgramsThreads, RunOnAllRanksAndTellHowTheyEnded)
{
    const TempFolder folder;
    std::vector<Program> programs;
    for (int i = 0; i < 7; ++i) {
        programs.push_back({{"/bin/sh", "-c", fmt::format("echo out {}; exit {}", i, i % 3)},
                            (folder / std::to_string(i)).string()});
    }
    programs.push_back({{"/bin/sh", "-c", "kill -9 $$"}, (folder / "7").string()});
    for (const int count : {1, 3}) {
        ThreadCrew ranks(count);
        std::vector<int> codes(programs.size(), 99);
        run_programs(
            programs, 2, ranks.crew(), [&](std::size_t i, int code) { codes[i] = code; }, [] {});
        EXPECT_EQ(codes, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, -9}));
        EXPECT_EQ(bytes_of(folder / "4"), "out 4\n");
    }
}

// As whoever has started this process may have it: then the system forgets how programs end.
TEST(ProgramsThreads, EndWhereTheirEndIsNotTold)
{
    const TempFolder folder;
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    std::vector<int> codes;
    run_programs(
        {{{"/bin/sh", "-c", "exit 0"}, (folder / "log").string()}}, 1, nullptr,
        [&](std::size_t, int code) { codes.push_back(code); }, [] {});
    std::signal(SIGCHLD, before);
    EXPECT_EQ(codes, std::vector<int>{255});  // not a success
}

// Ranks that serve ignore signals.
TEST(ProgramsThreads, HearTheSignalsThatThisProcessIgnores)
{
    const TempFolder folder;
    std::vector<Program> programs;
    const std::vector<int> signals{SIGINT, SIGTERM, SIGHUP};
    std::vector<void (*)(int)> before;
    for (const int signal : signals) {
        before.push_back(std::signal(signal, SIG_IGN));
        programs.push_back({{"/bin/sh", "-c", fmt::format("kill -{} $$; exit 0", signal)},
                            (folder / std::to_string(signal)).string()});
    }
    std::vector<int> codes(programs.size(), 99);
    run_programs(
        programs, 1, nullptr, [&](std::size_t i, int code) { codes[i] = code; }, [] {});
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before[i]);
    EXPECT_EQ(codes, (std::vector<int>{-SIGINT, -SIGTERM, -SIGHUP}));
}

TEST(ProgramsThreads, AreEndedWithWhatAskedForThem)
{
    const TempFolder folder;
    const std::string mark = (folder / "ended").string();
    const Program patient{{"/bin/sh", "-c",
                           fmt::format("trap 'echo yes >> {}; exit 0' TERM; echo up; "
                                       "while true; do sleep 0.01; done",
                                       mark)},
                          (folder / "log").string()};
    // Until it has begun.
    const auto alive = [&] {
        if (bytes_of(patient.output).size() >= 3) throw Cancelled("enough");
    };
    EXPECT_THROW(run_programs(
                     {patient}, 1, nullptr, [](std::size_t, int) {}, alive),
                 Cancelled);
    EXPECT_EQ(bytes_of(mark), "yes\n");
}

}  // namespace

}  // namespace springtime
