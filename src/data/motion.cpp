#include "springtime/motion.h"

#include "springtime/error.h"

namespace springtime {

namespace {

Vec3d vector_at(const std::vector<float>& values, std::size_t index)
{
    return {values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

}  // namespace

State Rollout::state(std::size_t frame, const MotionHeader& header) const
{
    const std::size_t landmarks = header.landmark_count();
    if (frame >= frame_count) {
        throw Error("rollout: frame {} asked for, but it has {}; count from 0", frame, frame_count);
    }
    const std::size_t needed = frame_count * landmarks * 3;
    if (position.size() != needed || velocity.size() != needed) {
        throw Error(
            "rollout: {} position and {} velocity numbers, but {} frames of {} landmarks need {};"
            " use the header it came with",
            position.size(), velocity.size(), frame_count, landmarks, needed);
    }
    State state;
    state.time = frame * header.frame_interval();
    for (std::size_t i = frame * landmarks; i < (frame + 1) * landmarks; ++i) {
        state.position.push_back(vector_at(position, i));
        state.velocity.push_back(vector_at(velocity, i));
    }
    return state;
}

}  // namespace springtime
