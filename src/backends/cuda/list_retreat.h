#pragma once

#include "backends/cuda/list_block.h"
#include "backends/cuda/list_programs.h"
#include "physics/euler.h"
#include "physics/external.h"

// The way back over lists of elements: the adjoint of list_advance.h.
namespace springtime::cuda {

// Rows of particles in shared memory. There is room for two states: one comes while the other is
// at work.
enum ListRetreatRow {
    kStatesRow = 0,
    kAdjointRow = 2 * kStateRows,
    kForceAdjointRow = kAdjointRow + kStateRows,
    kMobilityBackRow = kForceAdjointRow + 3,
    kInverseMassBackRow,
    kMassSumRow,
    kRetreatRows
};
static_assert(kRetreatRows == kListRetreatRows);

// The gradient by the parameters of the elements of a block, [type][slot][element], summed in float
// over a few steps. An element always has the same thread.
struct ListSums {
    float* first;
    const ListBlock& block;
    const ListBackView& back;

    // Of an element, from slot to slot `block.elements[type]` apart.
    __device__ float* of(int type, int element) const
    {
        float* sums = first + element;
        SPRINGTIME_UNROLL
        for (int before = 0; before < kElementTypes; ++before) {
            if (before < type) sums += back.slots[before] * block.elements[before];
        }
        return sums;
    }
    __device__ void clear() const
    {
        share_out(0, back.sums, [&](int i) { first[i] = 0; });
    }

    // Carries them to the sums in double. Elements of other blocks are theirs to carry.
    __device__ void carry(double* gradient) const
    {
        for (int type = 0; type < kElementTypes; ++type) {
            for (int slot = 0; slot < back.slots[type]; ++slot) {
                const int number = back.first_number[back.first_slot[type] + slot];
                share_out(0, block.elements[type], [&](int e) {
                    float& sum = of(type, e)[slot * block.elements[type]];
                    const int element = back.element[block.first_element[type] + e];
                    if (number >= 0 && element >= 0) gradient[number + element] += double(sum);
                    sum = 0;
                });
            }
        }
    }
};

// From the adjoints of the forces to those of the states, into slots, and to the gradient.
struct ListAdjoints {
    const ListView& list;
    const ListBlock& block;
    const ListRound& round;
    ListRows rows;
    int state_row;
    ListSlots slots;
    const ListSums& sums;

    template <class Kind>
    __device__ void operator()() const
    {
        constexpr int kType = int(Kind::kElement);
        share_out(round.begin[kType], round.end[kType], [&](int e) {
            const ListElement<Kind> element(list, block, e);
            int particle[Kind::kCorners];
            element.particles(particle);
            float* sum = sums.of(kType, e);
            const int pitch = block.elements[kType];
            const auto by = Kind::template adjoints<float>(
                element, rows.corners(state_row, particle), rows.corners(state_row + 3, particle),
                rows.corners(kForceAdjointRow, particle),
                [&](int slot, float value) { sum[slot * pitch] += value; });
            element.put(slots, 0, by.position);
            element.put(slots, 3, by.velocity);
        });
    }
};

template <bool kCluster>
class ListRetreat {
  public:
    __device__ ListRetreat(const ListView& list, const LaneView& lanes, const ListStepsBack& steps,
                           const float* tape, std::size_t lane_stride, const ListBackView& back)
        : list_(list),
          lanes_(lanes),
          steps_(steps),
          back_(back),
          place_(list),
          tape_(tape + std::size_t(place_.lane) * lane_stride),
          sums_{nullptr, place_.block, back}
    {
        BlockRoom room;
        rows_ = {room.take<float>(kRetreatRows * list.stride), list.stride};
        sums_.first = room.take<float>(back.sums);
        slots_ = {room.take<float>(6 * list.slots), list.slots};
    }

    __device__ void load(const float* adjoints)
    {
        place_.load(list_, lanes_, adjoints, rows_, kAdjointRow);
        share_out(0, place_.block.particles, [&](int p) {
            const std::size_t particle = place_.particle(list_, p);
            rows_.at(kMobilityBackRow, p) = place_.mobility(lanes_, particle);
            rows_.at(kInverseMassBackRow, p) = list_.inverse_mass[particle];
            rows_.at(kMassSumRow, p) = 0;
        });
        sums_.clear();
    }
    __device__ void store(float* adjoints) const
    {
        const std::size_t of_lane = kStateRows * std::size_t(lanes_.particles);
        place_.store(list_, lanes_, rows_, kAdjointRow,
                     adjoints + std::size_t(place_.lane) * of_lane);
    }

    // Passes the states on the way. The frame of the last one of a stretch counts only if nothing
    // was passed before: it is the first one of another stretch.
    __device__ void run(const FrameAdjoints& frames)
    {
        const std::size_t count = std::size_t(lanes_.particles);
        const int moving = lanes_.steps[place_.lane];
        fetch_state(steps_.from);
        const int carried = carry_steps(frames.stride);
        for (int n = steps_.from, until = n % carried; n >= steps_.to; --n, --until) {
            arrive_copies();
            __syncthreads();
            // It takes the room of the state after this one, which all have read.
            if (n > steps_.to) fetch_state(n - 1);
            const bool steps = n < steps_.last && n < moving;
            LaneFrame frame(frames, place_.lane, n, count);
            if (n == steps_.last && !steps_.with_last) frame = {};
            if (steps || frame.acceleration) {
                undo_step(n, steps, frame.acceleration);
                add_elements(n);
            }
            add(frame);
            if (until > 0 && n > steps_.to) continue;
            carry();
            until = carried;
        }
    }

  private:
    __device__ static int row_of_state(int n) { return kStatesRow + (n & 1) * kStateRows; }
    __device__ const float* state(int n) const
    {
        return tape_ + std::size_t(n - steps_.first) * kStateRows * std::size_t(lanes_.particles);
    }
    __device__ void fetch_state(int n) const
    {
        const std::size_t count = std::size_t(lanes_.particles);
        const float* from = state(n);
        share_out(0, place_.block.particles, [&](int p) {
            const float* of_particle = from + place_.particle(list_, p);
            SPRINGTIME_UNROLL
            for (int row = 0; row < kStateRows; ++row) {
                copy_later(&rows_.at(row_of_state(n) + row, p),
                           of_particle + std::size_t(row) * count);
            }
        });
    }

    // The adjoint of the forces in state n: from that of the state after it, if there is a step
    // between, and from that of the accelerations of its frame, if there are any. The adjoint of
    // the velocity becomes that before, as far as elements have no part in it.
    __device__ void undo_step(int n, bool steps, const float* acceleration) const
    {
        const std::size_t count = std::size_t(lanes_.particles);
        // Blocks that do not know of each other do it for their guests, too.
        share_out(0, kCluster ? place_.block.own : place_.block.particles, [&](int p) {
            const float mobility = rows_.at(kMobilityBackRow, p);
            const float inverse_mass = rows_.at(kInverseMassBackRow, p);
            Vec3f by_velocity = rows_.vector(kAdjointRow + 3, p), by_force{0, 0, 0};
            if (steps) {
                const Vec3f a =
                    euler_adjoint(rows_.vector(kAdjointRow, p), by_velocity, mobility, mobility);
                by_velocity += external_adjoint(a, list_.drag);
                by_force = inverse_mass * a;
                if (back_.first_mass >= 0 && mobility > 0 && p < place_.block.own) {
                    add_mass_adjoint(n, p, mobility, by_force);
                }
            }
            if (acceleration && mobility > 0) {
                const Vec3f a = vector_at(acceleration, count, place_.particle(list_, p));
                by_velocity += external_adjoint(a, list_.drag);
                by_force += inverse_mass * a;
            }
            rows_.put(kAdjointRow + 3, p, by_velocity);
            rows_.put(kForceAdjointRow, p, by_force);
        });
        lane_sync<kCluster>();
        if constexpr (kCluster) {
            place_.fetch_guests(list_, rows_, kForceAdjointRow, 3);
            __syncthreads();
        }
    }
    __device__ void add_mass_adjoint(int n, int p, float mobility, const Vec3f& by_force) const
    {
        const std::size_t count = std::size_t(lanes_.particles);
        const Vec3f v = rows_.vector(row_of_state(n) + 3, p);
        const Vec3f after = vector_at(state(n + 1) + 3 * count, count, place_.particle(list_, p));
        const Vec3f external = external_acceleration(v, list_.gravity, list_.wind, list_.drag);
        rows_.at(kMassSumRow, p) += mass_adjoint(v, after, external, 1.0f / mobility, by_force);
    }

    __device__ void add_elements(int n) const
    {
        const int rounds = place_.block.rounds;
        for (int r = 0; r < rounds; ++r) {
            const ListRound& round = list_.rounds[place_.block.first_round + r];
            if (r > 0) __syncthreads();
            for_each_element_type(list_.laws, ListAdjoints{list_, place_.block, round, rows_,
                                                           row_of_state(n), slots_, sums_});
            // After the last round nobody needs the adjoints of these forces any more.
            if (r + 1 == rounds) {
                lane_sync<kCluster>();
            } else {
                __syncthreads();
            }
            share_out(0, place_.block.own, [&](int p) {
                const int word = list_.gather[round.first_gather + p];
                Vec3f x = rows_.vector(kAdjointRow, p), v = rows_.vector(kAdjointRow + 3, p);
                slots_.gather(0, word, x);
                slots_.gather(3, word, v);
                rows_.put(kAdjointRow, p, x);
                rows_.put(kAdjointRow + 3, p, v);
            });
        }
    }

    __device__ void add(const LaneFrame& frame) const
    {
        if (!frame.position && !frame.velocity) return;
        const std::size_t count = std::size_t(lanes_.particles);
        share_out(0, place_.block.own, [&](int p) {
            const std::size_t particle = place_.particle(list_, p);
            const auto add_to = [&](int row, const float* adjoint) {
                if (!adjoint) return;
                rows_.put(row, p, rows_.vector(row, p) + vector_at(adjoint, count, particle));
            };
            add_to(kAdjointRow, frame.position);
            add_to(kAdjointRow + 3, frame.velocity);
        });
    }

    __device__ void carry() const
    {
        double* gradient = back_.gradient + std::size_t(place_.lane) * back_.numbers;
        sums_.carry(gradient);
        if (back_.first_mass < 0) return;
        share_out(0, place_.block.own, [&](int p) {
            float& sum = rows_.at(kMassSumRow, p);
            gradient[std::size_t(back_.first_mass) + place_.particle(list_, p)] += double(sum);
            sum = 0;
        });
    }

    const ListView& list_;
    const LaneView& lanes_;
    const ListStepsBack& steps_;
    const ListBackView& back_;
    ListPlace<kCluster> place_;
    const float* tape_;
    ListRows rows_;
    ListSums sums_;
    ListSlots slots_;
};

// From the adjoints `in` to those at `out`. A lane has one block, or a cluster of them; or several
// that do not know of each other, and then this passes one state from one array to another.
template <bool kCluster>
__global__ void __launch_bounds__(kListThreads)
    retreat_list(ListView list, LaneView lanes, ListStepsBack steps, const float* tape,
                 std::size_t lane_stride, FrameAdjoints frames, const float* in, float* out,
                 ListBackView back)
{
    ListRetreat<kCluster> retreat(list, lanes, steps, tape, lane_stride, back);
    retreat.load(in);
    retreat.run(frames);
    retreat.store(out);
}

}  // namespace springtime::cuda
