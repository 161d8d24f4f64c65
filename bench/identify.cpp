// Cost of linear identification against the size of the grid: 8 rollouts of 2 s, a stiffness and a
// damping for every spring. Then springs with three knots on the motion of finite elements, where
// many parameters are at their bounds. Prints JSON. Sizes may be given: scripts/bench identify 128
#include <fmt/core.h>
#include <sys/resource.h>

#include <cmath>
#include <string>
#include <vector>

#include "learn/balance.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

double cpu_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

double peak_gigabytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / (1 << 20);
}

Motion motion_of(const Cloth& cloth, double anchor_radius)
{
    GenerateOptions options;
    options.rollouts = 8;
    options.seconds = 2;
    options.anchor_radius = anchor_radius;
    std::vector<Rollout> rollouts;
    generate(cloth, options, 0, [&](int, const Rollout& rollout) { rollouts.push_back(rollout); });
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = options.dt;
    header.stride = options.stride;
    header.environment = options.environment;
    return Motion::from_rollouts(header, std::move(rollouts));
}

struct Cost {
    double springs = 0, seconds = 0, cpu = 0;
};

Cost measure(const Motion& motion, const GridOptions& grid, const SpringLaw& law)
{
    IdentifyOptions options;
    options.grid = grid;
    options.law = law;
    Identification found;
    const double before = cpu_seconds();
    const double seconds = bench::seconds_of([&] { found = identify(motion, options); });
    return {double(found.cloth.springs.spring_count()), seconds, cpu_seconds() - before};
}

// Particles of 0.1 kg, half a metre apart: a step of 1 ms is stable at every size.
Cost measure_springs(int side)
{
    const Sheet sheet{0.5 * (side - 1), 0.5 * (side - 1), 0.1 * side * side};
    const GridOptions grid{side, side, true, true, true, true};
    const Cloth cloth =
        make_grid_cloth(sheet, grid, MaterialField::uniform(50), MaterialField::uniform(6));
    const Cost cost = measure(motion_of(cloth, 0), grid, {});
    const Elimination elimination = NormalBlocks(cloth).elimination(cloth.rest);
    fmt::print(
        " {{\"grid\": {0}, \"springs\": {1:.0f}, \"seconds\": {2:.2f}, \"cpu_seconds\": {3:.2f},\n"
        "  \"factor_entries\": {4:.3g}, \"factor_multiplications\": {5:.3g}, "
        "\"peak_gigabytes_so_far\": {6:.2f}}}",
        side, cost.springs, cost.seconds, cost.cpu, elimination.entry_count(),
        elimination.multiplications(), peak_gigabytes());
    return cost;
}

Cost measure_knots()
{
    const Sheet sheet{15.5, 15.5, 30};
    const Cloth cloth =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {16, 16}, MeshCut::alternating), {});
    SpringLaw law;
    law.knots = {0, 0.02, 0.1};
    return measure(motion_of(cloth, 1), {16, 16, true, true, true, true}, law);
}

}  // namespace

int main(int argc, char** argv)
{
    std::vector<int> sides;
    for (int i = 1; i < argc; ++i) sides.push_back(std::stoi(argv[i]));
    if (sides.empty()) sides = {16, 32, 64};
    std::vector<Cost> costs;
    fmt::print("{{\"springs\": [\n");
    for (const int side : sides) {
        if (!costs.empty()) fmt::print(",\n");
        costs.push_back(measure_springs(side));
    }
    fmt::print("],\n");
    if (costs.size() > 1) {
        const Cost &last = costs.back(), &before = costs[costs.size() - 2];
        fmt::print(" \"cpu_grows_as_springs_to\": {:.2f},\n",
                   std::log(last.cpu / before.cpu) / std::log(last.springs / before.springs));
    }
    const Cost knots = measure_knots();
    fmt::print(
        " \"three_knots_16_on_finite_elements\": {{\"seconds\": {:.2f}, \"cpu_seconds\": "
        "{:.2f}}}}}\n",
        knots.seconds, knots.cpu);
}
