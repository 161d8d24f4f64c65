#include "backends/cuda/gradient_rows.h"

#include "backends/cuda/block_sum.h"

namespace springtime::cuda {

namespace {

// One block per row.
__global__ void take_norms(std::size_t numbers, const double* rows, const double* scale,
                           double* norms)
{
    const double* row = rows + std::size_t(blockIdx.x) * numbers;
    double squares = 0;
    for (std::size_t i = threadIdx.x; i < numbers; i += kSumThreads) {
        const double scaled = row[i] * (scale ? scale[i] : 1);
        squares += scaled * scaled;
    }
    const double sum = block_sum(squares);
    if (threadIdx.x == 0) norms[int(blockIdx.x)] = sqrt(sum);
}

// One thread per number.
__global__ void add_rows(std::size_t rows, std::size_t numbers, const double* values,
                         const double* scale, const double* shares, double* sum)
{
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= numbers) return;
    double total = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (shares[row] != 0) total += shares[row] * values[row * numbers + i];
    }
    sum[i] = scale ? total * scale[i] : total;
}

std::vector<double> in_one_row(const ParameterValues& values)
{
    std::vector<double> row;
    for (const auto& array : values) row.insert(row.end(), array.begin(), array.end());
    return row;
}

}  // namespace

void GradientRows::begin(std::size_t rows, const ParameterValues& like,
                         const ParameterValues* scale)
{
    rows_ = rows;
    numbers_ = 0;
    sizes_.clear();
    for (const auto& array : like) {
        sizes_.push_back(array.size());
        numbers_ += array.size();
    }
    values_.resize(rows * numbers_);
    scaled_ = scale != nullptr;
    if (scaled_) scale_.assign(in_one_row(*scale));
}

void GradientRows::put(std::size_t first, int lanes, const double* gradient)
{
    SPRINGTIME_CUDA(cudaMemcpyAsync(values_.data() + first * numbers_, gradient,
                                    std::size_t(lanes) * numbers_ * sizeof(double),
                                    cudaMemcpyDeviceToDevice));
}

std::vector<double> GradientRows::norms()
{
    norms_.resize(rows_);
    launch(summing<double>(int(rows_)), take_norms, numbers_, values_.data(), scale(),
           norms_.data());
    return norms_.fetched();
}

ParameterValues GradientRows::sum(std::span<const double> shares)
{
    constexpr std::size_t kThreads = 128;
    shares_.assign(shares);
    sum_.resize(numbers_);
    launch({int((numbers_ + kThreads - 1) / kThreads), int(kThreads)}, add_rows, rows_, numbers_,
           values_.data(), scale(), shares_.data(), sum_.data());
    return shaped(sum_.fetched());
}

ParameterValues GradientRows::row(std::size_t row) const
{
    std::vector<double> numbers(numbers_);
    values_.fetch(row * numbers_, numbers);
    return shaped(numbers);
}

ParameterValues GradientRows::shaped(const std::vector<double>& numbers) const
{
    ParameterValues values;
    auto next = numbers.begin();
    for (const std::size_t size : sizes_) {
        values.emplace_back(next, next + std::ptrdiff_t(size));
        next += std::ptrdiff_t(size);
    }
    return values;
}

}  // namespace springtime::cuda
