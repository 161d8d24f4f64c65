// The kernels for lists of elements against the reference in double: there, and back.
#include "backends/cuda/list_accelerations.h"
#include "backends/cuda/list_kernels.h"
#include "cuda_kernels.h"
#include "sim/forces.h"

namespace springtime {
namespace {

using cuda::ListLimits;

// ---- Cloths

// A mesh that is no grid, with some of its points moved.
Cloth loose_mesh(const Grid& grid, MeshCut cut, TriangleDamping damping)
{
    Cloth cloth = uneven_mesh(grid, cut, damping);
    cloth.grid = std::nullopt;
    return cloth;
}

Cloth woven_mesh(TriangleDamping damping)
{
    Cloth cloth = loose_mesh({5, 6}, MeshCut::diagonal, damping);
    add_uneven_fibres(cloth);
    return cloth;
}

Cloth network(const GridOptions& options, const SpringLaw& law)
{
    Cloth cloth = uneven_grid(options);
    add_uneven_law(cloth, law);
    return cloth;
}

Cloth coupled()
{
    Cloth cloth = network({5, 6, true, true, true, true}, law_named("coupled"));
    Random random(13);
    for (double& c : cloth.couplings.stiffness) c = 20 * (random.uniform() - 0.5);
    return cloth;
}

// All types of elements in one.
Cloth everything()
{
    Cloth cloth = coupled();
    const Cloth mesh = uneven_mesh({5, 6}, MeshCut::alternating, TriangleDamping::strain);
    cloth.triangles = mesh.triangles;
    cloth.hinges = mesh.hinges;
    return cloth;
}

struct Case {
    std::string name;
    Cloth cloth;
    bool masses = false;
    friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

std::vector<Case> cases()
{
    return {
        {"Plain", network({5, 6}, law_named("published"))},
        {"Compression", network({5, 6}, {{0}, true, true}), true},
        {"Isotropic", network({4, 5}, {{}, true, false})},
        {"Ranges", network({5, 6}, manifold_law()), true},
        {"Coupled", coupled()},
        {"Triangles", loose_mesh({5, 6}, MeshCut::alternating, TriangleDamping::deformation), true},
        {"StrainDamped", loose_mesh({6, 4}, MeshCut::diagonal, TriangleDamping::strain)},
        {"Woven", woven_mesh(TriangleDamping::deformation)},
        {"WovenStrainDamped", woven_mesh(TriangleDamping::strain), true},
        {"Everything", everything(), true},
        {"Rope", chain_cloth(8, 0.2, 0.1, 60, 0.3)},
    };
}

// ---- Accelerations

class CudaAccelerations : public testing::TestWithParam<Case> {};

TEST_P(CudaAccelerations, AreThoseOfTheReference)
{
    const Cloth& cloth = GetParam().cloth;
    const std::size_t count = cloth.particle_count(), lanes = 2, per_lane = 2;
    const int last = int(count) - 1;
    LaneSet set(count, kDt);
    set.begin(int(lanes));
    for (int lane = 0; lane < int(lanes); ++lane) {
        set.load(lane, shaken_state(cloth, lane), {{lane, last}, {}, {}});
    }
    set.send(0, 1);
    std::vector<State> states;
    std::vector<float> rows;
    for (int i = 0; i < int(lanes * per_lane); ++i) {
        State& state = states.emplace_back(shaken_state(cloth, 30 + i));
        for (const auto* vectors : {&state.position, &state.velocity}) {
            for (int axis = 0; axis < 3; ++axis) {
                for (const Vec3d& a : *vectors) rows.push_back(float(a[axis]));
            }
        }
        // What the device has seen, so that the exact ones differ by their own rounding alone.
        for (std::size_t p = 0; p < count; ++p) {
            for (int axis = 0; axis < 3; ++axis) {
                state.position[p][axis] = float(state.position[p][axis]);
                state.velocity[p][axis] = float(state.velocity[p][axis]);
            }
        }
    }
    cuda::Accelerations accelerations(cloth, kWindy);
    Cloth changed = cloth;
    ParameterValues values = parameters_of(cloth);
    for (auto& kind : values) {
        for (double& value : kind) value *= 1.25;
    }
    set_parameters(changed, values);
    if (GetParam().masses) {
        for (double& mass : changed.mass) mass *= 0.5;
        values.push_back(changed.mass);
    }
    accelerations.set_parameters(values);
    const DeviceArray<float> on_device(rows);
    DeviceArray<float> rough(3 * states.size() * count), exact(3 * states.size() * count);
    accelerations.run(set.view(), on_device.data(), states.size(), per_lane, rough.data());
    accelerations.run_exact(set.view(), on_device.data(), states.size(), per_lane, exact.data());
    const std::vector<float> found = rough.fetched(), found_exact = exact.fetched();
    const ForceTable<double> table(changed, kWindy);
    for (std::size_t i = 0; i < states.size(); ++i) {
        const auto expected = acceleration(table, {{int(i / per_lane), last}, {}, {}}, states[i]);
        // A few roundings of the largest, and of hinges with angles that cancel; then one alone.
        const double largest = largest_length(expected);
        constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
        for (std::size_t p = 0; p < count; ++p) {
            for (int axis = 0; axis < 3; ++axis) {
                const std::size_t at = (3 * i + std::size_t(axis)) * count + p;
                EXPECT_NEAR(found[at], expected[p][axis], 20 * kEpsilon * largest);
                EXPECT_NEAR(found_exact[at], expected[p][axis],
                            kEpsilon * std::abs(expected[p][axis]) + 1e-12 * largest)
                    << "state " << i << ", particle " << p;
            }
        }
    }
}

// ---- There and back

// A choice that cloths of other sizes would lead to.
struct Way {
    std::string name;
    ListLimits limits;
};

ListLimits in_one_block()
{
    return {};
}
// No more slots than a few elements need.
ListLimits in_rounds()
{
    ListLimits limits;
    limits.most_slots = 160;
    return limits;
}
ListLimits in_a_cluster()
{
    ListLimits limits = in_rounds();
    limits.least_blocks = 4;
    return limits;
}
ListLimits in_memory()
{
    ListLimits limits = in_rounds();
    limits.least_blocks = 2;
    limits.most_cluster = 1;
    limits.own_in_memory = 12;
    return limits;
}

class CudaList : public testing::TestWithParam<std::tuple<Case, Way>> {
  protected:
    const Case& one() const { return std::get<0>(GetParam()); }
    std::unique_ptr<Kernels> kernels() const
    {
        return cuda::make_list_kernels(one().cloth, kWindy, std::get<1>(GetParam()).limits);
    }
};

TEST_P(CudaList, AdvancesAsTheReference)
{
    expect_advances_as_the_reference(*kernels(), one().cloth, on_cpu() ? 7 : 60);
}

TEST_P(CudaList, RetreatsAsTheReference)
{
    expect_retreats_as_the_reference(*kernels(), one().cloth, one().masses, on_cpu() ? 8 : 40);
}

TEST_P(CudaList, LanesAndLaunchesDoNotMatter)
{
    expect_lanes_are_their_own(*kernels(), one().cloth);
}

INSTANTIATE_TEST_SUITE_P(Elements, CudaList,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(Way{"Block", in_one_block()},
                                                          Way{"Rounds", in_rounds()},
                                                          Way{"Cluster", in_a_cluster()},
                                                          Way{"Memory", in_memory()})),
                         [](const auto& one) {
                             return std::get<0>(one.param).name + std::get<1>(one.param).name;
                         });

INSTANTIATE_TEST_SUITE_P(Elements, CudaAccelerations, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace springtime
