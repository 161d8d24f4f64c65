#pragma once

#include <array>
#include <memory>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// The forces of an element are weighted sums of a few vectors, so that they always add up to
// nothing: a spring has one vector, the force on its first end, and its second end feels -1 times
// it. The same weights turn the positions of the particles into the relative vectors that the
// formula of the element takes.
inline constexpr int kMostVectors = 3;
struct ParticleShare {
    int particle;
    std::array<double, kMostVectors> weight;
};
// The particles of an element.
std::vector<ParticleShare> particle_shares(const Cloth& cloth, Element element, std::size_t index);
int vector_count(Element element);

// What the force of an element consists of at one moment. All lists of vectors are one after the
// other, vector_count() each.
struct ElementForces {
    std::vector<Vec3d> elastic;   // for every kind of stiffness: the force of one unit
    std::vector<Vec3d> linear;    // of the dashpot that is linear in positions: minus its integral
    std::vector<double> measure;  // numbers q whose rates other dashpots resist
    std::vector<Vec3d> slope;     // for every q its gradient; the force is -weight slope q'
};

// How the learned parameters of an element make its force.
class ElementFormula {
  public:
    virtual ~ElementFormula() = default;

    // What a kind of damping resists: the rates of some measures, and the linear dashpot.
    struct Dashpot {
        int first_measure = 0, measure_count = 0;
        bool linear = false;
    };

    std::size_t particle_count() const { return particles_; }
    int vectors() const { return vectors_; }
    int measures() const { return measures_; }
    int elastic_count() const { return elastic_; }
    // By learned parameter of the element: which of the elastic forces, or which dashpot.
    struct Term {
        bool damping = false;
        int elastic = 0;
        Dashpot dashpot{};
    };
    const std::vector<Term>& terms() const { return terms_; }

    // At the relative vectors of an element; `forces` has room for all.
    virtual void at(std::size_t element, const Vec3d* relative, ElementForces& forces) const = 0;
    // The linear dashpot alone, also of velocities in place of positions.
    virtual void linear(std::size_t /*element*/, const Vec3d* /*relative*/,
                        ElementForces& /*forces*/) const
    {
    }
    virtual double weight(std::size_t /*element*/, int /*measure*/) const { return 1; }

    ElementForces room() const;

  protected:
    ElementFormula(const Cloth& cloth, Element element);

    std::size_t particles_;
    int vectors_, measures_ = 0, elastic_ = 0;
    std::vector<Term> terms_;
};

// Of the elements of one type. The cloth must outlive it.
std::unique_ptr<ElementFormula> formula_of(const Cloth& cloth, Element element);

}  // namespace springtime
