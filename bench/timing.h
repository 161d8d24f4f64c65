#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace springtime::bench {

inline double seconds_of(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Best time of each candidate. They take turns, so that a noisy moment hits all alike.
inline std::vector<double> best_seconds(const std::vector<std::function<void()>>& candidates,
                                        int rounds)
{
    std::vector<double> best(candidates.size(), 1e30);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            best[i] = std::min(best[i], seconds_of(candidates[i]));
        }
    }
    return best;
}

}  // namespace springtime::bench
