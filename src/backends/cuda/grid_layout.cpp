#include "backends/cuda/grid_layout.h"

#include <algorithm>
#include <cmath>

#include "sim/forces.h"

namespace springtime::cuda {

namespace {

constexpr int kMostBlocks = 16;  // of a cluster

// The kind of the element that leads from a first particle by so many steps, and the particle that
// it belongs to.
struct Found {
    int kind = -1;
    int particle = 0;
};

GridStep step_between(const Grid& grid, int from, int to)
{
    return {to / grid.cols - from / grid.cols, to % grid.cols - from % grid.cols};
}

bool same(const GridStep& a, const GridStep& b)
{
    return a.down == b.down && a.right == b.right;
}

Found find_spring(const Grid& grid, int from, int to)
{
    const GridStep step = step_between(grid, from, to);
    for (int kind = 0; kind < kGridSprings; ++kind) {
        const auto [a, b] = ends_of_spring(kind);
        if (!same(step, {b.down - a.down, b.right - a.right})) continue;
        return {kind, from - a.down * grid.cols - a.right};
    }
    return {};
}

Found find_bend(const Grid& grid, int from, int middle, int to)
{
    const GridStep step = step_between(grid, middle, to);
    for (int kind = 0; kind < kGridBends; ++kind) {
        if (!same(step, line_of_bend(kind)) || !same(step, step_between(grid, from, middle))) {
            continue;
        }
        return {kGridSprings + kind, middle};
    }
    return {};
}

// Puts an element into its place; false if it has none, or another is there.
bool put(GridLayout& layout, const Found& found, std::size_t element)
{
    if (found.kind < 0) return false;
    int& place = layout.element[std::size_t(found.kind * layout.particles() + found.particle)];
    if (place >= 0) return false;
    place = int(element);
    return true;
}

// Rest lengths of a kind differ by no more than the rounding of float.
bool take_rest_lengths(const Cloth& cloth, GridLayout& layout)
{
    constexpr double kAlike = 5e-8;
    for (int kind = 0; kind < kGridSprings; ++kind) {
        double least = 0, most = 0;
        for (int p = 0; p < layout.particles(); ++p) {
            const int s = layout.elements(kind)[p];
            if (s < 0) continue;
            const double rest = cloth.springs.rest_length[std::size_t(s)];
            least = most == 0 ? rest : std::min(least, rest);
            most = std::max(most, rest);
        }
        if (most - least > kAlike * most) return false;
        layout.rest_length[std::size_t(kind)] = float((least + most) / 2);
    }
    return true;
}

}  // namespace

std::optional<GridCut> cut_grid(const Grid& grid)
{
    // A warp of patches spans the grid. Patches have four particles, so that neighbours are reused
    // in registers and there are warps enough; blocks have at most eight warps, so that a thread
    // may have 255 registers.
    constexpr int kMostBands = 8, kLeastCols = 8;
    constexpr std::array<std::array<int, 2>, 3> kPatches{{{4, 1}, {2, 2}, {1, 4}}};
    if (grid.cols < kLeastCols) return std::nullopt;
    for (const auto& [rows, cols] : kPatches) {
        if (grid.cols > cols * kWarp) continue;
        const int bands = (grid.rows + rows - 1) / rows;
        const int least_blocks = (bands + kMostBands - 1) / kMostBands;
        const int of_block = (bands + least_blocks - 1) / least_blocks;
        const GridCut cut{rows, cols, of_block, (bands + of_block - 1) / of_block};
        if (cut.blocks <= kMostBlocks) return cut;
    }
    return std::nullopt;
}

std::optional<GridLayout> grid_layout(const Cloth& cloth)
{
    if (!cloth.grid || cloth.rod || cloth.triangles.triangle_count() > 0 ||
        cloth.hinges.hinge_count() > 0 || cloth.couplings.coupling_count() > 0) {
        return std::nullopt;
    }
    const bool compression = has_compression_law(cloth.springs);
    if (!cloth.springs.ranges.empty() && !compression) return std::nullopt;
    const bool isotropic = !cloth.springs.isotropic_damping.empty();
    const bool full = compression || isotropic || cloth.bends.bend_count() > 0;
    GridLayout layout{*cloth.grid, full, compression, isotropic, {}, {}};
    layout.element.assign(std::size_t((kGridSprings + kGridBends) * layout.particles()), -1);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        if (!put(layout, find_spring(layout.grid, a, b), s)) return std::nullopt;
    }
    for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
        const auto [a, middle, b] = cloth.bends.particles[i];
        if (!put(layout, find_bend(layout.grid, a, middle, b), i)) return std::nullopt;
    }
    if (!take_rest_lengths(cloth, layout)) return std::nullopt;
    return layout;
}

namespace {

// The slot of a learned parameter of a spring or a bend.
GridSlot slot_of(const Parameter& parameter, bool compression)
{
    if (parameter.kind->element == Element::bend) {
        return parameter.slot == 0 ? kBendingSlot : kBendingDampingSlot;
    }
    if (parameter.slot == 0) return kStiffnessSlot;
    if (parameter.slot == 1) return kDampingSlot;
    return compression && parameter.slot == std::size_t(kFirstRangeSlot) ? kCompressionSlot
                                                                         : kIsotropicSlot;
}

// The values of every slot; null where the cloth has none.
std::array<const std::vector<double>*, kGridSlots> values_by_slot(const Cloth& cloth,
                                                                  const GridLayout& layout,
                                                                  const ParameterValues& values)
{
    std::array<const std::vector<double>*, kGridSlots> by_slot{};
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        by_slot[slot_of(parameters[k], layout.compression)] = &values[k];
    }
    if (!layout.compression) by_slot[kCompressionSlot] = by_slot[kStiffnessSlot];
    return by_slot;
}

}  // namespace

std::array<int, kGridSlots> first_numbers(const Cloth& cloth, const GridLayout& layout, bool masses)
{
    std::array<int, kGridSlots> first;
    first.fill(-1);
    int number = 0;
    for (const Parameter& parameter : learned_parameters(cloth)) {
        first[slot_of(parameter, layout.compression)] = number;
        number += int(element_count(cloth, parameter.kind->element));
    }
    if (!layout.compression) first[kCompressionSlot] = first[kStiffnessSlot];
    if (masses) first[kMassSlot] = number;
    return first;
}

std::vector<float> packed_parameters(const Cloth& cloth, const GridLayout& layout,
                                     const GridCut& cut, const ParameterValues& values)
{
    const auto by_slot = values_by_slot(cloth, layout, values);
    const int packs = layout.full ? FullGridLaw::kPacks : PlainGridLaw::kPacks;
    const int patch = cut.rows * cut.cols;
    const auto place_of = [&](int p) {
        const int row = p / layout.grid.cols, col = p % layout.grid.cols;
        const int band = row / cut.rows, block = band / cut.bands;
        const int thread = band % cut.bands * kWarp + col / cut.cols;
        const int t = row % cut.rows * cut.cols + col % cut.cols;
        return (block * packs * patch + t) * cut.threads() + thread;
    };
    std::vector<float> packed(std::size_t(cut.blocks * packs * patch * cut.threads() * 4), 0.0f);
    // Number n of a particle: n / 4 is the pack.
    const auto put_number = [&](int n, int p, GridSlot slot, int element) {
        if (!by_slot[slot] || element < 0) return;
        const int pack = place_of(p) + n / 4 * patch * cut.threads();
        packed[std::size_t(pack * 4 + n % 4)] = float((*by_slot[slot])[std::size_t(element)]);
    };
    const int slots = layout.full ? FullGridLaw::kSpringSums : PlainGridLaw::kSpringSums;
    for (int p = 0; p < layout.particles(); ++p) {
        for (int kind = 0; kind < kGridSprings; ++kind) {
            for (int slot = 0; slot < slots; ++slot) {
                put_number(kind * slots + slot, p, GridSlot(slot), layout.elements(kind)[p]);
            }
        }
        for (int kind = 0; kind < kGridBends; ++kind) {
            const int n = kGridSprings * slots + 2 * kind;
            const int element = layout.elements(kGridSprings + kind)[p];
            put_number(n, p, kBendingSlot, element);
            put_number(n + 1, p, kBendingDampingSlot, element);
        }
    }
    return packed;
}

}  // namespace springtime::cuda
