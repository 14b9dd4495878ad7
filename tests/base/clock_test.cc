#include "base/clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(RealClockTest, NeverGoesBack) {
  absl::Duration last = Clock::Real()->Now();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration now = Clock::Real()->Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, SleepsAtLeastAsLongAsAsked) {
  const absl::Duration start = Clock::Real()->Now();
  Clock::Real()->SleepFor(absl::Milliseconds(2));
  EXPECT_GE(Clock::Real()->Now() - start, absl::Milliseconds(2));
}

TEST(RealClockTest, ReturnsAtOnceForNoTimeAndLess) {
  Clock::Real()->SleepFor(absl::ZeroDuration());
  Clock::Real()->SleepFor(absl::Seconds(-5));
  Clock::Real()->SleepFor(-absl::InfiniteDuration());
}

}  // namespace
}  // namespace millrace
