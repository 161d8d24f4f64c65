// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/kernels.h"

#include "backends/simd/contact_kernels.h"
#include "backends/simd/lanes.h"
#include "physics/bend.h"
#include "physics/euler.h"
#include "physics/external.h"
#include "physics/spring.h"

#define SPRINGTIME_TEXT_OF(name) #name
#define SPRINGTIME_NAME_OF(name) SPRINGTIME_TEXT_OF(name)

namespace springtime::SPRINGTIME_ISA {

namespace {

// A law whose numbers lie `pitch` apart.
template <class Load>
struct LawNumbers {
    int range_count;
    const float* numbers;
    long pitch;

    SpringRange<Pack> range(int j) const
    {
        const float* from = numbers + 3 * j * pitch;
        return {Load()(from), Load()(from + pitch), Load()(from + 2 * pitch)};
    }
    Pack isotropic() const { return Load()(numbers + 3 * range_count * pitch); }
};

struct Broadcast {
    Pack operator()(const float* from) const { return Pack(*from); }
};
struct SideBySide {
    Pack operator()(const float* from) const { return Pack::load(from); }
};

// Where the sweep finds the law of a spring, and how many parameters its formula has.
struct PlainLaws {
    explicit PlainLaws(const SweepCloth&) {}
    NoLaw of(int) const { return {}; }
    long slot_count() const { return kFirstRangeSlot; }
};
struct SweepLaws {
    const float* laws;
    int range_count;
    long law_size;

    explicit SweepLaws(const SweepCloth& cloth)
        : laws(cloth.laws), range_count(cloth.range_count), law_size(cloth.law_size)
    {
    }
    LawNumbers<Broadcast> of(int spring) const
    {
        return {range_count, laws + law_size * spring, 1};
    }
    long slot_count() const { return kSlotsBesideRanges + range_count; }
};

void add_lanes(float* to, const Pack& value)
{
    (Pack::load(to) + value).store(to);
}

void add_lanes(float* array, int particle, const Vec& value)
{
    store_lanes(array, particle, load_lanes(array, particle) + value);
}

// The bends that begin at a particle: their forces, and the way back through them.
struct NoBends {
    explicit NoBends(const SweepCloth&) {}
    void add_forces(int, const LaneState&, const Vec&, const Vec&, float*, Vec&) const {}
    void add_adjoints(int, const LaneState&, const LaneAdjoint&) const {}
};
struct SweepBends {
    const int* first;
    const SweepBend* bends;

    explicit SweepBends(const SweepCloth& cloth) : first(cloth.first_bend), bends(cloth.bends) {}

    [[gnu::always_inline]] inline void add_forces(int p, const LaneState& from, const Vec& position,
                                                  const Vec& velocity, float* force,
                                                  Vec& total) const
    {
        for (int i = first[p]; i < first[p + 1]; ++i) {
            const auto [middle, end, stiffness, damping] = bends[i];
            const Vec f = bend_force(second_difference(position, load_lanes(from.position, middle),
                                                       load_lanes(from.position, end)),
                                     second_difference(velocity, load_lanes(from.velocity, middle),
                                                       load_lanes(from.velocity, end)),
                                     Pack(stiffness), Pack(damping));
            total += f;
            add_lanes(force, middle, -(f + f));
            add_lanes(force, end, f);
        }
    }

    void add_adjoints(int p, const LaneState& from, const LaneAdjoint& adjoint) const
    {
        const auto difference = [&](const float* array, int middle, int end) {
            return second_difference(load_lanes(array, p), load_lanes(array, middle),
                                     load_lanes(array, end));
        };
        for (int i = first[p]; i < first[p + 1]; ++i) {
            const auto [middle, end, stiffness, damping] = bends[i];
            const auto back = bend_adjoint(difference(from.position, middle, end),
                                           difference(from.velocity, middle, end), Pack(stiffness),
                                           Pack(damping), difference(adjoint.force, middle, end));
            add_lanes(adjoint.position, p, back.e);
            add_lanes(adjoint.position, middle, -(back.e + back.e));
            add_lanes(adjoint.position, end, back.e);
            add_lanes(adjoint.velocity, p, back.rate);
            add_lanes(adjoint.velocity, middle, -(back.rate + back.rate));
            add_lanes(adjoint.velocity, end, back.rate);
            float* parameters = adjoint.bend_parameters + kBendSlots * kWidth * i;
            add_lanes(parameters, back.stiffness);
            add_lanes(parameters + kWidth, back.damping);
        }
    }
};

// Acceleration of particle p, given that every spring and bend from lower numbers has added its
// part to `force`: the springs and bends to higher numbers come last, so after them the force is
// complete. Inlined by force: as a call it would pass six registers through memory, a fifth of the
// step.
template <class Laws, class Bends>
[[gnu::always_inline]] inline Vec sweep_acceleration(const SweepCloth& cloth, const Laws& laws,
                                                     const Bends& bends, const AirPacks& air,
                                                     float* force, int p, const LaneState& from,
                                                     const Vec& position, const Vec& velocity)
{
    Vec total = load_lanes(force, p);
    for (int s = cloth.first[p]; s < cloth.first[p + 1]; ++s) {
        const SweepSpring& spring = cloth.springs[s];
        const Vec f = spring_force(load_lanes(from.position, spring.other) - position,
                                   load_lanes(from.velocity, spring.other) - velocity,
                                   Pack(spring.rest_length), Pack(spring.stiffness),
                                   Pack(spring.damping), laws.of(s));
        total += f;
        store_lanes(force, spring.other, load_lanes(force, spring.other) - f);
    }
    bends.add_forces(p, from, position, velocity, force, total);
    store_lanes(force, p, Vec{});
    return Pack(cloth.inverse_mass[p]) * total +
           external_acceleration(velocity, air.gravity, air.wind, air.drag);
}

// Calls run<Laws, Bends>() with what a cloth has, so that it does not pay for what it has not.
template <class Run>
void with_kind(const SweepCloth& cloth, const Run& run)
{
    if (cloth.first_bend) {
        cloth.laws ? run.template operator()<SweepLaws, SweepBends>()
                   : run.template operator()<PlainLaws, SweepBends>();
    } else {
        cloth.laws ? run.template operator()<SweepLaws, NoBends>()
                   : run.template operator()<PlainLaws, NoBends>();
    }
}

// No later spring or bend reads a particle whose force is complete, so it moves in the same sweep.
template <class Laws, class Bends>
void lane_step_of(const SweepCloth& cloth, const Air& air_numbers, const LaneAids& aids,
                  const LaneState& from, float* to_position, float* to_velocity)
{
    const AirPacks air(air_numbers);
    const Laws laws(cloth);
    const Bends bends(cloth);
    for (int p = 0; p < cloth.particle_count; ++p) {
        Vec position = load_lanes(from.position, p);
        Vec velocity = load_lanes(from.velocity, p);
        const Vec acceleration =
            sweep_acceleration(cloth, laws, bends, air, aids.force, p, from, position, velocity);
        euler_step(position, velocity, acceleration, Pack::load(aids.mobility + kWidth * p),
                   air.dt);
        store_lanes(to_position, p, position);
        store_lanes(to_velocity, p, velocity);
    }
}

void lane_step(const SweepCloth& cloth, const Air& air, const LaneAids& aids, const LaneState& from,
               float* to_position, float* to_velocity)
{
    with_kind(cloth, [&]<class Laws, class Bends>() {
        lane_step_of<Laws, Bends>(cloth, air, aids, from, to_position, to_velocity);
    });
}

template <class Laws, class Bends>
void lane_acceleration_of(const SweepCloth& cloth, const Air& air_numbers, const LaneAids& aids,
                          const LaneState& from, float* acceleration)
{
    const AirPacks air(air_numbers);
    const Laws laws(cloth);
    const Bends bends(cloth);
    for (int p = 0; p < cloth.particle_count; ++p) {
        const Pack free = Pack::load(aids.mobility + kWidth * p) / air.dt;  // one, or zero
        store_lanes(
            acceleration, p,
            free * sweep_acceleration(cloth, laws, bends, air, aids.force, p, from,
                                      load_lanes(from.position, p), load_lanes(from.velocity, p)));
    }
}

void lane_acceleration(const SweepCloth& cloth, const Air& air, const LaneAids& aids,
                       const LaneState& from, float* acceleration)
{
    with_kind(cloth, [&]<class Laws, class Bends>() {
        lane_acceleration_of<Laws, Bends>(cloth, air, aids, from, acceleration);
    });
}

// From the adjoint of all forces to those of positions, velocities and parameters.
template <class Laws, class Bends>
void element_adjoints_of(const SweepCloth& cloth, const LaneState& from, const LaneAdjoint& adjoint)
{
    const Laws laws(cloth);
    const Bends bends(cloth);
    for (int p = 0; p < cloth.particle_count; ++p) {
        const Vec position = load_lanes(from.position, p);
        const Vec velocity = load_lanes(from.velocity, p);
        const Vec force = load_lanes(adjoint.force, p);
        Vec back_position = load_lanes(adjoint.position, p);
        Vec back_velocity = load_lanes(adjoint.velocity, p);
        for (int s = cloth.first[p]; s < cloth.first[p + 1]; ++s) {
            const SweepSpring& spring = cloth.springs[s];
            const int q = spring.other;
            float* parameters = adjoint.parameters + laws.slot_count() * kWidth * s;
            const auto back = spring_adjoint(
                load_lanes(from.position, q) - position, load_lanes(from.velocity, q) - velocity,
                Pack(spring.rest_length), Pack(spring.stiffness), Pack(spring.damping), laws.of(s),
                force - load_lanes(adjoint.force, q), [&](int j, const Pack& value) {
                    add_lanes(parameters + (kFirstRangeSlot + j) * kWidth, value);
                });
            back_position -= back.d;
            back_velocity -= back.v;
            store_lanes(adjoint.position, q, load_lanes(adjoint.position, q) + back.d);
            store_lanes(adjoint.velocity, q, load_lanes(adjoint.velocity, q) + back.v);
            add_lanes(parameters, back.stiffness);
            add_lanes(parameters + kWidth, back.damping);
        }
        store_lanes(adjoint.position, p, back_position);
        store_lanes(adjoint.velocity, p, back_velocity);
        bends.add_adjoints(p, from, adjoint);
    }
}

void sweep_element_adjoints(const SweepCloth& cloth, const LaneState& from,
                            const LaneAdjoint& adjoint)
{
    with_kind(cloth, [&]<class Laws, class Bends>() {
        element_adjoints_of<Laws, Bends>(cloth, from, adjoint);
    });
}

void lane_step_adjoint(const SweepCloth& cloth, const Air& air_numbers, const float* mobility,
                       const LaneState& from, const LaneAdjoint& adjoint)
{
    const AirPacks air(air_numbers);
    for (int p = 0; p < cloth.particle_count; ++p) {
        Vec velocity = load_lanes(adjoint.velocity, p);
        const Vec acceleration = euler_adjoint(load_lanes(adjoint.position, p), velocity,
                                               Pack::load(mobility + kWidth * p), air.dt);
        store_lanes(adjoint.velocity, p, velocity + external_adjoint(acceleration, air.drag));
        store_lanes(adjoint.force, p, Pack(cloth.inverse_mass[p]) * acceleration);
    }
    sweep_element_adjoints(cloth, from, adjoint);
}

void lane_acceleration_adjoint(const SweepCloth& cloth, const Air& air_numbers,
                               const LaneState& from, const float* acceleration,
                               const LaneAdjoint& adjoint)
{
    const AirPacks air(air_numbers);
    for (int p = 0; p < cloth.particle_count; ++p) {
        const Vec a = load_lanes(acceleration, p);
        store_lanes(adjoint.velocity, p,
                    load_lanes(adjoint.velocity, p) + external_adjoint(a, air.drag));
        store_lanes(adjoint.force, p, Pack(cloth.inverse_mass[p]) * a);
    }
    sweep_element_adjoints(cloth, from, adjoint);
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

// Forces of the springs that start in a row, each for itself and summed per particle in `total`.
template <class Laws>
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
        rows.store(total + col, sum);
    }
}

// Springs lead down or right only, so a row can move as soon as its own springs are done: its
// force is that of the springs that start here, less that of those that end here.
template <class Laws>
void grid_step_of(const Air& air_numbers, const GridArrays& grid)
{
    const AirPacks air(air_numbers);
    const ForceRows rows(grid);
    float* const total = rows.row(grid.offset_count, 0);
    for (long i = 0; i < (9L * grid.offset_count + 3) * rows.pitch; ++i) {
        grid.force[i] = 0;  // no springs end here from the two rows above the first
    }
    for (int row = 0; row < grid.rows; ++row) {
        grid_row_forces<Laws>(grid, rows, row, total);
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

void grid_step(const Air& air, const GridArrays& grid)
{
    const auto step = grid.law_pitch > 0 ? grid_step_of<GridLaws> : grid_step_of<PlainGridLaws>;
    step(air, grid);
}

}  // namespace

KernelSet kernel_set()
{
    return {SPRINGTIME_NAME_OF(SPRINGTIME_ISA),
            kWidth,
            lane_step,
            lane_acceleration,
            lane_step_adjoint,
            lane_acceleration_adjoint,
            lane_element_forces,
            grid_step,
            mesh_step,
            meet_obstacles};
}

}  // namespace springtime::SPRINGTIME_ISA
