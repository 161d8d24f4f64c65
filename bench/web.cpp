// The native side of bench/web.mjs.
//   bench_web cloth NAME    prints the cloth file of a case
//   bench_web run NAME      for every line of standard input, measures a round: prints the seconds
//   of a
//                           step, on one thread, of each instruction set from the narrowest to the
//                           widest
#include <fmt/core.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "backends/simd/simd.h"
#include "cloths.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

constexpr int kSteps = 32;
constexpr double kStep = 1e-4;  // [s]; bench/web.mjs takes the same

Cloth cloth_named(const std::string& name)
{
    if (name == "springs32") return bench::spring_cloth();
    if (name == "springs64") {
        return make_grid_cloth({15.5, 15.5, 102.4}, {64, 64}, MaterialField::uniform(25),
                               MaterialField::uniform(6));
    }
    if (name == "mesh31") return bench::reference_mesh();
    throw Error("case '{}': there are springs32, springs64 and mesh31", name);
}

void run(const Cloth& cloth)
{
    SimulationOptions options;
    options.dt = kStep;
    const Handles pins{particles_named(cloth, "corner-nw"), {}, {}};
    std::vector<std::unique_ptr<Stepper>> steppers;
    for (const KernelSet& kernels : instruction_sets()) {
        steppers.push_back(make_simd_single(cloth, options, kernels));
        steppers.back()->load(0, flat_state(cloth), pins);
    }
    for (std::string line; std::getline(std::cin, line);) {
        for (const auto& stepper : steppers) {
            fmt::print("{} {} ", stepper->name(),
                       bench::seconds_of([&] { stepper->advance(kSteps); }) / kSteps);
        }
        fmt::print("\n");
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 2 || (words[0] != "cloth" && words[0] != "run")) {
        fmt::print(stderr, "bench_web: give cloth or run, and a case\n");
        return 2;
    }
    const Cloth cloth = cloth_named(words[1]);
    if (words[0] == "cloth") {
        fmt::print("{}", cloth_to_json(cloth));
    } else {
        run(cloth);
    }
    return 0;
}
