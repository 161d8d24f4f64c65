#pragma once

#include <Eigen/SparseCore>
#include <functional>
#include <vector>

namespace springtime {

// Solves for a right side.
using RightSideSolver = std::function<Eigen::VectorXd(const Eigen::VectorXd& right)>;

struct InteriorPoint {
    Eigen::VectorXd x;      // above zero where it has a bound
    Eigen::VectorXd force;  // of the bounds, above zero; zero where there is none
    bool converged = false;
};

// The x >= 0 that makes x.Sx/2 - r.x smallest, by the predictor-corrector method of Mehrotra 1992.
// It takes some twenty solves whatever the system is, also where many choices of what is at its
// bound are almost as good. S has a unit diagonal. `bounded` says which x have the bound; empty:
// all. `with_added` gives a solver of S with more on its diagonal.
InteriorPoint interior_point(
    const Eigen::SparseMatrix<double>& matrix, const Eigen::VectorXd& right,
    const std::vector<char>& bounded, const Eigen::VectorXd& start,
    const std::function<RightSideSolver(const Eigen::VectorXd& added)>& with_added);

}  // namespace springtime
