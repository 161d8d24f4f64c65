#pragma once

#include <string>
#include <utility>

#include "springtime/error.h"

namespace springtime {

// One stage of long work, which reports the share of it that is done.
class Stage {
  public:
    Stage(const Progress& progress, std::string name) : progress_(&progress), name_(std::move(name))
    {
    }

    // Throws Cancelled when the listener says no.
    void report(double share) const
    {
        progress_->report({name_, from_ + (to_ - from_) * share, 1, {}, {}});
    }
    // What lies between two shares of this stage.
    Stage part(double from, double to) const
    {
        Stage part = *this;
        part.from_ = from_ + (to_ - from_) * from;
        part.to_ = from_ + (to_ - from_) * to;
        return part;
    }

  private:
    const Progress* progress_;
    std::string name_;
    double from_ = 0, to_ = 1;
};

}  // namespace springtime
