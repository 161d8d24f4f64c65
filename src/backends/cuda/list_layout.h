#pragma once

#include <span>

#include "backends/cuda/list_numbers.h"
#include "backends/cuda/list_view.h"

namespace springtime::cuda {

// What a kernel needs of shared memory.
struct ListNeeds {
    int rows;   // numbers of each particle
    int axes;   // numbers of each slot
    bool sums;  // the gradient by all parameters of the block's elements
};

// How large blocks may be. What does not fit into a cluster runs from the memory of the device.
struct ListLimits {
    // Half of what a multiprocessor has: two blocks of small cloths share one.
    std::size_t half_room = 113 << 10;  // [bytes]
    std::size_t room = 227 << 10;
    int most_cluster = 16;  // blocks
    // Larger blocks would do as much in all, but a single cloth would wait longer for them.
    int most_own = 1024;  // particles
    // With fewer slots, rounds are too short for the threads of a block.
    int least_slots = 3072, most_slots = kNoSlot;
    int most_own_in_memory = 512;
};

// The lists of a cloth, cut for blocks.
struct ListLayout {
    int blocks = 1;
    bool in_memory = false;  // blocks meet in the memory of the device, not in a cluster
    int threads = 0;         // of a block
    int stride = 0, slots = 0, most_rounds = 0, most_sums = 0;
    std::vector<ListBlock> block;
    std::vector<ListRound> rounds;
    std::vector<int> particle, guest, gather, element;
    std::vector<int> words;     // of packs
    std::vector<float> ranges;  // [from, to, stiffness, 0]

    std::size_t room(const ListNeeds& needs) const;  // [bytes]
};

ListLayout list_layout(std::span<const SheetPoint> rest, const ElementLists& elements,
                       const ListNeeds& needs, const ListLimits& limits);

// Writes the numbers of all elements into the packs and ranges.
void write_numbers(const ElementLists& elements, ListLayout& layout);

// Whole packs of an element of a type.
int packs_of(const ElementList& list);

}  // namespace springtime::cuda
