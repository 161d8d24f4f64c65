#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "crew/crew.h"
#include "learn/balance.h"
#include "learn/balance_reader.h"

namespace springtime {

// The blocks of both halves of the motion.
using Folds = std::array<NormalBlocks, 2>;

// The blocks of some consecutive particles, from the elements that meet there. Numbers of elements
// and unknowns are its own.
class BalancePart {
  public:
    struct World {
        Environment environment;
        double interval = 0, step = 0;  // [s]
    };
    BalancePart(const Cloth& cloth, const std::optional<Regions>& regions, const World& world,
                ParticleRange range, int threads);

    void clear();
    void add(const Scheme& scheme, const Piece& piece, const Rollout& particles);
    // Of the particles of this part, one after the other.
    std::vector<NormalBlocks::Scores> scores(const Scheme& scheme, const Piece& piece,
                                             const Rollout& particles,
                                             const std::vector<Eigen::VectorXd>& values,
                                             const std::vector<int>& group_of_place,
                                             int groups) const;

    const Folds& folds() const { return folds_; }
    ParticleRange range() const { return range_; }

  private:
    template <class Visit>
    void with_rows(const Scheme& scheme, const Piece& piece, const Rollout& particles,
                   const Visit& visit) const;

    ParticleRange range_;
    Cloth cloth_;
    World world_;
    int threads_;
    NormalBlocks none_;
    Folds folds_;
};

// Shares the particles of a linear identification out to all ranks. Every rank reads the motion, or
// is sent it, and writes down and sums the balance of its own particles in the order of the motion.
// So the sums are those of one process.
class RankBalance {
  public:
    // `alive` is called while other ranks are waited for; what it throws ends the wait.
    RankBalance(Crew& crew, const BalanceReader& reader, const std::optional<Regions>& regions,
                int threads, std::function<void()> alive);

    // As loops over reader.with_rows() would make them. `done` is called after every piece.
    Folds accumulate(const Scheme& scheme, const NormalBlocks& none,
                     const std::function<void(const Piece&)>& done);
    NormalBlocks::Scores scores(
        const Scheme& scheme, const NormalBlocks& blocks, const Eigen::VectorXd& solution,
        int groups,
        const std::function<std::vector<int>(std::size_t, const Piece&)>& group_of_place,
        const std::function<void(const Piece&)>& done);

  private:
    template <class Use>
    void read_pieces(const Scheme& scheme, const Use& use) const;
    // What another rank is sent of a piece: nothing, if it reads the motion by itself.
    const Rollout& sent(const Rollout& particles) const;
    std::vector<std::byte> answer(int rank) { return task_.answer(rank, alive_); }
    void ask_others(const WireWriter& request);

    const BalanceReader& reader_;
    BalancePart own_;
    std::function<void()> alive_;
    Crew::Task task_;
    bool all_read_;
    Rollout nothing_;
};

inline constexpr const char* kBalanceTask = "balance";
// The side of a rank that serves.
std::unique_ptr<RankTask> make_balance_task(WireReader& setup, const RankTools& tools);

}  // namespace springtime
