#include <algorithm>
#include <cmath>

#include "formats/exports/frame_stream.h"

namespace springtime {

GapTable::GapTable(const Motion& motion, std::size_t rollout)
    : landmarks_(motion.header.landmark_count()),
      frames_(motion.frame_counts[rollout]),
      open_(landmarks_, -1),
      last_(landmarks_),
      seen_(landmarks_, false)
{
    const std::size_t most = frames_per_piece(landmarks_);
    for (std::size_t first = 0; first < frames_; first += most) {
        scan(motion.read(rollout, first, std::min(most, frames_ - first)), first);
    }
}

void GapTable::scan(const Rollout& piece, std::size_t first)
{
    for (std::size_t f = 0; f < piece.frame_count; ++f) {
        const float* x = &piece.position[f * landmarks_ * 3];
        for (std::size_t l = 0; l < landmarks_; ++l, x += 3) {
            int& open = open_[l];
            if (std::isnan(x[0])) {
                if (open < 0) {
                    open = int(gaps_.size());
                    gaps_.push_back({l, first + f, frames_, last_[l], {}, seen_[l], false});
                }
                continue;
            }
            last_[l] = {x[0], x[1], x[2]};
            seen_[l] = true;
            if (open < 0) continue;
            gaps_[open].end = first + f;
            gaps_[open].after = last_[l];
            gaps_[open].has_after = true;
            open = -1;
        }
    }
}

std::size_t GapTable::missing(std::size_t first, std::size_t last) const
{
    std::size_t count = 0;
    for (const Gap& gap : gaps_) {
        const std::size_t begin = std::max(gap.begin, first), end = std::min(gap.end, last + 1);
        if (begin < end) count += end - begin;
    }
    return count;
}

GapTable::Place GapTable::first_missing(std::size_t first) const
{
    const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                  [&](const Gap& candidate) { return candidate.end > first; });
    return {std::max(first, gap->begin), gap->landmark};
}

std::optional<std::size_t> GapTable::never_seen() const
{
    const auto found = std::find(seen_.begin(), seen_.end(), false);
    if (found == seen_.end()) return {};
    return std::size_t(found - seen_.begin());
}

void GapTable::fill(std::vector<float>& position, std::size_t first) const
{
    const std::size_t last = first + position.size() / (3 * landmarks_);
    for (const Gap& gap : gaps_) {
        if (gap.begin >= last) break;  // they are in the order in which they begin
        for (std::size_t f = std::max(gap.begin, first); f < std::min(gap.end, last); ++f) {
            // From one frame before the gap to the frame that ends it.
            const double length = double(gap.end - gap.begin) + 1;
            double share = (double(f - gap.begin) + 1) / length;
            if (!gap.has_before) share = 1;
            if (!gap.has_after) share = 0;
            float* x = &position[((f - first) * landmarks_ + gap.landmark) * 3];
            for (int axis = 0; axis < 3; ++axis) {
                x[axis] = float((1 - share) * gap.before[axis] + share * gap.after[axis]);
            }
        }
    }
}

}  // namespace springtime
