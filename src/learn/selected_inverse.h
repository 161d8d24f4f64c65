#pragma once

#include <Eigen/SparseCore>

namespace springtime {

// Diagonal of the inverse of L D L^T. L has a unit diagonal, of which nothing is stored; below it
// the rows of each column ascend, and the pattern is that of a whole elimination: what a column has
// below its first entry, the column of that entry has as well.
Eigen::VectorXd selected_inverse_diagonal(const Eigen::SparseMatrix<double>& lower,
                                          const Eigen::VectorXd& pivot);

}  // namespace springtime
