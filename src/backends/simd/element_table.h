#pragma once

#include <vector>

#include "backends/simd/kernels.h"
#include "springtime/cloth.h"

namespace springtime {

// The triangles and hinges of a cloth in the order the kernels sweep them: by their lowest corner.
class ElementTable {
  public:
    explicit ElementTable(const Cloth& cloth);

    bool empty() const { return triangles_.empty() && hinges_.empty(); }
    const std::vector<SweepTriangle>& triangles() const { return triangles_; }
    const std::vector<SweepHinge>& hinges() const { return hinges_; }
    SweepElements view() const
    {
        return {static_cast<int>(triangles_.size()), static_cast<int>(hinges_.size()),
                triangles_.data(), hinges_.data(), damps_strain_};
    }

  private:
    std::vector<SweepTriangle> triangles_;
    std::vector<SweepHinge> hinges_;
    bool damps_strain_;
};

}  // namespace springtime
