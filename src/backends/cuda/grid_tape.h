#pragma once

#include "backends/cuda/grid_patch.h"
#include "backends/cuda/lane_set.h"

namespace springtime::cuda {

// The states of a tape, as far as a block needs them: its rows of the grid and one more on both
// sides, of the present state and of the one that comes next. A state has six rows of numbers, one
// after the other.
template <class Shape>
class GridTape {
  public:
    __device__ GridTape(const GridView& grid, const GridPlace<Shape>& place, BlockRoom& room,
                        const float* tape)
        : tape_(tape), cols_(grid.cols), particles_(int(grid.particles()))
    {
        const int lowest = place.rank * grid.bands * Shape::kRows - 1;
        const int from = lowest < 0 ? 0 : lowest;
        const int beyond = lowest + grid.bands * Shape::kRows + 2;
        const int to = beyond < grid.rows ? beyond : grid.rows;
        first_ = from * cols_;
        count_ = (to > from ? to - from : 0) * cols_;
        stride_ = stride(grid);
        begin_ = kPad + (from - lowest) * cols_;
        own_ = kPad + (place.first_row - lowest) * cols_ + place.first_col;
        kept_ = room.take<float>(2 * kStateRows * stride_);
        // Beyond the grid, too, there are numbers.
        for (int i = int(threadIdx.x); i < 2 * kStateRows * stride_; i += int(blockDim.x)) {
            kept_[i] = 0;
        }
        // Four numbers at a time where all pieces begin at multiples of four.
        const int odd = particles_ | first_ | count_ | begin_ |
                        int(reinterpret_cast<std::size_t>(tape) / sizeof(float));
        by_four_ = odd % 4 == 0;
        __syncthreads();
    }

    __host__ __device__ static std::size_t room(const GridView& grid)
    {
        return 2 * sizeof(float) * std::size_t(kStateRows * stride(grid));
    }

    __device__ const float* state(int record) const
    {
        return tape_ + std::size_t(record) * kStateRows * std::size_t(particles_);
    }

    // Begins to bring a state. That of the record two after it is forgotten.
    __device__ void fetch(int record)
    {
        const float* from = state(record) + first_;
        float* to = kept(record) + begin_;
        SPRINGTIME_UNROLL
        for (int row = 0; row < kStateRows; ++row) {
            if (by_four_) {
                for (int i = int(threadIdx.x) * 4; i < count_; i += int(blockDim.x) * 4) {
                    copy_later(reinterpret_cast<float4*>(to + row * stride_ + i),
                               reinterpret_cast<const float4*>(from + row * particles_ + i));
                }
            } else {
                for (int i = int(threadIdx.x); i < count_; i += int(blockDim.x)) {
                    copy_later(to + row * stride_ + i, from + row * particles_ + i);
                }
            }
        }
    }

    // Row i of the patch, -1 to R, with its sides; with the corners above only if asked.
    template <bool kCorners>
    __device__ void read_row(int record, int i, Patch<Shape>& position,
                             Patch<Shape>& velocity) const
    {
        const float* from = kept(record) + own_ + i * cols_;
        SPRINGTIME_UNROLL
        for (int j = -1; j <= Shape::kCols; ++j) {
            if (!kCorners && i < 0 && (j < 0 || j == Shape::kCols)) continue;
            const float* at = from + j;
            position.own(i, j) = {at[0], at[stride_], at[2 * stride_]};
            velocity.own(i, j) = {at[3 * stride_], at[4 * stride_], at[5 * stride_]};
        }
    }

  private:
    __device__ float* kept(int record) const { return kept_ + (record & 1) * kStateRows * stride_; }

    static constexpr int kPad = 4;
    // Of a row of numbers. Threads beyond the width of the grid read on behind it.
    __host__ __device__ static int stride(const GridView& grid)
    {
        const int rows = grid.bands * Shape::kRows + 2;
        return (rows * grid.cols + Shape::kWidth + 2 * kPad + 3) / 4 * 4;
    }

    const float* tape_;
    int cols_, particles_;
    int first_, count_;  // of the particles that the block needs
    int stride_, begin_, own_;
    bool by_four_;
    float* kept_;  // two states
};

}  // namespace springtime::cuda
