#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "physics/contact.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// Particles by the cell they are in. Cells share lists, so a list may hold strangers too.
class SpatialHash {
  public:
    using Cell = std::array<std::int64_t, 3>;

    SpatialHash(std::size_t points, double cell_size);

    void build(const std::vector<Vec3d>& points);

    // Calls visit(q) for the particles in the cells around that of p, itself included.
    template <class Visit>
    void visit_around(int p, Visit visit) const
    {
        for (int i = 0; i < 27; ++i) {
            const Cell cell{cells_[p][0] + i % 3 - 1, cells_[p][1] + i / 3 % 3 - 1,
                            cells_[p][2] + i / 9 - 1};
            for (int q = first_[list_of(cell)]; q >= 0; q = next_[q]) {
                if (cells_[q] == cell) visit(q);
            }
        }
    }

  private:
    std::size_t list_of(const Cell& cell) const
    {
        // Large odd factors, as usual (Teschner et al. 2003).
        const std::uint64_t mix = std::uint64_t(cell[0]) * 73856093u ^
                                  std::uint64_t(cell[1]) * 19349663u ^
                                  std::uint64_t(cell[2]) * 83492791u;
        return mix & (first_.size() - 1);
    }

    double cell_size_;  // [m]
    std::vector<Cell> cells_;
    std::vector<int> first_, next_;
};

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
    SpatialHash hash_;
    std::vector<Pair> candidates_, close_;
    std::size_t rebuild_count_ = 0;
};

// Keeps the particles of one state apart. Those that are too close when it is called are treated
// one after the other in ascending order, hence always with the same result.
class SelfCollision {
  public:
    SelfCollision(const Cloth& cloth, double distance, double dt);

    // What is held is not moved; others make way for it.
    void hold(std::span<const int> particles);
    void free_all();

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

// One state inside arrays of x, y, z, with particle p at index[p].
struct ScatteredParticles {
    std::array<float*, 3> x, v;
    const int* index;

    Vec3f position(int p) const { return {x[0][index[p]], x[1][index[p]], x[2][index[p]]}; }
    Vec3f velocity(int p) const { return {v[0][index[p]], v[1][index[p]], v[2][index[p]]}; }
    void move(int p, const Vec3f& by, const Vec3f& faster) const
    {
        for (int axis = 0; axis < 3; ++axis) {
            x[axis][index[p]] += by[axis];
            v[axis][index[p]] += faster[axis];
        }
    }
    void place(int p, const Vec3d& position, const Vec3d& velocity) const
    {
        for (int axis = 0; axis < 3; ++axis) {
            x[axis][index[p]] = float(position[axis]);
            v[axis][index[p]] = float(velocity[axis]);
        }
    }
};

}  // namespace springtime
