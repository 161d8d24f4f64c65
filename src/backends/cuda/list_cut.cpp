#include "backends/cuda/list_cut.h"

#include <algorithm>
#include <limits>
#include <numeric>

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

// The block of each particle.
std::vector<int> blocks_of_particles(std::span<const SheetPoint> rest, int blocks)
{
    std::vector<int> block(rest.size(), 0), all(rest.size());
    std::iota(all.begin(), all.end(), 0);
    share_out(rest, all, 0, blocks, block);
    return block;
}

}  // namespace

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

}  // namespace springtime::cuda
