#include "base/mutex.h"

#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(MutexTest, OneThreadAtATimeIsInside) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        MutexLock lock(&mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40000);
}

TEST(CondVarTest, TwoThreadsTakeTurns) {
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  std::vector<int> order;
  const auto take_turns = [&](int self) {
    for (int i = 0; i < 100; ++i) {
      MutexLock lock(&mutex);
      while (turn != self) changed.Wait(&mutex);
      order.push_back(self);
      turn = 1 - self;
      changed.Signal();
    }
  };
  std::thread other(take_turns, 1);
  take_turns(0);
  other.join();
  ASSERT_EQ(order.size(), 200u);
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], static_cast<int>(i % 2));
  }
}

TEST(CondVarTest, SignalAllWakesEveryWaiter) {
  Mutex mutex;
  CondVar changed;
  int waiting = 0;
  bool go = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      MutexLock lock(&mutex);
      ++waiting;
      changed.SignalAll();
      while (!go) changed.Wait(&mutex);
    });
  }
  {
    MutexLock lock(&mutex);
    while (waiting < 4) changed.Wait(&mutex);
    go = true;
    changed.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CondVarTest, WaitForReportsThatTimePassed) {
  Mutex mutex;
  CondVar never;
  MutexLock lock(&mutex);
  for (const absl::Duration timeout :
       {absl::Milliseconds(1), absl::ZeroDuration(), absl::Seconds(-1),
        -absl::InfiniteDuration()}) {
    // Waking early is allowed, so more than one wait may be needed.
    while (never.WaitFor(&mutex, timeout)) {
    }
  }
}

// Timeouts whose end no clock can express must not count as passed.
TEST(CondVarTest, WaitForWaitsThroughVeryLongTimeouts) {
  for (const absl::Duration timeout :
       {absl::Hours(24 * 365 * 99), absl::Hours(24 * 365 * 290),
        absl::InfiniteDuration()}) {
    Mutex mutex;
    CondVar changed;
    bool ready = false;
    std::thread other([&] {
      MutexLock lock(&mutex);
      ready = true;
      changed.Signal();
    });
    {
      MutexLock lock(&mutex);
      while (!ready) EXPECT_TRUE(changed.WaitFor(&mutex, timeout));
    }
    other.join();
  }
}

}  // namespace
}  // namespace millrace
