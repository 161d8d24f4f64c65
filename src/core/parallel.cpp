#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace springtime {

int thread_count(int wanted)
{
    if (wanted > 0) return wanted;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int count, int threads, const std::function<void(int)>& work)
{
    parallel_for(count, threads, [&](int index, int) { work(index); });
}

void parallel_for(int count, int threads, const std::function<void(int, int)>& work)
{
    std::atomic<int> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&](int thread) {
        for (int i = next++; i < count; i = next++) {
            try {
                work(i, thread);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (int t = 1; t < std::min(threads, count); ++t) helpers.emplace_back(run, t);
        run(0);
    }
    if (failure) std::rethrow_exception(failure);
}

bool Turnstile::pass(int index, const std::function<void()>& action)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || turn_ == index; });
    if (closed_) return false;
    action();
    ++turn_;
    changed_.notify_all();
    return true;
}

void Turnstile::close()
{
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

}  // namespace springtime
