// Cost of a step on one thread: plain scalar loops against the simd backend with one state per
// lane, and with a single state. The 32 x 32 cloth of springs against a loop in float, the 31 x 31
// sheet of triangles and hinges against one in double. The full law of springs against the plain
// one, which take turns. Prints JSON.
#include <fmt/core.h>

#include "backends/reference/plain_lane.h"
#include "backends/simd/simd.h"
#include "cloths.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

struct Times {
    double scalar_us, lanes_us_per_clip, single_us;
};

template <class Real>
Times measure(const Cloth& cloth, const KernelSet& kernels)
{
    constexpr int kSteps = 400, kRounds = 15, kClips = 16;
    const SimulationOptions options;
    const GenerateOptions rollouts;
    const RolloutStart start = random_start(cloth, rollouts, 0);

    const ForceTable<Real> table(cloth, options.environment);
    PlainLane<Real> scalar(cloth, table, options);
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

std::string text_of(const Times& times)
{
    return fmt::format(
        "\"scalar_us\": {:.3f}, \"lanes_us_per_clip\": {:.3f}, \"single_us\": {:.3f}, "
        "\"lanes_ratio\": {:.2f}, \"single_ratio\": {:.2f}",
        times.scalar_us, times.lanes_us_per_clip, times.single_us,
        times.scalar_us / times.lanes_us_per_clip, times.scalar_us / times.single_us);
}

// The widest set, and below it all that the machine has.
template <class Real>
std::string measure_all(const Cloth& cloth)
{
    std::string sets;
    Times best{};
    for (const KernelSet& kernels : instruction_sets()) {
        best = measure<Real>(cloth, kernels);
        sets += fmt::format("{}\"{}\": {{\"lanes_us_per_clip\": {:.3f}, \"single_us\": {:.3f}}}",
                            sets.empty() ? "" : ", ", kernels.name, best.lanes_us_per_clip,
                            best.single_us);
    }
    return fmt::format("{}, \"all_sets\": {{{}}}", text_of(best), sets);
}

// The full law compared with the plain one in the same moments.
std::string measure_law(const Cloth& plain, const Cloth& lawful, const KernelSet& kernels)
{
    constexpr int kSteps = 20, kRounds = 200;
    const SimulationOptions options;
    std::vector<std::unique_ptr<Stepper>> steppers;
    for (const Cloth* cloth : {&plain, &lawful}) {
        steppers.push_back(make_simd_batch(*cloth, options, kernels));
        steppers.push_back(make_simd_single(*cloth, options, kernels));
    }
    std::vector<std::function<void()>> candidates;
    for (const auto& stepper : steppers) {
        for (int lane = 0; lane < stepper->lane_count(); ++lane) {
            const RolloutStart start = random_start(plain, {}, lane);
            stepper->load(lane, start.state, start.handles);
        }
        candidates.push_back([&] { stepper->advance(kSteps); });
    }
    const auto best = bench::best_seconds(candidates, kRounds);
    return fmt::format("{{\"lanes\": {:.2f}, \"single\": {:.2f}}}", best[2] / best[0],
                       best[3] / best[1]);
}

std::string measure_laws(const Cloth& plain)
{
    std::string sets;
    for (const KernelSet& kernels : instruction_sets()) {
        sets += fmt::format("{}\"{}\": {}", sets.empty() ? "" : ", ", kernels.name,
                            measure_law(plain, bench::full_law_cloth(true), kernels));
    }
    return sets +
           fmt::format(", \"without_bending_springs\": {}",
                       measure_law(plain, bench::full_law_cloth(false), best_instruction_set()));
}

}  // namespace

int main()
{
    const Cloth cloth = bench::spring_cloth();
    const Cloth mesh = bench::reference_mesh();
    fmt::print(
        "{{\"instruction_set\": \"{}\", \"springs\": {}, {},\n \"full_law_over_plain\": {{{}}},\n "
        "\"mesh\": {{\"triangles\": {}, \"hinges\": {}, {}}}}}\n",
        best_instruction_set().name, cloth.springs.spring_count(), measure_all<float>(cloth),
        measure_laws(cloth), mesh.triangles.triangle_count(), mesh.hinges.hinge_count(),
        measure_all<double>(mesh));
}
