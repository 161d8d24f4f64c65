#include "sim/self_collision.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace springtime {

namespace {

// Far away counts as here too: nothing that far is close to anything that matters.
SpatialHash::Cell cell_of(const Vec3d& x, double size)
{
    constexpr double kFarthest = 1e12;
    SpatialHash::Cell cell;
    for (int axis = 0; axis < 3; ++axis) {
        cell[axis] = std::int64_t(std::floor(clamped(x[axis] / size, -kFarthest, kFarthest)));
    }
    return cell;
}

std::size_t list_count(std::size_t points)
{
    std::size_t lists = 1;
    while (lists < 2 * points) lists *= 2;
    return lists;
}

// Half the distance, but not so little that a coarse cloth asks for new pairs all the time: its
// particles are far apart, so that a wide skin brings few pairs.
double skin_of(const Cloth& cloth, double distance)
{
    const double spacing =
        std::sqrt(cloth.sheet.length * cloth.sheet.width / double(cloth.particle_count()));
    return std::max(distance, spacing) / 2;
}

}  // namespace

SpatialHash::SpatialHash(std::size_t points, double cell_size)
    : cell_size_(cell_size), cells_(points), first_(list_count(points)), next_(points)
{
}

void SpatialHash::build(const std::vector<Vec3d>& points)
{
    std::fill(first_.begin(), first_.end(), -1);
    for (int p = static_cast<int>(points.size()) - 1; p >= 0; --p) {
        cells_[p] = cell_of(points[p], cell_size_);
        int& first = first_[list_of(cells_[p])];
        next_[p] = first;
        first = p;
    }
}

// Room for some dozens of pairs a particle, as many as a tight pile of layers has, so that the
// lists do not grow while it runs.
ClosePairs::ClosePairs(const Cloth& cloth, double distance)
    : distance_(distance),
      skin_(skin_of(cloth, distance)),
      rest_(cloth.rest),
      now_(cloth.particle_count()),
      built_at_(cloth.particle_count()),
      hash_(cloth.particle_count(), distance_ + skin_)
{
    constexpr std::size_t kPairsOfAParticle = 32;
    candidates_.reserve(kPairsOfAParticle * cloth.particle_count());
    close_.reserve(kPairsOfAParticle * cloth.particle_count());
}

void ClosePairs::find_close()
{
    if (!candidates_hold()) rebuild();
    close_.clear();
    for (const Pair& pair : candidates_) {
        const Vec3d d = now_[pair[1]] - now_[pair[0]];
        if (dot(d, d) < distance_ * distance_) close_.push_back(pair);
    }
}

bool ClosePairs::candidates_hold() const
{
    if (rebuild_count_ == 0) return false;
    double farthest = 0;  // squared; written so that NaN is passed over
    for (std::size_t p = 0; p < now_.size(); ++p) {
        const Vec3d d = now_[p] - built_at_[p];
        const double square = dot(d, d);
        farthest = square > farthest ? square : farthest;
    }
    return farthest <= skin_ * skin_ / 4;
}

bool ClosePairs::neighbours(int a, int b) const
{
    const double apart = std::hypot(rest_[a].u - rest_[b].u, rest_[a].v - rest_[b].v);
    return apart < std::numbers::pi / 2 * distance_;
}

void ClosePairs::rebuild()
{
    ++rebuild_count_;
    candidates_.clear();
    built_at_ = now_;
    const double reach = distance_ + skin_;
    hash_.build(built_at_);
    for (int p = 0; p < static_cast<int>(built_at_.size()); ++p) {
        const std::size_t first = candidates_.size();
        hash_.visit_around(p, [&](int q) {
            const Vec3d d = built_at_[q] - built_at_[p];
            if (q > p && dot(d, d) < reach * reach && !neighbours(p, q)) {
                candidates_.push_back({p, q});
            }
        });
        std::sort(candidates_.begin() + std::ptrdiff_t(first), candidates_.end());
    }
}

SelfCollision::SelfCollision(const Cloth& cloth, double distance, double dt)
    : pairs_(cloth, distance), distance_(distance), dt_(dt)
{
    for (const double mass : cloth.mass) free_inverse_mass_.push_back(1 / mass);
    inverse_mass_ = free_inverse_mass_;
}

void SelfCollision::hold(std::span<const int> particles)
{
    for (const int p : particles) inverse_mass_[p] = 0;
}

void SelfCollision::free_all()
{
    inverse_mass_ = free_inverse_mass_;
}

}  // namespace springtime
