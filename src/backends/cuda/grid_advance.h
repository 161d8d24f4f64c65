#pragma once

#include "backends/cuda/grid_patch.h"
#include "backends/cuda/lane_steps.h"
#include "physics/euler.h"
#include "physics/external.h"

// The way there over a grid of springs.
namespace springtime::cuda {

// The forces on the patch and its ring of the elements that belong to the patch.
template <class Shape, class Law, class Parameters>
__device__ __forceinline__ void add_grid_forces(const GridView& grid, const Parameters& parameters,
                                                const Patch<Shape>& position,
                                                const Patch<Shape>& velocity, Patch<Shape>& force)
{
    SPRINGTIME_UNROLL
    for (int t = 0; t < Shape::kPatch; ++t) {
        const int i = t / Shape::kCols, j = t % Shape::kCols;
        SPRINGTIME_UNROLL
        for (int kind = 0; kind < kGridSprings; ++kind) {
            const auto [a, b] = ends_of_spring(kind);
            const auto numbers = GridSpringNumbers<Law>::of(parameters, kind, t);
            const Vec3f f = spring_force(position.near(i, j, b) - position.near(i, j, a),
                                         velocity.near(i, j, b) - velocity.near(i, j, a),
                                         grid.rest_length[kind], numbers.stiffness, numbers.damping,
                                         numbers.law);
            force.near(i, j, a) += f;
            force.near(i, j, b) -= f;
        }
        if constexpr (Law::kBends) {
            SPRINGTIME_UNROLL
            for (int kind = 0; kind < kGridBends; ++kind) {
                const GridStep b = line_of_bend(kind), a{-b.down, -b.right};
                const float2 numbers = bend_numbers(parameters, kind, t);
                const auto difference = [&](const Patch<Shape>& of) {
                    return second_difference(of.near(i, j, a), of.own(i, j), of.near(i, j, b));
                };
                const Vec3f f =
                    bend_force(difference(position), difference(velocity), numbers.x, numbers.y);
                force.near(i, j, a) += f;
                force.own(i, j) -= 2.0f * f;
                force.near(i, j, b) += f;
            }
        }
    }
}

// The state and the properties of a patch.
template <class Shape>
struct GridMotion {
    Patch<Shape> position, velocity;
    float mobility[Shape::kPatch], inverse_mass[Shape::kPatch];
    bool driven = false;  // any of them

    __device__ GridMotion(const GridView& grid, const GridPlace<Shape>& place,
                          const LaneView& lanes, int lane)
    {
        const std::size_t count = grid.particles();
        const float* state = lanes.state + std::size_t(lane) * kStateRows * count;
        position.clear();
        velocity.clear();
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            mobility[t] = inverse_mass[t] = 0;
            if (!place.exists(i, j)) continue;
            const std::size_t p = std::size_t(place.particle(i, j));
            position.own(i, j) = {state[p], state[count + p], state[2 * count + p]};
            velocity.own(i, j) = {state[3 * count + p], state[4 * count + p], state[5 * count + p]};
            mobility[t] = lanes.mobility[std::size_t(lane) * count + p];
            inverse_mass[t] = grid.inverse_mass[p];
            if (driven_slot(lanes, lane, int(p)) >= 0) driven = true;
        }
    }

    __device__ void write(const GridPlace<Shape>& place, std::size_t count, float* state) const
    {
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            if (!place.exists(i, j)) continue;
            const std::size_t p = std::size_t(place.particle(i, j));
            const Vec3f &x = position.own(i, j), &v = velocity.own(i, j);
            state[p] = x.x;
            state[count + p] = x.y;
            state[2 * count + p] = x.z;
            state[3 * count + p] = v.x;
            state[4 * count + p] = v.y;
            state[5 * count + p] = v.z;
        }
    }

    // Puts driven particles where they are after a step of the launch.
    __device__ void place_driven(const GridPlace<Shape>& place, const LaneView& lanes, int lane,
                                 int step)
    {
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            if (!place.exists(i, j)) continue;
            const int slot = driven_slot(lanes, lane, place.particle(i, j));
            if (slot < 0) continue;
            cuda::place_driven(lanes, lane, step, slot, position.own(i, j), velocity.own(i, j));
        }
    }
};

// Positions and velocities at the edges of a band, for its neighbours.
template <class Shape, class Edges>
__device__ __forceinline__ void tell_state(const GridMotion<Shape>& motion, Edges& edges, int lane)
{
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        edges.tell_above(0, j, lane, motion.position.own(0, j));
        edges.tell_above(3, j, lane, motion.velocity.own(0, j));
        edges.tell_below(0, j, lane, motion.position.own(Shape::kRows - 1, j));
        edges.tell_below(3, j, lane, motion.velocity.own(Shape::kRows - 1, j));
    }
}
template <class Shape, class Law, class Edges>
__device__ __forceinline__ void fill_ring(GridMotion<Shape>& motion, const Edges& edges, int lane)
{
    constexpr int R = Shape::kRows;
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        motion.position.own(-1, j) = edges.vector_from_above(0, j, lane);
        motion.velocity.own(-1, j) = edges.vector_from_above(3, j, lane);
        motion.position.own(R, j) = edges.vector_from_below(0, j, lane);
        motion.velocity.own(R, j) = edges.vector_from_below(3, j, lane);
    }
    // Only bends reach the corners above.
    SPRINGTIME_UNROLL
    for (int i = Law::kBends ? -1 : 0; i <= R; ++i) {
        fill_sides(motion.position, i, lane);
        fill_sides(motion.velocity, i, lane);
    }
}

// Hands the forces on the ring to the neighbours, and takes theirs on the patch.
template <class Shape, class Law, bool kCluster, class Edges>
__device__ __forceinline__ void share_forces(Patch<Shape>& force, Edges& edges,
                                             const GridPlace<Shape>& place)
{
    constexpr int R = Shape::kRows;
    if constexpr (Law::kBends) fold_sides(force, -1, place.lane);
    fold_sides(force, R, place.lane);
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        edges.tell_above(0, j, place.lane, force.own(-1, j));
        edges.tell_below(0, j, place.lane, force.own(R, j));
    }
    SPRINGTIME_UNROLL
    for (int i = 0; i < R; ++i) fold_sides(force, i, place.lane);
    lane_sync<kCluster>();
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        if (place.has_above()) {
            force.own(0, j) += edges.vector_from_above(0, j, place.lane);
        }
        if (place.has_below()) {
            force.own(R - 1, j) += edges.vector_from_below(0, j, place.lane);
        }
    }
}

template <class Shape>
__device__ __forceinline__ void integrate(const GridView& grid, const Patch<Shape>& force,
                                          GridMotion<Shape>& motion)
{
    SPRINGTIME_UNROLL
    for (int t = 0; t < Shape::kPatch; ++t) {
        const int i = t / Shape::kCols, j = t % Shape::kCols;
        Vec3f &x = motion.position.own(i, j), &v = motion.velocity.own(i, j);
        const Vec3f a = motion.inverse_mass[t] * force.own(i, j) +
                        external_acceleration(v, grid.gravity, grid.wind, grid.drag);
        // What is held stands still until it is placed.
        euler_step(x, v, a, motion.mobility[t], motion.mobility[t]);
    }
}

template <class Shape>
__device__ __forceinline__ void keep_out(const GridPlace<Shape>& place, const ContactView& contact,
                                         int lane, int step, GridMotion<Shape>& motion)
{
    SPRINGTIME_UNROLL
    for (int t = 0; t < Shape::kPatch; ++t) {
        const int i = t / Shape::kCols, j = t % Shape::kCols;
        if (!place.exists(i, j) || !(motion.mobility[t] > 0)) continue;
        meet_obstacles(contact, lane, step, motion.position.own(i, j), motion.velocity.own(i, j),
                       motion.mobility[t]);
    }
}

// Shared memory of a block on the way there. [bytes]
template <class Shape, class Law>
constexpr std::size_t advance_room(int bands)
{
    return sizeof(float) *
               std::size_t(BandEdges<Shape, 6>::room(bands) + BandEdges<Shape, 3>::room(bands)) +
           (Law::kBends ? sizeof(float4) * std::size_t(Law::kPacks * Shape::kPatch * bands * kWarp)
                        : 0);
}

template <class Shape, class Law, bool kContact, bool kCluster, class Parameters>
__device__ __forceinline__ void advance_lane(const GridView& grid, const GridPlace<Shape>& place,
                                             const Parameters& parameters, BlockRoom& room,
                                             const LaneView& lanes, int lane, int first, int count,
                                             const Records& records, const ContactView& contact)
{
    BandEdges<Shape, 6> states;
    states.template take<kCluster>(room, place, grid.bands);
    BandEdges<Shape, 3> forces;
    forces.template take<kCluster>(room, place, grid.bands);
    const std::size_t state_size = kStateRows * grid.particles();
    GridMotion<Shape> motion(grid, place, lanes, lane);
    const int moving = lanes.steps[lane] - first;  // steps until it stands still
    float* record = records.to ? records.to + std::size_t(lane) * records.lane_stride : nullptr;
    int until_record = records.every;
    for (int step = 0; step < count; ++step) {
        if (step < moving) {
            tell_state(motion, states, place.lane);
            lane_sync<kCluster>();
            fill_ring<Shape, Law>(motion, states, place.lane);
            Patch<Shape> force;
            force.clear();
            add_grid_forces<Shape, Law>(grid, parameters, motion.position, motion.velocity, force);
            share_forces<Shape, Law, kCluster>(force, forces, place);
            integrate(grid, force, motion);
            if constexpr (kContact) keep_out(place, contact, lane, step, motion);
            if (motion.driven) motion.place_driven(place, lanes, lane, step);
        }
        if (record && --until_record == 0) {
            until_record = records.every;
            motion.write(place, grid.particles(), record);
            record += state_size;
        }
    }
    motion.write(place, grid.particles(), lanes.state + std::size_t(lane) * state_size);
    if constexpr (kCluster) cluster_sync();  // a neighbour may still read what this block told it
}

// One cluster of blocks for each lane.
template <class Shape, class Law, bool kContact, bool kCluster>
__global__ void __launch_bounds__(Shape::kThreads)
    advance_grid(GridView grid, LaneView lanes, int first, int count, Records records,
                 ContactView contact)
{
    const GridPlace<Shape> place(grid, lane_rank<kCluster>());
    const int lane = int(blockIdx.x) / grid.blocks;
    const int threads = int(blockDim.x);
    const float4* packed = grid.parameters + place.rank * Law::kPacks * Shape::kPatch * threads;
    BlockRoom room;
    if constexpr (Law::kBends) {
        const GridParameters<Shape> parameters(copy_parameters<Shape, Law::kPacks>(packed, room),
                                               threads);
        lane_sync<kCluster>();
        advance_lane<Shape, Law, kContact, kCluster>(grid, place, parameters, room, lanes, lane,
                                                     first, count, records, contact);
    } else {
        const GridParametersInRegisters<Shape, Law::kPacks> parameters(
            GridParameters<Shape>(packed, threads));
        advance_lane<Shape, Law, kContact, kCluster>(grid, place, parameters, room, lanes, lane,
                                                     first, count, records, contact);
    }
}

}  // namespace springtime::cuda
