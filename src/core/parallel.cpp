#include "core/parallel.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <exception>
#include <queue>
#include <thread>
#include <vector>
#include <version>

namespace springtime {

namespace {

#if defined(__cpp_lib_jthread)

// Threads beside the caller, with the numbers 1 to count - 1. Its destructor waits for them.
class Helpers {
  public:
    Helpers(int count, const std::function<void(int)>& run)
    {
        for (int t = 1; t < count; ++t) threads_.emplace_back(run, t);
    }

  private:
    std::vector<std::jthread> threads_;
};

int core_count()
{
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#if defined(__linux__)

// Schedulers and containers often give a process some of the cores alone.
int usable_cores()
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return core_count();
    return std::clamp(CPU_COUNT(&cores), 1, core_count());
}

#else

int usable_cores()
{
    return core_count();
}

#endif

#else

// Where there are no threads, as in a browser, the caller does all the work.
struct Helpers {
    Helpers(int, const std::function<void(int)>&) {}
};

int core_count()
{
    return 1;
}
int usable_cores()
{
    return 1;
}

#endif

}  // namespace

int thread_count(int wanted)
{
    return wanted > 0 ? wanted : usable_cores();
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
        const Helpers helpers(std::min(threads, count), run);
        run(0);
    }
    if (failure) std::rethrow_exception(failure);
}

namespace {

// Tasks that wait for others. Of those that are ready, the one of the lowest rank is next.
class WaitingTasks {
  public:
    // How many others each waits for, and who waits for it.
    WaitingTasks(std::vector<int> waits_for, std::vector<std::vector<int>> waiting, bool descending)
        : waits_for_(std::move(waits_for)),
          waiting_(std::move(waiting)),
          descending_(descending),
          left_(waits_for_.size())
    {
        for (std::size_t i = 0; i < waits_for_.size(); ++i) {
            if (waits_for_[i] == 0) ready_.push(rank(int(i)));
        }
    }

    void run(const std::function<void(int)>& work)
    {
        for (std::unique_lock lock(mutex_);;) {
            changed_.wait(lock, [&] { return left_ == 0 || !ready_.empty(); });
            if (left_ == 0) return;
            const int task = rank(ready_.top());
            ready_.pop();
            lock.unlock();
            try {
                work(task);
                lock.lock();
                finish(task);
            } catch (...) {
                if (!lock.owns_lock()) lock.lock();
                if (!failure_) failure_ = std::current_exception();
                left_ = 0;
            }
            changed_.notify_all();
        }
    }

    std::exception_ptr failure() const { return failure_; }

  private:
    int rank(int task) const { return descending_ ? -task : task; }

    void finish(int task)
    {
        if (left_ == 0) return;  // another has failed
        --left_;
        for (const int next : waiting_[task]) {
            if (--waits_for_[next] == 0) ready_.push(rank(next));
        }
    }

    std::vector<int> waits_for_;
    std::vector<std::vector<int>> waiting_;
    bool descending_;
    std::size_t left_;
    std::priority_queue<int, std::vector<int>, std::greater<>> ready_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::exception_ptr failure_;
};

// Every node after its children if `up`, otherwise after its parent.
void run_tree(const std::vector<int>& parent, bool up, int threads,
              const std::function<void(int)>& work)
{
    std::vector<int> waits_for(parent.size(), 0);
    std::vector<std::vector<int>> waiting(parent.size());
    for (std::size_t i = 0; i < parent.size(); ++i) {
        if (parent[i] < 0) continue;
        const int child = int(i), first = up ? child : parent[i], then = up ? parent[i] : child;
        ++waits_for[then];
        waiting[first].push_back(then);
    }
    WaitingTasks tasks(std::move(waits_for), std::move(waiting), up);
    {
        const Helpers helpers(threads, [&](int) { tasks.run(work); });
        tasks.run(work);
    }
    if (tasks.failure()) std::rethrow_exception(tasks.failure());
}

}  // namespace

void parallel_tree(const std::vector<int>& parent, int threads,
                   const std::function<void(int)>& work)
{
    run_tree(parent, true, threads, work);
}

void parallel_tree_down(const std::vector<int>& parent, int threads,
                        const std::function<void(int)>& work)
{
    run_tree(parent, false, threads, work);
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
