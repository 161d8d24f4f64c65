#include "geometry/polygon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace springtime {

namespace {

struct Place {
    double u, v;
    bool operator==(const Place&) const = default;
};

// Twice the area of a triangle, positive when it turns to the left.
double turn(const Place& a, const Place& b, const Place& c)
{
    return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

// Corners seen against their common normal, along the axis that is nearest to it.
std::vector<Place> project(std::span<const Vec3d> corners)
{
    Vec3d normal;
    for (std::size_t i = 2; i < corners.size(); ++i) {
        normal += cross(corners[i - 1] - corners[0], corners[i] - corners[0]);
    }
    const Vec3d size{std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)};
    const auto flip = [](double along) { return along < 0 ? -1.0 : 1.0; };
    std::vector<Place> places;
    for (const Vec3d& p : corners) {
        if (size.z >= std::max(size.x, size.y)) {
            places.push_back({flip(normal.z) * p.x, p.y});
        } else if (size.y >= size.x) {
            places.push_back({flip(normal.y) * p.z, p.x});
        } else {
            places.push_back({flip(normal.x) * p.y, p.z});
        }
    }
    return places;
}

class EarCutter {
  public:
    explicit EarCutter(std::span<const Vec3d> corners)
        : corners_(corners), places_(project(corners)), count_(int(corners.size()))
    {
        for (int i = 0; i < count_; ++i) {
            before_.push_back((i + count_ - 1) % count_);
            after_.push_back((i + 1) % count_);
        }
        for (int i = 0; i < count_; ++i) weigh(i);
    }

    std::vector<std::array<int, 3>> cut()
    {
        std::vector<std::array<int, 3>> triangles;
        for (; count_ >= 3; --count_) {
            // Without an ear, as in three corners, the rest becomes a fan.
            const int ear = ears_.empty() || count_ == 3 ? after_[first_] : ears_.begin()->second;
            const int before = before_[ear], after = after_[ear];
            triangles.push_back({before, ear, after});
            first_ = before;
            ears_.erase({cut_length(ear), ear});
            for (const int i : {before, after}) ears_.erase({cut_length(i), i});
            after_[before] = after;
            before_[after] = before;
            for (const int i : {before, after}) weigh(i);
        }
        return triangles;
    }

  private:
    double cut_length(int i) const
    {
        const double cut = length(corners_[after_[i]] - corners_[before_[i]]);
        return std::isnan(cut) ? std::numeric_limits<double>::infinity() : cut;
    }
    double turn_at(int i) const
    {
        return turn(places_[before_[i]], places_[i], places_[after_[i]]);
    }
    void weigh(int i)
    {
        if (is_ear(i)) ears_.insert({cut_length(i), i});
    }

    // Whether the triangle at a corner lies within the polygon: only a corner that does not turn to
    // the left can reach into it. Corners at one place, as where a hole is joined to the rim, do
    // not count.
    bool is_ear(int i) const
    {
        const Place &a = places_[before_[i]], &b = places_[i], &c = places_[after_[i]];
        if (!(turn(a, b, c) > 0)) return false;
        for (int j = after_[after_[i]]; j != before_[i]; j = after_[j]) {
            const Place& p = places_[j];
            if (turn_at(j) > 0 || p == a || p == b || p == c) continue;
            if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
        }
        return true;
    }

    std::span<const Vec3d> corners_;
    std::vector<Place> places_;
    int count_;                        // that are left
    int first_ = 0;                    // one of them
    std::vector<int> before_, after_;  // around what is left
    std::set<std::pair<double, int>> ears_;
};

}  // namespace

std::vector<std::array<int, 3>> cut_polygon(std::span<const Vec3d> corners)
{
    return EarCutter(corners).cut();
}

}  // namespace springtime
