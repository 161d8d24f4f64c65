#include "springtime/simulation.h"

namespace springtime {

State flat_state(const Cloth& cloth)
{
    State state;
    for (const SheetPoint& p : cloth.rest) {
        state.position.push_back({p.u - cloth.sheet.length / 2, 0, p.v - cloth.sheet.width / 2});
    }
    state.velocity.resize(state.position.size());
    return state;
}

}  // namespace springtime
