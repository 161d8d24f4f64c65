#pragma once

#include <bit>

#include "backends/cuda/block.h"
#include "backends/cuda/lane_steps.h"
#include "backends/cuda/list_view.h"

// Steps that the kernels for lists share, there and back.
namespace springtime::cuda {

inline constexpr int kListThreads = 512;  // of a block, at most

// The particles of a block in shared memory, [row][particle].
struct ListRows {
    float* first;
    int stride;

    __device__ float& at(int row, int p) const { return first[row * stride + p]; }
    __device__ Vec3f vector(int row, int p) const
    {
        return {at(row, p), at(row + 1, p), at(row + 2, p)};
    }
    __device__ void put(int row, int p, const Vec3f& value) const
    {
        at(row, p) = value.x;
        at(row + 1, p) = value.y;
        at(row + 2, p) = value.z;
    }
    template <int N>
    __device__ Corners<float, N> corners(int row, const int (&particle)[N]) const
    {
        Corners<float, N> all;
        SPRINGTIME_UNROLL
        for (int c = 0; c < N; ++c) all.of[c] = vector(row, particle[c]);
        return all;
    }
};

// Slots for what elements do to their corners, [axis][slot].
struct ListSlots {
    float* first;
    int stride;

    __device__ void put(int axis, int slot, const Vec3f& value) const
    {
        float* to = first + axis * stride + slot;
        to[0] = value.x;
        to[stride] = value.y;
        to[2 * stride] = value.z;
    }
    // Adds the slots of a particle, in their order, to what it has.
    __device__ void gather(int axis, int word, Vec3f& sum) const
    {
        const float* from = first + axis * stride + particle_of_corner(word);
        for (int left = slot_of_corner(word); left > 0; --left, from += kSlotStep) {
            sum += Vec3f{from[0], from[stride], from[2 * stride]};
        }
    }
};

// One thread after the other takes the next of `count` things.
template <class DoOne>
__device__ __forceinline__ void share_out(int first, int end, const DoOne& do_one)
{
    for (int i = first + int(threadIdx.x); i < end; i += int(blockDim.x)) do_one(i);
}

// An element of a block.
template <class Kind>
struct ListElement {
    static constexpr int kType = int(Kind::kElement);

    const ListView& list;
    const ListBlock& block;
    int element;
    int word[4 * kListPacks<Kind>];

    __device__ ListElement(const ListView& of, const ListBlock& of_block, int e)
        : list(of), block(of_block), element(e)
    {
        const int4* packs = list.packs + block.first_pack[kType] + e;
        SPRINGTIME_UNROLL
        for (int i = 0; i < kListPacks<Kind>; ++i) {
            const int4 pack = packs[i * block.elements[kType]];
            word[4 * i] = pack.x;
            word[4 * i + 1] = pack.y;
            word[4 * i + 2] = pack.z;
            word[4 * i + 3] = pack.w;
        }
    }

    __device__ void particles(int (&particle)[Kind::kCorners]) const
    {
        SPRINGTIME_UNROLL
        for (int c = 0; c < Kind::kCorners; ++c) particle[c] = particle_of_corner(word[c]);
    }
    __device__ void put(const ListSlots& slots, int axis,
                        const Corners<float, Kind::kCorners>& values) const
    {
        SPRINGTIME_UNROLL
        for (int c = 0; c < Kind::kCorners; ++c) {
            const int slot = slot_of_corner(word[c]);
            if (slot != kNoSlot) slots.put(axis, slot, values.of[c]);
        }
    }

    // Its numbers, as formulas ask for them.
    __device__ float operator()(int i) const
    {
        return std::bit_cast<float>(word[Kind::kCorners + i]);
    }
    __device__ int range_count() const { return list.range_count; }
    __device__ SpringRange<float> range(int j) const
    {
        const float4 range = list.ranges[block.first_range + j * block.elements[kType] + element];
        return {range.x, range.y, range.z};
    }
};

// Where a block is.
template <bool kCluster>
struct ListPlace {
    int lane, rank;
    const ListBlock& block;

    __device__ explicit ListPlace(const ListView& list)
        : lane(int(blockIdx.x) / list.blocks),
          rank(int(blockIdx.x) % list.blocks),
          block(list.block[rank])
    {
    }

    // The number of a particle of the block in the cloth.
    __device__ std::size_t particle(const ListView& list, int p) const
    {
        return std::size_t(list.particle[block.first_particle + p]);
    }

    __device__ float mobility(const LaneView& lanes, std::size_t particle) const
    {
        return lanes.mobility[std::size_t(lane) * std::size_t(lanes.particles) + particle];
    }

    // The state of its particles, guests as well, from [lane][row][particle].
    __device__ void load(const ListView& list, const LaneView& lanes, const float* states,
                         const ListRows& rows, int row) const
    {
        const std::size_t count = std::size_t(lanes.particles);
        const float* state = states + std::size_t(lane) * kStateRows * count;
        share_out(0, block.particles, [&](int p) {
            const float* from = state + particle(list, p);
            SPRINGTIME_UNROLL
            for (int r = 0; r < kStateRows; ++r) rows.at(row + r, p) = from[std::size_t(r) * count];
        });
    }
    // That of its own to [row][particle]; every thread has written what it reads.
    __device__ void store(const ListView& list, const LaneView& lanes, const ListRows& rows,
                          int row, float* state) const
    {
        const std::size_t count = std::size_t(lanes.particles);
        share_out(0, block.own, [&](int p) {
            float* to = state + particle(list, p);
            SPRINGTIME_UNROLL
            for (int r = 0; r < kStateRows; ++r) to[std::size_t(r) * count] = rows.at(row + r, p);
        });
    }

    // Brings some rows of the guests from the blocks that own them, which have told so by a
    // barrier.
    __device__ void fetch_guests(const ListView& list, const ListRows& rows, int row,
                                 int count) const
    {
        if constexpr (kCluster) {
            share_out(block.own, block.particles, [&](int p) {
                const int word = list.guest[block.first_guest + p - block.own];
                const float* from =
                    in_block(&rows.at(row, particle_of_corner(word)), slot_of_corner(word));
                for (int r = 0; r < count; ++r) rows.at(row + r, p) = from[r * rows.stride];
            });
        }
    }
};

}  // namespace springtime::cuda
