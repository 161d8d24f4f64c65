#pragma once

#include <Eigen/Dense>
#include <array>
#include <utility>
#include <vector>

#include "core/wire.h"
#include "learn/bounded_system.h"
#include "learn/element_formula.h"
#include "learn/unknowns.h"
#include "springtime/cloth.h"

namespace springtime {

// The force balance of the particles at a number of places in time: what one unit of each parameter
// of each element would exert, and what all of them together must exert. Places are frames of the
// motion, or windows of it.
struct BalanceRows {
    BalanceRows(const Cloth& cloth, std::size_t place_count);

    // Of the elements of one type.
    struct Group {
        int kinds = 0;             // learned parameters of an element
        int vectors = 0;           // that make up its forces (learn/element_formula.h)
        std::vector<double> unit;  // [element][kind][vector][place][xyz] [N per parameter]
        std::vector<char> seen;    // [element][place]: zero where landmarks are missing
    };

    std::size_t place_count;
    std::array<Group, kElements.size()> groups;  // by Element
    std::vector<double> needed;                  // [particle][place][xyz] [N]
    std::vector<char> free;  // [particle][place]: zero for handles and missing landmarks

    void subtract(const BalanceRows& rows);  // of the same places

    Group& group(Element element) { return groups[std::size_t(element)]; }
    const Group& group(Element element) const { return groups[std::size_t(element)]; }
    double* unit_of(Element type, std::size_t element, int kind, int vector)
    {
        return const_cast<double*>(std::as_const(*this).unit_of(type, element, kind, vector));
    }
    const double* unit_of(Element type, std::size_t element, int kind, int vector) const
    {
        const Group& of = group(type);
        const std::size_t row = (element * of.kinds + kind) * of.vectors + vector;
        return of.unit.data() + row * place_count * 3;
    }
};

// The size of the rows of one place. [bytes]
std::size_t row_bytes(const Cloth& cloth);

// Two looks at the same places. Where their noise is independent, products of one with the other
// are free of the bias that squares of noise would bring: each is the instrument of the other.
// Without instruments both are the same.
struct BalancePair {
    const BalanceRows &one, &other;
    // What as much noise again would change in the rows; for learn/displacement_balance.h alone.
    const BalanceRows* noise = nullptr;
};

// Consecutive particles.
struct ParticleRange {
    std::size_t begin = 0, end = 0;
    bool has(std::size_t particle) const { return particle >= begin && particle < end; }
    std::size_t size() const { return end - begin; }
};

// Normal equations of the balance, kept as one small dense block per particle: only the elements
// that meet there take part. Unknowns (learn/unknowns.h) numbers the parameters.
class NormalBlocks {
  public:
    // With a range, the blocks of its particles alone.
    explicit NormalBlocks(const Cloth& cloth, const std::optional<Regions>& regions = std::nullopt,
                          const std::optional<ParticleRange>& range = std::nullopt);

    // Adds the squares (or products) of all places. Does not depend on the number of threads.
    void add(const BalancePair& rows, int threads);
    void add(const NormalBlocks& blocks);

    // H and r of x.Hx/2 - r.x, without any prior.
    BoundedSystem assemble() const;
    // Sum of squared (or multiplied) residuals. [N^2]
    double residual(const Eigen::VectorXd& parameters) const;
    double squares() const;  // of the forces that elements must exert [N^2]
    // What is left if every particle chooses the parameters of its elements for itself. No common
    // parameters leave less. Each parameter fits away what one equation has of noise, so the rest
    // is scaled up for them; rows that overlap are not equations each. Of a pair of looks that are
    // the same. [N^2]
    double least_residual(double rows_per_equation = 1) const;
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

    // ---- In parts, for several ranks (learn/rank_balance.h)

    // What scores() adds: particle by particle of the range, with the parameters of their blocks.
    std::vector<Scores> score_parts(const BalancePair& rows,
                                    const std::vector<Eigen::VectorXd>& values,
                                    const std::vector<int>& group_of_place, int groups,
                                    int threads) const;
    Scores sum_of(const std::vector<Scores>& parts, int groups) const;
    std::vector<Eigen::VectorXd> values_of_blocks(const Eigen::VectorXd& parameters) const;
    // Blocks of the range, with as many unknowns in the same order here and there.
    void take(const NormalBlocks& part, ParticleRange range);
    void write(WireWriter& to) const;
    void read(WireReader& from, ParticleRange range);

    std::size_t unknown_count() const { return unknown_count_; }
    // How to eliminate the unknowns of assemble(), with the rest positions of the particles.
    Elimination elimination(const std::vector<SheetPoint>& rest) const;
    // About what it takes to add one place, or to have its score. [multiplications]
    double work_per_place() const;

  private:
    // An element of a particle, how its vectors act here, and the rows of its parameters in the
    // block, each with the scale of its unknown.
    struct Member {
        Element type;
        int element;
        std::array<double, kMostVectors> weight;
        std::vector<std::pair<int, double>> rows;
    };
    struct Block {
        std::vector<Member> members;  // that meet here
        std::vector<int> unknowns;    // theirs, each once
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
    void add_member(const Unknowns& unknowns, Element type, std::size_t element,
                    const ParticleShare& share);
    static std::vector<int> usable(const Block& block, const BalancePair& rows,
                                   std::size_t particle);

    std::size_t unknown_count_;
    ParticleRange range_;
    std::vector<Block> blocks_;  // one per particle
};

}  // namespace springtime
