#include "core/parallel.h"

#include <sched.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace springtime {

namespace {

TEST(ThreadsParallelFor, CallsEachIndexOnce)
{
    for (const int threads : {1, 2, 5, 20}) {
        for (const int count : {0, 1, 7, 1000}) {
            std::vector<std::atomic<int>> calls(count);
            parallel_for(count, threads, [&](int i) { ++calls[i]; });
            for (int i = 0; i < count; ++i)
                EXPECT_EQ(calls[i], 1) << i << " of " << count << " on " << threads;
        }
    }
}

TEST(ThreadsParallelFor, OneThreadGoesInOrderOnTheCaller)
{
    std::vector<int> order;
    const auto caller = std::this_thread::get_id();
    parallel_for(5, 1, [&](int i) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        order.push_back(i);
    });
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ThreadsParallelFor, UsesAsManyThreadsAsAsked)
{
    // Three tasks that wait for each other end only if three threads run.
    std::atomic<int> present{0};
    parallel_for(3, 3, [&](int) {
        ++present;
        while (present < 3) std::this_thread::yield();
    });
    EXPECT_EQ(present, 3);
}

TEST(ThreadsParallelFor, RethrowsAndHandsOutNoMore)
{
    for (const int threads : {1, 4}) {
        std::atomic<int> calls{0};
        try {
            parallel_for(100000, threads, [&](int i) {
                ++calls;
                if (i == 3) throw std::runtime_error("three");
            });
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(std::string(error.what()), "three");
        }
        if (threads == 1) {
            EXPECT_EQ(calls, 4);
        }
    }
}

TEST(ThreadsParallelFor, ThreadCountIsAsAskedOrOnePerCoreThatMayBeUsed)
{
    EXPECT_EQ(thread_count(3), 3);
    EXPECT_GE(thread_count(0), 1);
    EXPECT_LE(thread_count(0), std::max(1, int(std::thread::hardware_concurrency())));
    std::jthread([] {  // the cores that a scheduler gives are those of a thread
        cpu_set_t cores;
        ASSERT_EQ(sched_getaffinity(0, sizeof(cores), &cores), 0);
        int first = 0;
        while (!CPU_ISSET(first, &cores)) ++first;
        CPU_ZERO(&cores);
        CPU_SET(first, &cores);
        ASSERT_EQ(sched_setaffinity(0, sizeof(cores), &cores), 0);
        EXPECT_EQ(thread_count(0), 1);
    });
}

TEST(ThreadsTurnstile, PassesInTheOrderOfTheIndex)
{
    // Threads start in reverse, each after a nap, so that later turns are asked for first.
    Turnstile turnstile;
    std::vector<int> order;
    {
        std::vector<std::jthread> threads;
        for (int i = 7; i >= 0; --i) {
            threads.emplace_back(
                [&, i] { EXPECT_TRUE(turnstile.pass(i, [&] { order.push_back(i); })); });
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ThreadsTurnstile, CloseSendsWaitersAway)
{
    Turnstile turnstile;
    std::atomic<int> sent_away{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 1; i <= 4; ++i) {
            threads.emplace_back([&, i] {
                if (!turnstile.pass(i, [] { ADD_FAILURE() << "turn 0 never came"; })) ++sent_away;
            });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_EQ(sent_away, 0);  // they wait until then
        turnstile.close();
    }
    EXPECT_EQ(sent_away, 4);
    EXPECT_FALSE(turnstile.pass(0, [] { ADD_FAILURE() << "closed"; }));
}

TEST(ThreadsParallelTree, ComesToChildrenBeforeTheirParentsAndBack)
{
    // A binary tree, numbered from the leaves: counted from the root, i has the parent (i - 1) / 2.
    const int count = 101;
    std::vector<int> parent(count, -1);
    for (int i = 1; i < count; ++i) parent[count - 1 - i] = count - 1 - (i - 1) / 2;
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<bool>> done(count);
        parallel_tree(parent, threads, [&](int node) {
            for (int i = 0; i < count; ++i) {
                EXPECT_TRUE(parent[i] != node || done[i]) << i << " before " << node;
            }
            EXPECT_FALSE(done[node].exchange(true));
        });
        for (const auto& each : done) EXPECT_TRUE(each);
        parallel_tree_down(parent, threads, [&](int node) {
            EXPECT_TRUE(parent[node] < 0 || !done[parent[node]]);
            EXPECT_TRUE(done[node].exchange(false));
        });
        for (const auto& each : done) EXPECT_FALSE(each);
    }
}

TEST(ThreadsParallelTree, RethrowsAndDoesNotComeToTheParent)
{
    for (const int threads : {1, 4}) {
        bool parent = false;
        const auto run = [&] {
            parallel_tree({3, 3, 3, -1}, threads, [&](int node) {
                if (node == 1) throw std::runtime_error("one");
                parent = parent || node == 3;
            });
        };
        EXPECT_THROW(run(), std::runtime_error);
        EXPECT_FALSE(parent);
    }
    parallel_tree({}, 2, [](int) { FAIL(); });
}

}  // namespace

}  // namespace springtime
