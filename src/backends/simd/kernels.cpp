// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/kernels.h"

#include "backends/simd/pack.h"
#include "physics/euler.h"
#include "physics/external.h"
#include "physics/spring.h"

#define SPRINGTIME_TEXT_OF(name) #name
#define SPRINGTIME_NAME_OF(name) SPRINGTIME_TEXT_OF(name)

namespace springtime::SPRINGTIME_ISA {

namespace {

using Vec = Vec3<Pack>;

// Gravity, wind, drag and step, the same in every lane.
struct AirPacks {
    Vec gravity, wind;
    Pack drag, dt;

    explicit AirPacks(const Air& air)
        : gravity{Pack(air.gravity[0]), Pack(air.gravity[1]), Pack(air.gravity[2])},
          wind{Pack(air.wind[0]), Pack(air.wind[1]), Pack(air.wind[2])},
          drag(air.drag),
          dt(air.dt)
    {
    }
};

Vec load_lanes(const float* array, int particle)
{
    const float* from = array + 3 * kWidth * particle;
    return {Pack::load(from), Pack::load(from + kWidth), Pack::load(from + 2 * kWidth)};
}

void store_lanes(float* array, int particle, const Vec& value)
{
    float* to = array + 3 * kWidth * particle;
    value.x.store(to);
    value.y.store(to + kWidth);
    value.z.store(to + 2 * kWidth);
}

// A particle's springs to higher numbers come last, so after them its force is complete and no
// later spring reads it: it can move at once, in the same sweep.
void lane_step(const SweepCloth& cloth, const Air& air_numbers, const LaneArrays& arrays)
{
    const AirPacks air(air_numbers);
    for (int p = 0; p < cloth.particle_count; ++p) {
        Vec position = load_lanes(arrays.position, p);
        Vec velocity = load_lanes(arrays.velocity, p);
        Vec force = load_lanes(arrays.force, p);
        for (int s = cloth.first[p]; s < cloth.first[p + 1]; ++s) {
            const SweepSpring& spring = cloth.springs[s];
            const Vec f = spring_force(load_lanes(arrays.position, spring.other) - position,
                                       load_lanes(arrays.velocity, spring.other) - velocity,
                                       Pack(spring.rest_length), Pack(spring.stiffness),
                                       Pack(spring.damping));
            force += f;
            store_lanes(arrays.force, spring.other, load_lanes(arrays.force, spring.other) - f);
        }
        const Vec acceleration = Pack(cloth.inverse_mass[p]) * force +
                                 external_acceleration(velocity, air.gravity, air.wind, air.drag);
        euler_step(position, velocity, acceleration, Pack::load(arrays.mobility + kWidth * p),
                   air.dt);
        store_lanes(arrays.position, p, position);
        store_lanes(arrays.velocity, p, velocity);
        store_lanes(arrays.force, p, Vec{});
    }
}

// Net acceleration of free particles, zero for handles; the state stays as it is.
void lane_acceleration(const SweepCloth& cloth, const Air& air_numbers, const LaneArrays& arrays,
                       float* acceleration)
{
    const AirPacks air(air_numbers);
    for (int p = 0; p < cloth.particle_count; ++p) {
        const Vec position = load_lanes(arrays.position, p);
        const Vec velocity = load_lanes(arrays.velocity, p);
        Vec force = load_lanes(arrays.force, p);
        for (int s = cloth.first[p]; s < cloth.first[p + 1]; ++s) {
            const SweepSpring& spring = cloth.springs[s];
            const Vec f = spring_force(load_lanes(arrays.position, spring.other) - position,
                                       load_lanes(arrays.velocity, spring.other) - velocity,
                                       Pack(spring.rest_length), Pack(spring.stiffness),
                                       Pack(spring.damping));
            force += f;
            store_lanes(arrays.force, spring.other, load_lanes(arrays.force, spring.other) - f);
        }
        const Pack free = Pack::load(arrays.mobility + kWidth * p) * Pack(1 / air_numbers.dt);
        store_lanes(acceleration, p,
                    free * (Pack(cloth.inverse_mass[p]) * force +
                            external_acceleration(velocity, air.gravity, air.wind, air.drag)));
        store_lanes(arrays.force, p, Vec{});
    }
}

void lane_adjoint(const SweepCloth& cloth, const Air& air_numbers, const LaneAdjointArrays& arrays)
{
    const AirPacks air(air_numbers);
    for (int p = 0; p < cloth.particle_count; ++p) {
        Vec velocity_adjoint = load_lanes(arrays.velocity_adjoint, p);
        Vec a = euler_adjoint(load_lanes(arrays.position_adjoint, p), velocity_adjoint,
                              Pack::load(arrays.mobility + kWidth * p), air.dt);
        if (arrays.acceleration_adjoint) a += load_lanes(arrays.acceleration_adjoint, p);
        store_lanes(arrays.velocity_adjoint, p, velocity_adjoint + external_adjoint(a, air.drag));
        store_lanes(arrays.force_adjoint, p, Pack(cloth.inverse_mass[p]) * a);
    }
    for (int p = 0; p < cloth.particle_count; ++p) {
        const Vec position = load_lanes(arrays.position, p);
        const Vec velocity = load_lanes(arrays.velocity, p);
        const Vec force_adjoint = load_lanes(arrays.force_adjoint, p);
        Vec position_adjoint = load_lanes(arrays.position_adjoint, p);
        Vec velocity_adjoint = load_lanes(arrays.velocity_adjoint, p);
        for (int s = cloth.first[p]; s < cloth.first[p + 1]; ++s) {
            const SweepSpring& spring = cloth.springs[s];
            const int q = spring.other;
            const auto back =
                spring_adjoint(load_lanes(arrays.position, q) - position,
                               load_lanes(arrays.velocity, q) - velocity, Pack(spring.rest_length),
                               Pack(spring.stiffness), Pack(spring.damping),
                               force_adjoint - load_lanes(arrays.force_adjoint, q));
            position_adjoint -= back.d;
            velocity_adjoint -= back.v;
            store_lanes(arrays.position_adjoint, q,
                        load_lanes(arrays.position_adjoint, q) + back.d);
            store_lanes(arrays.velocity_adjoint, q,
                        load_lanes(arrays.velocity_adjoint, q) + back.v);
            float* parameters = arrays.parameter_adjoint + 2L * kWidth * s;
            (Pack::load(parameters) + back.stiffness).store(parameters);
            (Pack::load(parameters + kWidth) + back.damping).store(parameters + kWidth);
        }
        store_lanes(arrays.position_adjoint, p, position_adjoint);
        store_lanes(arrays.velocity_adjoint, p, velocity_adjoint);
    }
}

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

// Rows of spring forces: three rows per offset are kept, in turn.
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

// Forces of the springs that start in a row, each for itself and summed per particle in `total`.
void grid_row_forces(const GridArrays& grid, const ForceRows& rows, int row, float* total)
{
    for (int col = 0; col < grid.pitch; col += kWidth) {
        const long here = long(row) * grid.pitch + col;
        const Vec position = load_grid(grid.position, here);
        const Vec velocity = load_grid(grid.velocity, here);
        Vec sum{};
        for (int o = 0; o < grid.offset_count; ++o) {
            const long there = here + long(grid.offset[o].down) * grid.pitch + grid.offset[o].right;
            const Vec f = spring_force(
                load_grid(grid.position, there) - position,
                load_grid(grid.velocity, there) - velocity, Pack::load(grid.rest_length[o] + here),
                Pack::load(grid.stiffness[o] + here), Pack::load(grid.damping[o] + here));
            sum += f;
            rows.store(rows.row(o, row) + col, f);
        }
        rows.store(total + col, sum);
    }
}

// Springs lead down or right only, so a row can move as soon as its own springs are done: its
// force is that of the springs that start here, less that of those that end here.
void grid_step(const Air& air_numbers, const GridArrays& grid)
{
    const AirPacks air(air_numbers);
    const ForceRows rows(grid);
    float* const total = rows.row(grid.offset_count, 0);
    for (long i = 0; i < (9L * grid.offset_count + 3) * rows.pitch; ++i) {
        grid.force[i] = 0;  // no springs end here from the two rows above the first
    }
    for (int row = 0; row < grid.rows; ++row) {
        grid_row_forces(grid, rows, row, total);
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

}  // namespace

KernelSet kernel_set()
{
    return {SPRINGTIME_NAME_OF(SPRINGTIME_ISA),
            kWidth,
            lane_step,
            lane_acceleration,
            lane_adjoint,
            grid_step};
}

}  // namespace springtime::SPRINGTIME_ISA
