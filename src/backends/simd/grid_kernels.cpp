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

// Rows of forces: three rows per offset are kept, in turn.
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

// Where the particles along an offset are, and how fast they go, seen from those here.
struct GridApart {
    Vec d, v;

    GridApart(const GridArrays& grid, int offset, long here, const Vec& position,
              const Vec& velocity)
    {
        const long there =
            here + long(grid.offset[offset].down) * grid.pitch + grid.offset[offset].right;
        d = load_grid(grid.position, there) - position;
        v = load_grid(grid.velocity, there) - velocity;
    }
};

template <class Laws>
[[gnu::always_inline]] inline Vec offset_force(const GridArrays& grid, int offset, long here,
                                               const GridApart& apart)
{
    return spring_force(apart.d, apart.v, Pack::load(grid.rest_length[offset] + here),
                        Pack::load(grid.stiffness[offset] + here),
                        Pack::load(grid.damping[offset] + here), Laws::of(grid, offset, here));
}

// What starts in a row, of springs alone: each is by itself.
template <class Laws>
struct SpringRow {
    static int alone_count(const GridArrays& grid) { return grid.offset_count; }
    static int alone(const GridArrays&, int index) { return index; }
    static void add_lines(const GridArrays&, const ForceRows&, int, int, const Vec&, const Vec&,
                          Vec&)
    {
    }
};

// The same with bends, with damping or without. Those along a line and its springs share what they
// load and store.
template <class Laws, bool kDamped>
struct AnyBendRow {
    static int alone_count(const GridArrays& grid) { return grid.alone_count; }
    static int alone(const GridArrays& grid, int index) { return grid.alone[index]; }

    [[gnu::always_inline]] static inline void add_lines(const GridArrays& grid,
                                                        const ForceRows& rows, int row, int col,
                                                        const Vec& position, const Vec& velocity,
                                                        Vec& sum)
    {
        const long here = long(row) * grid.pitch + col;
        for (int l = 0; l < grid.line_count; ++l) {
            const int near = grid.near[l], far = grid.far[l];
            const GridApart middle(grid, near, here, position, velocity);
            const GridApart end(grid, far, here, position, velocity);
            const Vec e = second_difference(middle.d, end.d);
            const Pack stiffness = Pack::load(grid.bend_stiffness[l] + here);
            Vec f;
            if constexpr (kDamped) {
                f = bend_force(e, second_difference(middle.v, end.v), stiffness,
                               Pack::load(grid.bend_damping[l] + here));
            } else {
                f = bend_force(e, stiffness);
            }
            sum += f;
            Vec from_middle = f + f, from_end = -f;
            if (grid.stiffness[near]) {
                const Vec spring = offset_force<Laws>(grid, near, here, middle);
                sum += spring;
                from_middle += spring;
            }
            if (grid.stiffness[far]) {
                const Vec spring = offset_force<Laws>(grid, far, here, end);
                sum += spring;
                from_end += spring;
            }
            rows.store(rows.row(near, row) + col, from_middle);
            rows.store(rows.row(far, row) + col, from_end);
        }
    }
};

template <class Laws>
using DampedBendRow = AnyBendRow<Laws, true>;
template <class Laws>
using UndampedBendRow = AnyBendRow<Laws, false>;

// Forces of what starts in a row: on its own particles in `total`, and for every offset what the
// particles there give.
template <class Laws, template <class> class Row>
void grid_row_forces(const GridArrays& grid, const ForceRows& rows, int row, float* total)
{
    const int alone = Row<Laws>::alone_count(grid);
    for (int col = 0; col < grid.pitch; col += kWidth) {
        const long here = long(row) * grid.pitch + col;
        const Vec position = load_grid(grid.position, here);
        const Vec velocity = load_grid(grid.velocity, here);
        Vec sum{};
        for (int i = 0; i < alone; ++i) {
            const int o = Row<Laws>::alone(grid, i);
            const Vec f =
                offset_force<Laws>(grid, o, here, GridApart(grid, o, here, position, velocity));
            sum += f;
            rows.store(rows.row(o, row) + col, f);
        }
        Row<Laws>::add_lines(grid, rows, row, col, position, velocity, sum);
        rows.store(total + col, sum);
    }
}

// Springs and bends lead down or right only, so a row can move as soon as its own are done: its
// force is that of what starts here, less what those that end here take.
template <class Laws, template <class> class Row>
void grid_step_of(const Air& air_numbers, const GridArrays& numbers)
{
    const AirPacks air(air_numbers);
    const GridArrays grid = numbers;  // a copy, which no store can change
    const ForceRows rows(grid);
    float* const total = rows.row(grid.offset_count, 0);
    for (long i = 0; i < (9L * grid.offset_count + 3) * rows.pitch; ++i) {
        grid.force[i] = 0;  // nothing ends here from the two rows above the first
    }
    for (int row = 0; row < grid.rows; ++row) {
        grid_row_forces<Laws, Row>(grid, rows, row, total);
        const float* arriving[kGridOffsetCount];
        for (int o = 0; o < grid.offset_count; ++o) {
            arriving[o] = rows.row(o, row - grid.offset[o].down) - grid.offset[o].right;
        }
        for (int col = 0; col < grid.pitch; col += kWidth) {
            const long here = long(row) * grid.pitch + col;
            Vec force = rows.load(total + col);
            for (int o = 0; o < grid.offset_count; ++o) force -= rows.load(arriving[o] + col);
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

template <template <class> class Row>
void grid_step_with(const Air& air, const GridArrays& grid)
{
    if (grid.law_pitch == 0) return grid_step_of<PlainGridLaws, Row>(air, grid);
    if (grid.compression_law) return grid_step_of<CompressionGridLaws, Row>(air, grid);
    grid_step_of<GridLaws, Row>(air, grid);
}

}  // namespace

void grid_step(const Air& air, const GridArrays& grid)
{
    if (grid.line_count == 0) return grid_step_with<SpringRow>(air, grid);
    grid.damped_bends ? grid_step_with<DampedBendRow>(air, grid)
                      : grid_step_with<UndampedBendRow>(air, grid);
}

}  // namespace springtime::SPRINGTIME_ISA
