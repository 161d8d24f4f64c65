// A cloth of 16 x 16 particles, held at two corners, for one second. Needs springtime::sim alone.
#include <algorithm>
#include <cstdio>

#include "springtime/simulation.h"

using namespace springtime;

int main()
{
    const Sheet sheet{.length = 1.0, .width = 1.0, .mass = 0.2};
    const Cloth cloth = make_grid_cloth(sheet, {.rows = 16, .cols = 16}, MaterialField::uniform(50),
                                        MaterialField::uniform(0.01));
    Simulation simulation(cloth, {.dt = 1.0 / 60, .substeps = kAutomatic});
    simulation.hold("corner-nw");
    simulation.hold("corner-ne");
    if (const auto report = simulation.advance(60)) {
        std::puts(describe(*report, cloth, simulation.options()).c_str());
        return 1;
    }
    float lowest = 0;
    for (const Vec3f& x : simulation.positions()) lowest = std::min(lowest, x.y);
    std::printf("lowest point after %.1f s: %.3f m\n", simulation.state().time, lowest);
}
