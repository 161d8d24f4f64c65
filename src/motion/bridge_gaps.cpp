#include "motion/bridge_gaps.h"

#include <algorithm>

#include "motion/point_frame.h"

namespace springtime {

bool bridge_gaps(std::vector<Vec3d>& path)
{
    const auto first = std::find_if(path.begin(), path.end(), is_seen);
    if (first == path.end()) return false;
    std::fill(path.begin(), first, *first);
    for (auto before = first;;) {
        const auto after = std::find_if(before + 1, path.end(), is_seen);
        if (after == path.end()) {
            std::fill(before + 1, after, *before);
            return true;
        }
        const double gap = double(after - before);
        for (auto x = before + 1; x != after; ++x) {
            *x = *before + double(x - before) / gap * (*after - *before);
        }
        before = after;
    }
}

}  // namespace springtime
