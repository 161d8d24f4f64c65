#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace springtime {

// A sum over indices, taken in one fixed binary tree: its nodes are the ranges that begin at a
// multiple of their size, a power of two. Rounding depends on the indices alone, not on who sums
// which of them: whoever has some neighbouring indices sums the nodes that lie in them, and these
// parts are added to the whole in ascending order.
template <class T, class Add>
class TreeSum {
  public:
    struct Part {
        std::size_t first = 0, size = 1;  // of the indices
        T sum;
    };

    // `add(a, b)` adds b, the sum over later indices, to a.
    explicit TreeSum(Add add) : add_(std::move(add)) {}

    void add(Part part)
    {
        parts_.push_back(std::move(part));
        while (parts_.size() > 1) {
            Part &left = parts_[parts_.size() - 2], &right = parts_.back();
            if (left.size != right.size || left.first % (2 * left.size) != 0) break;
            add_(left.sum, right.sum);
            left.size *= 2;
            parts_.pop_back();
        }
    }

    // The nodes so far, in ascending order.
    std::vector<Part>& parts() { return parts_; }

    // Of all indices that were added, which must not be none.
    T total()
    {
        while (parts_.size() > 1) {
            add_(parts_[parts_.size() - 2].sum, parts_.back().sum);
            parts_.pop_back();
        }
        return std::move(parts_.front().sum);
    }

  private:
    Add add_;
    std::vector<Part> parts_;
};

}  // namespace springtime
