#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/wire.h"
#include "springtime/ranks.h"
#include "springtime/simulation.h"

namespace springtime {

// What a rank that serves has at hand.
struct RankTools {
    Ranks& ranks;
    // Throws when the first rank no longer wants the answer. Called by any thread, however often.
    std::function<void()> heartbeat;
    OpenMotion open;  // may be empty

    // `wanted`, or this rank's share of the cores for zero.
    int threads(int wanted) const;
};

// Work that a rank does for the first one. It lives on the rank that serves, from its setup until
// the first rank drops it, and may keep what it likes from request to request.
class RankTask {
  public:
    virtual ~RankTask() = default;
    // What it throws goes to the first rank instead of the answer.
    virtual void answer(WireReader& request, WireWriter& answer) = 0;
    // A message that wants no answer. Nothing is asked for meanwhile, so it needs no heartbeat.
    virtual void take(WireReader&) {}
};
using MakeTask = std::unique_ptr<RankTask> (*)(WireReader& setup, const RankTools& tools);

// Serves with tasks by name.
void serve(Ranks& ranks, const std::map<std::string, MakeTask>& tasks, const OpenMotion& open);

// The first rank's side. Every request has one answer. Answers that nobody has waited for, because
// something was thrown, are received and forgotten before the rank is asked again.
class Crew {
  public:
    explicit Crew(Ranks& ranks);
    ~Crew();  // lets the others go
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    int count() const { return ranks_->count(); }  // of all ranks, the first included
    // As RankTools has it, for this rank.
    int threads(int wanted) const;

    // A task on every other rank, while this object lives.
    class Task {
      public:
        Task(Crew& crew, const std::string& name, const WireWriter& setup);
        ~Task();
        Task(const Task&) = delete;
        Task& operator=(const Task&) = delete;

        int rank_count() const { return crew_->count(); }
        void tell(int rank, const WireWriter& message);
        void ask(int rank, const WireWriter& request);
        // Waits for what was asked for. `alive` is called meanwhile; what it throws ends the wait.
        std::vector<std::byte> answer(int rank, const std::function<void()>& alive = {});
        bool answered(int rank) { return crew_->ranks_->waiting(rank); }

      private:
        Crew* crew_;
        long id_;
    };

  private:
    // False if a rank does not answer within this time. [s]
    bool forget(int rank, double limit = std::numeric_limits<double>::infinity());

    Ranks* ranks_;
    std::vector<int> owed_;  // answers, by rank
    long tasks_ = 0;
};

// The name of the device that steps of this cloth run on: "cpu/avx512".
std::string device_of(const Cloth& cloth, const SimulationOptions& options);
// Throws Error at a rank whose device is not that of the first one: their results would differ.
void check_same_device(const Cloth& cloth, const SimulationOptions& options,
                       const std::string& of_first);

// Part `number` of `parts` nearly equal ones of `count` things, first and end, in whole groups of
// `group` as far as there are enough for all.
std::pair<std::size_t, std::size_t> part_of(std::size_t count, std::size_t group, int number,
                                            int parts);

}  // namespace springtime
