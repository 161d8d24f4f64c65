#pragma once

#include "backends/cuda/grid_patch.h"
#include "backends/cuda/grid_tape.h"
#include "backends/cuda/lane_steps.h"
#include "physics/euler.h"
#include "physics/external.h"

// The way back over a grid of springs: the adjoint of grid_advance.h.
namespace springtime::cuda {

// The gradient by the parameters of a patch, summed in float over a few steps.
template <class Shape, class Law>
struct GridSums {
    float of[Shape::kPatch][Law::kSums];
    float of_mass[Shape::kPatch];

    __device__ void clear()
    {
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            SPRINGTIME_UNROLL
            for (float& sum : of[t]) sum = 0;
            of_mass[t] = 0;
        }
    }

    // Carries them to the sums in double.
    __device__ void carry(const GridPlace<Shape>& place, const GridBackView& back, int lane)
    {
        double* gradient = back.gradient + std::size_t(lane) * back.numbers;
        const auto add = [&](GridSlot slot, int element, float value) {
            const int first = back.first_number[slot];
            if (first >= 0 && element >= 0) gradient[first + element] += double(value);
        };
        const int count = place.rows * place.cols;
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            if (!place.exists(i, j)) continue;
            const int p = place.particle(i, j);
            SPRINGTIME_UNROLL
            for (int kind = 0; kind < kGridSprings; ++kind) {
                const int element = back.element[kind * count + p];
                SPRINGTIME_UNROLL
                for (int slot = 0; slot < Law::kSpringSums; ++slot) {
                    add(GridSlot(slot), element, of[t][kind * Law::kSpringSums + slot]);
                }
            }
            if constexpr (Law::kBends) {
                SPRINGTIME_UNROLL
                for (int kind = 0; kind < kGridBends; ++kind) {
                    const int element = back.element[(kGridSprings + kind) * count + p];
                    const float* sums = of[t] + Law::kSpringSums * kGridSprings + 2 * kind;
                    add(kBendingSlot, element, sums[0]);
                    add(kBendingDampingSlot, element, sums[1]);
                }
            }
            add(kMassSlot, p, of_mass[t]);
        }
        clear();
    }
};

// From the adjoints of the forces to those of the states of patch and ring, and to the gradient.
template <class Shape, class Law, class Parameters>
__device__ __forceinline__ void add_grid_adjoints(
    const GridView& grid, const Parameters& parameters, const Patch<Shape>& position,
    const Patch<Shape>& velocity, const Patch<Shape>& force, Patch<Shape>& by_position,
    Patch<Shape>& by_velocity, GridSums<Shape, Law>& sums)
{
    SPRINGTIME_UNROLL
    for (int t = 0; t < Shape::kPatch; ++t) {
        const int i = t / Shape::kCols, j = t % Shape::kCols;
        SPRINGTIME_UNROLL
        for (int kind = 0; kind < kGridSprings; ++kind) {
            const auto [a, b] = ends_of_spring(kind);
            const auto numbers = GridSpringNumbers<Law>::of(parameters, kind, t);
            float* sum = sums.of[t] + Law::kSpringSums * kind;
            const auto back = spring_adjoint(
                position.near(i, j, b) - position.near(i, j, a),
                velocity.near(i, j, b) - velocity.near(i, j, a), grid.rest_length[kind],
                numbers.stiffness, numbers.damping, numbers.law,
                force.near(i, j, a) - force.near(i, j, b),
                [&](int further, float value) { sum[kCompressionSlot + further] += value; });
            sum[kStiffnessSlot] += back.stiffness;
            sum[kDampingSlot] += back.damping;
            by_position.near(i, j, a) -= back.d;
            by_position.near(i, j, b) += back.d;
            by_velocity.near(i, j, a) -= back.v;
            by_velocity.near(i, j, b) += back.v;
        }
        if constexpr (Law::kBends) {
            SPRINGTIME_UNROLL
            for (int kind = 0; kind < kGridBends; ++kind) {
                const GridStep b = line_of_bend(kind), a{-b.down, -b.right};
                const float2 numbers = bend_numbers(parameters, kind, t);
                const auto difference = [&](const Patch<Shape>& of) {
                    return second_difference(of.near(i, j, a), of.own(i, j), of.near(i, j, b));
                };
                const auto back = bend_adjoint(difference(position), difference(velocity),
                                               numbers.x, numbers.y, difference(force));
                float* sum = sums.of[t] + Law::kSpringSums * kGridSprings + 2 * kind;
                sum[0] += back.stiffness;
                sum[1] += back.damping;
                by_position.near(i, j, a) += back.e;
                by_position.own(i, j) -= 2.0f * back.e;
                by_position.near(i, j, b) += back.e;
                by_velocity.near(i, j, a) += back.rate;
                by_velocity.own(i, j) -= 2.0f * back.rate;
                by_velocity.near(i, j, b) += back.rate;
            }
        }
    }
}

// The adjoint of the state of a patch, and the properties of its particles.
template <class Shape>
struct GridAdjoint {
    Vec3f position[Shape::kPatch], velocity[Shape::kPatch];
    float mobility[Shape::kPatch], inverse_mass[Shape::kPatch];

    __device__ GridAdjoint(const GridView& grid, const GridPlace<Shape>& place,
                           const LaneView& lanes, int lane, const float* from)
    {
        const std::size_t count = grid.particles();
        for_all(place, [&](int t, std::size_t p, bool exists) {
            position[t] = exists ? vector_at(from, count, p) : Vec3f{0, 0, 0};
            velocity[t] = exists ? vector_at(from + 3 * count, count, p) : Vec3f{0, 0, 0};
            mobility[t] = exists ? lanes.mobility[std::size_t(lane) * count + p] : 0;
            inverse_mass[t] = exists ? grid.inverse_mass[p] : 0;
        });
    }
    __device__ void write(const GridPlace<Shape>& place, std::size_t count, float* to) const
    {
        for_all(place, [&](int t, std::size_t p, bool exists) {
            if (!exists) return;
            for (int axis = 0; axis < 3; ++axis) {
                to[std::size_t(axis) * count + p] = position[t][axis];
                to[std::size_t(3 + axis) * count + p] = velocity[t][axis];
            }
        });
    }

    // The adjoint of the forces in the state before a step, from that of the state after it. That
    // of the velocity becomes that before, as far as elements have no part in it.
    __device__ void undo_step(const GridView& grid, Patch<Shape>& force)
    {
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const Vec3f a = euler_adjoint(position[t], velocity[t], mobility[t], mobility[t]);
            velocity[t] += external_adjoint(a, grid.drag);
            force.own(t / Shape::kCols, t % Shape::kCols) = inverse_mass[t] * a;
        }
    }
    // The same from the adjoint of accelerations, which are zero where something is held.
    __device__ void pull_acceleration(const GridView& grid, const GridPlace<Shape>& place,
                                      const float* adjoint, Patch<Shape>& force)
    {
        for_all(place, [&](int t, std::size_t p, bool exists) {
            if (!exists || !(mobility[t] > 0)) return;
            const Vec3f a = vector_at(adjoint, grid.particles(), p);
            velocity[t] += external_adjoint(a, grid.drag);
            force.own(t / Shape::kCols, t % Shape::kCols) += inverse_mass[t] * a;
        });
    }
    __device__ void add(const GridPlace<Shape>& place, std::size_t count, const LaneFrame& frame)
    {
        for_all(place, [&](int t, std::size_t p, bool exists) {
            if (!exists) return;
            if (frame.position) position[t] += vector_at(frame.position, count, p);
            if (frame.velocity) velocity[t] += vector_at(frame.velocity, count, p);
        });
    }

    // do_one(particle of the patch, particle, whether it exists)
    template <class DoOne>
    __device__ static void for_all(const GridPlace<Shape>& place, const DoOne& do_one)
    {
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            do_one(t, std::size_t(place.particle(i, j)), place.exists(i, j));
        }
    }
};

// The gradient by masses of a step from a state to the next one. [xyz][particle]
template <class Shape>
__device__ __forceinline__ void add_mass_adjoints(const GridView& grid,
                                                  const GridPlace<Shape>& place,
                                                  const GridAdjoint<Shape>& adjoint,
                                                  const Patch<Shape>& force, const float* velocity,
                                                  const float* next_velocity, float* sums)
{
    const std::size_t count = grid.particles();
    adjoint.for_all(place, [&](int t, std::size_t p, bool exists) {
        if (!exists || !(adjoint.mobility[t] > 0)) return;
        const Vec3f v = vector_at(velocity, count, p);
        const Vec3f external = external_acceleration(v, grid.gravity, grid.wind, grid.drag);
        sums[t] +=
            mass_adjoint(v, vector_at(next_velocity, count, p), external,
                         1.0f / adjoint.mobility[t], force.own(t / Shape::kCols, t % Shape::kCols));
    });
}

// The adjoints of forces on the ring around a patch.
template <class Shape, class Law, bool kCluster, class Edges>
__device__ __forceinline__ void share_force_adjoints(Patch<Shape>& force, Edges& edges, int lane)
{
    constexpr int R = Shape::kRows;
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        edges.tell_above(0, j, lane, force.own(0, j));
        edges.tell_below(0, j, lane, force.own(R - 1, j));
    }
    lane_sync<kCluster>();
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        force.own(-1, j) = edges.vector_from_above(0, j, lane);
        force.own(R, j) = edges.vector_from_below(0, j, lane);
    }
    SPRINGTIME_UNROLL
    for (int i = Law::kBends ? -1 : 0; i <= R; ++i) fill_sides(force, i, lane);
}

// Hands the adjoints of the ring to the neighbours, and takes theirs of the patch.
template <class Shape, class Law, bool kCluster, class Edges>
__device__ __forceinline__ void share_adjoints(Patch<Shape>& by_position, Patch<Shape>& by_velocity,
                                               Edges& edges, const GridPlace<Shape>& place)
{
    constexpr int R = Shape::kRows;
    SPRINGTIME_UNROLL
    for (int i = Law::kBends ? -1 : 0; i <= R; ++i) {
        fold_sides(by_position, i, place.lane);
        fold_sides(by_velocity, i, place.lane);
    }
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        edges.tell_above(0, j, place.lane, by_position.own(-1, j));
        edges.tell_above(3, j, place.lane, by_velocity.own(-1, j));
        edges.tell_below(0, j, place.lane, by_position.own(R, j));
        edges.tell_below(3, j, place.lane, by_velocity.own(R, j));
    }
    lane_sync<kCluster>();
    SPRINGTIME_UNROLL
    for (int j = 0; j < Shape::kCols; ++j) {
        if (place.has_above()) {
            by_position.own(0, j) += edges.vector_from_above(0, j, place.lane);
            by_velocity.own(0, j) += edges.vector_from_above(3, j, place.lane);
        }
        if (place.has_below()) {
            by_position.own(R - 1, j) += edges.vector_from_below(0, j, place.lane);
            by_velocity.own(R - 1, j) += edges.vector_from_below(3, j, place.lane);
        }
    }
}

// A lane on its way back over a part of its tape.
template <class Shape, class Law, bool kCluster, class Parameters>
class GridRetreat {
  public:
    __device__ GridRetreat(const GridView& grid, const GridPlace<Shape>& place,
                           const Parameters& parameters, BlockRoom& room, const float* tape)
        : grid_(grid), place_(place), parameters_(parameters), tape_(grid, place, room, tape)
    {
        forces_.template take<kCluster>(room, place, grid.bands);
        adjoints_.template take<kCluster>(room, place, grid.bands);
        sums_.clear();
    }

    // Passes the states after `last` steps to that after `first`. The lane moves in its first
    // `moving` steps. `with_first`: that state is the start of all, so its frame counts.
    __device__ void run(GridAdjoint<Shape>& adjoint, int first, int last, int moving,
                        bool with_first, const FrameAdjoints& frames, const GridBackView& back,
                        int lane)
    {
        const std::size_t count = grid_.particles();
        const bool masses = back.first_number[kMassSlot] >= 0;
        tape_.fetch(last - first);
        for (int n = last, passed = 1; n >= first; --n, ++passed) {
            // The next state takes the room of that before, which all have read.
            arrive_copies();
            if (n > first) tape_.fetch(n - 1 - first);
            const bool steps = n < last && n < moving;
            LaneFrame frame(frames, lane, n, count);
            if (n == first && !with_first) frame = {};
            if (steps || frame.acceleration) {
                Patch<Shape> force;
                force.clear();
                if (steps) {
                    adjoint.undo_step(grid_, force);
                    if (masses) {
                        add_mass_adjoints(grid_, place_, adjoint, force,
                                          tape_.state(n - first) + 3 * count,
                                          tape_.state(n + 1 - first) + 3 * count, sums_.of_mass);
                    }
                }
                if (frame.acceleration) {
                    adjoint.pull_acceleration(grid_, place_, frame.acceleration, force);
                }
                add_elements(force, n - first, adjoint);
            }
            adjoint.add(place_, count, frame);
            if (passed % kCarryEvery == 0 || n == first) sums_.carry(place_, back, lane);
        }
        if constexpr (kCluster) cluster_sync();  // a neighbour may still read from this block
    }

  private:
    __device__ void add_elements(Patch<Shape>& force, int record, GridAdjoint<Shape>& adjoint)
    {
        share_force_adjoints<Shape, Law, kCluster>(force, forces_, place_.lane);
        Patch<Shape> position, velocity, by_position, by_velocity;
        tape_.template read<Law::kBends>(record, position, velocity);
        by_position.clear();
        by_velocity.clear();
        add_grid_adjoints<Shape, Law>(grid_, parameters_, position, velocity, force, by_position,
                                      by_velocity, sums_);
        share_adjoints<Shape, Law, kCluster>(by_position, by_velocity, adjoints_, place_);
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            adjoint.position[t] += by_position.own(t / Shape::kCols, t % Shape::kCols);
            adjoint.velocity[t] += by_velocity.own(t / Shape::kCols, t % Shape::kCols);
        }
    }

    const GridView& grid_;
    const GridPlace<Shape>& place_;
    const Parameters& parameters_;
    GridTape<Shape> tape_;
    BandEdges<Shape, 3> forces_;
    BandEdges<Shape, 6> adjoints_;
    GridSums<Shape, Law> sums_;
};

// Whether the parameters of a block are copied to its shared memory on the way back.
template <class Shape>
inline constexpr bool kKeepsParametersBack = Shape::kWidth <= 64;

// Shared memory of a block on the way back. [bytes]
template <class Shape, class Law>
std::size_t retreat_room(const GridView& grid)
{
    const std::size_t packs =
        kKeepsParametersBack<Shape> ? std::size_t(Law::kPacks * Shape::kPatch) : 0;
    return GridTape<Shape>::room(grid) +
           sizeof(float) * std::size_t(BandEdges<Shape, 3>::room(grid.bands) +
                                       BandEdges<Shape, 6>::room(grid.bands)) +
           sizeof(float4) * packs * std::size_t(grid.bands * kWarp);
}

// One cluster of blocks for each lane.
template <class Shape, class Law, bool kCluster>
__global__ void __launch_bounds__(Shape::kThreads)
    retreat_grid(GridView grid, LaneView lanes, int first, int count, const float* tape,
                 std::size_t lane_stride, FrameAdjoints frames, GridBackView back)
{
    const GridPlace<Shape> place(grid, lane_rank<kCluster>());
    const int lane = int(blockIdx.x) / grid.blocks;
    const int threads = int(blockDim.x);
    const float4* packed = grid.parameters + place.rank * Law::kPacks * Shape::kPatch * threads;
    BlockRoom room;
    if constexpr (kKeepsParametersBack<Shape>) {
        packed = copy_parameters<Shape, Law::kPacks>(packed, room);
    }
    const GridParameters<Shape> parameters(packed, threads);
    float* own = back.adjoint + std::size_t(lane) * kStateRows * grid.particles();
    GridRetreat<Shape, Law, kCluster, GridParameters<Shape>> retreat(
        grid, place, parameters, room, tape + std::size_t(lane) * lane_stride);
    GridAdjoint<Shape> adjoint(grid, place, lanes, lane, own);
    retreat.run(adjoint, first, first + count, lanes.steps[lane], first == 0, frames, back, lane);
    adjoint.write(place, grid.particles(), own);
}

}  // namespace springtime::cuda
