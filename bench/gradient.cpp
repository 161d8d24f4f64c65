// Cost of a gradient on one thread: 16 clips of 500 steps of the 32 x 32 cloth, in lanes. The plain
// stepper, the way there with a tape, and the way back. Then the full law of springs against the
// plain one, which take turns. Then the sheet of triangles and hinges, without and with fibres, and
// coupled springs. Prints JSON.
#include <fmt/core.h>

#include "backends/simd/simd.h"
#include "cloths.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

constexpr int kSteps = 500, kRounds = 7, kClips = 16;

struct Times {
    double forward_us, forward_tape_us, backward_us;  // per clip and step
};

// As many groups of lanes as hold the clips; every group is made and run by itself.
Times measure(const Cloth& cloth, const KernelSet& kernels)
{
    const SimulationOptions options;
    const GenerateOptions rollouts;
    std::vector<std::unique_ptr<Stepper>> steppers;
    std::vector<std::unique_ptr<Tape<float>>> tapes;
    for (int first = 0; first < kClips; first += kernels.width) {
        steppers.push_back(make_simd_batch(cloth, options, kernels));
        tapes.push_back(make_simd_tape(cloth, options, {}, kernels));
    }
    const auto load = [&](auto& group, int index) {
        for (int lane = 0; lane < kernels.width; ++lane) {
            const RolloutStart start = random_start(cloth, rollouts, index * kernels.width + lane);
            group.load(lane, start.state, start.handles);
        }
    };
    std::vector<double> best(3, 1e30);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < tapes.size(); ++i) {
            load(*steppers[i], static_cast<int>(i));
            tapes[i]->begin(kSteps);
            load(*tapes[i], static_cast<int>(i));
        }
        const auto times =
            bench::best_seconds({[&] {
                                     for (const auto& stepper : steppers) stepper->advance(kSteps);
                                 },
                                 [&] {
                                     for (const auto& tape : tapes) tape->advance(kSteps);
                                 },
                                 [&] {
                                     for (const auto& tape : tapes) {
                                         tape->begin_back();
                                         for (float& adjoint : tape->position_adjoint())
                                             adjoint = 1e-3f;
                                         tape->retreat(kSteps);
                                     }
                                 }},
                                1);
        for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], times[i]);
    }
    const double to_us = 1e6 / (double(kSteps) * kClips);
    return {best[0] * to_us, best[1] * to_us, best[2] * to_us};
}

std::string text_of(const Times& times)
{
    return fmt::format(
        "\"forward_us_per_clip_step\": {:.3f}, \"forward_tape_us_per_clip_step\": {:.3f}, "
        "\"backward_us_per_clip_step\": {:.3f}, \"ratio\": {:.2f}",
        times.forward_us, times.forward_tape_us, times.backward_us,
        times.backward_us / times.forward_us);
}

// Seconds of the way there and of the way back, of one group of lanes.
struct Ways {
    double there = 1e30, back = 1e30;

    void run(Tape<float>& tape, const Cloth& cloth, int steps)
    {
        tape.begin(steps);
        for (int lane = 0; lane < tape.lane_count(); ++lane) {
            const RolloutStart start = random_start(cloth, {}, lane);
            tape.load(lane, start.state, start.handles);
        }
        there = std::min(there, bench::seconds_of([&] { tape.advance(steps); }));
        tape.begin_back();
        for (float& adjoint : tape.position_adjoint()) adjoint = 1e-3f;
        back = std::min(back, bench::seconds_of([&] { tape.retreat(steps); }));
    }
};

std::string measure_law(const Cloth& plain, const Cloth& lawful)
{
    constexpr int kFew = 50, kTurns = 40;
    const auto plain_tape = make_simd_tape(plain, {}, {}, best_instruction_set());
    const auto lawful_tape = make_simd_tape(lawful, {}, {}, best_instruction_set());
    Ways of_plain, of_law;
    for (int turn = 0; turn < kTurns; ++turn) {
        of_plain.run(*plain_tape, plain, kFew);
        of_law.run(*lawful_tape, lawful, kFew);
    }
    return fmt::format("{{\"forward_tape\": {:.2f}, \"backward\": {:.2f}}}",
                       of_law.there / of_plain.there, of_law.back / of_plain.back);
}

}  // namespace

int main()
{
    const Cloth cloth = bench::spring_cloth();
    std::string sets, best;
    for (const KernelSet& kernels : instruction_sets()) {
        best = text_of(measure(cloth, kernels));
        sets += fmt::format("{}\"{}\": {{{}}}", sets.empty() ? "" : ", ", kernels.name, best);
    }
    fmt::print(
        "{{\"springs\": {}, \"instruction_set\": \"{}\", {}, \"all_sets\": {{{}}},\n "
        "\"full_law_over_plain\": {}, \"without_bending_springs\": {},\n \"mesh\": {{{}}},\n "
        "\"woven_mesh\": {{{}}},\n \"coupled\": {{{}}}}}\n",
        cloth.springs.spring_count(), best_instruction_set().name, best, sets,
        measure_law(cloth, bench::full_law_cloth(true)),
        measure_law(cloth, bench::full_law_cloth(false)),
        text_of(measure(bench::reference_mesh(), best_instruction_set())),
        text_of(measure(bench::woven_mesh(), best_instruction_set())),
        text_of(measure(bench::coupled_cloth(), best_instruction_set())));
}
