#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "backends/cuda/unroll.h"
#include "springtime/vec3.h"

// What the kernels for grids of springs share.
//
// A warp holds a band of the grid: a few rows, of the whole width. Each of its threads holds a
// patch of R x C particles in registers, and knows the ring of particles around it: those at its
// sides belong to the next threads of the warp and come by shuffles, those above and below to the
// next warps and come by shared memory. A block has several bands, and a cluster of blocks has them
// all. Every element belongs to one particle and reaches no further than one row and one column
// from it, so each is computed once; what it means for the ring is handed to the neighbours.
namespace springtime::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kWholeWarp = ~0u;

// ---- Elements

// A step in the grid, down by rows and to the right by columns.
struct GridStep {
    int down, right;
};

// The springs and the bends that belong to a particle, where the cloth has them.
inline constexpr int kGridSprings = 6, kGridBends = 4;

// A spring leads from one particle to another, both given by the steps from its own.
struct GridEnds {
    GridStep a, b;
};
SPRINGTIME_HD constexpr GridEnds ends_of_spring(int kind)
{
    switch (kind) {
        case 0:
            return {{0, 0}, {0, 1}};
        case 1:
            return {{0, 0}, {1, 0}};
        case 2:
            return {{0, 0}, {1, 1}};
        case 3:
            return {{0, 0}, {1, -1}};
        case 4:
            return {{0, -1}, {0, 1}};
        default:
            return {{-1, 0}, {1, 0}};
    }
}
// A bend lies on both sides of its particle: the step to its last one. That to its first is the
// opposite.
SPRINGTIME_HD constexpr GridStep line_of_bend(int kind)
{
    switch (kind) {
        case 0:
            return {0, 1};
        case 1:
            return {1, 0};
        case 2:
            return {1, 1};
        default:
            return {1, -1};
    }
}

// ---- Parameters

// Parameters by their place in the gradient: of springs, of bends, of particles.
enum GridSlot {
    kStiffnessSlot,
    kDampingSlot,
    kCompressionSlot,
    kIsotropicSlot,
    kBendingSlot,
    kBendingDampingSlot,
    kMassSlot,
    kGridSlots
};

// How parameters are packed for a particle, four numbers at a time. Elements that it does not have
// are zero: they do nothing.
// Stiffness and damping of two springs each:
struct PlainGridLaw {
    static constexpr bool kBends = false;
    static constexpr int kPacks = kGridSprings / 2;
    static constexpr int kSpringSums = 2;  // of the gradient, for each spring
    static constexpr int kSums = kSpringSums * kGridSprings;
};
// Stiffness, damping, stiffness in compression and isotropic damping of a spring each, then
// stiffness and damping of two bends each:
struct FullGridLaw {
    static constexpr bool kBends = true;
    static constexpr int kPacks = kGridSprings + kGridBends / 2;
    static constexpr int kSpringSums = 4;
    static constexpr int kSums = kSpringSums * kGridSprings + 2 * kGridBends;
};

// ---- Shapes

// A thread holds R rows and C columns; a block has at most W warps.
template <int R, int C, int W>
struct PatchShape {
    static constexpr int kRows = R, kCols = C, kWarps = W;
    static constexpr int kThreads = W * kWarp;
    static constexpr int kPatch = R * C;      // particles of a thread
    static constexpr int kWidth = C * kWarp;  // columns of a band
};

// A grid as kernels see it.
struct GridView {
    int rows = 0, cols = 0;
    int bands = 1;   // of a block
    int blocks = 1;  // of a cluster
    float rest_length[kGridSprings] = {};
    Vec3<float> gravity, wind;
    float drag = 0;
    const float4* parameters = nullptr;   // [block][pack][particle of the patch][thread]
    const float* inverse_mass = nullptr;  // [particle]

    SPRINGTIME_HD std::size_t particles() const { return std::size_t(rows) * std::size_t(cols); }
};

// Where the way back leaves its results, for each lane.
struct GridBackView {
    float* adjoint = nullptr;    // [lane][row of state][particle]
    double* gradient = nullptr;  // [lane][number]
    std::size_t numbers = 0;
    const int* element = nullptr;  // [spring or bend][particle]: its index in the cloth, or -1
    // By slot: the number of its first parameter, or -1 where none is learned.
    int first_number[kGridSlots] = {};
    bool with_last = true;  // nothing was passed before: the frame of the last state counts
};

}  // namespace springtime::cuda
