// How long a step may be, as a share of largest_stable_step(), for several kinds of networks: the
// longest share at which falling rollouts are sound, the shortest at which they are not, and the
// share that stable_substeps() takes. Prints JSON.
//
// A sheet that is about to leave the stable range shakes at its shortest waves long before it
// leaves all bounds. So what is compared with a run at a fifth of the limit is the root-mean-square
// velocity between neighbouring particles; besides, energy must not rise above that of the start.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/stepper.h"
#include "springtime/springtime.h"

using namespace springtime;

namespace {

constexpr double kFrame = 0.04, kSeconds = 5;  // [s]
constexpr int kRollouts = 8;
constexpr double kFineShare = 0.2;    // of the limit: taken as the truth
constexpr double kMostShaking = 1.2;  // times the true one, in any rollout
constexpr int kFirstPercent = 42, kPercentStep = 3;

struct Kind {
    const char* name;
    Cloth cloth;
    Environment environment{};
};

// ---- Kinds of networks ----

// k/b sets what limits the step: 25 N/m with 6 N s/m is damping, with 0.05 N s/m stiffness.
Cloth springs(const GridOptions& grid, double stiffness, double damping)
{
    return make_grid_cloth({15.5, 15.5, 102.4}, grid, MaterialField::uniform(stiffness),
                           MaterialField::uniform(damping));
}

Cloth with_law(Cloth cloth, double slack, double isotropic)
{
    set_law(cloth, {{0}, true});
    for (double& k : cloth.springs.ranges[0].stiffness) k *= slack;
    for (double& c : cloth.springs.isotropic_damping) c = isotropic;
    return cloth;
}

Cloth triangles(double stiffness, double damping, double bending, double bending_time,
                TriangleDamping kind)
{
    MeshMaterial material;
    material.shear_stiffness = material.area_stiffness = MaterialField::uniform(stiffness);
    material.damping = MaterialField::uniform(damping);
    material.bending = MaterialField::uniform(bending);
    material.bending_time = bending_time;
    material.damping_kind = kind;
    const Sheet sheet{15.5, 15.5, 30};
    return make_mesh_cloth(sheet, make_grid_mesh(sheet, {31, 31}, MeshCut::alternating), material);
}

std::vector<Kind> spring_kinds()
{
    const GridOptions all{32, 32}, edges{32, 32, true, false, false, false},
        bent{32, 32, true, false, false, true}, sheared{32, 32, true, true, true, false},
        half{32, 32, true, true, false, true};
    const auto pair = [](const char* stiff, const char* damped, const GridOptions& grid) {
        return std::vector<Kind>{{stiff, springs(grid, 25, 0.05)}, {damped, springs(grid, 25, 6)}};
    };
    std::vector<Kind> kinds;
    for (const auto& two : {pair("all_stiffness", "all_damping", all),
                            pair("no_bending_stiffness", "no_bending_damping", sheared),
                            pair("one_diagonal_stiffness", "one_diagonal_damping", half),
                            pair("no_diagonals_stiffness", "no_diagonals_damping", bent),
                            pair("structural_stiffness", "structural_damping", edges)}) {
        kinds.insert(kinds.end(), two.begin(), two.end());
    }
    kinds.push_back({"law_stiffness", with_law(springs(all, 25, 0.05), 0.2, 0.05)});
    kinds.push_back({"law_damping", with_law(springs(all, 25, 6), 0.2, 0.05)});
    kinds.push_back({"law_isotropic_damping", with_law(springs(all, 25, 0.05), 1, 6)});
    return kinds;
}

std::vector<Kind> triangle_kinds()
{
    const Environment air{{0, -9.81, 0}, 3.2, {}};
    const auto all = TriangleDamping::deformation, strain = TriangleDamping::strain;
    return {{"deformation_stiffness", triangles(300, 0.3, 0.023, 1e-3, all), air},
            {"deformation_damping", triangles(300, 3, 0.023, 1e-3, all), air},
            {"deformation_soft", triangles(30, 0.03, 0.023, 1e-3, all), air},
            {"deformation_soft_damping", triangles(30, 1, 0.023, 1e-3, all), air},
            {"strain_stiffness", triangles(300, 0.3, 0.023, 1e-3, strain), air},
            {"strain_damping", triangles(300, 3, 0.023, 1e-3, strain), air},
            {"strain_soft", triangles(30, 0.03, 0.023, 1e-3, strain), air},
            {"strain_soft_damping", triangles(30, 1, 0.023, 1e-3, strain), air},
            {"bending_stiffness", triangles(300, 0.3, 30, 0, all), air},
            {"bending_damping", triangles(300, 0.3, 1, 0.05, all), air}};
}

// ---- Measuring ----

std::vector<std::array<int, 2>> neighbours(const Cloth& cloth)
{
    std::set<std::array<int, 2>> pairs;
    for (const auto& [a, b, c] : surface_triangles(cloth)) {
        for (const auto& [p, q] : {std::minmax(a, b), std::minmax(b, c), std::minmax(c, a)}) {
            pairs.insert({p, q});
        }
    }
    return {pairs.begin(), pairs.end()};
}

struct Run {
    std::vector<double> shaking;  // of every rollout [m/s]
    bool blew_up = false, gained = false;
};

Run fall(const Kind& kind, double share)
{
    const double dt = share * largest_stable_step(kind.cloth, kind.environment);
    const int stride = std::max(1, int(std::lround(kFrame / dt)));
    const int frames = int(kSeconds / (stride * dt));
    GenerateOptions options;
    options.environment = kind.environment;
    const double at_play = 9.81 * kind.cloth.sheet.mass * kind.cloth.sheet.length / 2;
    const auto pairs = neighbours(kind.cloth);
    Run run;
    for (int first = 0; first < kRollouts;) {
        const auto stepper = make_batch_stepper(kind.cloth, {dt, kind.environment, {}});
        std::vector<State> states;
        std::vector<Handles> handles;
        std::vector<double> energy, square;
        for (int lane = 0; lane < stepper->lane_count() && first < kRollouts; ++lane, ++first) {
            const RolloutStart start = random_start(kind.cloth, options, first);
            stepper->load(lane, start.state, start.handles);
            energy.push_back(energy_of(kind.cloth, kind.environment, start.state).total());
            states.push_back(start.state);
            handles.push_back(start.handles);
        }
        square.resize(states.size());
        for (int frame = 0; frame < frames; ++frame) {
            if (advance_checked(*stepper, states, handles, stride, kind.cloth, dt)) {
                run.blew_up = true;
                return run;
            }
            for (std::size_t lane = 0; lane < states.size(); ++lane) {
                const State& state = states[lane];
                if (energy_of(kind.cloth, kind.environment, state).total() >
                    energy[lane] + 1e-3 * at_play) {
                    run.gained = true;
                }
                for (const auto& [p, q] : pairs) {
                    const Vec3d v = state.velocity[p] - state.velocity[q];
                    square[lane] += dot(v, v) / double(pairs.size()) / frames;
                }
            }
        }
        for (const double s : square) run.shaking.push_back(std::sqrt(s));
    }
    return run;
}

// The largest of all rollouts, as a multiple of the true one; infinite where it is unsound anyway.
double shaking(const Run& run, const Run& fine)
{
    if (run.blew_up || run.gained) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < run.shaking.size(); ++i) {
        largest = std::max(largest, run.shaking[i] / fine.shaking[i]);
    }
    return largest;
}

std::string measured(const Kind& kind)
{
    const Run fine = fall(kind, kFineShare);
    int percent = kFirstPercent;
    while (percent <= 100 && shaking(fall(kind, percent / 100.0), fine) <= kMostShaking) {
        percent += kPercentStep;
    }
    const double limit = largest_stable_step(kind.cloth, kind.environment);
    return fmt::format(
        "\"{}\": {{\"limit_ms\": {:.3f}, \"chosen\": {:.2f}, \"sound_at\": {:.2f}, "
        "\"shakes_at\": {:.2f}}}",
        kind.name, 1e3 * limit, safe_step(kind.cloth, kind.environment) / limit,
        (percent - kPercentStep) / 100.0, percent / 100.0);
}

}  // namespace

int main()
{
    std::string text;
    for (const auto& kinds : {spring_kinds(), triangle_kinds()}) {
        for (const Kind& kind : kinds) text += (text.empty() ? "" : ",\n ") + measured(kind);
    }
    fmt::print("{{{}}}\n", text);
}
