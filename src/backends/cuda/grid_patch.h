#pragma once

#include "backends/cuda/block.h"
#include "backends/cuda/grid_view.h"
#include "backends/cuda/unroll.h"
#include "physics/bend.h"
#include "physics/spring.h"

// Steps that the kernels there and back share. Arrays of a patch are in registers: all their
// indices are known to the compiler.
namespace springtime::cuda {

// ---- Where a thread is

template <class Shape>
struct GridPlace {
    int rank, band, lane;  // block of the cluster, warp of the block, thread of the warp
    int first_row, first_col;
    int rows, cols;

    __device__ explicit GridPlace(const GridView& grid, int rank_in_cluster)
        : rank(rank_in_cluster),
          band(int(threadIdx.x) / kWarp),
          lane(int(threadIdx.x) % kWarp),
          first_row((rank * grid.bands + band) * Shape::kRows),
          first_col(lane * Shape::kCols),
          rows(grid.rows),
          cols(grid.cols)
    {
    }

    // Of particle (i, j) of the patch.
    __device__ bool exists(int i, int j) const
    {
        return first_row + i < rows && first_col + j < cols;
    }
    __device__ int particle(int i, int j) const { return (first_row + i) * cols + first_col + j; }
    // Whether there are bands above and below.
    __device__ bool has_above() const { return first_row > 0; }
    __device__ bool has_below() const { return first_row + Shape::kRows < rows; }
};

// ---- Shared memory

// What bands tell their neighbours: N numbers of each column, for the band above and that below.
// `kWidth` is that of a band.
template <class Shape, int N>
class BandEdges {
  public:
    static constexpr int kEdge = N * Shape::kWidth;
    __host__ __device__ static constexpr int room(int bands) { return 2 * kEdge * bands; }

    template <bool kCluster>
    __device__ void take(BlockRoom& block, const GridPlace<Shape>& place, int bands)
    {
        float* own = block.take<float>(room(bands));
        up_ = own + 2 * place.band * kEdge;
        down_ = up_ + kEdge;
        // The lower edge of the band above and the upper one of that below; its own where there is
        // none, so that it reads numbers.
        above_ = place.has_above() ? down_ - 2 * kEdge : down_;
        below_ = place.has_below() ? up_ + 2 * kEdge : up_;
        if constexpr (kCluster) {
            const int last = bands - 1;
            if (place.has_above() && place.band == 0) {
                above_ = in_block(own + (2 * last + 1) * kEdge, place.rank - 1);
            }
            if (place.has_below() && place.band == last) below_ = in_block(own, place.rank + 1);
        }
    }

    // Number n of column j of the patch.
    __device__ void tell_above(int n, int j, int lane, float value) { up_[at(n, j, lane)] = value; }
    __device__ void tell_below(int n, int j, int lane, float value)
    {
        down_[at(n, j, lane)] = value;
    }
    __device__ float from_above(int n, int j, int lane) const { return above_[at(n, j, lane)]; }
    __device__ float from_below(int n, int j, int lane) const { return below_[at(n, j, lane)]; }

    __device__ void tell_above(int n, int j, int lane, const Vec3f& v)
    {
        for (int axis = 0; axis < 3; ++axis) tell_above(n + axis, j, lane, v[axis]);
    }
    __device__ void tell_below(int n, int j, int lane, const Vec3f& v)
    {
        for (int axis = 0; axis < 3; ++axis) tell_below(n + axis, j, lane, v[axis]);
    }
    __device__ Vec3f vector_from_above(int n, int j, int lane) const
    {
        return {from_above(n, j, lane), from_above(n + 1, j, lane), from_above(n + 2, j, lane)};
    }
    __device__ Vec3f vector_from_below(int n, int j, int lane) const
    {
        return {from_below(n, j, lane), from_below(n + 1, j, lane), from_below(n + 2, j, lane)};
    }

  private:
    // Threads of a warp read consecutive numbers.
    __device__ static int at(int n, int j, int lane)
    {
        return (n * Shape::kCols + j) * kWarp + lane;
    }

    float *up_, *down_;
    const float *above_, *below_;
};

// ---- Patches

// Vectors of the particles of a patch and of the ring around it.
template <class Shape>
struct Patch {
    Vec3f at[Shape::kRows + 2][Shape::kCols + 2];

    // Of an element's particle, by steps from the one at (i, j) of the patch.
    __device__ Vec3f& near(int i, int j, const GridStep& step)
    {
        return at[i + 1 + step.down][j + 1 + step.right];
    }
    __device__ const Vec3f& near(int i, int j, const GridStep& step) const
    {
        return at[i + 1 + step.down][j + 1 + step.right];
    }
    __device__ Vec3f& own(int i, int j) { return at[i + 1][j + 1]; }
    __device__ const Vec3f& own(int i, int j) const { return at[i + 1][j + 1]; }

    __device__ void clear()
    {
        SPRINGTIME_UNROLL
        for (auto& row : at) {
            SPRINGTIME_UNROLL
            for (Vec3f& v : row) v = {0, 0, 0};
        }
    }
};

__device__ __forceinline__ Vec3f shuffle(const Vec3f& v, int from)
{
    return {__shfl_sync(kWholeWarp, v.x, from), __shfl_sync(kWholeWarp, v.y, from),
            __shfl_sync(kWholeWarp, v.z, from)};
}

// Fills the ring at the sides of a row of a patch, -1 to R. The last thread of a warp is beside the
// first one: no element joins them, but what it reads are numbers.
template <class Shape>
__device__ __forceinline__ void fill_sides(Patch<Shape>& patch, int i, int lane)
{
    auto& row = patch.at[i + 1];
    row[0] = shuffle(row[Shape::kCols], lane - 1);
    row[Shape::kCols + 1] = shuffle(row[1], lane + 1);
}
// The other way round: adds what belongs to the ring at the sides to the neighbours.
template <class Shape>
__device__ __forceinline__ void fold_sides(Patch<Shape>& patch, int i, int lane)
{
    auto& row = patch.at[i + 1];
    const Vec3f left = shuffle(row[Shape::kCols + 1], lane - 1);
    const Vec3f right = shuffle(row[0], lane + 1);
    row[1] += left;
    row[Shape::kCols] += right;
}

// ---- Parameters

// Parameters of a patch in memory.
template <class Shape>
class GridParameters {
  public:
    __device__ GridParameters(const float4* first, int threads)
        : first_(first + threadIdx.x), threads_(threads)
    {
    }
    // Pack q of particle t of the patch.
    __device__ float4 pack(int q, int t) const
    {
        return first_[(q * Shape::kPatch + t) * threads_];
    }

  private:
    const float4* first_;
    int threads_;
};

// The same in registers.
template <class Shape, int kPacks>
class GridParametersInRegisters {
  public:
    __device__ explicit GridParametersInRegisters(const GridParameters<Shape>& from)
    {
        SPRINGTIME_UNROLL
        for (int q = 0; q < kPacks; ++q) {
            SPRINGTIME_UNROLL
            for (int t = 0; t < Shape::kPatch; ++t) packs_[q][t] = from.pack(q, t);
        }
    }
    __device__ const float4& pack(int q, int t) const { return packs_[q][t]; }

  private:
    float4 packs_[kPacks][Shape::kPatch];
};

// Copies those of the block to its shared memory.
template <class Shape, int kPacks>
__device__ __forceinline__ const float4* copy_parameters(const float4* from, BlockRoom& room)
{
    const int count = kPacks * Shape::kPatch * int(blockDim.x);
    float4* to = room.take<float4>(count);
    for (int i = int(threadIdx.x); i < count; i += int(blockDim.x)) to[i] = from[i];
    return to;
}

// The numbers and the law of a spring.
template <class Law>
struct GridSpringNumbers;
template <>
struct GridSpringNumbers<PlainGridLaw> {
    float stiffness, damping;
    NoLaw law;

    template <class Parameters>
    __device__ static GridSpringNumbers of(const Parameters& parameters, int kind, int t)
    {
        const float4 pack = parameters.pack(kind / 2, t);
        return kind % 2 == 0 ? GridSpringNumbers{pack.x, pack.y, {}}
                             : GridSpringNumbers{pack.z, pack.w, {}};
    }
};
template <>
struct GridSpringNumbers<FullGridLaw> {
    float stiffness, damping;
    CompressionLaw<float> law;

    template <class Parameters>
    __device__ static GridSpringNumbers of(const Parameters& parameters, int kind, int t)
    {
        const float4 pack = parameters.pack(kind, t);
        return {pack.x, pack.y, {{pack.z}, pack.w}};
    }
};

// Stiffness and damping of a bend.
template <class Parameters>
__device__ __forceinline__ float2 bend_numbers(const Parameters& parameters, int kind, int t)
{
    const float4 pack = parameters.pack(kGridSprings + kind / 2, t);
    return kind % 2 == 0 ? make_float2(pack.x, pack.y) : make_float2(pack.z, pack.w);
}

}  // namespace springtime::cuda
