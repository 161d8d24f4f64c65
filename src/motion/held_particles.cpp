#include "motion/held_particles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/triangle_search.h"

namespace springtime {

namespace {

// Of two held landmarks, the second tells the direction in which a particle lies from the first if
// the particle is between these multiples of their distance away, forwards or backwards. Beyond
// that, noise of the two points would be magnified; below, the direction hardly matters.
constexpr double kLeastReach = 0.25, kMostReach = 2;

class Holder {
  public:
    Holder(const Resampler& resampler, const std::vector<int>& held)
        : resampler_(resampler), held_(held), handle_at_(resampler.landmark_count(), kNone)
    {
        for (std::size_t h = 0; h < held.size(); ++h) handle_at_[std::size_t(held[h])] = h;
    }

    std::vector<HeldParticle> run()
    {
        std::vector<bool> taken(resampler_.particle_count(), false);
        for (std::size_t p = 0; p < resampler_.particle_count(); ++p) {
            HeldParticle between = between_held(p);
            if (between.shares.empty()) continue;
            taken[p] = true;
            found_.push_back(std::move(between));
        }
        for (std::size_t h = 0; h < held_.size(); ++h) {
            const std::size_t p = nearest_particle(h);
            if (taken[p]) continue;
            taken[p] = true;
            found_.push_back(attached(p, h));
        }
        std::sort(found_.begin(), found_.end(), [](const HeldParticle& a, const HeldParticle& b) {
            return a.particle < b.particle;
        });
        return std::move(found_);
    }

  private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    const SheetPoint& place_of(std::size_t handle) const
    {
        return resampler_.landmark_rest()[std::size_t(held_[handle])];
    }

    // Without shares if any of the landmarks around the particle is free.
    HeldParticle between_held(std::size_t particle) const
    {
        const Resampler::Weights& around = resampler_.around(particle);
        HeldParticle result{int(particle), {}, false};
        for (std::size_t j = 0; j < around.weight.size(); ++j) {
            if (around.weight[j] == 0) continue;
            const std::size_t handle = handle_at_[std::size_t(around.landmark[j])];
            if (handle == kNone) return {int(particle), {}, false};
            result.shares.push_back({handle, around.weight[j]});
        }
        return result;
    }

    std::size_t nearest_particle(std::size_t handle) const
    {
        const std::vector<SheetPoint>& rest = resampler_.particle_rest();
        std::size_t nearest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t p = 0; p < rest.size(); ++p) {
            const SheetPoint away = rest[p] - place_of(handle);
            // A length is no less than its parts, and costs more.
            if (std::abs(away.u) >= least || std::abs(away.v) >= least) continue;
            const double distance = length(away);
            if (!(distance < least)) continue;
            least = distance;
            nearest = p;
        }
        return nearest;
    }

    HeldParticle attached(std::size_t particle, std::size_t handle) const
    {
        HeldParticle result{int(particle), {{handle, 1}}, true};
        std::size_t other = kNone;
        for (std::size_t h = 0; h < held_.size(); ++h) {
            const double distance = length(place_of(h) - place_of(handle));
            if (distance == 0) continue;
            if (other == kNone || distance < length(place_of(other) - place_of(handle))) other = h;
        }
        if (other == kNone) return result;
        const SheetPoint away = resampler_.particle_rest()[particle] - place_of(handle);
        const SheetPoint between = place_of(handle) - place_of(other);
        const double reach = (away.u * between.u + away.v * between.v) /
                             (between.u * between.u + between.v * between.v);
        if (std::abs(reach) < kLeastReach || std::abs(reach) > kMostReach) return result;
        result.shares = {{handle, 1 + reach}, {other, -reach}};
        return result;
    }

    const Resampler& resampler_;
    const std::vector<int>& held_;
    std::vector<std::size_t> handle_at_;  // of every landmark
    std::vector<HeldParticle> found_;
};

Vec3d weighted_position(const HeldParticle& particle, const Handles& landmarks, double time)
{
    Vec3d sum{};
    for (const auto& [handle, weight] : particle.shares) {
        sum += weight * landmarks.position(handle, time);
    }
    return sum;
}

}  // namespace

std::vector<HeldParticle> held_particles(const Resampler& resampler, const std::vector<int>& held)
{
    return Holder(resampler, held).run();
}

Handles handles_of(const std::vector<HeldParticle>& particles, const Handles& landmarks,
                   const State& start)
{
    Handles handles;
    for (const HeldParticle& held : particles) handles.particles.push_back(held.particle);
    if (!landmarks.moving() || particles.empty()) return handles;
    handles.key_time = landmarks.key_time;
    std::vector<Vec3d> offset(particles.size());
    for (std::size_t i = 0; i < particles.size(); ++i) {
        if (!particles[i].attached) continue;
        offset[i] = start.position[std::size_t(particles[i].particle)] -
                    weighted_position(particles[i], landmarks, 0);
    }
    for (const double time : landmarks.key_time) {
        for (std::size_t i = 0; i < particles.size(); ++i) {
            handles.key_position.push_back(weighted_position(particles[i], landmarks, time) +
                                           offset[i]);
        }
    }
    return handles;
}

}  // namespace springtime
