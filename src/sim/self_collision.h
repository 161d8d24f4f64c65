#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "physics/contact.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// Pairs of particles that are close in space but are no neighbours in the sheet.
//
// Neighbours are pairs whose distance in the flat sheet is less than pi/2 times the distance that
// is kept. The tightest fold that keeps it is a half circle of that diameter; pi/2 times the
// diameter is the way around it, so that such pairs may come closer in it without two layers
// meeting.
//
// Candidates come from a spatial hash and hold for pairs a `skin` farther than asked for. No pair
// is missed until some particle has gone half of that, so they are found anew only then.
class ClosePairs {
  public:
    using Pair = std::array<int, 2>;  // ascending

    ClosePairs(const Cloth& cloth, double distance);

    // Pairs closer than the distance, in ascending order whatever was asked before. Particles has
    // position(p) in any precision.
    template <class Particles>
    const std::vector<Pair>& find(const Particles& particles)
    {
        for (std::size_t p = 0; p < now_.size(); ++p) {
            const auto x = particles.position(static_cast<int>(p));
            now_[p] = {x.x, x.y, x.z};
        }
        find_close();
        return close_;
    }

    std::size_t rebuild_count() const { return rebuild_count_; }

  private:
    void find_close();
    bool candidates_hold() const;
    void rebuild();
    bool neighbours(int a, int b) const;

    double distance_, skin_;  // [m]
    std::vector<SheetPoint> rest_;
    std::vector<Vec3d> now_, built_at_;
    std::vector<Pair> candidates_, close_;
    std::size_t rebuild_count_ = 0;
};

// Keeps the particles of one state apart. Those that are too close when it is called are treated
// one after the other in ascending order, hence always with the same result.
class SelfCollision {
  public:
    SelfCollision(const Cloth& cloth, double distance, double dt);

    // Handles are not moved; others make way for them.
    void load(const Handles& handles);

    // Particles has position(p), velocity(p) and move(p, change of position, of velocity).
    template <class Particles>
    void apply(Particles&& particles)
    {
        for (const auto& [a, b] : pairs_.find(particles)) {
            const double total = inverse_mass_[a] + inverse_mass_[b];
            if (total == 0) continue;
            const auto d = particles.position(b) - particles.position(a);
            const auto u = particles.velocity(b) - particles.velocity(a);
            using Real = std::remove_cvref_t<decltype(d.x)>;
            const auto change = pair_change(d, u, Real(distance_), Real(dt_));
            const Real share_a(inverse_mass_[a] / total), share_b(inverse_mass_[b] / total);
            particles.move(a, -share_a * change.position, -share_a * change.velocity);
            particles.move(b, share_b * change.position, share_b * change.velocity);
        }
    }

  private:
    ClosePairs pairs_;
    double distance_, dt_;
    std::vector<double> free_inverse_mass_, inverse_mass_;  // [1/kg]
};

// One state inside arrays of x, y, z, with particle p at place[p].
struct ScatteredParticles {
    std::array<float*, 3> x, v;
    const int* place;

    Vec3f position(int p) const { return {x[0][place[p]], x[1][place[p]], x[2][place[p]]}; }
    Vec3f velocity(int p) const { return {v[0][place[p]], v[1][place[p]], v[2][place[p]]}; }
    void move(int p, const Vec3f& by, const Vec3f& faster) const
    {
        for (int axis = 0; axis < 3; ++axis) {
            x[axis][place[p]] += by[axis];
            v[axis][place[p]] += faster[axis];
        }
    }
};

}  // namespace springtime
