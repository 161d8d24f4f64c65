// Compiled once per instruction set. One state of a grid, neighbouring columns in the lanes.
#include "backends/simd/lanes.h"
#include "backends/simd/law_numbers.h"
#include "physics/bend.h"
#include "physics/euler.h"
#include "physics/external.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

Vec load_grid(float* const (&arrays)[3], long index)
{
    return {Pack::load(arrays[0] + index), Pack::load(arrays[1] + index),
            Pack::load(arrays[2] + index)};
}

void store_grid(float* const (&arrays)[3], long index, const Vec& value)
{
    value.x.store(arrays[0] + index);
    value.y.store(arrays[1] + index);
    value.z.store(arrays[2] + index);
}

// Rows of forces: three rows per offset of springs and per line of bends are kept, in turn.
struct ForceRows {
    float* memory;
    long pitch;  // from one axis to the next

    explicit ForceRows(const GridArrays& grid)
        : memory(grid.force + kGridMargin), pitch(grid.pitch + 2 * kGridMargin)
    {
    }
    float* row(int offset, int row) const
    {
        return memory + (offset * 3 + (row + 3) % 3) * 3 * pitch;
    }
    Vec load(const float* from) const
    {
        return {Pack::load(from), Pack::load(from + pitch), Pack::load(from + 2 * pitch)};
    }
    void store(float* to, const Vec& value) const
    {
        value.x.store(to);
        value.y.store(to + pitch);
        value.z.store(to + 2 * pitch);
    }
};

// Where a row finds the laws of the springs along an offset.
struct PlainGridLaws {
    static NoLaw of(const GridArrays&, int, long) { return {}; }
};
struct GridLaws {
    static LawNumbers<SideBySide> of(const GridArrays& grid, int offset, long here)
    {
        return {grid.range_count, grid.laws[offset] + here, grid.law_pitch};
    }
};
struct CompressionGridLaws {
    static CompressionLaw<Pack> of(const GridArrays& grid, int offset, long here)
    {
        return compression_law<SideBySide>(grid.laws[offset] + here, grid.law_pitch);
    }
};

// On the first particle of the bends that start here along a line; the last feels the same, the
// middle the opposite twice.
inline Vec line_force(const GridArrays& grid, int line, long here, const Vec& position,
                      const Vec& velocity)
{
    const long step = long(grid.line[line].down) * grid.pitch + grid.line[line].right;
    const auto difference = [&](float* const(&arrays)[3], const Vec& first) {
        return second_difference(load_grid(arrays, here + step) - first,
                                 load_grid(arrays, here + 2 * step) - first);
    };
    return bend_force(difference(grid.position, position), difference(grid.velocity, velocity),
                      Pack::load(grid.bend_stiffness[line] + here),
                      Pack::load(grid.bend_damping[line] + here));
}

// Forces of the springs and bends that start in a row, each for itself and summed per particle in
// `total`.
template <class Laws, bool kBends>
void grid_row_forces(const GridArrays& grid, const ForceRows& rows, int row, float* total)
{
    for (int col = 0; col < grid.pitch; col += kWidth) {
        const long here = long(row) * grid.pitch + col;
        const Vec position = load_grid(grid.position, here);
        const Vec velocity = load_grid(grid.velocity, here);
        Vec sum{};
        for (int o = 0; o < grid.offset_count; ++o) {
            const long there = here + long(grid.offset[o].down) * grid.pitch + grid.offset[o].right;
            const Vec f = spring_force(load_grid(grid.position, there) - position,
                                       load_grid(grid.velocity, there) - velocity,
                                       Pack::load(grid.rest_length[o] + here),
                                       Pack::load(grid.stiffness[o] + here),
                                       Pack::load(grid.damping[o] + here), Laws::of(grid, o, here));
            sum += f;
            rows.store(rows.row(o, row) + col, f);
        }
        for (int l = 0; kBends && l < grid.line_count; ++l) {
            const Vec f = line_force(grid, l, here, position, velocity);
            sum += f;
            rows.store(rows.row(grid.offset_count + l, row) + col, f);
        }
        rows.store(total + col, sum);
    }
}

// Springs and bends lead down or right only, so a row can move as soon as its own are done: its
// force is that of the springs that start here, less that of those that end here, and likewise of
// bends.
template <class Laws, bool kBends>
void grid_step_of(const Air& air_numbers, const GridArrays& grid)
{
    const AirPacks air(air_numbers);
    const ForceRows rows(grid);
    const int kept = grid.offset_count + (kBends ? grid.line_count : 0);
    float* const total = rows.row(kept, 0);
    for (long i = 0; i < (9L * kept + 3) * rows.pitch; ++i) {
        grid.force[i] = 0;  // nothing ends here from the two rows above the first
    }
    for (int row = 0; row < grid.rows; ++row) {
        grid_row_forces<Laws, kBends>(grid, rows, row, total);
        const float* arriving[kGridOffsetCount];
        for (int o = 0; o < grid.offset_count; ++o) {
            arriving[o] = rows.row(o, row - grid.offset[o].down) - grid.offset[o].right;
        }
        const float *middle[kGridLineCount], *last[kGridLineCount];
        for (int l = 0; kBends && l < grid.line_count; ++l) {
            const auto [down, right] = grid.line[l];
            middle[l] = rows.row(grid.offset_count + l, row - down) - right;
            last[l] = rows.row(grid.offset_count + l, row - 2 * down) - 2 * right;
        }
        for (int col = 0; col < grid.pitch; col += kWidth) {
            const long here = long(row) * grid.pitch + col;
            Vec force = rows.load(total + col);
            for (int o = 0; o < grid.offset_count; ++o) force -= rows.load(arriving[o] + col);
            for (int l = 0; kBends && l < grid.line_count; ++l) {
                force += second_difference(rows.load(middle[l] + col), rows.load(last[l] + col));
            }
            Vec position = load_grid(grid.position, here);
            Vec velocity = load_grid(grid.velocity, here);
            const Vec acceleration =
                Pack::load(grid.inverse_mass + here) * force +
                external_acceleration(velocity, air.gravity, air.wind, air.drag);
            euler_step(position, velocity, acceleration, Pack::load(grid.mobility + here), air.dt);
            store_grid(grid.position, here, position);
            store_grid(grid.velocity, here, velocity);
        }
    }
}

template <bool kBends>
void grid_step_with(const Air& air, const GridArrays& grid)
{
    if (grid.law_pitch == 0) return grid_step_of<PlainGridLaws, kBends>(air, grid);
    if (grid.compression_law) return grid_step_of<CompressionGridLaws, kBends>(air, grid);
    grid_step_of<GridLaws, kBends>(air, grid);
}

}  // namespace

void grid_step(const Air& air, const GridArrays& grid)
{
    grid.line_count > 0 ? grid_step_with<true>(air, grid) : grid_step_with<false>(air, grid);
}

}  // namespace springtime::SPRINGTIME_ISA
