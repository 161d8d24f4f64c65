#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "springtime/error.h"

namespace springtime {

// Lets work that has nothing new to report be cancelled all the same: it asks the listener again
// with what was reported last. Any thread may ask.
class Heartbeat {
  public:
    explicit Heartbeat(const Progress& progress) : shared_(std::make_shared<Shared>())
    {
        shared_->progress = progress;
    }

    // To report through; it must not outlive the listener.
    Progress progress() const
    {
        return Progress([shared = shared_](const ProgressUpdate& update) {
            const std::lock_guard lock(shared->mutex);
            shared->stage = update.stage;
            shared->unit = update.unit;
            shared->note = update.note;
            shared->done = update.done;
            shared->total = update.total;
            return shared->ask();
        });
    }

    // Throws Cancelled when the listener says no.
    void operator()() const
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->stage.empty()) return;  // nothing has begun
        if (!shared_->ask()) throw Cancelled(shared_->stage + ": cancelled");
    }

  private:
    struct Shared {
        bool ask() const
        {
            try {
                progress.report({stage, done, total, unit, note});
            } catch (const Cancelled&) {
                return false;
            }
            return true;
        }

        std::mutex mutex;
        Progress progress;
        std::string stage, unit, note;
        double done = 0, total = 1;
    };
    std::shared_ptr<Shared> shared_;
};

}  // namespace springtime
