#pragma once

#include <memory>
#include <string>

#include "backends/cuda/engine.h"

namespace springtime::cuda {

// Kernels that advance lanes there and back, as Engine (engine.h) says. There is one
// implementation for grids of springs and one for lists of elements; neither knows of the other.
class Kernels {
  public:
    virtual ~Kernels() = default;

    virtual void set_environment(const Environment& environment) = 0;
    virtual void set_parameters(const ParameterValues& values) = 0;
    virtual void advance(const LaneView& lanes, int first, int count, const Records& records,
                         const ContactView* contact) = 0;

    virtual void begin_back(const LaneView& lanes) = 0;
    virtual void retreat(const LaneView& lanes, int first, int count, const float* tape,
                         std::size_t lane_stride, const FrameAdjoints& adjoints) = 0;
    virtual const double* gradient(int lanes) = 0;
    virtual std::size_t bytes_per_lane_back() const = 0;
    virtual std::string name() const = 0;
};

// Null unless the particles form a grid and all elements are springs or bends between neighbours
// there, laid out as make_grid_cloth() does.
std::unique_ptr<Kernels> make_grid_kernels(const Cloth& cloth, const Environment& environment);
// For every cloth without a rod.
std::unique_ptr<Kernels> make_list_kernels(const Cloth& cloth, const Environment& environment);

}  // namespace springtime::cuda
