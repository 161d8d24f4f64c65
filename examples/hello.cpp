// A cloth of 16 x 16 particles, held at two corners, for one second.
#include <algorithm>
#include <cstdio>

#include "springtime/springtime.h"

using namespace springtime;

int main()
{
    const Sheet sheet{.length = 1.0, .width = 1.0, .mass = 0.2};
    const Cloth cloth = make_grid_cloth(sheet, {.rows = 16, .cols = 16}, MaterialField::uniform(50),
                                        MaterialField::uniform(0.01));
    Handles pins;
    for (const char* corner : {"corner-nw", "corner-ne"}) {
        pins.particles.push_back(particles_named(cloth, corner).front());
    }
    Simulation simulation(cloth, flat_state(cloth), pins, {.dt = 1e-3});
    if (const auto report = simulation.advance(1000)) {
        std::puts(describe(*report, cloth, simulation.options()).c_str());
        return 1;
    }
    double lowest = 0;
    for (const Vec3d& x : simulation.state().position) lowest = std::min(lowest, x.y);
    std::printf("lowest point after %.1f s: %.3f m\n", simulation.state().time, lowest);
}
