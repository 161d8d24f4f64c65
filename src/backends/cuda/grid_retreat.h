#pragma once

#include <type_traits>

#include "backends/cuda/grid_patch.h"
#include "backends/cuda/grid_tape.h"
#include "backends/cuda/lane_steps.h"
#include "physics/euler.h"
#include "physics/external.h"

// The way back over a grid of springs: the adjoint of grid_advance.h.
namespace springtime::cuda {

// Whether a block has room in its shared memory for the sums of the gradient: registers do not hold
// them beside a patch. The edges of the widest bands take that room.
template <class Shape>
inline constexpr bool kSharesSums = Shape::kWidth <= 64;

// The gradient by the parameters of a patch, summed in float over a few steps.
template <class Shape, class Law>
class GridSums {
    static constexpr int kNumbers = Shape::kPatch * Law::kSums;

  public:
    __device__ GridSums(BlockRoom& room, int threads) : threads_(threads)
    {
        if constexpr (kSharesSums<Shape>) {
            shared_ = room.take<float>(kNumbers * threads) + threadIdx.x;
            for (int n = 0; n < kNumbers; ++n) shared_[n * threads] = 0;
        } else {
            SPRINGTIME_UNROLL
            for (float& sum : own_) sum = 0;
        }
    }
    __host__ __device__ static std::size_t room(int threads)
    {
        return kSharesSums<Shape> ? sizeof(float) * std::size_t(kNumbers * threads) : 0;
    }

    // Of particle t of the patch.
    __device__ float& of_spring(int t, int kind, int slot)
    {
        return at(t, kind * Law::kSpringSums + slot);
    }
    __device__ float& of_bend(int t, int kind, int slot)
    {
        return at(t, Law::kSpringSums * kGridSprings + 2 * kind + slot);
    }
    float of_mass[Shape::kPatch] = {};

    // Carries them to the sums in double.
    __device__ void carry(const GridPlace<Shape>& place, const GridBackView& back, int lane)
    {
        double* gradient = back.gradient + std::size_t(lane) * back.numbers;
        const auto add = [&](GridSlot slot, int element, float& value) {
            const int first = back.first_number[slot];
            if (first >= 0 && element >= 0) gradient[first + element] += double(value);
            value = 0;
        };
        const int count = place.rows * place.cols;
        SPRINGTIME_UNROLL
        for (int t = 0; t < Shape::kPatch; ++t) {
            const int i = t / Shape::kCols, j = t % Shape::kCols;
            if (!place.exists(i, j)) continue;
            const int p = place.particle(i, j);
            SPRINGTIME_UNROLL_IF(!kSharesSums<Shape>)
            for (int kind = 0; kind < kGridSprings; ++kind) {
                const int element = back.element[kind * count + p];
                SPRINGTIME_UNROLL
                for (int slot = 0; slot < Law::kSpringSums; ++slot) {
                    add(GridSlot(slot), element, of_spring(t, kind, slot));
                }
            }
            if constexpr (Law::kBends) {
                SPRINGTIME_UNROLL_IF(!kSharesSums<Shape>)
                for (int kind = 0; kind < kGridBends; ++kind) {
                    const int element = back.element[(kGridSprings + kind) * count + p];
                    add(kBendingSlot, element, of_bend(t, kind, 0));
                    add(kBendingDampingSlot, element, of_bend(t, kind, 1));
                }
            }
            add(kMassSlot, p, of_mass[t]);
        }
    }

  private:
    __device__ float& at(int t, int n)
    {
        if constexpr (kSharesSums<Shape>) {
            return shared_[(t * Law::kSums + n) * threads_];
        } else {
            return own_[t * Law::kSums + n];
        }
    }

    int threads_;
    float* shared_ = nullptr;
    float own_[kSharesSums<Shape> ? 1 : kNumbers];
};

// From the adjoints of the forces to those of the states, and to the gradient: of the elements that
// belong to particle (i, j) of the patch.
template <class Shape, class Law, class Parameters>
__device__ __forceinline__ void add_grid_adjoints(
    const GridView& grid, const Parameters& parameters, int i, int j, const Patch<Shape>& position,
    const Patch<Shape>& velocity, const Patch<Shape>& force, Patch<Shape>& by_position,
    Patch<Shape>& by_velocity, GridSums<Shape, Law>& sums)
{
    const int t = i * Shape::kCols + j;
    SPRINGTIME_UNROLL
    for (int kind = 0; kind < kGridSprings; ++kind) {
        const auto [a, b] = ends_of_spring(kind);
        const auto numbers = GridSpringNumbers<Law>::of(parameters, kind, t);
        const auto back = spring_adjoint(
            position.near(i, j, b) - position.near(i, j, a),
            velocity.near(i, j, b) - velocity.near(i, j, a), grid.rest_length[kind],
            numbers.stiffness, numbers.damping, numbers.law,
            force.near(i, j, a) - force.near(i, j, b), [&](int further, float value) {
                sums.of_spring(t, kind, kCompressionSlot + further) += value;
            });
        sums.of_spring(t, kind, kStiffnessSlot) += back.stiffness;
        sums.of_spring(t, kind, kDampingSlot) += back.damping;
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
            const auto back = bend_adjoint(difference(position), difference(velocity), numbers.x,
                                           numbers.y, difference(force));
            sums.of_bend(t, kind, 0) += back.stiffness;
            sums.of_bend(t, kind, 1) += back.damping;
            by_position.near(i, j, a) += back.e;
            by_position.own(i, j) -= 2.0f * back.e;
            by_position.near(i, j, b) += back.e;
            by_velocity.near(i, j, a) += back.rate;
            by_velocity.own(i, j) -= 2.0f * back.rate;
            by_velocity.near(i, j, b) += back.rate;
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

// The adjoints of forces above and below a patch.
template <class Shape, bool kCluster, class Edges>
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
}

// do_row(i) for i from 0 to R - 1, as types: the compiler gives up unrolling a loop as long as this
// one.
template <int R, int kFirst = 0, class DoRow>
__device__ __forceinline__ void for_each_row(const DoRow& do_row)
{
    if constexpr (kFirst < R) {
        do_row(std::integral_constant<int, kFirst>{});
        for_each_row<R, kFirst + 1>(do_row);
    }
}

// A lane on its way back over a part of its tape.
template <class Shape, class Law, bool kCluster, class Parameters>
class GridRetreat {
  public:
    __device__ GridRetreat(const GridView& grid, const GridPlace<Shape>& place,
                           const Parameters& parameters, BlockRoom& room, const float* tape)
        : grid_(grid),
          place_(place),
          parameters_(parameters),
          tape_(grid, place, room, tape),
          sums_(room, int(blockDim.x))
    {
        forces_.template take<kCluster>(room, place, grid.bands);
        adjoints_.template take<kCluster>(room, place, grid.bands);
    }

    // Passes the states after `last` steps to that after `first`. The lane moves in its first
    // `moving` steps.
    __device__ void run(GridAdjoint<Shape>& adjoint, int first, int last, int moving,
                        const FrameAdjoints& frames, const GridBackView& back, int lane)
    {
        const std::size_t count = grid_.particles();
        const bool masses = back.first_number[kMassSlot] >= 0;
        tape_.fetch(last - first);
        const int carried = carry_steps(frames.stride);
        for (int n = last, until = last % carried; n >= first; --n, --until) {
            // The next state takes the room of that before, which all have read.
            arrive_copies();
            if (n > first) tape_.fetch(n - 1 - first);
            const bool steps = n < last && n < moving;
            LaneFrame frame(frames, lane, n, count);
            if (n == last && !back.with_last) frame = {};
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
            if (until > 0 && n > first) continue;
            sums_.carry(place_, back, lane);
            until = carried;
        }
        if constexpr (kCluster) cluster_sync();  // a neighbour may still read from this block
    }

  private:
    // Row by row, so that only three rows of states and of their adjoints are in registers at a
    // time.
    __device__ __forceinline__ void add_elements(Patch<Shape>& force, int record,
                                                 GridAdjoint<Shape>& adjoint)
    {
        constexpr int R = Shape::kRows;
        share_force_adjoints<Shape, kCluster>(force, forces_, place_.lane);
        Patch<Shape> position, velocity, by_position, by_velocity;
        by_position.clear();
        by_velocity.clear();
        const auto bring = [&](int i) {
            tape_.template read_row<Law::kBends>(record, i, position, velocity);
            if (i >= 0 || Law::kBends) fill_sides(force, i, place_.lane);
        };
        bring(-1);
        bring(0);
        for_each_row<R>([&](auto row) {
            constexpr int i = row;
            bring(i + 1);
            SPRINGTIME_UNROLL
            for (int j = 0; j < Shape::kCols; ++j) {
                add_grid_adjoints<Shape, Law>(grid_, parameters_, i, j, position, velocity, force,
                                              by_position, by_velocity, sums_);
            }
            finish_row(i - 1, by_position, by_velocity, adjoint);
        });
        finish_row(R - 1, by_position, by_velocity, adjoint);
        finish_row(R, by_position, by_velocity, adjoint);
        lane_sync<kCluster>();
        SPRINGTIME_UNROLL
        for (int j = 0; j < Shape::kCols; ++j) {
            if (place_.has_above()) {
                adjoint.position[j] += adjoints_.vector_from_above(0, j, place_.lane);
                adjoint.velocity[j] += adjoints_.vector_from_above(3, j, place_.lane);
            }
            const int last = (R - 1) * Shape::kCols + j;
            if (place_.has_below()) {
                adjoint.position[last] += adjoints_.vector_from_below(0, j, place_.lane);
                adjoint.velocity[last] += adjoints_.vector_from_below(3, j, place_.lane);
            }
        }
    }

    // Nothing more is added to a row: its sides go to the neighbours, the rows of the ring to the
    // bands above and below.
    __device__ __forceinline__ void finish_row(int i, Patch<Shape>& by_position,
                                               Patch<Shape>& by_velocity,
                                               GridAdjoint<Shape>& adjoint)
    {
        if (i >= 0 || Law::kBends) {
            fold_sides(by_position, i, place_.lane);
            fold_sides(by_velocity, i, place_.lane);
        }
        SPRINGTIME_UNROLL
        for (int j = 0; j < Shape::kCols; ++j) {
            const Vec3f &x = by_position.own(i, j), &v = by_velocity.own(i, j);
            if (i < 0) {
                adjoints_.tell_above(0, j, place_.lane, x);
                adjoints_.tell_above(3, j, place_.lane, v);
            } else if (i == Shape::kRows) {
                adjoints_.tell_below(0, j, place_.lane, x);
                adjoints_.tell_below(3, j, place_.lane, v);
            } else {
                adjoint.position[i * Shape::kCols + j] += x;
                adjoint.velocity[i * Shape::kCols + j] += v;
            }
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

// Whether there is room for the parameters of a block, too.
template <class Shape, class Law>
inline constexpr bool kKeepsParametersBack = kSharesSums<Shape> && !Law::kBends;

// Shared memory of a block on the way back. [bytes]
template <class Shape, class Law>
std::size_t retreat_room(const GridView& grid)
{
    const std::size_t packs =
        kKeepsParametersBack<Shape, Law> ? std::size_t(Law::kPacks * Shape::kPatch) : 0;
    return GridTape<Shape>::room(grid) +
           sizeof(float) * std::size_t(BandEdges<Shape, 3>::room(grid.bands) +
                                       BandEdges<Shape, 6>::room(grid.bands)) +
           GridSums<Shape, Law>::room(grid.bands * kWarp) +
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
    if constexpr (kKeepsParametersBack<Shape, Law>) {
        packed = copy_parameters<Shape, Law::kPacks>(packed, room);
    }
    const GridParameters<Shape> parameters(packed, threads);
    float* own = back.adjoint + std::size_t(lane) * kStateRows * grid.particles();
    GridRetreat<Shape, Law, kCluster, GridParameters<Shape>> retreat(
        grid, place, parameters, room, tape + std::size_t(lane) * lane_stride);
    GridAdjoint<Shape> adjoint(grid, place, lanes, lane, own);
    retreat.run(adjoint, first, first + count, lanes.steps[lane], frames, back, lane);
    adjoint.write(place, grid.particles(), own);
}

}  // namespace springtime::cuda
