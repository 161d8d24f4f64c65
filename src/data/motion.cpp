#include "springtime/motion.h"

#include "springtime/error.h"

namespace springtime {

namespace {

Vec3d vector_at(const std::vector<float>& values, std::size_t index)
{
    return {values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

}  // namespace

std::size_t Rollout::landmark_count() const
{
    return frame_count == 0 ? 0 : position.size() / (3 * frame_count);
}

State Rollout::state(std::size_t frame, double frame_interval) const
{
    const std::size_t landmarks = landmark_count();
    if (frame >= frame_count) {
        throw Error("rollout: frame {} asked for, but it has {}; count from 0", frame, frame_count);
    }
    if (position.size() != 3 * frame_count * landmarks || velocity.size() != position.size()) {
        throw Error(
            "rollout: {} position and {} velocity numbers for {} frames; give both, and three "
            "per landmark and frame",
            position.size(), velocity.size(), frame_count);
    }
    State state;
    state.time = double(frame) * frame_interval;
    for (std::size_t i = frame * landmarks; i < (frame + 1) * landmarks; ++i) {
        state.position.push_back(vector_at(position, i));
        state.velocity.push_back(vector_at(velocity, i));
    }
    return state;
}

}  // namespace springtime
