#pragma once

#include <Eigen/Dense>
#include <vector>

#include "learn/balance.h"
#include "learn/balance_reader.h"
#include "learn/prior_solver.h"
#include "learn/rank_balance.h"
#include "learn/work.h"
#include "springtime/identify.h"

namespace springtime {

// The standard errors of what was identified.
class ErrorEstimate {
  public:
    ErrorEstimate(const BalanceReader& reader, const PriorSolver& solver, Work& work,
                  RankBalance* ranks = nullptr)
        : reader_(reader), solver_(solver), work_(work), ranks_(ranks)
    {
    }

    // Adds them, with how much the solution leaves unexplained and what was not seen.
    void add(const Scheme& scheme, const NormalBlocks& blocks, const PriorWeights& weights,
             const Eigen::VectorXd& solution, Identification& result) const;

  private:
    NormalBlocks::Scores scores(const Scheme& scheme, const NormalBlocks& blocks,
                                const Eigen::VectorXd& solution) const;
    StandardErrors errors(const Scheme& scheme, const BoundedSystem& system,
                          const NormalBlocks::Scores& sum, const std::vector<char>& seen) const;

    const BalanceReader& reader_;
    const PriorSolver& solver_;
    Work& work_;
    RankBalance* ranks_;  // null: this process is alone
};

}  // namespace springtime
