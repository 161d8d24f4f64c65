#pragma once

#include "backends/cuda/list_block.h"
#include "backends/cuda/list_programs.h"
#include "physics/euler.h"
#include "physics/external.h"

// The way there over lists of elements.
namespace springtime::cuda {

// Rows of particles in shared memory.
enum ListAdvanceRow {
    kPositionRow = 0,
    kVelocityRow = 3,
    kForceRow = 6,
    kMobilityRow = 9,
    kInverseMassRow = 10,
    kAdvanceRows
};
static_assert(kAdvanceRows == kListAdvanceRows);

// What the elements of a round do to their corners.
struct ListForces {
    const ListView& list;
    const ListBlock& block;
    const ListRound& round;
    ListRows rows;
    ListSlots slots;

    template <class Kind>
    __device__ void operator()() const
    {
        constexpr int kType = int(Kind::kElement);
        share_out(round.begin[kType], round.end[kType], [&](int e) {
            const ListElement<Kind> element(list, block, e);
            int particle[Kind::kCorners];
            element.particles(particle);
            const auto forces =
                Kind::template forces<float>(element, rows.corners(kPositionRow, particle),
                                             rows.corners(kVelocityRow, particle));
            element.put(slots, 0, forces);
        });
    }
};

template <bool kContact, bool kCluster>
class ListAdvance {
  public:
    __device__ ListAdvance(const ListView& list, const LaneView& lanes, const ContactView& contact)
        : list_(list), lanes_(lanes), contact_(contact), place_(list)
    {
        BlockRoom room;
        rows_ = {room.take<float>(kAdvanceRows * list.stride), list.stride};
        slots_ = {room.take<float>(3 * list.slots), list.slots};
    }

    __device__ void load(const float* states)
    {
        place_.load(list_, lanes_, states, rows_, kPositionRow);
        share_out(0, place_.block.particles, [&](int p) {
            const std::size_t particle = place_.particle(list_, p);
            rows_.at(kMobilityRow, p) = place_.mobility(lanes_, particle);
            rows_.at(kInverseMassRow, p) = list_.inverse_mass[particle];
            if (driven_slot(lanes_, place_.lane, int(particle)) >= 0) driven_ = true;
        });
        __syncthreads();
    }
    __device__ void store(float* states) const
    {
        const std::size_t of_lane = kStateRows * std::size_t(lanes_.particles);
        place_.store(list_, lanes_, rows_, kPositionRow,
                     states + std::size_t(place_.lane) * of_lane);
    }

    __device__ void run(const ListSteps& steps, const Records& records)
    {
        const std::size_t size = kStateRows * std::size_t(lanes_.particles);
        const int moving = lanes_.steps[place_.lane] - steps.first;  // steps until it stands still
        for (int step = steps.begin; step < steps.end; ++step) {
            if (step < moving) make_step(step, step > steps.begin);
            if (records.to && (step + 1) % records.every == 0) {
                place_.store(list_, lanes_, rows_, kPositionRow,
                             records.to + std::size_t(place_.lane) * records.lane_stride +
                                 std::size_t((step + 1) / records.every - 1) * size);
            }
        }
    }

  private:
    __device__ void make_step(int step, bool guests_moved)
    {
        if constexpr (kCluster) {
            if (guests_moved) {
                place_.fetch_guests(list_, rows_, 0, kStateRows);
                __syncthreads();
            }
        }
        const int rounds = place_.block.rounds;
        for (int r = 0; r < rounds; ++r) {
            const ListRound& round = list_.rounds[place_.block.first_round + r];
            for_each_element_type(list_.laws,
                                  ListForces{list_, place_.block, round, rows_, slots_});
            // In the last round nobody needs the present state any more, once all are here.
            const bool last = r + 1 == rounds;
            sync(last);
            share_out(0, place_.block.own, [&](int p) {
                Vec3f force = r == 0 ? Vec3f{0, 0, 0} : rows_.vector(kForceRow, p);
                slots_.gather(0, list_.gather[round.first_gather + p], force);
                if (last) {
                    move(p, step, force);
                } else {
                    rows_.put(kForceRow, p, force);
                }
            });
            sync(last);
        }
    }
    __device__ static void sync(bool last)
    {
        if (last) {
            lane_sync<kCluster>();
        } else {
            __syncthreads();
        }
    }

    __device__ void move(int p, int step, const Vec3f& force)
    {
        Vec3f x = rows_.vector(kPositionRow, p), v = rows_.vector(kVelocityRow, p);
        const float mobility = rows_.at(kMobilityRow, p);
        const Vec3f a = rows_.at(kInverseMassRow, p) * force +
                        external_acceleration(v, list_.gravity, list_.wind, list_.drag);
        // What is held stands still until it is placed.
        euler_step(x, v, a, mobility, mobility);
        if constexpr (kContact) {
            if (mobility > 0) meet_obstacles(contact_, place_.lane, step, x, v, mobility);
        }
        if (driven_) {
            const int slot = driven_slot(lanes_, place_.lane, int(place_.particle(list_, p)));
            if (slot >= 0) place_driven(lanes_, place_.lane, step, slot, x, v);
        }
        rows_.put(kPositionRow, p, x);
        rows_.put(kVelocityRow, p, v);
    }

    const ListView& list_;
    const LaneView& lanes_;
    const ContactView& contact_;
    ListPlace<kCluster> place_;
    ListRows rows_;
    ListSlots slots_;
    bool driven_ = false;  // any particle of the thread
};

// From the states `from` to those at `to`. A lane has one block, or a cluster of them; or several
// that do not know of each other, and then this is one step from one array to another.
template <bool kContact, bool kCluster>
__global__ void __launch_bounds__(kListThreads, 2)
    advance_list(ListView list, LaneView lanes, ListSteps steps, const float* from, float* to,
                 Records records, ContactView contact)
{
    ListAdvance<kContact, kCluster> advance(list, lanes, contact);
    advance.load(from);
    advance.run(steps, records);
    advance.store(to);
}

}  // namespace springtime::cuda
