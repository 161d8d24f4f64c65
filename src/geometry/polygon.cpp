#include "geometry/polygon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace springtime {

namespace {

bool same_place(const SheetPoint& a, const SheetPoint& b)
{
    return a.u == b.u && a.v == b.v;
}

// Corners seen against their common normal, along the axis that is nearest to it.
std::vector<SheetPoint> project(std::span<const Vec3d> corners)
{
    Vec3d normal;
    for (std::size_t i = 2; i < corners.size(); ++i) {
        normal += cross(corners[i - 1] - corners[0], corners[i] - corners[0]);
    }
    const Vec3d size{std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)};
    const auto flip = [](double along) { return along < 0 ? -1.0 : 1.0; };
    std::vector<SheetPoint> places;
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
        const SheetPoint &a = places_[before_[i]], &b = places_[i], &c = places_[after_[i]];
        if (!(turn(a, b, c) > 0)) return false;
        for (int j = after_[after_[i]]; j != before_[i]; j = after_[j]) {
            const SheetPoint& p = places_[j];
            if (turn_at(j) > 0 || same_place(p, a) || same_place(p, b) || same_place(p, c))
                continue;
            if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
        }
        return true;
    }

    std::span<const Vec3d> corners_;
    std::vector<SheetPoint> places_;
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

// ---- The smallest rectangle ----

namespace {

// Corners of the convex hull in order (Andrew's monotone chain).
std::vector<SheetPoint> hull_of(std::vector<SheetPoint> points)
{
    const auto by_place = [](SheetPoint a, SheetPoint b) {
        return std::pair(a.u, a.v) < std::pair(b.u, b.v);
    };
    std::sort(points.begin(), points.end(), by_place);
    std::vector<SheetPoint> hull;
    const auto go = [&](auto first, auto last) {
        const std::size_t start = hull.size();
        for (; first != last; ++first) {
            while (hull.size() >= start + 2 &&
                   turn(hull[hull.size() - 2], hull.back(), *first) <= 0) {
                hull.pop_back();
            }
            hull.push_back(*first);
        }
        hull.pop_back();  // the other way begins with it
    };
    go(points.begin(), points.end());
    go(points.rbegin(), points.rend());
    return hull;
}

// Of the points, along a direction of the plane.
double extent(const std::vector<SheetPoint>& points, SheetPoint direction)
{
    const auto place = [&](SheetPoint p) { return p.u * direction.u + p.v * direction.v; };
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [&](SheetPoint p, SheetPoint q) { return place(p) < place(q); });
    return place(*high) - place(*low);
}

}  // namespace

// It shares a side with the convex hull.
Rectangle smallest_rectangle(std::vector<SheetPoint> points)
{
    const std::vector<SheetPoint> hull = hull_of(std::move(points));
    Rectangle best;
    for (std::size_t i = 0; i < hull.size(); ++i) {
        const SheetPoint from = hull[i], to = hull[(i + 1) % hull.size()];
        const double size = std::hypot(to.u - from.u, to.v - from.v);
        const SheetPoint side{(to.u - from.u) / size, (to.v - from.v) / size};
        const Rectangle found{side, extent(hull, side), extent(hull, {-side.v, side.u})};
        if (i == 0 || found.length * found.across < best.length * best.across) best = found;
    }
    return best;
}

}  // namespace springtime
