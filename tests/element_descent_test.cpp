// Descents on trajectories of triangles, hinges and couplings: what coordinates stand for, what
// bounds them, and a sheet that is found again.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "learn/descent.h"
#include "learn/element_neighbours.h"
#include "training.h"

namespace springtime {

namespace {

// A sheet of 6 x 6 particles of 0.1 kg, 0.5 m apart.
Cloth small_sheet(MeshCut cut = MeshCut::diagonal)
{
    const Sheet sheet{2.5, 2.5, 3.6};
    MeshMaterial material;
    material.shear_stiffness = material.area_stiffness = MaterialField::uniform(60);
    material.damping = MaterialField::uniform(0.5);
    material.bending = MaterialField::uniform(0.02);
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, {6, 6}, cut), material);
}

Cloth coupled_patchwork()
{
    Cloth cloth = patchwork();
    set_law(cloth, law_named("coupled"));
    return cloth;
}

std::size_t index_of(const Cloth& cloth, Element element, std::string_view name)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].kind->element == element && parameters[k].kind->name == name) return k;
    }
    return parameters.size();
}

// Sixty steps upwards.
ParameterValues raised(const Cloth& cloth, const LogParameters& logs, double rate)
{
    TrainState state = logs.start_from(cloth);
    DescentOptions options;
    for (int step = 1; step <= 60; ++step) {
        ParameterValues gradient = parameters_of(cloth);
        for (auto& kind : gradient) std::fill(kind.begin(), kind.end(), -1.0);
        to_coordinates(gradient, logs.slopes(logs.values(state.parameters)));
        logs.descend(state, gradient, options, rate, step);
    }
    return logs.values(state.parameters);
}

TEST(LogParametersOfASheet, StayWithinStableSteps)
{
    const Cloth cloth = small_sheet();
    const double dt = 2e-3;
    const LogParameters logs(cloth, dt, false);
    EXPECT_EQ(logs.values(logs.start_from(cloth).parameters)[0][0],
              std::exp(std::log(cloth.triangles.shear_stiffness[0])));
    const ParameterValues values = raised(cloth, logs, 0.5);
    const double mass = 3.6 / 25;  // of a particle inside
    for (const double mu : values[0]) EXPECT_NEAR(mu, 0.1 * mass / (dt * dt), 1e-6);
    for (const double gamma : values[2]) EXPECT_NEAR(gamma, 0.03 * mass / dt, 1e-9);
    // The sheet is sound with all of these at their bounds.
    Cloth stiff = cloth;
    set_parameters(stiff, values);
    EXPECT_GE(largest_stable_step(stiff, {}), dt);
    // A hinge of a diagonal has the height 0.5/sqrt(2) m on both sides.
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        EXPECT_LE(values[3][h], 0.01 * mass / (dt * dt) * 0.25 + 1e-9);
        EXPECT_GE(values[3][h], 0.01 * mass / (dt * dt) * 0.125 - 1e-9);
    }
}

TEST(LogParametersOfASheet, WhereItIsLeanDampingAndHingesHaveALevelOnly)
{
    const Cloth cloth = small_sheet();
    const LogParameters logs(cloth, 2e-3, false);
    TrainState state = logs.start_from(cloth);
    const ParameterValues before = state.parameters;
    ParameterValues gradient = random_values_like(before);
    DescentOptions options;
    options.lean = true;
    logs.descend(state, gradient, options, 0.01, 1);
    for (std::size_t k = 0; k < before.size(); ++k) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (std::size_t e = 0; e < before[k].size(); ++e) {
            least = std::min(least, state.parameters[k][e] - before[k][e]);
            most = std::max(most, state.parameters[k][e] - before[k][e]);
        }
        EXPECT_EQ(most - least > 0.01, k < 2) << k;  // mu and lambda
        EXPECT_EQ(most - least < 1e-12, k >= 2) << k;
    }
}

TEST(ElementNeighbours, ShareAllCornersButOneWithoutAGrid)
{
    Cloth cloth = small_sheet(MeshCut::alternating);
    cloth.grid.reset();
    const ElementNeighbours triangles = neighbours_of(cloth, Element::triangle);
    std::size_t pairs = 0;
    for (std::size_t t = 0; t < triangles.around.size(); ++t) {
        EXPECT_LE(triangles.around[t].size(), 3u);
        pairs += triangles.around[t].size();
    }
    EXPECT_EQ(pairs, 2 * cloth.hinges.hinge_count());  // every inner edge has two sides
    // A hinge shares each of its two triangles with others.
    const ElementNeighbours hinges = neighbours_of(cloth, Element::hinge);
    for (const auto& around : hinges.around) EXPECT_GE(around.size(), 2u);
    // What is even stays so; what is not spreads to the neighbours and keeps within its range.
    std::vector<double> even(triangles.around.size(), 3), peak(even.size(), 0);
    smooth(even, triangles);
    for (const double value : even) EXPECT_DOUBLE_EQ(value, 3);
    peak[7] = 1;
    smooth(peak, triangles);
    EXPECT_DOUBLE_EQ(peak[7], 0.5);
    std::size_t reached = 0;
    for (const double value : peak) reached += value > 0;
    EXPECT_EQ(reached, 1 + triangles.around[7].size());
}

// ---- Couplings ----

TEST(LogParametersOfCouplings, HaveEitherSignAndBeginWithZero)
{
    const Cloth cloth = coupled_patchwork();
    const LogParameters logs(cloth, 2e-3, false);
    TrainState state = logs.start_from(cloth);
    const std::size_t k = index_of(cloth, Element::coupling, "coupling");
    const ParameterValues begin = logs.values(state.parameters);
    for (const double c : begin[k]) EXPECT_EQ(c, 0);
    Random random(5);
    ParameterValues gradient = parameters_of(cloth);
    for (auto& kind : gradient) {
        for (double& g : kind) g = random.normal();
    }
    const ParameterValues before = logs.values(state.parameters);
    ParameterValues by = gradient;
    to_coordinates(by, logs.slopes(before));
    DescentOptions options;
    options.smoothing = 0;
    options.level_rate = 0;
    logs.descend(state, by, options, 0.02, 1);
    // The first step of Adam is the rate, against the gradient: in units of the mean stiffness.
    double unit = 0;
    for (const double stiffness : cloth.springs.stiffness) unit += stiffness;
    unit /= double(cloth.springs.spring_count());
    const ParameterValues values = logs.values(state.parameters);
    for (std::size_t e = 0; e < values[k].size(); ++e) {
        EXPECT_NEAR(values[k][e], gradient[k][e] > 0 ? -0.02 * unit : 0.02 * unit, 1e-6);
    }
}

// Whether the energy of all springs and couplings is nowhere negative: every pivot of the matrix of
// stretches is positive.
bool is_sound(const Cloth& cloth)
{
    const std::size_t n = cloth.springs.spring_count();
    std::vector<std::vector<double>> k(n, std::vector<double>(n));
    std::map<std::pair<int, int>, std::size_t> by_ends;
    for (std::size_t s = 0; s < n; ++s) {
        k[s][s] = cloth.springs.stiffness[s];
        by_ends[std::minmax(cloth.springs.ends[s][0], cloth.springs.ends[s][1])] = s;
    }
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        const auto [apex, b, c] = cloth.couplings.corners[i];
        const std::size_t one = by_ends.at(std::minmax(apex, b));
        const std::size_t other = by_ends.at(std::minmax(apex, c));
        k[one][other] += cloth.couplings.stiffness[i];
        k[other][one] += cloth.couplings.stiffness[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!(k[i][i] > 0)) return false;
        for (std::size_t r = i + 1; r < n; ++r) {
            if (k[r][i] == 0) continue;
            const double factor = k[r][i] / k[i][i];
            for (std::size_t c = i; c < n; ++c) k[r][c] -= factor * k[i][c];
        }
    }
    return true;
}

TEST(CouplingBound, KeepsTheEnergyPositive)
{
    Cloth cloth = make_grid_cloth({1.5, 1.5, 1}, {4, 4}, MaterialField::uniform(50),
                                  MaterialField::uniform(0.5));
    set_law(cloth, law_named("coupled"));
    const CouplingBound bound(cloth);
    Random random(6);
    for (double& k : cloth.springs.stiffness) k *= 0.3 + random.uniform();
    for (const double size : {1.0, 100.0}) {
        for (double& c : cloth.couplings.stiffness) c = size * random.normal();
        const Cloth given = cloth;
        ParameterValues values = parameters_of(cloth);
        bound.apply(values);
        set_parameters(cloth, values);
        EXPECT_EQ(is_sound(given), size == 1.0);
        EXPECT_TRUE(is_sound(cloth));
        if (size == 1.0) {
            EXPECT_EQ(parameters_of(cloth), parameters_of(given));
        }
        // A second time changes nothing more.
        ParameterValues again = values;
        bound.apply(again);
        const std::size_t k = index_of(cloth, Element::coupling, "coupling");
        for (std::size_t i = 0; i < again[k].size(); ++i) {
            EXPECT_NEAR(again[k][i], values[k][i], 1e-12 * std::abs(values[k][i]));
        }
    }
}

TEST(CouplingBound, LeavesRoomForTheMembrane)
{
    // mu = lambda on a right-angled triangle: k = 1.5, 1.5 and 1, couplings 0.5 and -1/sqrt(2), in
    // units of mu (coupling_test.cpp has the general formula).
    Cloth cloth = make_grid_cloth({1, 1, 1}, {2, 2, true, true, false, false},
                                  MaterialField::uniform(1.5), MaterialField::uniform(0));
    set_law(cloth, {{}, false, false, true});
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const bool diagonal = cloth.springs.family[s] == SpringFamily::diagonal;
        if (diagonal) cloth.springs.stiffness[s] = 2;  // of both triangles
    }
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        const bool straight =
            cloth.couplings.rest_length[i][0] == cloth.couplings.rest_length[i][1];
        cloth.couplings.stiffness[i] = straight ? 0.5 : -std::sqrt(0.5);
    }
    ParameterValues values = parameters_of(cloth);
    CouplingBound(cloth).apply(values);
    EXPECT_EQ(values, parameters_of(cloth));
}

// ---- The descent ----

Cloth scattered(Cloth cloth, double part)
{
    Random random(4);
    for (auto* values : {&cloth.triangles.shear_stiffness, &cloth.triangles.area_stiffness}) {
        for (double& value : *values) value *= 1 + part * (2 * random.uniform() - 1);
    }
    return cloth;
}

double log_distance(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(std::log(a[i] / b[i]), 2);
    return std::sqrt(sum / double(a.size()));
}

DescentOptions sheet_descent()
{
    DescentOptions descent;
    descent.horizons = {{40, 0.2}, {40, 0.4}};
    descent.batch = 8;
    descent.validate_every = 20;
    return descent;
}

TEST(Descent, FindsTheTrianglesOfASheet)
{
    const Cloth truth = small_sheet(), start = scattered(truth, 0.3);
    const Motion motion = generated_motion(truth, short_falls(12, 1.2));
    const TrainOptions options = quick_options(6, 6, {});
    const TrainingSet set(motion, options);
    DescentOptions descent = sheet_descent();
    descent.smoothing = 0;
    const Progress none;
    const TrainResult result = descend(set, start, descent, 0, nullptr, {}, none, "test");
    EXPECT_LE(result.validation_rmse, 0.2 * set.validation_error(start).mean);  // seen: 0.12
    EXPECT_LE(log_distance(result.cloth.triangles.shear_stiffness, truth.triangles.shear_stiffness),
              0.15 * log_distance(start.triangles.shear_stiffness,
                                  truth.triangles.shear_stiffness));  // seen: 0.06
}

// Springs and couplings that are a membrane of mu = lambda = 60 N/m for small strain: in every
// triangle k = 1.5 mu along its legs and mu along its diagonal, couplings mu/2 of the legs and
// -mu/sqrt(2) with the diagonal (coupling_test.cpp has the formula).
Cloth membrane_network()
{
    constexpr double kMu = 60;
    Cloth cloth = make_grid_cloth({2.5, 2.5, 3.6}, {6, 6, true, true, false, false},
                                  MaterialField::uniform(0), MaterialField::uniform(0.05));
    cloth.mass = small_sheet().mass;
    set_law(cloth, {{}, true, true, true});
    std::map<std::pair<int, int>, std::size_t> by_ends;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        by_ends[std::minmax(cloth.springs.ends[s][0], cloth.springs.ends[s][1])] = s;
        const bool diagonal = cloth.springs.family[s] == SpringFamily::diagonal;
        cloth.springs.isotropic_damping[s] = diagonal ? 1e-3 : 0.3;
    }
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        const auto [apex, b, c] = cloth.couplings.corners[i];
        const auto [one, other] = cloth.couplings.rest_length[i];
        const bool legs = std::abs(one - other) < 0.01;
        cloth.couplings.stiffness[i] = kMu * (legs ? 0.5 : -std::sqrt(0.5));
        for (const int end : {b, c}) {  // every edge is in two of the three couplings
            const std::size_t s = by_ends.at(std::minmax(apex, end));
            const bool diagonal = cloth.springs.family[s] == SpringFamily::diagonal;
            cloth.springs.stiffness[s] += 0.5 * kMu * (diagonal ? 1 : 1.5);
        }
    }
    for (double& kappa : cloth.bends.stiffness) kappa = 0.06;
    return cloth;
}

TEST(Descent, CouplingsFollowASheetThatSpringsCannotBe)
{
    // mu = lambda has C12 = 0 and C66 = mu, and springs have C12 = C66.
    const Motion motion = generated_motion(small_sheet(), short_falls(12, 1.2));
    const TrainOptions options = quick_options(6, 6, {});
    const TrainingSet set(motion, options);
    DescentOptions descent = sheet_descent();
    descent.deviate = false;
    const Progress none;
    const auto error = [&](const Cloth& start) {
        return descend(set, start, descent, 0, nullptr, {}, none, "test").validation_rmse;
    };
    Cloth uncoupled = membrane_network();
    uncoupled.couplings = {};
    EXPECT_LE(error(membrane_network()), 0.6 * error(uncoupled));  // seen: 0.46
}

}  // namespace

}  // namespace springtime
