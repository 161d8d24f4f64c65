#pragma once

#include <Eigen/Dense>
#include <optional>

#include "learn/work.h"

// Dense steps of a block elimination. Long ones are cut, so that they can be cancelled.
namespace springtime {

struct BadPivot {
    int column = 0;
    double value = 0;
};

// Of the columns of a symmetric matrix, of which the lower triangle is read, makes those of its
// Cholesky factor. Stops at a pivot that is not larger than `smallest_pivot`.
std::optional<BadPivot> factor_columns(Eigen::MatrixXd& columns, double smallest_pivot, Work& work);

// Subtracts below * below^T from the lower triangle.
void subtract_square(Eigen::MatrixXd& from, const Eigen::Ref<const Eigen::MatrixXd>& below,
                     Work& work);

// The symmetric matrix, of which the lower triangle is read, times `right`.
Eigen::MatrixXd symmetric_product(const Eigen::MatrixXd& symmetric, const Eigen::MatrixXd& right,
                                  Work& work);

}  // namespace springtime
