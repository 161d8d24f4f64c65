#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "crew/crew.h"
#include "springtime/ranks.h"

namespace springtime {

// The letters between all ranks of a job.
class Letters {
  public:
    explicit Letters(int ranks)
        : ranks_(ranks), boxes_(std::size_t(ranks * ranks)), answered_(std::size_t(ranks), false)
    {
    }

    int rank_count() const { return ranks_; }
    void put(int from, int to, std::span<const std::byte> message)
    {
        const std::lock_guard lock(mutex_);
        box(from, to).emplace_back(message.begin(), message.end());
        if (to == 0) answered_[std::size_t(from)] = true;
        changed_.notify_all();
    }
    bool any(int from, int to)
    {
        const std::lock_guard lock(mutex_);
        return !box(from, to).empty();
    }
    bool all_answered()
    {
        const std::lock_guard lock(mutex_);
        return std::all_of(answered_.begin() + 1, answered_.end(), [](bool did) { return did; });
    }
    std::vector<std::byte> take(int from, int to)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !box(from, to).empty(); });
        std::vector<std::byte> message = std::move(box(from, to).front());
        box(from, to).pop_front();
        return message;
    }

  private:
    std::deque<std::vector<std::byte>>& box(int from, int to)
    {
        return boxes_[std::size_t(from * ranks_ + to)];
    }

    int ranks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::deque<std::vector<std::byte>>> boxes_;
    std::vector<bool> answered_;  // who has ever sent anything to the first rank
};

// A rank that is a thread of this process.
class ThreadRank : public Ranks {
  public:
    ThreadRank(Letters& letters, int rank) : letters_(letters), rank_(rank) {}

    int rank() const override { return rank_; }
    int count() const override { return letters_.rank_count(); }
    int beside() const override { return letters_.rank_count(); }
    int place() const override { return rank_; }
    int sharing() const override { return letters_.rank_count(); }
    void send(int to, std::span<const std::byte> message) override
    {
        letters_.put(rank_, to, message);
    }
    bool waiting(int from) override { return letters_.any(from, rank_); }
    std::vector<std::byte> receive(int from) override { return letters_.take(from, rank_); }
    void abort() override { std::terminate(); }

  private:
    Letters& letters_;
    int rank_;
};

// A crew of so many ranks in this process, which serve with the tasks of the library or with those
// of a test. `open` opens motion files on the ranks that serve.
class ThreadCrew {
  public:
    explicit ThreadCrew(int ranks, std::map<std::string, MakeTask> tasks = {}, OpenMotion open = {})
        : letters_(ranks), first_(letters_, 0), tasks_(std::move(tasks)), open_(std::move(open))
    {
        for (int rank = 1; rank < ranks; ++rank) {
            others_.emplace_back([this, rank] {
                ThreadRank own(letters_, rank);
                if (tasks_.empty()) {
                    serve(own, open_);
                } else {
                    serve(own, tasks_, open_);
                }
            });
        }
        crew_ = lead(first_);
    }

    Crew* crew() { return crew_.get(); }
    bool all_answered() { return letters_.all_answered(); }

  private:
    Letters letters_;
    ThreadRank first_;
    std::map<std::string, MakeTask> tasks_;
    OpenMotion open_;
    std::vector<std::jthread> others_;
    std::shared_ptr<Crew> crew_;  // goes first, and lets the others go
};

}  // namespace springtime
