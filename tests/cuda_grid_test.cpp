// The kernels for grids of springs against the reference in double: there, and back.
#include "cuda_kernels.h"

namespace springtime {
namespace {

// A grid on which no two elements are alike but for their rest lengths.
Cloth even_grid(const GridOptions& options, const SpringLaw& law)
{
    Cloth cloth = uneven_grid(options);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        cloth.springs.rest_length[s] =
            std::hypot(cloth.rest[b].u - cloth.rest[a].u, cloth.rest[b].v - cloth.rest[a].v);
    }
    add_uneven_law(cloth, law);
    return cloth;
}

struct Case {
    std::string name;
    GridOptions options;
    SpringLaw law;
    bool masses = false;

    Cloth cloth() const { return even_grid(options, law); }
    friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

Case sized(int rows, int cols, const char* law, bool masses = false)
{
    return {std::to_string(rows) + "x" + std::to_string(cols) + "_" + law,
            {rows, cols, true, true, true, true},
            law_named(law),
            masses};
}

class CudaGrid : public testing::TestWithParam<Case> {};

TEST_P(CudaGrid, AdvancesAsTheReference)
{
    const Cloth cloth = GetParam().cloth();
    const auto kernels = cuda::make_grid_kernels(cloth, kWindy);
    ASSERT_TRUE(kernels);
    expect_advances_as_the_reference(*kernels, cloth, on_cpu() ? 7 : 60);
}

TEST_P(CudaGrid, RetreatsAsTheReference)
{
    const Cloth cloth = GetParam().cloth();
    const auto kernels = cuda::make_grid_kernels(cloth, kWindy);
    ASSERT_TRUE(kernels);
    expect_retreats_as_the_reference(*kernels, cloth, GetParam().masses, on_cpu() ? 8 : 40);
}

std::vector<Case> cases()
{
    const GridOptions some{6, 9, true, false, true, false};
    std::vector<Case> all{
        sized(5, 9, "published"),
        sized(6, 9, "full", true),
        {"BendsAlone", {6, 9, true, false, false, false}, {{}, false, true}},
        {"CompressionAlone", some, {{0}, false, false}},
        {"DashpotsAlone", some, {{}, true, false}, true},
        {"Rope", {1, 12, true, false, false, true}, law_named("full")},
        sized(33, 8, "full"),         // two blocks of narrow bands
        sized(17, 34, "full", true),  // two blocks of wide bands
        sized(9, 70, "published"),    // two blocks of the widest
    };
    if (on_cpu()) return all;
    for (const char* law : {"published", "full"}) {
        for (const int size : {16, 31, 32, 61, 64, 128}) all.push_back(sized(size, size, law));
        all.push_back(sized(20, 45, law, true));
        all.push_back(sized(90, 17, law));
        all.push_back(sized(13, 128, law));
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaGrid, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(CudaGrid, LeavesOtherClothsToLists)
{
    const SpringLaw full = law_named("full");
    EXPECT_TRUE(cuda::make_grid_kernels(even_grid({6, 9}, full), kWindy));
    EXPECT_FALSE(
        cuda::make_grid_kernels(even_grid({6, 9}, manifold_law()), kWindy));  // three ranges
    EXPECT_FALSE(cuda::make_grid_kernels(uneven_grid({6, 9}), kWindy));       // uneven rest lengths
    EXPECT_FALSE(cuda::make_grid_kernels(even_grid({6, 4}, full), kWindy));   // too narrow
    EXPECT_FALSE(cuda::make_grid_kernels(even_grid({6, 200}, full), kWindy));  // too wide
    Cloth loose = even_grid({6, 9}, full);
    loose.springs.ends[0] = {0, 3};
    EXPECT_FALSE(cuda::make_grid_kernels(loose, kWindy));
    loose.grid = std::nullopt;
    EXPECT_FALSE(cuda::make_grid_kernels(loose, kWindy));
}

TEST(CudaGrid, LanesAndLaunchesDoNotMatter)
{
    const Cloth cloth = even_grid({6, 9}, law_named("full"));
    expect_lanes_are_their_own(*cuda::make_grid_kernels(cloth, kWindy), cloth);
}

}  // namespace
}  // namespace springtime
