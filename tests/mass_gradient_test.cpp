// The gradient by the masses of the particles, against differences of whole runs.
#include <gtest/gtest.h>

#include "gradients.h"
#include "learn/log_parameters.h"

namespace springtime {
namespace {

Scene mass_scene(int steps, int seed)
{
    Scene scene = law_scene(steps, seed);
    scene.loss.acceleration.clear();  // tapes know masses by the way of states alone
    return scene;
}

std::vector<double> differences_by_mass(const Scene& scene)
{
    std::vector<double> result;
    for (std::size_t p = 0; p < scene.cloth.particle_count(); ++p) {
        const double step = 1e-5 * scene.cloth.mass[p];
        const auto loss_with = [&](double change) {
            Scene moved = scene;
            moved.cloth.mass[p] += change;
            return loss_of(PlainRun<double>(moved), moved);
        };
        result.push_back((loss_with(step) - loss_with(-step)) / (2 * step));
    }
    return result;
}

template <class Real>
std::vector<double> tape_gradient_by_mass(Tape<Real>& tape, const Scene& scene)
{
    const int lane = tape.lane_count() / 2, lanes = tape.lane_count();
    const ParameterValues values = values_with_masses(scene.cloth);
    tape.set_parameters(values);
    tape.begin(scene.steps);
    tape.load(lane, scene.start, scene.handles);
    tape.advance(scene.steps);
    tape.begin_back();
    for (std::size_t p = 0; p < scene.cloth.particle_count(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            const std::size_t i = (3 * p + axis) * lanes + lane;
            tape.position_adjoint()[i] = Real(scene.loss.position[p][axis]);
            tape.velocity_adjoint()[i] = Real(scene.loss.velocity[p][axis]);
        }
    }
    tape.retreat(scene.steps);
    ParameterValues gradient = values;
    for (auto& kind : gradient) std::fill(kind.begin(), kind.end(), 0.0);
    tape.add_lane_gradient(lane, gradient);
    return gradient.back();
}

TEST(MassGradient, OfTheReferenceIsThatOfDifferences)
{
    const Scene scene = mass_scene(150, 3);
    // Little memory: the way back runs stretches again.
    const auto tape = make_reference_tape(scene.cloth, scene.options, {1 << 14});
    EXPECT_LT(worst_relative_error(tape_gradient_by_mass(*tape, scene), differences_by_mass(scene)),
              1e-5);
}

TEST(MassGradient, OfLanesIsThatOfTheReference)
{
    const Scene scene = mass_scene(150, 4);
    const auto reference = make_reference_tape(scene.cloth, scene.options);
    const auto lanes = make_fast_tape(scene.cloth, scene.options);
    EXPECT_LT(worst_relative_error(tape_gradient_by_mass(*lanes, scene),
                                   tape_gradient_by_mass(*reference, scene)),
              2e-3);
}

TEST(MassGradient, RestoringTheMassOfTheSheetChangesNoMotion)
{
    Scene scene = mass_scene(60, 5);
    Cloth heavier = scene.cloth;
    for (double& mass : heavier.mass) mass *= 1.7;
    heavier.mass[3] *= 1.2;
    Scene restored = scene;
    set_values(restored.cloth, values_with_masses(heavier));
    double sum = 0, expected = 0;
    for (std::size_t p = 0; p < heavier.mass.size(); ++p) {
        sum += restored.cloth.mass[p];
        expected += scene.cloth.mass[p];
    }
    EXPECT_NEAR(sum, expected, 1e-12 * expected);
    Scene direct = scene;
    direct.cloth = heavier;
    EXPECT_NEAR(loss_of(PlainRun<double>(restored), restored),
                loss_of(PlainRun<double>(direct), direct), 1e-9);
}

}  // namespace
}  // namespace springtime
