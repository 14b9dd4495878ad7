#include "tools/training/schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::tools::training {
namespace {

using testing::DoubleNear;

TEST(ScheduleTest, RisesInEqualStepsToThePeak) {
  const Schedule schedule(0.5, /*warmup_steps=*/4, /*total_steps=*/20);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(1), 0.2);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(3), 0.4);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(4), 0.5);
}

TEST(ScheduleTest, FallsAsHalfACosine) {
  const Schedule schedule(0.5, /*warmup_steps=*/4, /*total_steps=*/20);
  // Half way between the peak (step 4) and the end (step 20).
  EXPECT_THAT(schedule.LearningRate(12), DoubleNear(0.25, 1e-15));
  for (int step = 4; step < 19; ++step) {
    EXPECT_GT(schedule.LearningRate(step), schedule.LearningRate(step + 1));
  }
  EXPECT_GT(schedule.LearningRate(19), 0);
}

TEST(ScheduleTest, StartsAtThePeakWithoutWarmUp) {
  EXPECT_DOUBLE_EQ(Schedule(0.5, 0, 10).LearningRate(0), 0.5);
  EXPECT_DOUBLE_EQ(Schedule(0.5, 0, 1).LearningRate(0), 0.5);
}

TEST(ScheduleTest, WarmUpTakesHalfOfAShortRunAtMost) {
  const Schedule schedule(1.0, /*warmup_steps=*/100, /*total_steps=*/10);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(5), 1.0);
}

TEST(ScheduleTest, StepsPastTheEndKeepTheLastRate) {
  const Schedule schedule(0.5, 2, 10);
  EXPECT_EQ(schedule.LearningRate(10), schedule.LearningRate(9));
  EXPECT_EQ(schedule.LearningRate(1000), schedule.LearningRate(9));
}

}  // namespace
}  // namespace millrace::tools::training
