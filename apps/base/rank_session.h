#pragma once

#include <memory>

#include "springtime/ranks.h"

namespace springtime::app {

// What ties a program to the others that mpirun has started with it. One rank leads and runs the
// command as if it were alone; the others serve it.
class RankSession {
  public:
    // Loads the MPI component where mpirun has started this program. Throws Error if the component
    // is not there and other ranks are.
    RankSession();
    ~RankSession();
    RankSession(const RankSession&) = delete;
    RankSession& operator=(const RankSession&) = delete;

    // Of a rank that serves: comes back when there is nothing left to do. False of the first one.
    bool served();

  private:
    std::unique_ptr<Ranks> ranks_;
    std::shared_ptr<Crew> crew_;
};

// The other ranks, while a session leads; null without any.
Crew* crew();

}  // namespace springtime::app
