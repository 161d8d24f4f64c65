// Cost of a step of the 32 x 32 cloth on one thread: a plain scalar float loop against the simd
// backend with one state per lane, and with a single state. Prints JSON.
#include <fmt/core.h>

#include "backends/reference/plain_lane.h"
#include "backends/simd/simd.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

struct Times {
    double scalar_us, lanes_us_per_clip, single_us;
};

Times measure(const Cloth& cloth, const KernelSet& kernels)
{
    constexpr int kSteps = 400, kRounds = 15, kClips = 16;
    const SimulationOptions options;
    const GenerateOptions rollouts;
    const RolloutStart start = random_start(cloth, rollouts, 0);

    const ForceTable<float> table(cloth, options.environment);
    PlainLane<float> scalar(table, options);
    scalar.load(start.state, start.handles);
    const auto single = make_simd_single(cloth, options, kernels);
    single->load(0, start.state, start.handles);
    std::vector<std::unique_ptr<Stepper>> batches;
    for (int first = 0; first < kClips; first += kernels.width) {
        batches.push_back(make_simd_batch(cloth, options, kernels));
        for (int lane = 0; lane < kernels.width; ++lane) {
            const RolloutStart other = random_start(cloth, rollouts, first + lane);
            batches.back()->load(lane, other.state, other.handles);
        }
    }
    const auto best =
        bench::best_seconds({[&] { scalar.advance(kSteps); }, [&] { single->advance(kSteps); },
                             [&] {
                                 for (const auto& batch : batches) batch->advance(kSteps);
                             }},
                            kRounds);
    const double to_us = 1e6 / kSteps;
    return {best[0] * to_us, best[2] * to_us / kClips, best[1] * to_us};
}

}  // namespace

int main()
{
    const Cloth cloth =
        make_grid_cloth({}, {}, MaterialField::uniform(25), MaterialField::uniform(6));
    std::string sets;
    Times best{};
    for (const KernelSet& kernels : instruction_sets()) {
        best = measure(cloth, kernels);
        sets += fmt::format("{}\"{}\": {{\"lanes_us_per_clip\": {:.3f}, \"single_us\": {:.3f}}}",
                            sets.empty() ? "" : ", ", kernels.name, best.lanes_us_per_clip,
                            best.single_us);
    }
    fmt::print(
        "{{\"springs\": {}, \"instruction_set\": \"{}\", \"scalar_us\": {:.3f}, "
        "\"lanes_us_per_clip\": {:.3f}, \"single_us\": {:.3f}, \"lanes_ratio\": {:.2f}, "
        "\"single_ratio\": {:.2f}, \"all_sets\": {{{}}}}}\n",
        cloth.springs.spring_count(), best_instruction_set().name, best.scalar_us,
        best.lanes_us_per_clip, best.single_us, best.scalar_us / best.lanes_us_per_clip,
        best.scalar_us / best.single_us, sets);
}
