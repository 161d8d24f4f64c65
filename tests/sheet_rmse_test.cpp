#include <gtest/gtest.h>

#include "springtime/motion.h"

namespace springtime {

namespace {

// Both sheets take the same affine shape, which resampling reproduces; then one is shifted.
TEST(SheetRmse, IsTheDistanceOfEqualPointsWhateverTheGrids)
{
    const auto cloth = [](int rows, int cols) {
        return make_grid_cloth({3, 2, 1}, {.rows = rows, .cols = cols}, MaterialField::uniform(1),
                               MaterialField::uniform(0));
    };
    const auto bent = [](const Cloth& of, const Vec3d& shift) {
        State state = flat_state(of);
        for (Vec3d& x : state.position) x = Vec3d{x.x + 0.5 * x.z, 0.3 * x.x, -x.z} + shift;
        return state;
    };
    const Cloth coarse = cloth(4, 6), fine = cloth(9, 7);
    EXPECT_NEAR(sheet_rmse(coarse, bent(coarse, {}), fine, bent(fine, {})), 0, 1e-14);
    EXPECT_NEAR(sheet_rmse(coarse, bent(coarse, {0, 3, 4}), fine, bent(fine, {})), 5, 1e-14);
    EXPECT_NEAR(sheet_rmse(fine, bent(fine, {0, 3, 4}), coarse, bent(coarse, {})), 5, 1e-14);
}

}  // namespace

}  // namespace springtime
