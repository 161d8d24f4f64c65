#include "backends/cuda/list_advance.h"

#include "backends/cuda/list_programs.h"

namespace springtime::cuda {

namespace {

template <bool kContact>
void start(const ListStart& start, const ListView& list, const LaneView& lanes,
           const ListSteps& steps, const float* from, float* to, const Records& records,
           const ContactView& contact)
{
    launch(start.shape(lanes),
           start.cluster > 1 ? advance_list<kContact, true> : advance_list<kContact, false>, list,
           lanes, steps, from, to, records, contact);
}

}  // namespace

void start_advance(const ListStart& how, const ListView& list, const LaneView& lanes,
                   const ListSteps& steps, const float* from, float* to, const Records& records,
                   const ContactView* contact)
{
    if (contact) {
        start<true>(how, list, lanes, steps, from, to, records, *contact);
    } else {
        start<false>(how, list, lanes, steps, from, to, records, ContactView{});
    }
}

}  // namespace springtime::cuda
