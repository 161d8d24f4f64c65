#pragma once

#include "springtime/error.h"

namespace springtime {

// A listener that says no when it is asked for the `no_at`-th time.
struct Stubborn {
    int calls = 0, no_at = 0;

    Progress listener()
    {
        return Progress([this](const ProgressUpdate&) { return ++calls != no_at; });
    }
};

}  // namespace springtime
