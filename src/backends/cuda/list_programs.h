#pragma once

#include "backends/cuda/engine.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/list_view.h"

// The kernels for lists are compiled in files of their own.
namespace springtime::cuda {

// Rows of particles and numbers of slots that a block keeps in shared memory.
inline constexpr int kListAdvanceRows = 11, kListAdvanceAxes = 3;
inline constexpr int kListRetreatRows = 24, kListRetreatAxes = 6;

// How a kernel is started.
struct ListStart {
    int blocks, cluster, threads;  // blocks of a lane
    std::size_t room;              // shared memory of a block [bytes]

    LaunchShape shape(const LaneView& lanes) const
    {
        return {lanes.count * blocks, threads, room, cluster};
    }
};

// Steps begin + 1 to end of a launch, which began after step `first` of all.
struct ListSteps {
    int first, begin, end;
};
void start_advance(const ListStart& how, const ListView& list, const LaneView& lanes,
                   const ListSteps& steps, const float* from, float* to, const Records& records,
                   const ContactView* contact);

// From the state after `from` steps back to that after `to` steps, within the stretch from `first`
// to `last` that the tape has.
struct ListStepsBack {
    int first, last, from, to;
    bool with_last;  // nothing was passed before: the frame of the last state counts
};
// From the adjoints `in` to those at `out`, [lane][row][particle].
void start_retreat(const ListStart& how, const ListView& list, const LaneView& lanes,
                   const ListStepsBack& steps, const float* tape, std::size_t lane_stride,
                   const FrameAdjoints& frames, const float* in, float* out,
                   const ListBackView& back);

}  // namespace springtime::cuda
