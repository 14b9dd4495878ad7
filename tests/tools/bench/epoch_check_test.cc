#include "tools/bench/epoch_check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;

TEST(EpochCheckTest, TakesEachIndexOnceAnEpoch) {
  EpochCheck check(3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_FALSE(check.complete());
    ASSERT_OK(check.Add({2, 0}));
    EXPECT_FALSE(check.complete());
    ASSERT_OK(check.Add({1}));
    EXPECT_TRUE(check.complete());
    ASSERT_OK(check.Finish());
  }
}

TEST(EpochCheckTest, RefusesRepeats) {
  EpochCheck check(3);
  ASSERT_OK(check.Add({1}));
  EXPECT_THAT(check.Add({0, 1}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("sample 1 was delivered twice")));
}

TEST(EpochCheckTest, RefusesIndicesOutside) {
  EpochCheck check(3);
  EXPECT_THAT(check.Add({3}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("sample 3 was delivered from a set of 3")));
  EXPECT_THAT(check.Add({-1}), StatusIs(absl::StatusCode::kInternal));
}

TEST(EpochCheckTest, RefusesAnEndWithSamplesMissing) {
  EpochCheck check(3);
  ASSERT_OK(check.Add({0, 2}));
  EXPECT_THAT(check.Finish(), StatusIs(absl::StatusCode::kInternal,
                                       HasSubstr("2 of 3 samples")));
}

TEST(EpochCheckTest, AnEmptySetIsCompleteAtOnce) {
  EpochCheck check(0);
  EXPECT_TRUE(check.complete());
  EXPECT_OK(check.Finish());
}

}  // namespace
}  // namespace millrace::tools
