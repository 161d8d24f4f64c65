#pragma once

#include <Eigen/SparseCore>
#include <array>
#include <vector>

namespace springtime {

// Where an unknown acts: the box around the points whose equations it is in. Unknowns that are
// coupled have boxes that touch.
struct Extent {
    std::array<double, 2> low, high;
};

// An order of elimination with little fill: nested dissection (George 1973). A line cuts the
// unknowns into those on either side, which are not coupled, and those across it, which come last;
// and so on. The blocks of the order are the nodes of a tree.
struct Dissection {
    struct Node {
        int begin = 0, end = 0;  // places in the order
        int parent = -1;         // the block across the next line outward; -1: none
    };
    std::vector<int> order;   // which unknown is at each place
    std::vector<Node> nodes;  // children before their parents
};

Dissection dissect(const std::vector<Extent>& extents);

// Boxes for a matrix of which only the pattern is known: how many couplings away an unknown is from
// the first one, and from one that is farthest from that.
std::vector<Extent> extents_of_pattern(const Eigen::SparseMatrix<double>& matrix);

}  // namespace springtime
