#include "generating.h"

#include "config.h"
#include "progress.h"

namespace springtime::app {

namespace fs = std::filesystem;

void adopt_part_file(const fs::path& out)
{
    adopt_part(out, [&](const MotionHeader& file, const MotionHeader& part) {
        try {
            check_same_config(file.config, part.config, "rollouts", out.string());
        } catch (const Error&) {
            throw Error("{0}: is of another run than {0}.part, which was interrupted; remove one",
                        out.string());
        }
    });
}

// A resumed file is written anew with the old rollouts in front: the last good one stays until the
// new one is complete, and both ways make the same bytes.
GeneratedFile generate_file(const fs::path& out, const Cloth& cloth, const GenerateOptions& run,
                            const std::string& config, const Existing& existing,
                            const CommonOptions& common, const ObserveOptions& camera)
{
    MotionHeader header = header_for(cloth, {run.dt, run.environment, run.device}, run.stride,
                                     run.seed, run.rollouts, config);
    observe_header(header, camera);
    std::optional<MotionReader> old;
    if (existing.resume && fs::exists(out)) {
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
    auto writer =
        std::make_unique<MotionWriter>(out, header, existing.resume || existing.overwrite);
    outcome.path = out;
    const auto close = [&] {
        // What is there gives way to a whole file, or to one with the same rollouts and more.
        const bool stays = fs::exists(out) && !old && !outcome.finished;
        old.reset();
        if (stays) outcome.path += ".part";
        if (outcome.rollouts > 0 && !stays) writer->finish();
        writer.reset();
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
