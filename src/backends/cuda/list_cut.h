#pragma once

#include <array>
#include <span>

#include "backends/cuda/list_numbers.h"
#include "backends/cuda/list_view.h"

// How a cloth is shared out among blocks, and slots among the corners of elements (list_view.h).
namespace springtime::cuda {

// Element e of a list.
inline std::span<const int> corners_of(const ElementList& list, int e)
{
    return {list.corner.data() + std::size_t(e) * std::size_t(list.corners),
            std::size_t(list.corners)};
}

// The own particles of a block, and the elements that touch them.
struct BlockElements {
    std::vector<int> own;
    std::array<std::vector<int>, kElementTypes> elements;
};

// A cloth cut into blocks, before slots are given out.
struct Cut {
    int blocks = 1, stride = 0, most_sums = 0;
    int whole_round = 0;            // slots for all corners at once
    std::vector<int> block, index;  // of each particle: its block, its number among its own
    std::vector<BlockElements> of_block;
    std::vector<std::vector<int>> guests;  // of each block, ascending
};

Cut cut_cloth(std::span<const SheetPoint> rest, const ElementLists& elements, int blocks);

// Calls do_one(type, list, element of the cloth) in the order of computation.
template <class DoOne>
void for_each_element(const ElementLists& elements, const BlockElements& of_block,
                      const DoOne& do_one)
{
    for (int type = 0; type < kElementTypes; ++type) {
        const ElementList& list = elements.of(kElements[std::size_t(type)]);
        for (const int e : of_block.elements[std::size_t(type)]) do_one(type, list, e);
    }
}

// Gives out the slots of one round. Particles come in slices of a warp; a slice has as many rows of
// slots as its busiest particle needs.
class SlotRound {
  public:
    SlotRound(int own, int most) : most_(most), used_(std::size_t(own), 0)
    {
        rows_.assign(std::size_t((own + kSlotStep - 1) / kSlotStep), 0);
    }

    // False, and nothing is changed, where it does not fit.
    bool add(std::span<const int> particles)
    {
        std::array<int, 4> rows_before{};
        const int slots_before = slots_;
        for (std::size_t i = 0; i < particles.size(); ++i) {
            int& rows = rows_of(particles[i]);
            rows_before[i] = rows;
            if (++used_[std::size_t(particles[i])] <= rows) continue;
            ++rows;
            slots_ += kSlotStep;
        }
        if (slots_ <= most_) return true;
        for (std::size_t i = particles.size(); i-- > 0;) {
            rows_of(particles[i]) = rows_before[i];
            --used_[std::size_t(particles[i])];
        }
        slots_ = slots_before;
        return false;
    }

    // Where each particle's slots begin.
    std::vector<int> first_slots() const
    {
        std::vector<int> first(used_.size());
        int next = 0;
        for (std::size_t p = 0; p < first.size(); ++p) {
            const std::size_t slice = p / kSlotStep;
            first[p] = next + int(p % kSlotStep);
            if (p % kSlotStep == kSlotStep - 1) next += kSlotStep * rows_[slice];
        }
        return first;
    }
    int used(std::size_t p) const { return used_[p]; }
    int slots() const { return slots_; }

  private:
    int& rows_of(int particle) { return rows_[std::size_t(particle / kSlotStep)]; }

    int most_, slots_ = 0;
    std::vector<int> used_, rows_;
};

}  // namespace springtime::cuda
