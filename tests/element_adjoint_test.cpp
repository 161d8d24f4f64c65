// The way back through triangles, hinges and couplings: their formulas against dual numbers and
// central differences, and tapes of whole sheets against runs in dual numbers and each other.
#include <cmath>
#include <limits>

#include "backends.h"
#include "corners.h"
#include "gradients.h"

namespace springtime {

namespace {

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

// ---- Formulas: <s, Df u> = <Df^T s, u> ----

// A value and the direction in which it changes.
Vec3<Dual> towards(const Vec3d& value, const Vec3d& slope)
{
    return {{value.x, slope.x}, {value.y, slope.y}, {value.z, slope.z}};
}
double sloped(const Vec3d& s, const Vec3<Dual>& f)
{
    return s.x * f.x.slope + s.y * f.y.slope + s.z * f.z.slope;
}

const auto kShape = triangle_shape<double>(0.8, 0.1, -0.2, 0.725);

// Edges, rates and numbers of a material; or a direction in which all of these change.
struct TriangleInput {
    Vec3d edge1, edge2, rate1, rate2;
    std::array<double, kWovenSlots> numbers;
};

TriangleInput random_triangle(Random& random)
{
    // The rest shape, changed by some 20 %, and turned anyhow.
    const auto [a, b, c] = placed<3>({Vec3d{}, Vec3d{0.8, 0.1, 0} + 0.15 * random_vector(random),
                                      Vec3d{-0.2, 0.725, 0} + 0.15 * random_vector(random)},
                                     random);
    return {b - a, c - a, random_vector(random), random_vector(random), {300, 450, 7, 250, 100}};
}

TriangleInput random_triangle_direction(Random& random)
{
    TriangleInput u{random_vector(random),
                    random_vector(random),
                    random_vector(random),
                    random_vector(random),
                    {}};
    for (double& number : u.numbers) number = 100 * random.normal();
    return u;
}

TriangleShape<Dual> dual_shape()
{
    const auto& m = kShape.inverse;
    return {Dual(kShape.area), {{Dual(m[0][0]), Dual(m[0][1])}, {Dual(m[1][0]), Dual(m[1][1])}}};
}

// The slope of s.f along u.
template <class Damping, class MaterialOf>
double triangle_slope(const TriangleInput& at, const TriangleInput& u, const Vec3d& s1,
                      const Vec3d& s2, MaterialOf material_of)
{
    std::array<Dual, kWovenSlots> numbers;
    for (int i = 0; i < kWovenSlots; ++i) numbers[i] = {at.numbers[i], u.numbers[i]};
    const auto f = triangle_force<Damping>(dual_shape(), material_of(numbers),
                                           towards(at.edge1, u.edge1), towards(at.edge2, u.edge2),
                                           towards(at.rate1, u.rate1), towards(at.rate2, u.rate2));
    return sloped(s1, f.on1) + sloped(s2, f.on2);
}

double triangle_dot(const TriangleAdjoint<double>& back, const TriangleInput& u, int slots)
{
    double sum = dot(back.edge1, u.edge1) + dot(back.edge2, u.edge2) + dot(back.rate1, u.rate1) +
                 dot(back.rate2, u.rate2);
    for (int i = 0; i < slots; ++i) sum += back.parameters[i] * u.numbers[i];
    return sum;
}

template <class T>
WovenMaterial<T> woven_of(const std::array<T, kWovenSlots>& n)
{
    return {{n[0], n[1], n[2]}, n[3], n[4]};
}
template <class T>
TriangleMaterial<T> plain_of(const std::array<T, kWovenSlots>& n)
{
    return {n[0], n[1], n[2]};
}

template <class Damping>
class TriangleAdjoints : public testing::Test {
};
using Dampings = testing::Types<DampsDeformation, DampsStrain>;
TYPED_TEST_SUITE(TriangleAdjoints, Dampings);

TYPED_TEST(TriangleAdjoints, AreTheTransposeOfTheDualDerivative)
{
    // The largest terms are some 1000 N/m times |s| |u|, in some 200 operations.
    const double rounding = 200 * kEpsilon * 1000 * 10;
    Random random(1);
    for (int i = 0; i < 100; ++i) {
        const TriangleInput at = random_triangle(random), u = random_triangle_direction(random);
        const Vec3d s1 = random_vector(random), s2 = random_vector(random);
        const auto back = [&](const auto& material) {
            return triangle_adjoint<TypeParam>(kShape, material, at.edge1, at.edge2, at.rate1,
                                               at.rate2, s1, s2);
        };
        EXPECT_NEAR(triangle_dot(back(woven_of(at.numbers)), u, kWovenSlots),
                    triangle_slope<TypeParam>(at, u, s1, s2, woven_of<Dual>), rounding);
        EXPECT_NEAR(triangle_dot(back(plain_of(at.numbers)), u, kTriangleSlots),
                    triangle_slope<TypeParam>(at, u, s1, s2, plain_of<Dual>), rounding);
    }
}

TYPED_TEST(TriangleAdjoints, AreTheLimitOfCentralDifferences)
{
    // Off by h^2/6 times the third derivative, at most 1e5 N/m^3 times |s| |u|^3 here, and by the
    // rounding of a force of some 1000 N over h.
    const double h = 1e-5, tolerance = 1e6 * h * h + 100 * kEpsilon * 1000 / h;
    Random random(2);
    for (int i = 0; i < 50; ++i) {
        const TriangleInput at = random_triangle(random);
        const Vec3d s1 = random_vector(random), s2 = random_vector(random);
        const auto value = [&](const TriangleInput& in) {
            const auto f = triangle_force<TypeParam>(kShape, woven_of(in.numbers), in.edge1,
                                                     in.edge2, in.rate1, in.rate2);
            return dot(s1, f.on1) + dot(s2, f.on2);
        };
        const auto back = triangle_adjoint<TypeParam>(kShape, woven_of(at.numbers), at.edge1,
                                                      at.edge2, at.rate1, at.rate2, s1, s2);
        for (int axis = 0; axis < 3; ++axis) {
            TriangleInput up = at, down = at;
            up.edge1[axis] += h;
            down.edge1[axis] -= h;
            EXPECT_NEAR(back.edge1[axis], (value(up) - value(down)) / (2 * h), tolerance);
            up = down = at;
            up.rate2[axis] += h;
            down.rate2[axis] -= h;
            EXPECT_NEAR(back.rate2[axis], (value(up) - value(down)) / (2 * h), tolerance);
        }
        for (int k = 0; k < kWovenSlots; ++k) {  // linear: a difference over one has no error
            TriangleInput up = at;
            up.numbers[k] += 1;
            EXPECT_NEAR(back.parameters[k], value(up) - value(at), 100 * kEpsilon * 1000);
        }
    }
}

template <class Damping, class Real>
void expect_finite_when_collapsed()
{
    const auto shape = triangle_shape<Real>(0.8, 0.1, -0.2, 0.725);
    const WovenMaterial<Real> material{{300, 450, Real(0.7)}, 250, 100};
    const Vec3<Real> none{}, some{Real(0.5), 0, Real(-0.25)}, v{1, -2, 3};
    for (const auto& [a, b] : {std::pair{none, none}, {some, none}, {some, some}}) {
        const auto back = triangle_adjoint<Damping>(shape, material, a, b, v, -v, v, v);
        for (int axis = 0; axis < 3; ++axis) {
            EXPECT_TRUE(std::isfinite(back.edge1[axis]) && std::isfinite(back.rate1[axis]));
            EXPECT_TRUE(std::isfinite(back.edge2[axis]) && std::isfinite(back.rate2[axis]));
        }
    }
}

TYPED_TEST(TriangleAdjoints, StayFiniteWhenItCollapses)
{
    expect_finite_when_collapsed<TypeParam, double>();
    expect_finite_when_collapsed<TypeParam, float>();
}

struct HingeInput {
    std::array<Vec3d, 3> x, v;
    double stiffness, damping;
};

TEST(HingeAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(3);
    // Areas at rest for which neither, one, and both triangles count as collapsing.
    for (const auto& [area1, area2] :
         {std::pair{0.01, 0.01}, {10.0, 0.01}, {0.01, 10.0}, {9.0, 8.0}}) {
        const auto shape = hinge_shape<double>(area1, area2);
        const auto dual = hinge_shape<Dual>(area1, area2);
        for (int i = 0; i < 100; ++i) {
            const auto corners = placed<4>({Vec3d{}, Vec3d{1, 0, 0} + 0.15 * random_vector(random),
                                            Vec3d{0.4, 0.8, 0} + 0.15 * random_vector(random),
                                            Vec3d{0.5, -0.7, 0} + 0.3 * random_vector(random)},
                                           random);
            HingeInput at{{}, {}, 3, 0.5}, u{{}, {}, random.normal(), random.normal()};
            std::array<Vec3d, 3> q;
            std::array<Vec3<Dual>, 3> x, v;
            for (int k = 0; k < 3; ++k) {
                at.x[k] = corners[k + 1] - corners[0];
                at.v[k] = random_vector(random);
                u.x[k] = random_vector(random);
                u.v[k] = random_vector(random);
                q[k] = random_vector(random);
                x[k] = towards(at.x[k], u.x[k]);
                v[k] = towards(at.v[k], u.v[k]);
            }
            const auto f = hinge_force<Dual>(
                dual, {Dual(at.stiffness, u.stiffness), Dual(at.damping, u.damping)}, x[0], x[1],
                x[2], v[0], v[1], v[2]);
            const auto back =
                hinge_adjoint<double>(shape, {at.stiffness, at.damping}, at.x[0], at.x[1], at.x[2],
                                      at.v[0], at.v[1], at.v[2], q[0], q[1], q[2]);
            const double expected = sloped(q[0], f.on1) + sloped(q[1], f.on2) + sloped(q[2], f.on3);
            const double found = dot(back.edge, u.x[0]) + dot(back.side2, u.x[1]) +
                                 dot(back.side3, u.x[2]) + dot(back.edge_rate, u.v[0]) +
                                 dot(back.rate2, u.v[1]) + dot(back.rate3, u.v[2]) +
                                 back.parameters[0] * u.stiffness + back.parameters[1] * u.damping;
            // Heights of some 0.3 m and more: slopes below 10, in some 300 operations.
            EXPECT_NEAR(found, expected, 300 * kEpsilon * (1000 + std::abs(expected)));
        }
    }
}

TEST(HingeAdjoint, StaysFiniteWhenItCollapses)
{
    const auto shape = hinge_shape<float>(0.3, 0.2);
    const Vec3f none{}, some{0.5f, 0, -0.25f}, v{1, -2, 3};
    for (const auto& [a, b, c] :
         {std::array{none, none, none}, {some, some, some}, {some, none, v}, {none, some, v}}) {
        const auto back = hinge_adjoint<float>(shape, {3, 0.5f}, a, b, c, v, -v, v, v, v, -v);
        for (const Vec3f& value : {back.edge, back.side2, back.side3, back.edge_rate, back.rate2}) {
            EXPECT_TRUE(std::isfinite(length(value)));
        }
    }
}

TEST(CouplingAdjoint, IsTheTransposeOfTheDualDerivative)
{
    Random random(4);
    for (int i = 0; i < 100; ++i) {
        const Vec3d d1 = Vec3d{1, 0, 0} + 0.3 * random_vector(random);
        const Vec3d d2 = Vec3d{0, 1, 0} + 0.3 * random_vector(random);
        const Vec3d u1 = random_vector(random), u2 = random_vector(random);
        const Vec3d q1 = random_vector(random), q2 = random_vector(random);
        const double c = -20, change = random.normal();
        const auto f =
            coupling_force(towards(d1, u1), towards(d2, u2), Dual(0.9), Dual(1.1), Dual(c, change));
        const auto back = coupling_adjoint(d1, d2, 0.9, 1.1, c, q1, q2);
        EXPECT_NEAR(dot(back.d1, u1) + dot(back.d2, u2) + back.stiffness * change,
                    sloped(q1, f.on1) + sloped(q2, f.on2), 50 * kEpsilon * 20 * 30);
    }
}

// ---- Tapes of whole sheets ----

std::vector<Scene> element_scenes(int steps, int seed)
{
    return {mesh_scene(steps, seed, TriangleDamping::deformation, false),
            mesh_scene(steps, seed, TriangleDamping::strain, true), coupled_scene(steps, seed)};
}

TEST(ElementTape, GradientIsThatOfDualNumbers)
{
    for (const Scene& scene : element_scenes(12, 1)) {
        // Rounding of a few dozen operations in each of 24 steps, and an entry may be a hundredth
        // of what it is summed from.
        EXPECT_LE(gradient_error(reference_gradient(scene), dual_gradient(scene)), 1e-11);
    }
}

TEST(ElementTape, GradientIsTheLimitOfCentralDifferences)
{
    for (const Scene& scene : element_scenes(6, 2)) {
        // A few steps are nearly linear in the parameters: off by a tenth of the square of h, and
        // by the rounding of the loss over h.
        EXPECT_LE(gradient_error(reference_gradient(scene), difference_gradient(scene, 1e-3)),
                  1e-5);
    }
}

class WideElementTape : public testing::TestWithParam<KernelSet> {
  protected:
    std::unique_ptr<Tape<float>> make(const Scene& scene) const
    {
        return make_simd_tape(scene.cloth, scene.options, kKeepLittle, GetParam());
    }
    Gradient alone(const Scene& scene, int lane) const
    {
        return tape_gradient(*make(scene), {{lane, scene}});
    }
};

INSTANTIATE_TEST_SUITE_P(Simd, WideElementTape, testing::ValuesIn(instruction_sets()),
                         [](const testing::TestParamInfo<KernelSet>& test) {
                             return std::string(test.param.name);
                         });

TEST_P(WideElementTape, GradientIsThatOfTheReference)
{
    for (const int steps : {1, 129, 300}) {  // sums are flushed after every 128
        for (const Scene& scene : element_scenes(steps, 3)) {
            // As that of springs in tape_test.cpp, with several times as many roundings in an
            // element.
            const double tolerance = 100 * 20 * kFloatEpsilon * std::sqrt(2.0 * steps);
            EXPECT_LE(gradient_error(alone(scene, 1), reference_gradient(scene)), tolerance)
                << steps << " steps";
        }
    }
}

TEST_P(WideElementTape, GradientOfAllLanesIsTheSumOfEach)
{
    for (const Scene& first : element_scenes(40, 1)) {
        std::map<int, Scene> lanes;
        for (int lane = 0; lane < GetParam().width; ++lane) {
            lanes[lane] = first;
            lanes[lane].start =
                with_handles(shaken_state(first.cloth, 1 + lane), first.handles, first.options.dt);
        }
        const auto tape = make(first);
        const Gradient together = tape_gradient(*tape, lanes);
        Gradient sum(first.cloth);
        for (const auto& [lane, scene] : lanes) {
            Gradient own(first.cloth);
            tape->add_lane_gradient(lane, own.kinds);
            const Gradient other = alone(scene, (lane + 1) % GetParam().width);
            for (std::size_t k = 0; k < sum.kinds.size(); ++k) {
                EXPECT_EQ(own.kinds[k], other.kinds[k]) << "lane " << lane;
                for (std::size_t e = 0; e < sum.kinds[k].size(); ++e) {
                    sum.kinds[k][e] += own.kinds[k][e];
                }
            }
        }
        EXPECT_LE(gradient_error(together, sum), 1e-12);  // sums over lanes are in double
    }
}

TEST_P(WideElementTape, TakesNewParameters)
{
    for (const Scene& scene : element_scenes(40, 5)) {
        Scene other = scene;
        for (int kind = 0; kind < learned_count(scene.cloth); ++kind) {
            for (double& value : learned(other.cloth, kind)) value *= 0.7 + 0.1 * kind;
        }
        const auto tape = make(scene);
        tape->set_parameters(parameters_of(other.cloth));
        const Gradient gradient = tape_gradient(*tape, {{0, other}}), expected = alone(other, 0);
        for (std::size_t k = 0; k < expected.kinds.size(); ++k) {
            EXPECT_EQ(gradient.kinds[k], expected.kinds[k]) << "kind " << k;
        }
    }
}

TEST_P(WideElementTape, LanesThatAreNotLoadedAddNothing)
{
    for (const Scene& scene : element_scenes(20, 4)) {
        const auto tape = make(scene);
        tape->begin(scene.steps);
        tape->advance(scene.steps);
        tape->begin_back();
        for (float& adjoint : tape->position_adjoint()) adjoint = 1;
        tape->retreat(scene.steps);
        Gradient nothing(scene.cloth);
        tape->add_gradient(nothing.kinds);
        for (const auto& kind : nothing.kinds) EXPECT_EQ(largest_entry(kind), 0);
    }
}

}  // namespace

}  // namespace springtime
