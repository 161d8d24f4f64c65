#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "springtime/error.h"

namespace springtime {

// The work of a stage, in multiplications, as it is done and as it is expected. Any thread may add
// to it. Progress is what is done of what is expected; an expectation that grows does not take
// anything back, the share stands still until the work has caught up.
class Work {
  public:
    Work() = default;  // nobody listens
    Work(const Progress& progress, std::string stage)
        : progress_(progress), stage_(std::move(stage))
    {
    }

    // What is still to come, in place of what was expected before.
    void expect(double multiplications)
    {
        const std::lock_guard lock(mutex_);
        total_ = done_ + multiplications;
    }

    // Beside what is expected.
    void expect_more(double multiplications)
    {
        const std::lock_guard lock(mutex_);
        total_ += multiplications;
    }

    // Throws Cancelled in every thread once the listener has said no.
    void add(double multiplications)
    {
        const std::lock_guard lock(mutex_);
        done_ += multiplications;
        since_ += multiplications;
        if (cancelled_) throw Cancelled(stage_ + ": cancelled");
        if (since_ >= kReportEvery) report();
    }

    // Of who waits for work that others do: asks whether to go on.
    void wait()
    {
        const std::lock_guard lock(mutex_);
        if (cancelled_) throw Cancelled(stage_ + ": cancelled");
        report();
    }

    double done() const
    {
        const std::lock_guard lock(mutex_);
        return done_;
    }

    static constexpr double kReportEvery = 2e6;  // less than a millisecond of dense products
    // Longer pieces of work should be cut: some milliseconds.
    static constexpr double kLongestPiece = 2e7;

  private:
    void report()
    {
        since_ = 0;
        if (total_ > 0) {  // before anything is expected, nobody knows a share
            share_ = std::max(share_, std::min(done_ / std::max(total_, done_), kLast));
        }
        try {
            progress_.report({stage_, share_, 1, {}, {}});
        } catch (const Cancelled&) {
            cancelled_ = true;
            throw;
        }
    }

    static constexpr double kLast = 0.99;  // the end is what the stage itself reports

    Progress progress_;
    std::string stage_;
    mutable std::mutex mutex_;
    double done_ = 0, total_ = 0, since_ = 0, share_ = 0;
    bool cancelled_ = false;
};

}  // namespace springtime
