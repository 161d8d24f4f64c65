// Cost of contact on one thread: a step of 1 ms of the 32 x 32 cloth by itself, lying on obstacles
// and meeting itself. All take turns in one run; times are the best of each. Prints JSON.
#include <fmt/core.h>

#include "backends/simd/simd.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

constexpr int kSteps = 200, kRounds = 25, kSettleSteps = 3000;

struct Scene {
    const char* name;
    SimulationOptions options;
    State start;
};

Obstacle solid(std::vector<Shape> shapes)
{
    Obstacle obstacle;
    obstacle.shapes = std::move(shapes);
    return obstacle;
}

// 128^3 points over a slab that is larger than the sheet, with the distance to it.
Obstacle sampled_slab()
{
    const Obstacle slab = solid({BoxShape{{0, -4, 0}, {9, 4, 9}, 1}});
    auto grid = std::make_shared<DistanceGrid>();
    grid->size = {128, 128, 128};
    grid->spacing = 20.0 / 127;
    grid->origin = {-10, -14, -10};
    for (int z = 0; z < 128; ++z) {
        for (int y = 0; y < 128; ++y) {
            for (int x = 0; x < 128; ++x) {
                const Vec3d at =
                    grid->origin + grid->spacing * Vec3d{double(x), double(y), double(z)};
                grid->distance.push_back(float(signed_distance(slab, at, 0)));
            }
        }
    }
    return solid({GridShape{grid}});
}

SimulationOptions with(std::vector<Obstacle> obstacles, double self_distance)
{
    SimulationOptions options;
    options.obstacles = std::move(obstacles);
    options.thickness = 0.05;
    options.self_distance = self_distance;
    return options;
}

// The sheet standing on its edge: it falls into folds.
State upright(const Cloth& cloth)
{
    State state = flat_state(cloth);
    for (Vec3d& x : state.position) x = {x.x, x.z + 7.8, 0.05 * x.z + 0.02 * x.x};
    return state;
}

std::vector<Scene> scenes(const Cloth& cloth)
{
    const State flat = flat_state(cloth);
    const Obstacle floor = solid({PlaneShape{}});
    return {
        {"free", with({}, 0), flat},
        {"plane", with({floor}, 0), flat},
        {"sphere", with({solid({CapsuleShape{{0, -4, 0}, {0, -4, 0}, 4}})}, 0), flat},
        {"animal", with({make_animal(10)}, 0), flat},
        {"grid_128", with({sampled_slab()}, 0), flat},
        {"self_flat", with({floor}, 0.4), flat},
        {"self_folded", with({floor}, 0.4), upright(cloth)},
    };
}

}  // namespace

int main()
{
    const Cloth cloth = make_grid_cloth({15.5, 15.5, 102.4}, {32, 32}, MaterialField::uniform(25),
                                        MaterialField::uniform(6));
    const std::vector<Scene> all = scenes(cloth);
    std::vector<std::unique_ptr<Stepper>> steppers;
    std::vector<std::function<void()>> candidates;
    for (const Scene& scene : all) {
        steppers.push_back(make_single_stepper(cloth, scene.options));
        steppers.back()->load(0, scene.start, {});
        steppers.back()->advance(kSettleSteps);
        candidates.push_back([stepper = steppers.back().get()] { stepper->advance(kSteps); });
    }
    const auto best = bench::best_seconds(candidates, kRounds);
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double step = best[i] / kSteps;
        State state = all[i].start;
        steppers[i]->store(0, state);
        int touching = 0;  // within twice the thickness
        for (const Vec3d& x : state.position) {
            for (const Obstacle& obstacle : all[i].options.obstacles) {
                touching += signed_distance(obstacle, x, 0) < 2 * all[i].options.thickness;
            }
        }
        text += fmt::format(
            ", \"{}\": {{\"us\": {:.2f}, \"times_real_time\": {:.0f}, "
            "\"ratio\": {:.2f}, \"particles_touching\": {}}}",
            all[i].name, step * 1e6, all[i].options.dt / step, best[i] / best[0], touching);
    }
    fmt::print("{{\"device\": \"{}\"{}}}\n", steppers[0]->name(), text);
}
