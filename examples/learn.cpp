// Learns a cloth from arrays in memory, as a camera sees its points, and runs it on motion that it
// has not seen. Needs the components sim and learn alone.
#include <cmath>
#include <cstdio>

#include "springtime/evaluate.h"
#include "springtime/generate.h"
#include "springtime/learn.h"

using namespace springtime;

namespace {

constexpr double kFramesPerSecond = 60;
const std::vector<int> kHeld{0, 7};  // the northern corners of 8 x 8 points

// What a camera would see of a cloth that falls while its corners are held: three recordings.
// Yours come from a tracker instead: frames x points x 3 numbers [m], NaN where a point is not
// seen.
Motion filmed(const Cloth& cloth, int seed)
{
    GenerateOptions fall;
    fall.rollouts = 3;
    fall.seconds = 3;
    fall.dt = 1 / (16 * kFramesPerSecond);
    fall.stride = 16;
    fall.pinned = kHeld;
    fall.seed = std::uint64_t(seed);
    std::vector<std::vector<float>> positions;
    generate(cloth, fall, 0,
             [&](int, const Rollout& rollout) { positions.push_back(rollout.position); });
    const std::vector<std::span<const float>> recordings(positions.begin(), positions.end());
    return Motion::from_arrays(cloth.sheet, cloth.rest, kFramesPerSecond, recordings,
                               {.pinned = kHeld});
}

}  // namespace

int main()
{
    const Cloth truth = make_grid_cloth(
        {.length = 1.0, .width = 1.0, .mass = 0.2}, {.rows = 8, .cols = 8},
        MaterialField::uniform(30).paint({MaterialField::Patch{{0.3, 0.7}, {0.3, 0.7}}, 60}),
        MaterialField::uniform(0.05));
    const Progress progress([](const ProgressUpdate& update) {
        std::fprintf(stderr, "\r%.*s %3.0f %%   ", int(update.stage.size()), update.stage.data(),
                     100 * update.done / update.total);
        return true;  // false would cancel
    });
    const Learned learned = learn(filmed(truth, 1), {.grid = Grid{8, 8}}, progress);
    std::fputs(learned.summary.c_str(), stderr);

    const Motion unseen = filmed(truth, 2);
    const double error =
        surrogate_error(learned.cloth, unseen, Device::automatic, 0, {}, learned.substeps).mean;
    std::printf("motion RMSE on unseen motion: %.2g m, %.0f times better than \"nothing moves\"\n",
                error, static_error(unseen).mean / error);
}
