#pragma once

#include <cuda_runtime.h>

#include "backends/cuda/list_elements.h"

// What the kernels for lists of elements share with those who make the lists.
//
// The particles of a cloth are shared out among blocks by where they lie at rest. A block keeps the
// states of its own particles in shared memory, and of others that it needs: guests, which come
// after its own. It computes every element that touches one of its own particles, so that elements
// on a border are computed by several blocks, and no forces travel between them. An element writes
// what it does to each corner into a slot of shared memory; then every particle adds up its slots
// in the order of the elements. Where there are fewer slots than corners, that goes in rounds.
namespace springtime::cuda {

// A corner of an element in one word: the particle in the block, and the slot.
inline constexpr int kCornerBits = 16;
inline constexpr int kNoSlot = (1 << kCornerBits) - 1;  // of guests: another block adds it up
SPRINGTIME_HD constexpr int particle_of_corner(int word)
{
    return word & kNoSlot;
}
SPRINGTIME_HD constexpr int slot_of_corner(int word)
{
    return int(unsigned(word) >> kCornerBits);
}
// The slots of a particle lie a warp apart, so that the threads of a warp, each with a particle of
// its own, read from different banks. They are given by the first one and their number.
inline constexpr int kSlotStep = 32;

// Words of an element: its corners, then its numbers, four words in a pack.
template <class Kind>
inline constexpr int kListPacks = (Kind::kCorners + Kind::kNumbers + 3) / 4;

struct ListRound {
    int begin[kElementTypes], end[kElementTypes];  // elements of the block
    int first_gather;                              // where the words of its own particles begin
};

struct ListBlock {
    int particles = 0, own = 0;  // the first are its own
    int first_particle = 0;      // into the table of particles
    int first_guest = 0;         // into the table of guests
    int first_round = 0, rounds = 0;
    int elements[kElementTypes] = {};
    int first_pack[kElementTypes] = {};     // pack i of element e is first + i * elements + e
    int first_element[kElementTypes] = {};  // into the table of elements
    int first_range = 0;                    // range j of a spring is first + j * springs + spring
};

// The lists of a cloth: pointers into the memory of the device.
struct ListView {
    int blocks = 1;  // of a lane
    int stride = 0;  // from row to row of particles in shared memory
    int slots = 0;
    int most_rounds = 1;
    const ListBlock* block = nullptr;
    const ListRound* rounds = nullptr;
    const int* particle = nullptr;  // its number in the cloth
    const int* guest = nullptr;     // a corner word: its number in the block that owns it, and that
    const int* gather = nullptr;    // [own particle]: first slot, and their number above it
    const int4* packs = nullptr;
    const float4* ranges = nullptr;  // from, to, stiffness
    ListLaws laws;
    int range_count = 0;
    const float* inverse_mass = nullptr;  // [particle of the cloth]
    Vec3<float> gravity, wind;
    float drag = 0;
};

// Where the way back leaves its results.
struct ListBackView {
    double* gradient = nullptr;  // [lane][number]
    std::size_t numbers = 0;
    const int* element =
        nullptr;  // the element in the cloth; ~element where another block counts it
    const int* first_number = nullptr;   // [type and slot]: of the gradient; -1: not learned
    int first_slot[kElementTypes] = {};  // of each type, in that
    int slots[kElementTypes] = {};       // parameters of an element
    int first_mass = -1;                 // number of the gradient; -1: not learned
    int sums = 0;                        // numbers of all elements of a block
};

}  // namespace springtime::cuda
