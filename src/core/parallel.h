#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace springtime {

// `wanted` threads, or one per core that this process may use for zero.
int thread_count(int wanted);

// Calls work(0) .. work(count - 1), each once, handed out in ascending order to `threads` threads.
// The first exception is rethrown here after all threads have ended.
void parallel_for(int count, int threads, const std::function<void(int index)>& work);
// The same, and says which thread it is, so that each can have tools of its own.
void parallel_for(int count, int threads, const std::function<void(int index, int thread)>& work);

// Calls work(node) for every node of a forest, each after its children. `parent` has a larger
// number than its children, or is negative. Nodes that do not wait for each other are shared among
// the threads; those that complete a subtree go first. Exceptions as above.
void parallel_tree(const std::vector<int>& parent, int threads,
                   const std::function<void(int node)>& work);
// The same, each node after its parent.
void parallel_tree_down(const std::vector<int>& parent, int threads,
                        const std::function<void(int node)>& work);

// Lets parallel tasks take turns in the order of their index.
class Turnstile {
  public:
    // Waits for turn `index`, calls the action and passes the turn on. Returns false without
    // calling it when the turnstile was closed.
    bool pass(int index, const std::function<void()>& action);
    // Sends everyone who waits away: an earlier task will never come.
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int turn_ = 0;
    bool closed_ = false;
};

}  // namespace springtime
