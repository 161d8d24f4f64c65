#include "geometry/neighbours.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace springtime {

namespace {

// Sorted ends, each once.
std::vector<Link> tidied(std::vector<Link> links)
{
    for (Link& link : links) {
        if (link[0] > link[1]) std::swap(link[0], link[1]);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

// A kd-tree: the numbers of points, each half of a range on one side of its middle.
class PointTree {
  public:
    explicit PointTree(const std::vector<Vec3d>& points) : points_(points), order_(points.size())
    {
        std::iota(order_.begin(), order_.end(), 0);
        axis_.resize(points.size());
        build(0, order_.size());
    }

    // The nearest other points; of those equally far the first.
    std::vector<int> nearest(int point, std::size_t count) const
    {
        std::vector<Found> found;
        search(0, order_.size(), point, count, found);
        std::vector<int> numbers;
        for (const Found& one : found) numbers.push_back(one.second);
        return numbers;
    }

  private:
    using Found = std::pair<double, int>;  // squared distance and number; a heap, farthest first

    void build(std::size_t begin, std::size_t end)
    {
        if (end - begin < 2) return;
        Vec3d low = points_[order_[begin]], high = low;
        for (std::size_t i = begin; i < end; ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                low[axis] = std::min(low[axis], points_[order_[i]][axis]);
                high[axis] = std::max(high[axis], points_[order_[i]][axis]);
            }
        }
        const Vec3d size = high - low;
        const int axis = size.x >= std::max(size.y, size.z) ? 0 : size.y >= size.z ? 1 : 2;
        const std::size_t middle = (begin + end) / 2;
        std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                         [&](int a, int b) { return points_[a][axis] < points_[b][axis]; });
        axis_[middle] = axis;
        build(begin, middle);
        build(middle + 1, end);
    }

    void search(std::size_t begin, std::size_t end, int point, std::size_t count,
                std::vector<Found>& found) const
    {
        if (begin == end) return;
        const std::size_t middle = (begin + end) / 2;
        const Vec3d way = points_[point] - points_[order_[middle]];
        if (order_[middle] != point) {
            found.emplace_back(dot(way, way), order_[middle]);
            std::push_heap(found.begin(), found.end());
        }
        if (found.size() > count) {
            std::pop_heap(found.begin(), found.end());
            found.pop_back();
        }
        const double off = way[axis_[middle]];
        const auto look = [&](bool below) {
            below ? search(begin, middle, point, count, found)
                  : search(middle + 1, end, point, count, found);
        };
        look(off < 0);
        if (found.size() < count || off * off <= found.front().first) look(off >= 0);
    }

    const std::vector<Vec3d>& points_;
    std::vector<int> order_, axis_;
};

}  // namespace

std::vector<Link> nearest_links(const std::vector<Vec3d>& points, int count)
{
    const PointTree tree(points);
    std::vector<Link> links;
    for (int i = 0; i < static_cast<int>(points.size()); ++i) {
        for (const int other : tree.nearest(i, std::size_t(count))) links.push_back({i, other});
    }
    return tidied(links);
}

std::vector<Link> triangle_links(const std::vector<std::array<int, 3>>& triangles)
{
    std::vector<Link> links;
    for (const auto& [a, b, c] : triangles) {
        links.insert(links.end(), {Link{a, b}, Link{b, c}, Link{c, a}});
    }
    return tidied(links);
}

}  // namespace springtime
