#pragma once

#include <array>
#include <vector>

#include "backends/cuda/list_elements.h"

namespace springtime::cuda {

// The elements of one type. An element has its place in the cloth.
struct ElementList {
    int corners = 0, numbers = 0;     // of an element
    std::vector<int> corner{};        // [element][corner]
    std::vector<double> number{};     // [element][number], as list_elements.h counts them
    int slots = 0;                    // parameters of an element
    std::vector<int> first_number{};  // by slot: where it begins in the gradient, -1: not learned

    int count() const { return corners == 0 ? 0 : int(corner.size()) / corners; }
};

// The elements of a cloth with their numbers, before they are packed for a kernel.
class ElementLists {
  public:
    explicit ElementLists(const Cloth& cloth);

    // Of all learned parameters, then, if there is one more array, of the masses.
    void set_parameters(const ParameterValues& values);

    const ElementList& of(Element element) const { return lists_[std::size_t(element)]; }
    const ListLaws& laws() const { return laws_; }
    int particles() const { return int(inverse_mass_.size()); }
    int range_count() const { return range_count_; }
    const std::vector<SpringRange<double>>& ranges() const { return ranges_; }  // [range][spring]
    const std::vector<double>& inverse_mass() const { return inverse_mass_; }
    // Of the gradient. The masses come last, from `first_mass` on, or it is -1.
    std::size_t number_count() const { return number_count_; }
    int first_mass() const { return first_mass_; }

  private:
    ElementList& list(Element element) { return lists_[std::size_t(element)]; }
    template <class Particles, class NumbersOf>
    void add(Element element, int numbers, int slots, const Particles& particles,
             const NumbersOf& numbers_of);
    void put(const Parameter& parameter, const std::vector<double>& values);

    std::vector<Parameter> parameters_;  // learned ones
    std::array<ElementList, kElementTypes> lists_;
    ListLaws laws_;
    int range_count_;
    std::vector<SpringRange<double>> ranges_;
    std::vector<double> inverse_mass_;
    std::size_t number_count_ = 0;
    int first_mass_ = -1;
};

}  // namespace springtime::cuda
