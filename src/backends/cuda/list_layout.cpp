#include "backends/cuda/list_layout.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "backends/cuda/list_cut.h"
#include "core/assert.h"
#include "springtime/error.h"

namespace springtime::cuda {

namespace {

// Shared memory of a block. [bytes]
std::size_t room_of(const ListNeeds& needs, int stride, int sums, int slots)
{
    return sizeof(float) *
           (std::size_t(needs.rows) * std::size_t(stride) + std::size_t(needs.sums ? sums : 0) +
            std::size_t(needs.axes) * std::size_t(slots));
}

// How many slots a block has; nothing if the cut does not fit.
std::optional<int> slots_that_fit(const Cut& cut, const ListNeeds& needs, std::size_t room,
                                  const ListLimits& limits)
{
    const std::size_t fixed = room_of(needs, cut.stride, cut.most_sums, 0);
    const std::size_t of_row = room_of(needs, 0, 0, kSlotStep);
    if (fixed > room || cut.stride > kNoSlot) return std::nullopt;
    const int most = std::min(limits.most_slots, cut.whole_round) / kSlotStep * kSlotStep;
    const int slots = std::min(int((room - fixed) / of_row) * kSlotStep, most);
    if (slots < std::min(limits.least_slots, most)) return std::nullopt;
    return slots;
}

// Where a word of an element is.
std::size_t word_index(const ListBlock& block, int type, int place, int word)
{
    return 4 * std::size_t(block.first_pack[type] + word / 4 * block.elements[type] + place) +
           std::size_t(word % 4);
}

// Writes the tables of one block after the other.
class ListWriter {
  public:
    ListWriter(const ElementLists& elements, const Cut& cut, ListLayout& to)
        : elements_(elements), cut_(cut), to_(to), local_(cut.block.size(), -1)
    {
        for (int rank = 0; rank < cut.blocks; ++rank) write(rank);
    }

  private:
    void write(int rank)
    {
        const BlockElements& of_block = cut_.of_block[std::size_t(rank)];
        const std::vector<int>& guests = cut_.guests[std::size_t(rank)];
        ListBlock block;
        block.own = int(of_block.own.size());
        block.particles = block.own + int(guests.size());
        block.first_particle = int(to_.particle.size());
        block.first_guest = int(to_.guest.size());
        for (const auto* some : {&of_block.own, &guests}) {
            for (const int p : *some) {
                local_[std::size_t(p)] = int(to_.particle.size()) - block.first_particle;
                to_.particle.push_back(p);
            }
        }
        for (const int p : guests) {
            to_.guest.push_back(word_of(cut_.index[std::size_t(p)], cut_.block[std::size_t(p)]));
        }
        make_room(of_block, rank, block);
        write_rounds(of_block, block);
        to_.block.push_back(block);
    }

    static int word_of(int low, int high)
    {
        return std::bit_cast<int>(unsigned(low) | unsigned(high) << kCornerBits);
    }

    void make_room(const BlockElements& of_block, int rank, ListBlock& block)
    {
        for (int type = 0; type < kElementTypes; ++type) {
            const ElementList& list = elements_.of(kElements[std::size_t(type)]);
            const auto& some = of_block.elements[std::size_t(type)];
            block.elements[type] = int(some.size());
            block.first_pack[type] = int(to_.words.size()) / 4;
            block.first_element[type] = int(to_.element.size());
            to_.words.resize(to_.words.size() + some.size() * std::size_t(4 * packs_of(list)), 0);
            for (const int e : some) {
                const bool own = cut_.block[std::size_t(corners_of(list, e)[0])] == rank;
                to_.element.push_back(own ? e : ~e);
            }
        }
        block.first_range = int(to_.ranges.size()) / 4;
        const std::size_t springs = of_block.elements[std::size_t(Element::spring)].size();
        to_.ranges.resize(to_.ranges.size() + 4 * springs * std::size_t(elements_.range_count()),
                          0.0f);
    }

    // The corner of an element that waits for its slot: the `turn`-th of its particle.
    struct Waiting {
        std::size_t word;
        int particle, turn;
    };

    void write_rounds(const BlockElements& of_block, ListBlock& block)
    {
        block.first_round = int(to_.rounds.size());
        SlotRound slots(block.own, to_.slots);
        ListRound round{};
        std::vector<Waiting> waiting;
        int next[kElementTypes] = {};
        for_each_element(elements_, of_block, [&](int type, const ElementList& list, int e) {
            std::vector<int> own;
            for (const int p : corners_of(list, e)) {
                const int local = local_[std::size_t(p)];
                if (local < block.own) own.push_back(local);
            }
            if (!slots.add(own)) {
                close(slots, waiting, round);
                std::copy(std::begin(next), std::end(next), round.begin);
                std::copy(std::begin(next), std::end(next), round.end);
                slots = SlotRound(block.own, to_.slots);
                const bool fits = slots.add(own);
                SPRINGTIME_ASSERT(fits);
            }
            wait_for_slots(list, e, block, type, next[type], slots, waiting);
            round.end[type] = ++next[type];
        });
        close(slots, waiting, round);
        block.rounds = int(to_.rounds.size()) - block.first_round;
        to_.most_rounds = std::max(to_.most_rounds, block.rounds);
    }

    // Writes what is known of the corners.
    void wait_for_slots(const ElementList& list, int e, const ListBlock& block, int type, int place,
                        const SlotRound& slots, std::vector<Waiting>& waiting)
    {
        const auto corners = corners_of(list, e);
        for (int c = 0; c < list.corners; ++c) {
            const int local = local_[std::size_t(corners[std::size_t(c)])];
            const std::size_t word = word_index(block, type, place, c);
            to_.words[word] = word_of(local, kNoSlot);
            if (local >= block.own) continue;
            waiting.push_back({word, local, slots.used(std::size_t(local)) - 1});
        }
    }

    void close(const SlotRound& slots, std::vector<Waiting>& waiting, ListRound& round)
    {
        const std::vector<int> first = slots.first_slots();
        for (const auto& [word, particle, turn] : waiting) {
            const int slot = first[std::size_t(particle)] + kSlotStep * turn;
            to_.words[word] = word_of(particle, slot);
        }
        waiting.clear();
        round.first_gather = int(to_.gather.size());
        for (std::size_t p = 0; p < first.size(); ++p) {
            to_.gather.push_back(word_of(first[p], slots.used(p)));
        }
        int work = int(first.size());
        for (int type = 0; type < kElementTypes; ++type) {
            work = std::max(work, round.end[type] - round.begin[type]);
        }
        to_.threads = std::max(to_.threads, work);
        to_.rounds.push_back(round);
    }

    const ElementLists& elements_;
    const Cut& cut_;
    ListLayout& to_;
    std::vector<int> local_;  // of each particle: its number in the block that is written
};

void write_ranges(const ElementLists& elements, const ListBlock& block, ListLayout& layout)
{
    const int type = int(Element::spring), springs = elements.of(Element::spring).count();
    for (int j = 0; j < elements.range_count(); ++j) {
        for (int place = 0; place < block.elements[type]; ++place) {
            const int id = layout.element[std::size_t(block.first_element[type] + place)];
            const SpringRange<double>& range =
                elements.ranges()[std::size_t(j * springs + (id < 0 ? ~id : id))];
            float* to = layout.ranges.data() +
                        4 * std::size_t(block.first_range + j * block.elements[type] + place);
            to[0] = float(range.from);
            to[1] = float(range.to);
            to[2] = float(range.stiffness);
        }
    }
}

}  // namespace

int packs_of(const ElementList& list)
{
    return (list.corners + list.numbers + 3) / 4;
}

std::size_t ListLayout::room(const ListNeeds& needs) const
{
    return room_of(needs, stride, most_sums, slots);
}

ListLayout list_layout(std::span<const SheetPoint> rest, const ElementLists& elements,
                       const ListNeeds& needs, const ListLimits& limits)
{
    ListLayout layout;
    const auto try_cut = [&](int blocks, std::size_t room, std::size_t more_room) {
        const Cut cut = cut_cloth(rest, elements, blocks);
        auto slots = slots_that_fit(cut, needs, room, limits);
        if (!slots) slots = slots_that_fit(cut, needs, more_room, limits);
        if (!slots) return false;
        layout.blocks = blocks;
        layout.stride = cut.stride;
        layout.slots = *slots;
        layout.most_sums = cut.most_sums;
        ListWriter(elements, cut, layout);
        constexpr int kMostThreads = 512, kWarp = 32;
        layout.threads = std::min((layout.threads + kWarp - 1) / kWarp * kWarp, kMostThreads);
        return true;
    };
    const int particles = elements.particles();
    for (int blocks = 1; blocks <= limits.most_cluster && blocks <= particles; blocks *= 2) {
        if (particles > blocks * limits.most_own) continue;
        if (try_cut(blocks, limits.half_room, limits.room)) return layout;
    }
    layout.in_memory = true;
    const int most = limits.most_own_in_memory;
    for (int blocks = std::max(2, (particles + most - 1) / most); blocks <= particles;
         blocks *= 2) {
        if (try_cut(blocks, limits.half_room, limits.room)) return layout;
    }
    throw Error(
        "the cloth has a particle that is joined with too many others for the kernels of "
        "the CUDA backend; run it with device cpu");
}

void write_numbers(const ElementLists& elements, ListLayout& layout)
{
    for (const ListBlock& block : layout.block) {
        for (int type = 0; type < kElementTypes; ++type) {
            const ElementList& list = elements.of(kElements[std::size_t(type)]);
            for (int place = 0; place < block.elements[type]; ++place) {
                const int id = layout.element[std::size_t(block.first_element[type] + place)];
                const double* number =
                    list.number.data() + std::size_t(id < 0 ? ~id : id) * std::size_t(list.numbers);
                for (int i = 0; i < list.numbers; ++i) {
                    layout.words[word_index(block, type, place, list.corners + i)] =
                        std::bit_cast<int>(float(number[i]));
                }
            }
        }
        write_ranges(elements, block, layout);
    }
}

}  // namespace springtime::cuda
