#include "learn/dissection.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace springtime {

namespace {

// Blocks of fewer unknowns are not cut: dense products of that size are already fast. A guess, not
// tuned.
constexpr std::size_t kLeaf = 48;

struct Cut {
    int axis = 0, rank = 0;  // what ends at this rank or before lies on the near side
};

class Dissector {
  public:
    explicit Dissector(const std::vector<Extent>& extents)
    {
        for (int axis = 0; axis < 2; ++axis) rank(extents, axis);
        std::vector<int> all(extents.size());
        std::iota(all.begin(), all.end(), 0);
        split(std::move(all));
    }

    Dissection result;

  private:
    // Coordinates become their place among all of them, so that unknowns can be counted by it.
    void rank(const std::vector<Extent>& extents, int axis)
    {
        std::vector<double> values;
        for (const Extent& extent : extents) {
            values.push_back(extent.low[axis]);
            values.push_back(extent.high[axis]);
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        const auto of = [&](double value) {
            return int(std::lower_bound(values.begin(), values.end(), value) - values.begin());
        };
        for (const Extent& extent : extents) {
            low_[axis].push_back(of(extent.low[axis]));
            high_[axis].push_back(of(extent.high[axis]));
        }
    }

    // The cut with the fewest across it for each on the smaller side.
    std::optional<Cut> best_cut(const std::vector<int>& members) const
    {
        std::optional<Cut> best;
        double least = 1;  // as many across as there are on the smaller side: no gain
        for (int axis = 0; axis < 2; ++axis) {
            const std::vector<int>&low = low_[axis], &high = high_[axis];
            int first = low[members[0]], last = high[members[0]];
            for (const int i : members) {
                first = std::min(first, low[i]);
                last = std::max(last, high[i]);
            }
            std::vector<int> begins(last - first + 1, 0), ends(begins);
            for (const int i : members) {
                ++begins[low[i] - first];
                ++ends[high[i] - first];
            }
            int near = 0, far = int(members.size());
            for (int r = first; r < last; ++r) {
                near += ends[r - first];
                far -= begins[r - first];
                const int smaller = std::min(near, far), across = int(members.size()) - near - far;
                if (smaller == 0 || across >= least * smaller) continue;
                best = Cut{axis, r};
                least = double(across) / smaller;
            }
        }
        return best;
    }

    // Returns the outermost nodes: several where nothing lies across the cut.
    std::vector<int> split(std::vector<int> members)
    {
        std::vector<int> roots, near, far, across;
        const std::optional<Cut> cut = members.size() > kLeaf ? best_cut(members) : std::nullopt;
        if (cut) {
            for (const int i : members) {
                (high_[cut->axis][i] <= cut->rank ? near
                 : low_[cut->axis][i] > cut->rank ? far
                                                  : across)
                    .push_back(i);
            }
            members.clear();
            roots = split(std::move(near));
            for (const int root : split(std::move(far))) roots.push_back(root);
        } else {
            across = std::move(members);
        }
        if (across.empty()) return roots;
        const int node = int(result.nodes.size()), begin = int(result.order.size());
        result.order.insert(result.order.end(), across.begin(), across.end());
        result.nodes.push_back({begin, int(result.order.size()), -1});
        for (const int root : roots) result.nodes[root].parent = node;
        return {node};
    }

    std::array<std::vector<int>, 2> low_, high_;
};

// Couplings between `from` and every unknown. What is not joined to it follows at a distance.
std::vector<int> levels_from(const Eigen::SparseMatrix<double>& matrix, int from)
{
    std::vector<int> level(matrix.cols(), -1), queue;
    const auto reach = [&](int unknown, int distance) {
        if (level[unknown] >= 0) return;
        level[unknown] = distance;
        queue.push_back(unknown);
    };
    int next = 0;
    for (int i = -1; i < matrix.cols(); ++i) {
        const int start = i < 0 ? from : i;
        if (level[start] >= 0) continue;
        reach(start, next);
        for (std::size_t at = queue.size() - 1; at < queue.size(); ++at) {
            const int column = queue[at];
            next = level[column] + 2;
            for (Eigen::SparseMatrix<double>::InnerIterator entry(matrix, column); entry; ++entry) {
                reach(int(entry.row()), level[column] + 1);
            }
        }
    }
    return level;
}

}  // namespace

Dissection dissect(const std::vector<Extent>& extents)
{
    if (extents.empty()) return {};
    return Dissector(extents).result;
}

std::vector<Extent> extents_of_pattern(const Eigen::SparseMatrix<double>& matrix)
{
    if (matrix.cols() == 0) return {};
    const std::vector<int> first = levels_from(matrix, 0);
    const auto farthest = std::max_element(first.begin(), first.end()) - first.begin();
    const std::vector<int> second = levels_from(matrix, int(farthest));
    std::vector<Extent> extents;
    for (std::size_t i = 0; i < first.size(); ++i) {
        extents.push_back(
            {{double(first[i]), double(second[i])}, {double(first[i] + 1), double(second[i] + 1)}});
    }
    return extents;
}

}  // namespace springtime
