// The kernels for lists of elements against the reference in double: there, and back.
#include "backends/cuda/contacts.h"
#include "backends/cuda/list_accelerations.h"
#include "backends/cuda/list_kernels.h"
#include "cuda_kernels.h"
#include "obstacles.h"
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

// Enough to see every way.
std::vector<Case> some_cases()
{
    std::vector<Case> some;
    for (const Case& one : cases()) {
        for (const char* name : {"Ranges", "WovenStrainDamped", "Everything", "Rope"}) {
            if (one.name == name) some.push_back(one);
        }
    }
    return some;
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
    const std::size_t size = cuda::kStateRows * count;
    const cuda::StatesView view{on_device.data(), per_lane * size, size, int(per_lane)};
    accelerations.run(set.view(), view, rough.data());
    accelerations.run_exact(set.view(), view, exact.data());
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

// The state of a lane after so many steps, from the reference.
State stepped(const Cloth& cloth, const SimulationOptions& options, const Lanes& lanes,
              std::size_t lane, int steps)
{
    const auto stepper = make_reference_stepper(cloth, options, 1);
    State state = lanes.start[lane];
    stepper->load(0, state, lanes.handles[lane]);
    stepper->advance(steps);
    stepper->store(0, state);
    return state;
}

// A choice that cloths of other sizes would lead to.
struct Way {
    std::string name, kernel;
    ListLimits limits;
    friend void PrintTo(const Way& one, std::ostream* out) { *out << one.name; }
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
    limits.most_own = 10;
    return limits;
}
ListLimits in_memory()
{
    ListLimits limits = in_rounds();
    limits.most_cluster = 0;
    limits.most_own_in_memory = 12;
    return limits;
}

std::vector<Way> other_ways()
{
    return {{"Rounds", "list", in_rounds()},
            {"Cluster", "list in 4 blocks", in_a_cluster()},
            {"Memory", "list in global memory", in_memory()}};
}
std::vector<Way> all_ways()
{
    std::vector<Way> all = other_ways();
    all.push_back({"Block", "list", in_one_block()});
    return all;
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

const auto name_of_pair = [](const auto& one) {
    return std::get<0>(one.param).name + std::get<1>(one.param).name;
};
INSTANTIATE_TEST_SUITE_P(Elements, CudaList,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(Way{"Block", "list", in_one_block()})),
                         name_of_pair);
INSTANTIATE_TEST_SUITE_P(Ways, CudaList,
                         testing::Combine(testing::ValuesIn(some_cases()),
                                          testing::ValuesIn(other_ways())),
                         name_of_pair);

class CudaListWay : public testing::TestWithParam<Way> {
  protected:
    std::unique_ptr<Kernels> kernels() const
    {
        return cuda::make_list_kernels(cloth_, kWindy, GetParam().limits);
    }
    Cloth cloth_ = everything();
};

TEST_P(CudaListWay, HasItsName)
{
    EXPECT_EQ(kernels()->name(), GetParam().kernel);
}

TEST_P(CudaListWay, LanesAndLaunchesDoNotMatter)
{
    expect_lanes_are_their_own(*kernels(), cloth_);
}

// Obstacles that move and obstacles that rest, in two launches.
TEST_P(CudaListWay, MeetsObstaclesAsTheReference)
{
    const int steps = 8;
    SimulationOptions options{kDt, kWindy, Device::reference, landscape(), 0.3, 0};
    const Lanes lanes(cloth_, steps);
    LaneSet set(cloth_.particle_count(), kDt);
    lanes.load(set);
    cuda::Contacts contacts(options);
    const auto list = kernels();
    for (const int first : {0, steps / 2}) {
        set.send(first, steps / 2);
        list->advance(set.view(), first, steps / 2, {}, contacts.send(set, first, steps / 2));
    }
    set.fetch();
    // A handful of roundings of positions in each step: contact changes positions, too.
    constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
    const double close = 8 * kEpsilon * largest_length(lanes.start[0].position) * std::sqrt(steps);
    for (std::size_t lane : {0, 2}) {
        const State expected = stepped(cloth_, options, lanes, lane, steps);
        options.obstacles.clear();
        const State untouched = stepped(cloth_, options, lanes, lane, steps);
        options.obstacles = landscape();
        ASSERT_GT(largest_distance(expected.position, untouched.position), 0.01);
        State found;
        set.state(int(lane), found);
        EXPECT_LT(largest_distance(found.position, expected.position), close);
        EXPECT_LT(largest_distance(found.velocity, expected.velocity) * kDt, close);
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaListWay, testing::ValuesIn(all_ways()),
                         [](const auto& one) { return one.param.name; });

// ---- Sizes

TEST(CudaListChoice, GoesBySize)
{
    const auto name_of_mesh = [](int size) {
        const Cloth cloth = uneven_mesh({size, size}, MeshCut::diagonal, TriangleDamping::strain);
        return cuda::make_list_kernels(cloth, kWindy)->name();
    };
    EXPECT_EQ(name_of_mesh(3), "list");
    EXPECT_EQ(name_of_mesh(31), "list");
    EXPECT_EQ(name_of_mesh(61), "list in 4 blocks");
    EXPECT_EQ(name_of_mesh(128), "list in 16 blocks");
    EXPECT_EQ(name_of_mesh(256), "list in global memory");
}

TEST(CudaListChoice, RefusesAParticleThatIsJoinedWithThousands)
{
    Cloth star = chain_cloth(9000, 0.1, 0.1, 10, 0.1);
    for (auto& ends : star.springs.ends) ends[0] = 0;
    EXPECT_THROW(cuda::make_list_kernels(star, kWindy), Error);
}

class CudaListSizes : public testing::TestWithParam<int> {};

// On a device all, as they come; here a small one.
TEST_P(CudaListSizes, RunAsTheReference)
{
    const Cloth cloth = uneven_mesh({GetParam(), GetParam() + 1}, MeshCut::alternating,
                                    TriangleDamping::deformation);
    const auto kernels = cuda::make_list_kernels(cloth, kWindy);
    expect_advances_as_the_reference(*kernels, cloth, on_cpu() ? 2 : 30);
    expect_retreats_as_the_reference(*kernels, cloth, false, on_cpu() ? 2 : 20);
}

std::vector<int> sizes()
{
    if (on_cpu()) return {16};
    return {3, 16, 30, 32, 61, 64, 128, 256};
}
INSTANTIATE_TEST_SUITE_P(Sizes, CudaListSizes, testing::ValuesIn(sizes()));

INSTANTIATE_TEST_SUITE_P(Elements, CudaAccelerations, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace springtime
