#include "backends/cuda/list_layout.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include "core/assert.h"
#include "springtime/error.h"

namespace springtime::cuda {

namespace {

// Gives the particles of `some` to `blocks` blocks from `first` on: cuts across the longer side.
void share_out(std::span<const SheetPoint> rest, std::span<int> some, int first, int blocks,
               std::vector<int>& block)
{
    if (blocks == 1) {
        for (const int p : some) block[std::size_t(p)] = first;
        return;
    }
    SheetPoint low = rest[std::size_t(some[0])], high = low;
    for (const int p : some) {
        const SheetPoint& at = rest[std::size_t(p)];
        low = {std::min(low.u, at.u), std::min(low.v, at.v)};
        high = {std::max(high.u, at.u), std::max(high.v, at.v)};
    }
    const bool along_u = high.u - low.u > high.v - low.v;
    const auto place = [&](int p) {
        const SheetPoint& at = rest[std::size_t(p)];
        return std::pair(along_u ? at.u : at.v, p);
    };
    const int half = blocks / 2;
    const std::size_t count = some.size() * std::size_t(half) / std::size_t(blocks);
    std::nth_element(some.begin(), some.begin() + std::ptrdiff_t(count), some.end(),
                     [&](int a, int b) { return place(a) < place(b); });
    share_out(rest, some.first(count), first, half, block);
    share_out(rest, some.subspan(count), first + half, blocks - half, block);
}

// Element e of a list.
std::span<const int> corners_of(const ElementList& list, int e)
{
    return {list.corner.data() + std::size_t(e) * std::size_t(list.corners),
            std::size_t(list.corners)};
}

// The order in which elements of a type are computed: the first one of every particle, then the
// second of every particle and so on, where an element counts for its lowest corner. So the threads
// of a warp have elements of different particles.
std::vector<int> layered_order(const ElementList& list, int particles)
{
    std::vector<int> seen(std::size_t(particles), 0);
    std::vector<std::array<int, 3>> keys;
    for (int e = 0; e < list.count(); ++e) {
        const auto corners = corners_of(list, e);
        const int lowest = *std::min_element(corners.begin(), corners.end());
        keys.push_back({seen[std::size_t(lowest)]++, lowest, e});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<int> order;
    for (const auto& key : keys) order.push_back(key[2]);
    return order;
}

// The own particles of a block, and the elements that touch them.
struct BlockElements {
    std::vector<int> own;
    std::array<std::vector<int>, kElementTypes> elements;
};

std::vector<BlockElements> elements_of_blocks(const ElementLists& elements,
                                              const std::vector<int>& block, int blocks)
{
    std::vector<BlockElements> all(static_cast<std::size_t>(blocks));
    for (int p = 0; p < elements.particles(); ++p) {
        all[std::size_t(block[std::size_t(p)])].own.push_back(p);
    }
    for (int type = 0; type < kElementTypes; ++type) {
        const ElementList& list = elements.of(kElements[std::size_t(type)]);
        for (const int e : layered_order(list, elements.particles())) {
            for (const int p : corners_of(list, e)) {
                auto& to = all[std::size_t(block[std::size_t(p)])].elements[std::size_t(type)];
                if (to.empty() || to.back() != e) to.push_back(e);
            }
        }
    }
    return all;
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

// A cloth cut into blocks, before slots are given out.
struct Cut {
    int blocks = 1, stride = 0, most_sums = 0;
    int whole_round = 0;  // slots for all corners at once
    std::vector<int> block, index;          // of each particle: its block, its number among its own
    std::vector<BlockElements> of_block;
    std::vector<std::vector<int>> guests;  // of each block, ascending
};

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

void measure_block(const ElementLists& elements, int rank, Cut& cut)
{
    const BlockElements& of_block = cut.of_block[std::size_t(rank)];
    SlotRound round(int(of_block.own.size()), std::numeric_limits<int>::max());
    std::vector<int>& guests = cut.guests[std::size_t(rank)];
    int sums = 0;
    for_each_element(elements, of_block, [&](int, const ElementList& list, int e) {
        sums += list.slots;
        for (const int p : corners_of(list, e)) {
            if (cut.block[std::size_t(p)] == rank) {
                round.add(std::span(&cut.index[std::size_t(p)], 1));
            } else {
                guests.push_back(p);
            }
        }
    });
    std::sort(guests.begin(), guests.end());
    guests.erase(std::unique(guests.begin(), guests.end()), guests.end());
    cut.stride = std::max(cut.stride, int(of_block.own.size() + guests.size()));
    cut.most_sums = std::max(cut.most_sums, sums);
    cut.whole_round = std::max(cut.whole_round, round.slots());
}

Cut cut_cloth(std::span<const SheetPoint> rest, const ElementLists& elements, int blocks)
{
    Cut cut;
    cut.blocks = blocks;
    cut.block = blocks_of_particles(rest, blocks);
    cut.of_block = elements_of_blocks(elements, cut.block, blocks);
    cut.index.resize(rest.size());
    cut.guests.resize(std::size_t(blocks));
    for (const BlockElements& of_block : cut.of_block) {
        for (std::size_t i = 0; i < of_block.own.size(); ++i) {
            cut.index[std::size_t(of_block.own[i])] = int(i);
        }
    }
    for (int rank = 0; rank < blocks; ++rank) measure_block(elements, rank, cut);
    return cut;
}

// Shared memory of a block. [bytes]
std::size_t room_of(const ListNeeds& needs, int stride, int sums, int slots)
{
    return sizeof(float) * (std::size_t(needs.rows) * std::size_t(stride) +
                            std::size_t(needs.sums ? sums : 0) +
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
        to_.ranges.resize(to_.ranges.size() +
                          4 * springs * std::size_t(elements_.range_count()), 0.0f);
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

std::vector<int> blocks_of_particles(std::span<const SheetPoint> rest, int blocks)
{
    std::vector<int> block(rest.size(), 0), all(rest.size());
    std::iota(all.begin(), all.end(), 0);
    share_out(rest, all, 0, blocks, block);
    return block;
}

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
    const auto try_cut = [&](int blocks, std::size_t room) {
        const Cut cut = cut_cloth(rest, elements, blocks);
        const auto slots = slots_that_fit(cut, needs, room, limits);
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
    if (limits.least_blocks == 1 && try_cut(1, limits.half_room)) return layout;
    for (int blocks = limits.least_blocks; blocks <= limits.most_cluster && blocks <= particles; blocks *= 2) {
        if (try_cut(blocks, limits.room)) return layout;
    }
    layout.in_memory = true;
    int blocks = std::max(2, (particles + limits.own_in_memory - 1) / limits.own_in_memory);
    for (; blocks <= particles; blocks *= 2) {
        if (try_cut(blocks, limits.room)) return layout;
    }
    throw Error("the cloth has a particle that is joined with too many others for the kernels of "
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
