#pragma once

#include <array>
#include <vector>

#include "springtime/vec3.h"

// What laying out a sheet needs of linear algebra.
namespace springtime {

struct Eigenpairs {
    std::vector<double> value;                // largest first
    std::vector<std::vector<double>> vector;  // of length one
};

// Of a symmetric matrix, given row by row.
Eigenpairs symmetric_eigenpairs(std::vector<double> matrix);

// An order in which the points of a plane are eliminated with little fill: both halves, then what
// lies between them (George's nested dissection).
std::vector<int> dissection_order(const std::vector<SheetPoint>& places,
                                  const std::vector<std::array<int, 2>>& links);

// The factors L D L^T of a sparse, symmetric, positive definite matrix.
class SparseFactors {
  public:
    struct Entry {
        int row, column;  // of one triangle, diagonal included; those at the same place add up
        double value;
    };
    SparseFactors(const std::vector<Entry>& entries, const std::vector<int>& order);

    std::vector<double> solve(const std::vector<double>& right) const;

  private:
    struct Below {
        int row;
        double value;
    };
    std::vector<int> order_;                 // the unknown that is eliminated k-th
    std::vector<std::vector<Below>> lower_;  // columns of L below the diagonal of ones
    std::vector<double> diagonal_;           // D
};

}  // namespace springtime
