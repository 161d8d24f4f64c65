#pragma once

#include <array>
#include <vector>

#include "backends/simd/kernels.h"
#include "springtime/cloth.h"

namespace springtime {

// The triangles, hinges and couplings of a cloth in the order the kernels sweep them: by their
// lowest corner.
class ElementTable {
  public:
    explicit ElementTable(const Cloth& cloth);

    bool empty() const { return triangles_.empty() && hinges_.empty() && couplings_.empty(); }
    const std::vector<SweepTriangle>& triangles() const { return triangles_; }
    const std::vector<SweepHinge>& hinges() const { return hinges_; }
    SweepElements view() const
    {
        return {static_cast<int>(triangles_.size()),
                static_cast<int>(hinges_.size()),
                static_cast<int>(couplings_.size()),
                triangles_.data(),
                hinges_.data(),
                couplings_.data(),
                damps_strain_,
                woven_};
    }
    // For each place in the sweep, the index of the element in the cloth.
    const std::vector<int>& order(Element element) const { return order_[std::size_t(element)]; }
    // How many parameters the formula of an element has.
    std::size_t slot_count(Element element) const;
    // As Tape::set_parameters() takes them; those of other elements are left alone.
    void set_parameters(const ParameterValues& values);

  private:
    float* material_of(Element element, std::size_t place);

    std::vector<Parameter> parameters_;  // learned ones of the cloth
    std::array<std::vector<int>, kElements.size()> order_;
    std::vector<SweepTriangle> triangles_;
    std::vector<SweepHinge> hinges_;
    std::vector<SweepCoupling> couplings_;
    bool damps_strain_, woven_;
};

}  // namespace springtime
