#include "loader/byte_budget.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace millrace::loader {
namespace {

TEST(ByteBudgetTest, GrantsUpToTheLimitAndTakesBackAtTheEnd) {
  ByteBudget budget(100);
  budget.Begin(1);
  budget.Begin(2);
  EXPECT_TRUE(budget.Acquire(1, 60));
  EXPECT_TRUE(budget.Acquire(2, 40));
  EXPECT_EQ(budget.used(), 100);
  budget.End(1);
  EXPECT_EQ(budget.used(), 40);
  budget.End(2);
  EXPECT_EQ(budget.used(), 0);
}

TEST(ByteBudgetTest, TheOldestSampleGetsItsBytesAboveTheLimit) {
  ByteBudget budget(100);
  budget.Begin(5);
  budget.Begin(7);
  EXPECT_TRUE(budget.Acquire(7, 100));
  EXPECT_TRUE(budget.Acquire(5, 1000));
  EXPECT_EQ(budget.used(), 1100);
  budget.End(5);
  budget.End(7);
}

TEST(ByteBudgetTest, AYoungerSampleWaitsUntilItIsTheOldest) {
  ByteBudget budget(100);
  budget.Begin(1);
  budget.Begin(2);
  ASSERT_TRUE(budget.Acquire(1, 90));
  std::atomic<bool> granted = false;
  std::latch started(1);
  std::thread younger([&] {
    started.count_down();
    EXPECT_TRUE(budget.Acquire(2, 500));
    granted = true;
  });
  started.wait();
  EXPECT_FALSE(granted);
  EXPECT_EQ(budget.used(), 90);
  budget.End(1);
  younger.join();
  EXPECT_TRUE(granted);
  EXPECT_EQ(budget.used(), 500);
  budget.End(2);
}

TEST(ByteBudgetTest, CancelWakesWaitersAndRefusesNewcomers) {
  ByteBudget budget(10);
  budget.Begin(1);
  budget.Begin(2);
  ASSERT_TRUE(budget.Acquire(1, 10));
  std::thread waiter([&] { EXPECT_FALSE(budget.Acquire(2, 10)); });
  budget.Cancel();
  waiter.join();
  EXPECT_FALSE(budget.Acquire(1, 1));
  budget.End(1);
  budget.End(2);
  EXPECT_EQ(budget.used(), 0);
}

// Whatever sizes meet, all samples get through: the oldest always moves.
TEST(ByteBudgetTest, ManyThreadsWithHugeSamplesAllFinish) {
  constexpr int kThreads = 8;
  constexpr int kSamples = 400;
  ByteBudget budget(1000);
  std::atomic<int64_t> next_ticket = 0;
  std::atomic<int> finished = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      int64_t ticket;
      while ((ticket = next_ticket++) < kSamples) {
        budget.Begin(ticket);
        EXPECT_TRUE(budget.Acquire(ticket, 1 + ticket * 7919 % 1500));
        EXPECT_TRUE(budget.Acquire(ticket, 100));
        budget.End(ticket);
        ++finished;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finished, kSamples);
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace millrace::loader
