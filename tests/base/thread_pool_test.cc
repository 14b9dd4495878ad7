#include "base/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

// Latches are declared before the pools whose threads count them down: a thread
// may still be inside of count_down() when wait() has returned.

using testing::Each;
using testing::ElementsAreArray;

TEST(ThreadPoolTest, RunsEveryTaskInOrderOfArrival) {
  std::vector<int> order, expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  {
    std::latch done(1000);
    ThreadPool pool(1, "test");
    for (int i = 0; i < 1000; ++i) {
      pool.Schedule([&, i] {
        order.push_back(i);
        done.count_down();
      });
    }
    done.wait();
  }
  EXPECT_THAT(order, ElementsAreArray(expected));
}

TEST(ThreadPoolTest, HasAtLeastOneThread) {
  for (const int threads : {-1, 0, 1}) {
    std::latch done(1);
    ThreadPool pool(threads, "test");
    EXPECT_EQ(pool.thread_count(), 1);
    pool.Schedule([&] { done.count_down(); });
    done.wait();
  }
}

TEST(ThreadPoolTest, RunsAsManyTasksAtOnceAsItHasThreads) {
  std::latch all_running(4), done(4);
  ThreadPool pool(4, "test");
  for (int i = 0; i < 4; ++i) {
    pool.Schedule([&] {
      all_running.arrive_and_wait();
      done.count_down();
    });
  }
  done.wait();
}

TEST(ThreadPoolTest, TasksMayScheduleFurtherOnes) {
  std::latch done(100);
  std::function<void(ThreadPool&, int)> chain = [&](ThreadPool& pool,
                                                    int left) {
    if (left > 1) pool.Schedule([&, left] { chain(pool, left - 1); });
    done.count_down();
  };
  ThreadPool pool(2, "test");
  pool.Schedule([&] { chain(pool, 100); });
  done.wait();
}

TEST(ThreadPoolTest, NamesItsThreads) {
  char name[16] = "";
  std::latch done(1);
  ThreadPool pool(1, "a name longer than the kernel keeps");
  pool.Schedule([&] {
    pthread_getname_np(pthread_self(), name, sizeof(name));
    done.count_down();
  });
  done.wait();
  EXPECT_STREQ(name, "a name longer t");
}

// Calls `on_destruction` when the last copy goes.
std::shared_ptr<void> AtDestruction(std::function<void()> on_destruction) {
  return std::shared_ptr<void>(nullptr,
                               [f = std::move(on_destruction)](void*) { f(); });
}

TEST(ThreadPoolTest, DestructorDropsWaitingTasksAndJoinsRunningOnes) {
  constexpr int kWaiting = 100;
  std::latch started(1), dropped(kWaiting), release(1);
  std::atomic<int> ran = 0;
  auto pool = std::make_unique<ThreadPool>(1, "test");
  pool->Schedule([&] {
    started.count_down();
    release.wait();
    ++ran;
  });
  started.wait();
  for (int i = 0; i < kWaiting; ++i) {
    pool->Schedule([&ran, token = AtDestruction(
                              [&] { dropped.count_down(); })] { ++ran; });
  }
  std::thread destroyer([&] { pool.reset(); });
  // The waiting tasks go while the only thread is still busy.
  dropped.wait();
  release.count_down();
  destroyer.join();
  EXPECT_EQ(ran, 1);
}

TEST(ThreadPoolTest, DroppedTasksMayCallThePool) {
  std::latch started(1), dropped(1), release(1);
  auto pool = std::make_unique<ThreadPool>(1, "test");
  ThreadPool* const raw = pool.get();
  raw->Schedule([&] {
    started.count_down();
    release.wait();
  });
  started.wait();
  raw->Schedule([token = AtDestruction([&, raw] {
                   raw->Schedule([] {});
                   dropped.count_down();
                 })] {});
  std::thread destroyer([&] { pool.reset(); });
  dropped.wait();
  release.count_down();
  destroyer.join();
}

TEST(ThreadPoolTest, DestroysIdlePools) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(3, "test");
}

TEST(ParallelForTest, CallsTheBodyOnceForEachIndex) {
  ThreadPool pool(3, "test");
  for (const int64_t count : {0, 1, 2, 3, 4, 5, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    pool.ParallelFor(count,
                     [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const std::atomic<int>& c : calls) EXPECT_EQ(c, 1);
  }
}

TEST(ParallelForTest, PublishesWhatTheBodyWrote) {
  ThreadPool pool(3, "test");
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<int> results(64);
    pool.ParallelFor(64,
                     [&](int64_t i) { results[static_cast<size_t>(i)] = 7; });
    ASSERT_THAT(results, Each(7));
  }
}

TEST(ParallelForTest, DoesNothingForNegativeCounts) {
  ThreadPool pool(1, "test");
  pool.ParallelFor(-5, [](int64_t) { FAIL(); });
}

TEST(ParallelForTest, ServesSeveralThreadsAtOnce) {
  constexpr int kCallers = 4;
  constexpr int64_t kCount = 500;
  ThreadPool pool(2, "test");
  std::vector<std::vector<std::atomic<int>>> calls(kCallers);
  for (auto& of_caller : calls) {
    of_caller = std::vector<std::atomic<int>>(kCount);
  }
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&, c] {
      for (int repeat = 0; repeat < 10; ++repeat) {
        pool.ParallelFor(kCount, [&](int64_t i) {
          ++calls[static_cast<size_t>(c)][static_cast<size_t>(i)];
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& of_caller : calls) {
    for (const std::atomic<int>& c : of_caller) EXPECT_EQ(c, 10);
  }
}

// The calling thread does all the work, and what the pool finds afterwards is
// of no consequence.
TEST(ParallelForTest, FinishesWhileThePoolIsBusy) {
  std::latch started(1), release(1), drained(1);
  ThreadPool pool(1, "test");
  pool.Schedule([&] {
    started.count_down();
    release.wait();
  });
  started.wait();
  {
    std::vector<int> calls(100);
    pool.ParallelFor(100, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    EXPECT_THAT(calls, Each(1));
  }
  release.count_down();
  pool.Schedule([&] { drained.count_down(); });
  drained.wait();
}

}  // namespace
}  // namespace millrace
