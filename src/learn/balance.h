#pragma once

#include <Eigen/Dense>
#include <vector>

#include "learn/bounded_system.h"
#include "learn/unknowns.h"
#include "physics/bend.h"
#include "springtime/cloth.h"

namespace springtime {

// The force balance of the particles at a number of places in time: what one unit of each parameter
// of each spring and bend would exert, and what all of them together must exert. Places are frames
// of the motion, or windows of it.
struct BalanceRows {
    BalanceRows(const Cloth& cloth, std::size_t place_count);

    std::size_t place_count;
    int kinds;                      // learned parameters of a spring
    std::vector<double> unit;       // [spring][kind][place][xyz] on the first end [N per parameter]
    std::vector<double> bend_unit;  // [bend][kind][place][xyz] likewise; the kinds are kBendSlots
    std::vector<double> needed;     // [particle][place][xyz] [N]
    std::vector<char> spring_seen;  // [spring][place]: zero where landmarks are missing
    std::vector<char> bend_seen;    // [bend][place] likewise
    std::vector<char> free;         // [particle][place]: zero for handles and missing landmarks

    double* unit_of(std::size_t spring, int kind)
    {
        return unit.data() + (spring * kinds + kind) * place_count * 3;
    }
    const double* unit_of(std::size_t spring, int kind) const
    {
        return unit.data() + (spring * kinds + kind) * place_count * 3;
    }
    double* bend_unit_of(std::size_t bend, int kind)
    {
        return bend_unit.data() + (bend * kBendSlots + kind) * place_count * 3;
    }
    const double* bend_unit_of(std::size_t bend, int kind) const
    {
        return bend_unit.data() + (bend * kBendSlots + kind) * place_count * 3;
    }
};

// Two looks at the same places. Where their noise is independent, products of one with the other
// are free of the bias that squares of noise would bring: each is the instrument of the other.
// Without instruments both are the same.
struct BalancePair {
    const BalanceRows &one, &other;
};

// Normal equations of the balance, kept as one small dense block per particle: only the springs and
// bends that meet there take part. Unknowns (learn/unknowns.h) numbers the parameters.
class NormalBlocks {
  public:
    explicit NormalBlocks(const Cloth& cloth);

    // Adds the squares (or products) of all places. Does not depend on the number of threads.
    void add(const BalancePair& rows, int threads);
    void add(const NormalBlocks& blocks);

    // H and r of x.Hx/2 - r.x, without any prior.
    BoundedSystem assemble() const;
    // Sum of squared (or multiplied) residuals. [N^2]
    double residual(const Eigen::VectorXd& parameters) const;
    double squares() const;  // of the forces that springs must exert [N^2]
    // What is left if every particle chooses the parameters of its elements for itself. No common
    // parameters leave less. Of a pair of looks that are the same. [N^2]
    double least_residual() const;
    long row_count() const;  // equations, three per place of a particle

    // What the places of each group say about the parameters, a column per group: minus the
    // gradient of half their residual. Over all places of the sum it is zero at the solution.
    struct Scores {
        Scores(std::size_t unknowns, int groups);
        void add(const Scores& scores);

        Eigen::MatrixXd of_group;
        Eigen::MatrixXd information;  // diagonal of the normal equations, a column per group
        double squares = 0;           // of the residuals, the mean of both looks [N^2]
    };
    Scores scores(const BalancePair& rows, const Eigen::VectorXd& parameters,
                  const std::vector<int>& group_of_place, int groups, int threads) const;

    std::size_t unknown_count() const { return unknown_count_; }

  private:
    // An element of a particle, and its force here per force on its first particle: -1 on the
    // second end of a spring, -2 on the middle of a bend.
    struct Member {
        int element;
        double share;
    };
    struct Block {
        std::vector<Member> springs, bends;  // that meet here
        std::vector<int> unknowns;           // of the springs, then of the bends
        Eigen::MatrixXd matrix;
        Eigen::VectorXd right;
        double squares = 0;
        long rows = 0;
    };
    // The balance of one particle: a row per unknown, a column per equation.
    struct Gathered {
        Eigen::MatrixXd unit;
        Eigen::VectorXd needed;
    };
    static void gather(const Block& block, const BalanceRows& rows, std::size_t particle,
                       const std::vector<int>& places, Gathered& to);
    void add_member(const Unknowns& unknowns, Element type, std::size_t element, int particle,
                    double share);
    static std::vector<int> usable(const Block& block, const BalancePair& rows,
                                   std::size_t particle);

    std::size_t unknown_count_;
    std::vector<Block> blocks_;  // one per particle
};

}  // namespace springtime
