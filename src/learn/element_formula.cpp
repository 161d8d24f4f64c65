#include "learn/element_formula.h"

#include <algorithm>
#include <cmath>

#include "physics/bend.h"
#include "physics/coupling.h"
#include "physics/hinge.h"
#include "physics/spring.h"
#include "physics/triangle.h"
#include "sim/forces.h"

namespace springtime {

namespace {

// Of elements whose first corner feels minus the sum of all vectors, one for each other corner.
template <std::size_t N>
std::vector<ParticleShare> corner_shares(const std::array<int, N>& corners)
{
    std::vector<ParticleShare> shares{{corners[0], {}}};
    for (std::size_t i = 1; i < N; ++i) {
        shares[0].weight[i - 1] = -1;
        shares.push_back({corners[i], {}});
        shares.back().weight[i - 1] = 1;
    }
    return shares;
}

class SpringFormula : public ElementFormula {
  public:
    explicit SpringFormula(const Cloth& cloth)
        : ElementFormula(cloth, Element::spring), springs_(cloth.springs)
    {
        constexpr std::size_t kAlongSlot = 1;  // the other dashpot is isotropic (physics/spring.h)
        const std::vector<Parameter> parameters = parameters_in(cloth, Element::spring);
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            if (!parameters[k].is_damping()) continue;
            terms_[k].dashpot =
                parameters[k].slot == kAlongSlot ? Dashpot{0, 1, false} : Dashpot{0, 0, true};
        }
        measures_ = 1;
    }

    // The relative vector points from the second end to the first.
    void at(std::size_t spring, const Vec3d* relative, ElementForces& forces) const override
    {
        const Vec3d d = -relative[0];
        const double length = std::sqrt(std::max(dot(d, d), double(kMinLengthSquared)));
        const Vec3d direction = (1 / length) * d;
        const double stretch = length - springs_.rest_length[spring];
        double outside = stretch;  // of all ranges
        for (std::size_t r = 0; r < springs_.ranges.size(); ++r) {
            const SpringRange<double> range = range_of<double>(springs_, r, spring);
            const double within = stretch_within(stretch, range.from, range.to);
            forces.elastic[1 + r] = within * direction;
            outside -= within;
        }
        forces.elastic[0] = outside * direction;
        linear(spring, relative, forces);
        forces.measure[0] = length;
        forces.slope[0] = -direction;
    }

    void linear(std::size_t, const Vec3d* relative, ElementForces& forces) const override
    {
        forces.linear[0] = relative[0];
    }

  private:
    const SpringSet& springs_;
};

class BendFormula : public ElementFormula {
  public:
    explicit BendFormula(const Cloth& cloth) : ElementFormula(cloth, Element::bend)
    {
        terms_[1].dashpot = {0, 0, true};
    }
    void at(std::size_t bend, const Vec3d* relative, ElementForces& forces) const override
    {
        forces.elastic[0] = bend_force(relative[0], 1.0);
        linear(bend, relative, forces);
    }
    void linear(std::size_t, const Vec3d* relative, ElementForces& forces) const override
    {
        forces.linear[0] = relative[0];
    }
};

class TriangleFormula : public ElementFormula {
  public:
    explicit TriangleFormula(const Cloth& cloth)
        : ElementFormula(cloth, Element::triangle),
          strain_(cloth.triangles.damping_kind == TriangleDamping::strain)
    {
        for (const auto& corners : cloth.triangles.corners) {
            shapes_.push_back(shape_of_triangle<double>(cloth, corners));
        }
        for (const Parameter& parameter : parameters_in(cloth, Element::triangle)) {
            if (!parameter.is_damping()) stiffness_slots_.push_back(parameter.slot);
        }
        // The ratio of areas, then the strains along u, along v and of shear.
        measures_ = strain_ ? 4 : 1;
        for (Term& term : terms_) {
            if (term.damping) term.dashpot = {0, measures_, !strain_};
        }
    }

    void at(std::size_t triangle, const Vec3d* relative, ElementForces& forces) const override
    {
        const TriangleShape<double>& shape = shapes_[triangle];
        for (std::size_t i = 0; i < stiffness_slots_.size(); ++i) {
            const TriangleForce<double> force = triangle_force<DampsStrain>(
                shape, unit_of_slot(stiffness_slots_[i]), relative[0], relative[1], {}, {});
            forces.elastic[2 * i] = force.on1;
            forces.elastic[2 * i + 1] = force.on2;
        }
        const Columns<double> f = deformation(shape, relative[0], relative[1]);
        const AreaRatio<double> ratio = area_ratio(f);
        forces.measure[0] = ratio.ratio;
        put(shape, ratio.slope, forces.slope.data());
        linear(triangle, relative, forces);
        if (!strain_) return;
        forces.measure[1] = 0.5 * dot(f.u, f.u);
        forces.measure[2] = 0.5 * dot(f.v, f.v);
        forces.measure[3] = 0.5 * dot(f.u, f.v);
        put(shape, {f.u, {}}, forces.slope.data() + 2);
        put(shape, {{}, f.v}, forces.slope.data() + 4);
        put(shape, {0.5 * f.v, 0.5 * f.u}, forces.slope.data() + 6);
    }
    void linear(std::size_t triangle, const Vec3d* relative, ElementForces& forces) const override
    {
        if (strain_) return;
        const TriangleShape<double>& shape = shapes_[triangle];
        const Columns<double> f = deformation(shape, relative[0], relative[1]);
        put(shape, {shape.area * f.u, shape.area * f.v}, forces.linear.data());
    }
    // Shear counts twice: the strain is symmetric.
    double weight(std::size_t triangle, int measure) const override
    {
        return (measure == 3 ? 2 : 1) * shapes_[triangle].area;
    }

  private:
    static WovenMaterial<double> unit_of_slot(std::size_t slot)
    {
        WovenMaterial<double> material{};
        double* const by_slot[] = {&material.shear, &material.area, &material.damping,
                                   &material.warp, &material.weft};
        *by_slot[slot] = 1;
        return material;
    }
    // A gradient by F as one by the corners 1 and 2.
    static void put(const TriangleShape<double>& shape, const Columns<double>& by_f, Vec3d* to)
    {
        for (int corner = 0; corner < 2; ++corner) {
            to[corner] = shape.inverse[corner][0] * by_f.u + shape.inverse[corner][1] * by_f.v;
        }
    }

    bool strain_;
    std::vector<TriangleShape<double>> shapes_;
    std::vector<std::size_t> stiffness_slots_;
};

class HingeFormula : public ElementFormula {
  public:
    explicit HingeFormula(const Cloth& cloth) : ElementFormula(cloth, Element::hinge)
    {
        for (const auto& corners : cloth.hinges.corners) {
            shapes_.push_back(shape_of_hinge<double>(cloth, corners));
        }
        measures_ = 1;
        terms_[1].dashpot = {0, 1, false};
    }

    void at(std::size_t hinge, const Vec3d* relative, ElementForces& forces) const override
    {
        const HingeSlope<double> slope =
            hinge_slope(shapes_[hinge], relative[0], relative[1], relative[2]);
        forces.measure[0] = slope.angle;
        forces.slope[0] = -(slope.foot2 * slope.by2 + slope.foot3 * slope.by3);
        forces.slope[1] = slope.by2;
        forces.slope[2] = slope.by3;
        for (int i = 0; i < 3; ++i) forces.elastic[i] = -slope.angle * forces.slope[i];
    }

  private:
    std::vector<HingeShape<double>> shapes_;
};

class CouplingFormula : public ElementFormula {
  public:
    explicit CouplingFormula(const Cloth& cloth)
        : ElementFormula(cloth, Element::coupling), couplings_(cloth.couplings)
    {
    }
    void at(std::size_t coupling, const Vec3d* relative, ElementForces& forces) const override
    {
        const auto [rest1, rest2] = couplings_.rest_length[coupling];
        const CouplingForce<double> force =
            coupling_force(relative[0], relative[1], rest1, rest2, 1.0);
        forces.elastic[0] = force.on1;
        forces.elastic[1] = force.on2;
    }

  private:
    const CouplingSet& couplings_;
};

}  // namespace

std::vector<ParticleShare> particle_shares(const Cloth& cloth, Element element, std::size_t index)
{
    switch (element) {
        case Element::spring: {
            const auto [a, b] = cloth.springs.ends[index];
            return {{a, {1}}, {b, {-1}}};
        }
        case Element::bend: {
            const auto [a, middle, b] = cloth.bends.particles[index];
            return {{a, {1}}, {middle, {-2}}, {b, {1}}};
        }
        case Element::triangle:
            return corner_shares(cloth.triangles.corners[index]);
        case Element::hinge:
            return corner_shares(cloth.hinges.corners[index]);
        case Element::coupling:
            return corner_shares(cloth.couplings.corners[index]);
    }
    return {};
}

int vector_count(Element element)
{
    switch (element) {
        case Element::spring:
        case Element::bend:
            return 1;
        case Element::triangle:
        case Element::coupling:
            return 2;
        case Element::hinge:
            return 3;
    }
    return 0;
}

ElementFormula::ElementFormula(const Cloth& cloth, Element element)
    : particles_(particle_shares(cloth, element, 0).size()), vectors_(vector_count(element))
{
    for (const Parameter& parameter : parameters_in(cloth, element)) {
        terms_.push_back({parameter.is_damping(), parameter.is_damping() ? 0 : elastic_, {}});
        elastic_ += !parameter.is_damping();
    }
}

ElementForces ElementFormula::room() const
{
    ElementForces forces;
    forces.elastic.resize(std::size_t(elastic_ * vectors_));
    forces.linear.resize(std::size_t(vectors_));
    forces.measure.resize(std::size_t(measures_));
    forces.slope.resize(std::size_t(measures_ * vectors_));
    return forces;
}

std::unique_ptr<ElementFormula> formula_of(const Cloth& cloth, Element element)
{
    switch (element) {
        case Element::spring:
            return std::make_unique<SpringFormula>(cloth);
        case Element::bend:
            return std::make_unique<BendFormula>(cloth);
        case Element::triangle:
            return std::make_unique<TriangleFormula>(cloth);
        case Element::hinge:
            return std::make_unique<HingeFormula>(cloth);
        case Element::coupling:
            return std::make_unique<CouplingFormula>(cloth);
    }
    return nullptr;
}

}  // namespace springtime
