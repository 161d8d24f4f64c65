// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/kernels.h"

#include <type_traits>

#include "backends/simd/contact_kernels.h"
#include "backends/simd/lanes.h"
#include "backends/simd/law_numbers.h"
#include "physics/bend.h"
#include "physics/euler.h"
#include "physics/external.h"

#define SPRINGTIME_TEXT_OF(name) #name
#define SPRINGTIME_NAME_OF(name) SPRINGTIME_TEXT_OF(name)

namespace springtime::SPRINGTIME_ISA {

namespace {

// Where the sweep finds the law of a spring, and how many parameters its formula has.
struct PlainLaws {
    explicit PlainLaws(const SweepCloth&) {}
    NoLaw of(int) const { return {}; }
    static bool is_isotropic(int) { return false; }
    static constexpr long slot_count() { return kFirstRangeSlot; }
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
    static bool is_isotropic(int) { return true; }
    long slot_count() const { return kSlotsBesideRanges + range_count; }
};
struct CompressionLaws {
    const float* laws;

    explicit CompressionLaws(const SweepCloth& cloth) : laws(cloth.laws) {}
    CompressionLaw<Pack> of(int spring) const
    {
        return compression_law<Broadcast>(laws + kCompressionLawSize * spring, 1);
    }
    bool is_isotropic(int spring) const { return laws[kCompressionLawSize * spring + 3] != 0; }
    static constexpr long slot_count() { return kSlotsBesideRanges + 1; }
};

void add_lanes(float* to, const Pack& value)
{
    (Pack::load(to) + value).store(to);
}

void add_lanes(float* array, int particle, const Vec& value)
{
    store_lanes(array, particle, load_lanes(array, particle) + value);
}

// Where another particle is, and how fast it goes, seen from the one that is swept.
struct Apart {
    Vec d, v;

    Apart(const LaneState& from, int other, const Vec& position, const Vec& velocity)
        : d(load_lanes(from.position, other) - position),
          v(load_lanes(from.velocity, other) - velocity)
    {
    }
};

// The springs and bends of a cloth that begin at a particle: what the sweeps share. Everything is
// inlined by force: as a call it would pass registers through memory, a fifth of the step.
template <class Laws>
struct SpringSweep {
    const SweepCloth cloth;  // a copy, which no store can change
    const Laws laws;

    explicit SpringSweep(const SweepCloth& view) : cloth(view), laws(view) {}

    // Adds the force of a spring to that on its first end, and takes it from the other. What does
    // not wait for the length comes first: the processor has little room for what waits.
    [[gnu::always_inline]] inline void add_force(int s, const Apart& apart, Vec& first,
                                                 Vec& other) const
    {
        const SweepSpring& spring = cloth.springs[s];
        const auto law = laws.of(s);
        if constexpr (!std::is_same_v<decltype(law), const NoLaw>) {
            if (laws.is_isotropic(s)) {  // of a whole family or of none: the branch is foreseen
                const Pack isotropic = law.isotropic();
                first += isotropic * apart.v;
                other -= isotropic * apart.v;
            }
        }
        const Pack pull = spring_pull(apart.d, apart.v, Pack(spring.rest_length),
                                      Pack(spring.stiffness), Pack(spring.damping), law);
        first += pull * apart.d;
        other -= pull * apart.d;
    }

    // Adds to the gradient by the parameters of the spring.
    [[gnu::always_inline]] inline SpringAdjoint<Pack> back(int s, const Apart& apart,
                                                           const Vec& force_adjoint,
                                                           const LaneAdjoint& adjoint) const
    {
        const SweepSpring& spring = cloth.springs[s];
        float* parameters = adjoint.parameters + laws.slot_count() * kWidth * s;
        const auto by_law = [&](const auto& law) {
            return spring_adjoint(apart.d, apart.v, Pack(spring.rest_length),
                                  Pack(spring.stiffness), Pack(spring.damping), law, force_adjoint,
                                  [&](int j, const Pack& value) {
                                      add_lanes(parameters + (kFirstRangeSlot + j) * kWidth, value);
                                  });
        };
        const auto law = laws.of(s);
        SpringAdjoint<Pack> back;
        if constexpr (std::is_same_v<decltype(law), const CompressionLaw<Pack>>) {
            const bool whole = laws.is_isotropic(s) || !cloth.zeros_stay;
            back = whole ? by_law(law) : by_law(law.knot);
        } else {
            back = by_law(law);
        }
        add_lanes(parameters, back.stiffness);
        add_lanes(parameters + kWidth, back.damping);
        return back;
    }
};

// The force on a particle, while the elements that begin there add to it and to others.
struct ForceSum {
    const LaneState& from;
    const Vec &position, &velocity;
    float* const others;
    Vec total;

    Apart apart(int other) const { return {from, other, position, velocity}; }
};

// The adjoint of a particle likewise.
struct AdjointSum {
    const LaneState& from;
    const LaneAdjoint& adjoint;
    const Vec position, velocity, force;
    Vec back_position, back_velocity;

    AdjointSum(const LaneState& state, const LaneAdjoint& back, int p)
        : from(state),
          adjoint(back),
          position(load_lanes(state.position, p)),
          velocity(load_lanes(state.velocity, p)),
          force(load_lanes(back.force, p)),
          back_position(load_lanes(back.position, p)),
          back_velocity(load_lanes(back.velocity, p))
    {
    }
    Apart apart(int other) const { return {from, other, position, velocity}; }
    void add_to(int other, const Vec& by_position, const Vec& by_velocity) const
    {
        add_lanes(adjoint.position, other, by_position);
        add_lanes(adjoint.velocity, other, by_velocity);
    }
};

// A cloth of springs alone.
template <class Laws>
struct NoBends : SpringSweep<Laws> {
    using SpringSweep<Laws>::SpringSweep;
    int spring_end(int p) const { return this->cloth.first[p + 1]; }
    void add_forces(int, ForceSum&) const {}
    void add_adjoints(int, AdjointSum&) const {}
};

// One with bends, with damping or without. A bend brings the springs along it, which need the same
// particles.
template <class Laws, bool kDamped>
struct AnyBends : SpringSweep<Laws> {
    using SpringSweep<Laws>::SpringSweep;
    using SpringSweep<Laws>::cloth;
    int spring_end(int p) const { return cloth.first_in_bend[p]; }
    [[gnu::always_inline]] inline void add_forces(int p, ForceSum& sum) const
    {
        const int* first = cloth.first_bend + kBendSpringsCount * p;
        for (int i = first[0]; i < first[1]; ++i) add_bend<kBothSprings>(cloth.bends[i], sum);
        for (int i = first[1]; i < first[2]; ++i) add_bend<kNearSpring>(cloth.bends[i], sum);
        for (int i = first[2]; i < first[3]; ++i) add_bend<kNoSprings>(cloth.bends[i], sum);
    }
    [[gnu::always_inline]] inline void add_adjoints(int p, AdjointSum& sum) const
    {
        const int* first = cloth.first_bend + kBendSpringsCount * p;
        for (int i = first[0]; i < first[1]; ++i) add_adjoint<kBothSprings>(i, sum);
        for (int i = first[1]; i < first[2]; ++i) add_adjoint<kNearSpring>(i, sum);
        for (int i = first[2]; i < first[3]; ++i) add_adjoint<kNoSprings>(i, sum);
    }

  private:
    template <BendSprings kSprings>
    [[gnu::always_inline]] inline void add_bend(const SweepBend& bend, ForceSum& sum) const
    {
        const Apart middle = sum.apart(bend.middle), end = sum.apart(bend.end);
        const Vec e = second_difference(middle.d, end.d);
        Vec f;
        if constexpr (kDamped) {
            f = bend_force(e, second_difference(middle.v, end.v), Pack(bend.stiffness),
                           Pack(bend.damping));
        } else {
            f = bend_force(e, Pack(bend.stiffness));
        }
        sum.total += f;
        Vec on_middle = load_lanes(sum.others, bend.middle) - Pack(2.0f) * f;
        Vec on_end = load_lanes(sum.others, bend.end) + f;
        if constexpr (kSprings != kNoSprings) {
            this->add_force(bend.near, middle, sum.total, on_middle);
        }
        if constexpr (kSprings == kBothSprings) {
            this->add_force(bend.far, end, sum.total, on_end);
        }
        store_lanes(sum.others, bend.middle, on_middle);
        store_lanes(sum.others, bend.end, on_end);
    }

    template <BendSprings kSprings>
    [[gnu::always_inline]] inline void add_adjoint(int i, AdjointSum& sum) const
    {
        const SweepBend& bend = cloth.bends[i];
        const Apart middle = sum.apart(bend.middle), end = sum.apart(bend.end);
        const Vec from_middle = sum.force - load_lanes(sum.adjoint.force, bend.middle);
        const Vec from_end = sum.force - load_lanes(sum.adjoint.force, bend.end);
        // Everything is linear in the adjoint of the forces: this is that of the opposite forces.
        const Vec e = second_difference(middle.d, end.d);
        const Vec s = second_difference(from_middle, from_end);
        float* parameters = sum.adjoint.bend_parameters + kBendSlots * kWidth * i;
        Vec by_e;
        [[maybe_unused]] Vec by_rate;
        if constexpr (kDamped) {
            const auto back = bend_adjoint(e, second_difference(middle.v, end.v),
                                           Pack(bend.stiffness), Pack(bend.damping), s);
            add_lanes(parameters, -back.stiffness);
            add_lanes(parameters + kWidth, -back.damping);
            by_e = back.e;
            by_rate = back.rate;
        } else {
            const auto back = bend_adjoint(e, Pack(bend.stiffness), s);
            add_lanes(parameters, -back.stiffness);
            by_e = back.e;
        }
        sum.back_position -= by_e;
        Vec middle_position = load_lanes(sum.adjoint.position, bend.middle) + Pack(2.0f) * by_e;
        Vec end_position = load_lanes(sum.adjoint.position, bend.end) - by_e;
        Vec middle_velocity, end_velocity;
        if constexpr (kMiddleMoves<kSprings>) {
            middle_velocity = load_lanes(sum.adjoint.velocity, bend.middle);
        }
        if constexpr (kEndMoves<kSprings>) {
            end_velocity = load_lanes(sum.adjoint.velocity, bend.end);
        }
        if constexpr (kDamped) {
            sum.back_velocity -= by_rate;
            middle_velocity += Pack(2.0f) * by_rate;
            end_velocity -= by_rate;
        }
        if constexpr (kSprings != kNoSprings) {
            const auto near = this->back(bend.near, middle, from_middle, sum.adjoint);
            sum.back_position -= near.d;
            sum.back_velocity -= near.v;
            middle_position += near.d;
            middle_velocity += near.v;
        }
        if constexpr (kSprings == kBothSprings) {
            const auto far = this->back(bend.far, end, from_end, sum.adjoint);
            sum.back_position -= far.d;
            sum.back_velocity -= far.v;
            end_position += far.d;
            end_velocity += far.v;
        }
        store_lanes(sum.adjoint.position, bend.middle, middle_position);
        store_lanes(sum.adjoint.position, bend.end, end_position);
        if constexpr (kMiddleMoves<kSprings>) {
            store_lanes(sum.adjoint.velocity, bend.middle, middle_velocity);
        }
        if constexpr (kEndMoves<kSprings>) {
            store_lanes(sum.adjoint.velocity, bend.end, end_velocity);
        }
    }

    // Whether the force of a bend and its springs depends on the velocity of these particles.
    template <BendSprings kSprings>
    static constexpr bool kMiddleMoves = kDamped || kSprings != kNoSprings;
    template <BendSprings kSprings>
    static constexpr bool kEndMoves = kDamped || kSprings == kBothSprings;
};
template <class Laws>
using DampedBends = AnyBends<Laws, true>;
template <class Laws>
using UndampedBends = AnyBends<Laws, false>;

// Calls run<Sweep>() with what a cloth has, so that it does not pay for what it has not.
template <template <class> class Bends, class Run>
void with_laws(const SweepCloth& cloth, const Run& run)
{
    if (!cloth.laws) return run.template operator()<Bends<PlainLaws>>();
    if (cloth.compression_law) return run.template operator()<Bends<CompressionLaws>>();
    run.template operator()<Bends<SweepLaws>>();
}
template <class Run>
void with_sweep(const SweepCloth& cloth, const Run& run)
{
    if (!cloth.first_bend) return with_laws<NoBends>(cloth, run);
    cloth.damped_bends ? with_laws<DampedBends>(cloth, run) : with_laws<UndampedBends>(cloth, run);
}

// Acceleration of particle p, given that every spring and bend from lower numbers has added its
// part to `force`: the springs and bends to higher numbers come last, so after them the force is
// complete.
template <class Sweep>
[[gnu::always_inline]] inline Vec sweep_acceleration(const Sweep& sweep, const AirPacks& air,
                                                     float* force, int p, const LaneState& from,
                                                     const Vec& position, const Vec& velocity)
{
    ForceSum sum{from, position, velocity, force, load_lanes(force, p)};
    const int end = sweep.spring_end(p);
    for (int s = sweep.cloth.first[p]; s < end; ++s) {
        const int other = sweep.cloth.springs[s].other;
        Vec on_other = load_lanes(force, other);
        sweep.add_force(s, sum.apart(other), sum.total, on_other);
        store_lanes(force, other, on_other);
    }
    sweep.add_forces(p, sum);
    store_lanes(force, p, Vec{});
    return Pack(sweep.cloth.inverse_mass[p]) * sum.total +
           external_acceleration(velocity, air.gravity, air.wind, air.drag);
}

// No later spring or bend reads a particle whose force is complete, so it moves in the same sweep.
template <class Sweep>
void lane_step_of(const SweepCloth& cloth, const Air& air_numbers, const LaneAids& aids,
                  const LaneState& state, float* to_position, float* to_velocity)
{
    const AirPacks air(air_numbers);
    const Sweep sweep(cloth);
    const LaneState from = state;
    float* const force = aids.force;
    const float* const mobility = aids.mobility;
    for (int p = 0; p < sweep.cloth.particle_count; ++p) {
        Vec position = load_lanes(from.position, p);
        Vec velocity = load_lanes(from.velocity, p);
        const Vec acceleration = sweep_acceleration(sweep, air, force, p, from, position, velocity);
        euler_step(position, velocity, acceleration, Pack::load(mobility + kWidth * p), air.dt);
        store_lanes(to_position, p, position);
        store_lanes(to_velocity, p, velocity);
    }
}

void lane_step(const SweepCloth& cloth, const Air& air, const LaneAids& aids, const LaneState& from,
               float* to_position, float* to_velocity)
{
    with_sweep(cloth, [&]<class Sweep>() {
        lane_step_of<Sweep>(cloth, air, aids, from, to_position, to_velocity);
    });
}

template <class Sweep>
void lane_acceleration_of(const SweepCloth& cloth, const Air& air_numbers, const LaneAids& aids,
                          const LaneState& from, float* acceleration)
{
    const AirPacks air(air_numbers);
    const Sweep sweep(cloth);
    for (int p = 0; p < sweep.cloth.particle_count; ++p) {
        const Pack free = Pack::load(aids.mobility + kWidth * p) / air.dt;  // one, or zero
        store_lanes(
            acceleration, p,
            free * sweep_acceleration(sweep, air, aids.force, p, from, load_lanes(from.position, p),
                                      load_lanes(from.velocity, p)));
    }
}

void lane_acceleration(const SweepCloth& cloth, const Air& air, const LaneAids& aids,
                       const LaneState& from, float* acceleration)
{
    with_sweep(cloth, [&]<class Sweep>() {
        lane_acceleration_of<Sweep>(cloth, air, aids, from, acceleration);
    });
}

// From the adjoint of all forces to those of positions, velocities and parameters.
template <class Sweep>
void element_adjoints_of(const SweepCloth& cloth, const LaneState& state, const LaneAdjoint& back)
{
    const Sweep sweep(cloth);
    const LaneState from = state;
    const LaneAdjoint adjoint = back;
    for (int p = 0; p < sweep.cloth.particle_count; ++p) {
        AdjointSum sum(from, adjoint, p);
        const int end = sweep.spring_end(p);
        for (int s = sweep.cloth.first[p]; s < end; ++s) {
            const int other = sweep.cloth.springs[s].other;
            const auto spring = sweep.back(s, sum.apart(other),
                                           sum.force - load_lanes(adjoint.force, other), adjoint);
            sum.back_position -= spring.d;
            sum.back_velocity -= spring.v;
            sum.add_to(other, spring.d, spring.v);
        }
        sweep.add_adjoints(p, sum);
        store_lanes(adjoint.position, p, sum.back_position);
        store_lanes(adjoint.velocity, p, sum.back_velocity);
    }
}

void sweep_element_adjoints(const SweepCloth& given, const LaneState& from,
                            const LaneAdjoint& adjoint)
{
    SweepCloth cloth = given;
    cloth.damped_bends = given.damped_bends || !given.zeros_stay;
    with_sweep(cloth, [&]<class Sweep>() { element_adjoints_of<Sweep>(cloth, from, adjoint); });
}

void lane_step_adjoint(const SweepCloth& cloth, const Air& air_numbers, const float* mobility,
                       const LaneState& from, const float* to_velocity, const LaneAdjoint& adjoint)
{
    const AirPacks air(air_numbers);
    const Pack steps_per_second = Pack(1.0f) / air.dt;
    for (int p = 0; p < cloth.particle_count; ++p) {
        Vec velocity = load_lanes(adjoint.velocity, p);
        const Vec acceleration = euler_adjoint(load_lanes(adjoint.position, p), velocity,
                                               Pack::load(mobility + kWidth * p), air.dt);
        const Vec force = Pack(cloth.inverse_mass[p]) * acceleration;
        store_lanes(adjoint.velocity, p, velocity + external_adjoint(acceleration, air.drag));
        store_lanes(adjoint.force, p, force);
        if (!adjoint.masses) continue;
        const Vec before = load_lanes(from.velocity, p);
        add_lanes(adjoint.masses + kWidth * p,
                  mass_adjoint(before, load_lanes(to_velocity, p),
                               external_acceleration(before, air.gravity, air.wind, air.drag),
                               steps_per_second, force));
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
            lane_element_adjoints,
            grid_step,
            mesh_step,
            meet_obstacles};
}

}  // namespace springtime::SPRINGTIME_ISA
