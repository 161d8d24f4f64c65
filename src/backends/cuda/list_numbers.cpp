#include "backends/cuda/list_numbers.h"

#include "core/assert.h"
#include "sim/forces.h"

namespace springtime::cuda {

namespace {

ListLaws laws_of(const Cloth& cloth)
{
    const bool compression = has_compression_law(cloth.springs);
    return {!has_law(cloth.springs) ? ListLaw::plain
            : compression           ? ListLaw::compression
                                    : ListLaw::ranges,
            cloth.triangles.damping_kind == TriangleDamping::strain, is_woven(cloth.triangles)};
}

}  // namespace

template <class Particles, class NumbersOf>
void ElementLists::add(Element element, int numbers, int slots, const Particles& particles,
                       const NumbersOf& numbers_of)
{
    ElementList& to = list(element);
    to.corners = int(std::tuple_size_v<typename Particles::value_type>);
    to.numbers = numbers;
    to.slots = slots;
    to.first_number.assign(std::size_t(slots), -1);
    for (std::size_t e = 0; e < particles.size(); ++e) {
        to.corner.insert(to.corner.end(), particles[e].begin(), particles[e].end());
        std::vector<double> of_element = numbers_of(e);
        of_element.resize(std::size_t(numbers));  // the parameters come later
        to.number.insert(to.number.end(), of_element.begin(), of_element.end());
    }
}

ElementLists::ElementLists(const Cloth& cloth)
    : parameters_(learned_parameters(cloth)),
      laws_(laws_of(cloth)),
      range_count_(int(cloth.springs.ranges.size()))
{
    using Numbers = std::vector<double>;
    const int spring_slots = kSlotsBesideRanges + range_count_;
    add(Element::spring, kSpringNumbers, spring_slots, cloth.springs.ends,
        [&](std::size_t e) { return Numbers{cloth.springs.rest_length[e]}; });
    add(Element::bend, BendElement::kNumbers, kBendSlots, cloth.bends.particles,
        [](std::size_t) { return Numbers{}; });
    const int fibres = laws_.woven ? kWovenSlots : kTriangleSlots;
    add(Element::triangle, PlainTriangle<DampsStrain>::kFirstSlot + fibres, fibres,
        cloth.triangles.corners, [&](std::size_t e) {
            const auto shape = shape_of_triangle<double>(cloth, cloth.triangles.corners[e]);
            const auto& m = shape.inverse;
            return Numbers{m[0][0], m[0][1], m[1][0], m[1][1], shape.area};
        });
    add(Element::hinge, HingeElement::kNumbers, kHingeSlots, cloth.hinges.corners,
        [&](std::size_t e) {
            const auto shape = shape_of_hinge<double>(cloth, cloth.hinges.corners[e]);
            return Numbers{shape.least_square1, shape.least_square2};
        });
    add(Element::coupling, CouplingElement::kNumbers, kCouplingSlots, cloth.couplings.corners,
        [&](std::size_t e) {
            const auto& rest = cloth.couplings.rest_length[e];
            return Numbers{rest[0], rest[1]};
        });
    for (int j = 0; j < range_count_; ++j) {
        for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
            ranges_.push_back(range_of<double>(cloth.springs, std::size_t(j), s));
        }
    }
    for (const double mass : cloth.mass) inverse_mass_.push_back(1 / mass);
    set_parameters(parameters_of(cloth));
}

void ElementLists::put(const Parameter& parameter, const std::vector<double>& values)
{
    const Element element = parameter.kind->element;
    ElementList& to = list(element);
    const int slot = int(parameter.slot);
    to.first_number[parameter.slot] = int(number_count_);
    number_count_ += values.size();
    const auto write = [&](int number) {
        for (std::size_t e = 0; e < values.size(); ++e) {
            to.number[e * std::size_t(to.numbers) + std::size_t(number)] = values[e];
        }
    };
    switch (element) {
        case Element::spring:
            break;
        case Element::bend:
            return write(BendElement::kFirstSlot + slot);
        case Element::triangle:
            return write(PlainTriangle<DampsStrain>::kFirstSlot + slot);
        case Element::hinge:
            return write(HingeElement::kFirstSlot + slot);
        case Element::coupling:
            return write(CouplingElement::kFirstSlot + slot);
    }
    const int range = slot - kFirstRangeSlot;
    if (range < 0) return write(kStiffness + slot);
    if (range == range_count_) return write(kIsotropic);
    for (std::size_t e = 0; e < values.size(); ++e) {
        ranges_[std::size_t(range) * values.size() + e].stiffness = values[e];
    }
    if (range == 0) write(kCompression);
}

void ElementLists::set_parameters(const ParameterValues& values)
{
    SPRINGTIME_ASSERT(values.size() == parameters_.size() ||
                      values.size() == parameters_.size() + 1);
    number_count_ = 0;
    for (std::size_t k = 0; k < parameters_.size(); ++k) put(parameters_[k], values[k]);
    first_mass_ = -1;
    if (values.size() == parameters_.size()) return;
    first_mass_ = int(number_count_);
    number_count_ += values.back().size();
    inverse_mass_.clear();
    for (const double mass : values.back()) inverse_mass_.push_back(1 / mass);
}

}  // namespace springtime::cuda
