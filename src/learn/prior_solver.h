#pragma once

#include <optional>
#include <vector>

#include "learn/balance.h"
#include "learn/bounded_system.h"
#include "learn/unknowns.h"
#include "springtime/identify.h"

namespace springtime {

double weight_of(const Parameter& parameter, const PriorWeights& weights);

// Which parameters normal equations see, and what they say about a parameter of each kind on
// average. What is not seen has no part in that: a kind may be seen in few elements.
struct Sight {
    Sight(const Eigen::VectorXd& diagonal, const Unknowns& unknowns);

    std::vector<double> typical;  // [parameter]
    std::vector<char> seen;       // [unknown]
};

// Unknowns of triangles and hinges that are neighbours on the mesh.
struct NeighbouringUnknowns {
    NeighbouringUnknowns(const Cloth& cloth, const Unknowns& unknowns);

    std::vector<std::array<std::size_t, 2>> pairs;
    std::vector<double> degree;  // mean number of neighbours, by parameter
};

// Solves under a prior. Parameters of triangles and hinges are drawn towards their neighbours, all
// others towards the median of their kind in their family.
class PriorSolver {
  public:
    PriorSolver(const Cloth& cloth, const std::optional<Regions>& regions)
        : cloth_(cloth),
          unknowns_(cloth, regions),
          neighbours_(cloth, unknowns_),
          elimination_(NormalBlocks(cloth, regions).elimination(cloth.rest)),
          center_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(unknowns_.size())))
    {
    }

    // The normal equations with the prior. Parameters that are not seen have the prior alone.
    BoundedSystem system(const NormalBlocks& blocks, const PriorWeights& weights,
                         std::vector<char>* seen = nullptr) const;
    // Nothing where the prior is too weak to make the system definite.
    struct Solved {
        BoundedSolution solution;
        std::vector<char> seen;
    };
    // `held` is a guess of what is at its bound.
    std::optional<Solved> solve(const NormalBlocks& blocks, const PriorWeights& weights,
                                const std::vector<bool>& held, int threads, Work& work) const;
    const Elimination& elimination() const { return elimination_; }
    const Unknowns& unknowns() const { return unknowns_; }
    // On the medians of what is seen in either half.
    void center_on(const Solved& one, const Solved& other);

  private:
    const Cloth& cloth_;
    Unknowns unknowns_;
    NeighbouringUnknowns neighbours_;
    Elimination elimination_;
    Eigen::VectorXd center_;
};

}  // namespace springtime
