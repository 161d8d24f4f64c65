#include "generating.h"

#include "config.h"
#include "progress.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

fs::path part_of(const fs::path& path)
{
    return fs::path(path) += ".part";
}

}  // namespace

void adopt_part_file(const fs::path& out)
{
    if (fs::exists(out) || !fs::exists(part_of(out))) return;
    try {
        MotionReader{part_of(out)};
    } catch (const Error&) {
        return;  // nothing usable in it: start anew
    }
    fs::rename(part_of(out), out);
}

// A resumed file is written anew with the old rollouts in front: the last good one stays until the
// new one is complete, and both ways make the same bytes.
GeneratedFile generate_file(const fs::path& out, const Cloth& cloth, const GenerateOptions& run,
                            const std::string& config, bool resume, const CommonOptions& common,
                            const ObserveOptions& camera)
{
    MotionHeader header = header_for(cloth, {run.dt, run.environment, run.device}, run.stride,
                                     run.seed, run.rollouts, config);
    observe_header(header, camera);
    std::optional<MotionReader> old;
    if (resume && fs::exists(out)) {
        old.emplace(out);
        check_same_config(old->header().config, header.config, "rollouts", out.string());
        if (old->header().source_cloth != header.source_cloth) {
            throw Error(
                "{}: was made of another cloth: a mesh or a map has changed since; bring the old "
                "one back, or write somewhere else",
                out.string());
        }
        if (int(old->rollout_count()) > run.rollouts) {
            throw Error("{}: holds {} already; ask for at least as many with --rollouts",
                        out.string(), counted(old->rollout_count(), "rollout"));
        }
    }
    check_generate(cloth, run);
    GeneratedFile outcome;
    auto writer = std::make_unique<MotionWriter>(out, header);
    const auto close = [&] {
        old.reset();
        if (outcome.rollouts > 0) writer->finish();
        writer.reset();
        if (outcome.rollouts == 0) fs::remove(part_of(out));
    };
    try {
        for (; old && outcome.rollouts < int(old->rollout_count()); ++outcome.rollouts) {
            writer->append(old->read(outcome.rollouts));
        }
        if (outcome.rollouts > 0) {
            note(common, fmt::format("{} {} there already",
                                     counted(std::size_t(outcome.rollouts), "rollout"),
                                     outcome.rollouts == 1 ? "was" : "were"));
        }
        generate(
            cloth, run, outcome.rollouts,
            [&](int index, const Rollout& rollout) {
                writer->append(observe(rollout, header, camera, run.seed, std::size_t(index)));
                ++outcome.rollouts;
            },
            show_progress(common.quiet));
        outcome.finished = true;
    } catch (const Cancelled&) {
    } catch (...) {
        close();  // what was finished is kept
        throw;
    }
    close();
    return outcome;
}

}  // namespace springtime::app
