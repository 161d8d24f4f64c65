#include "backends/cuda/list_retreat.h"

namespace springtime::cuda {

void start_retreat(const ListStart& how, const ListView& list, const LaneView& lanes,
                   const ListStepsBack& steps, const float* tape, std::size_t lane_stride,
                   const FrameAdjoints& frames, const float* in, float* out,
                   const ListBackView& back)
{
    launch(how.shape(lanes), how.cluster > 1 ? retreat_list<true> : retreat_list<false>, list,
           lanes, steps, tape, lane_stride, frames, in, out, back);
}

}  // namespace springtime::cuda
