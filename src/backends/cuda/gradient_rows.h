#pragma once

#include <span>
#include <vector>

#include "backends/cuda/device_array.h"
#include "springtime/cloth.h"

namespace springtime::cuda {

// Gradients of clips, one row of numbers each, that stay on the device until their mean is taken.
// Numbers are those of all arrays of ParameterValues, one after the other.
class GradientRows {
  public:
    // `scale` is what numbers are multiplied by in norms and sums, if there is any.
    void begin(std::size_t rows, const ParameterValues& like, const ParameterValues* scale);
    // Those of some lanes, [lane][number] on the device, become the rows from `first` on.
    void put(std::size_t first, int lanes, const double* gradient);

    // The Euclidean norm of every row.
    std::vector<double> norms();
    // The sum over the rows, each times its share. Rows with a share of zero do not count, whatever
    // they hold.
    ParameterValues sum(std::span<const double> shares);
    // A row as it was put.
    ParameterValues row(std::size_t row) const;

  private:
    const double* scale() const { return scaled_ ? scale_.data() : nullptr; }
    ParameterValues shaped(const std::vector<double>& numbers) const;

    std::vector<std::size_t> sizes_;
    std::size_t rows_ = 0, numbers_ = 0;
    bool scaled_ = false;
    DeviceArray<double> values_, scale_, norms_, shares_, sum_;
};

}  // namespace springtime::cuda
