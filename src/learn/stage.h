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
    void report(double share) const { progress_->report({name_, share, 1, {}, {}}); }

  private:
    const Progress* progress_;
    std::string name_;
};

}  // namespace springtime
