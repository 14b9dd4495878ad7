#include "distributed/disagreement.h"

#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::Eq;

TEST(DisagreementTest, EqualValuesAreNoDifference) {
  EXPECT_EQ(DescribeDifference("seed", {}), "");
  EXPECT_EQ(DescribeDifference("seed", {{0, "1"}}), "");
  EXPECT_EQ(DescribeDifference("seed", {{0, "1"}, {2, "1"}}), "");
}

TEST(DisagreementTest, TheValueOfMostRanksComesFirst) {
  EXPECT_EQ(DescribeDifference(
                "seed", {{0, "2"}, {1, "1"}, {2, "1"}, {4, "1"}, {5, "3"}}),
            "seed: 1 on ranks 1-2, 4; 2 on rank 0; 3 on rank 5");
}

TEST(DisagreementTest, OddBytesAreEscaped) {
  EXPECT_EQ(DescribeDifference("path", {{0, "a\nb"}, {1, ""}}),
            "path: a\\x0Ab on rank 0;  on rank 1");
}

TEST(DisagreementTest, TheErrorIsAMatterOfUsage) {
  const absl::Status status = DisagreementError("epoch 3", "seed: ...");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               Eq("epoch 3: ranks disagree on seed: ...")));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
}

}  // namespace
}  // namespace millrace::distributed
