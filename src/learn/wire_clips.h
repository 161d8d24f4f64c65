#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "core/wire.h"
#include "crew/wire_cloth.h"
#include "learn/gradient.h"
#include "learn/limited_mean.h"
#include "learn/trajectory.h"

// Clips, losses and gradients as bytes.
namespace springtime {

template <>
inline constexpr bool kPlain<LossWeights> = true;
template <>
inline constexpr bool kPlain<LossTerms> = true;
template <>
inline constexpr bool kPlain<TrajectoryResult> = true;
template <>
inline constexpr bool kPlain<RolloutPart> = true;
template <>
inline constexpr bool kPlain<FrameLoss> = true;
template <>
inline constexpr bool kPlain<LandmarkMap::Weights> = true;

inline auto fields(Rollout& rollout)
{
    auto& [frame_count, position, velocity, acceleration, handles] = rollout;
    return std::tie(frame_count, position, velocity, acceleration, handles);
}
inline auto fields(Trajectory& trajectory)
{
    auto& [start, handles, frame_count, position, free, part] = trajectory;
    return std::tie(start, handles, frame_count, position, free, part);
}
inline auto fields(BatchGradient::Result& result)
{
    auto& [loss, gradient] = result;
    return std::tie(loss, gradient.kinds);
}
inline auto fields(GradientSum::Part& part)
{
    auto& [first, size, sum] = part;
    return std::tie(first, size, sum);
}

// Trajectories, and what they are followed with.
struct FollowRequest {
    explicit FollowRequest(WireReader& from)
    {
        from(trajectories, parameters, loss);
        const auto particles = from.next<std::size_t>();
        map = LandmarkMap(particles, from.next<std::vector<LandmarkMap::Weights>>());
    }
    static void write(WireWriter& to, std::span<const Trajectory> trajectories,
                      const LandmarkMap& map, const ParameterValues& parameters,
                      const FrameLoss& loss)
    {
        to(trajectories, parameters, loss, map.particle_count(), map.weights());
    }

    std::vector<Trajectory> trajectories;
    ParameterValues parameters;
    FrameLoss loss;
    LandmarkMap map{0, {}};
};

}  // namespace springtime
