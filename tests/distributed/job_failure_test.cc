#include "distributed/job_failure.h"

#include <string>

#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Not;

FailureReport Report(int rank, absl::Status cause) {
  return {rank, "node7", std::move(cause)};
}

TEST(JobFailureTest, StatusNamesRankAndHost) {
  const absl::Status status =
      ToStatus(Report(3, absl::DataLossError("bad sample")), 4);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               Eq("rank 3 (node7): bad sample")));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

TEST(JobFailureTest, AWorldOfOneNeedsNoNames) {
  EXPECT_THAT(ToStatus(Report(0, absl::DataLossError("bad sample")), 1),
              StatusIs(absl::StatusCode::kDataLoss, Eq("bad sample")));
}

TEST(JobFailureTest, TheExitCodeOfTheCauseIsKept) {
  const absl::Status cause =
      WithExitCode(absl::DataLossError("shard"), ExitCode::kStorage);
  EXPECT_EQ(ExitCodeOf(ToStatus(Report(1, cause), 2)), ExitCode::kStorage);
}

TEST(JobFailureTest, DecodingGivesTheReportBack) {
  const std::string message("two\nlines, a \0 and \xFF", 21);
  ASSERT_OK_AND_ASSIGN(const FailureReport report,
                       DecodeFailureReport(Encode(Report(
                           12, WithExitCode(absl::UnavailableError(message),
                                            ExitCode::kTerminated)))));
  EXPECT_EQ(report.rank, 12);
  EXPECT_EQ(report.host, "node7");
  EXPECT_THAT(report.cause,
              StatusIs(absl::StatusCode::kUnavailable, Eq(message)));
  EXPECT_EQ(ExitCodeOf(report.cause), ExitCode::kTerminated);
}

TEST(JobFailureTest, DamagedBytesAreRefused) {
  const std::string whole = Encode(Report(1, absl::InternalError("")));
  ASSERT_OK(DecodeFailureReport(whole));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(DecodeFailureReport(whole.substr(0, length)),
                StatusIs(absl::StatusCode::kDataLoss));
  }
  for (const char* bytes :
       {"x\n13\n5\nh\nm", "1\nx\n5\nh\nm", "1\n13\n\nh\nm", "1\n0\n5\nh\nm"}) {
    EXPECT_THAT(DecodeFailureReport(bytes),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST(JobFailureTest, ACauseComesBeforeThoseWhoMissedIt) {
  const FailureReport cause = Report(5, absl::DataLossError("bad"));
  const FailureReport late = Report(0, absl::DeadlineExceededError("barrier"));
  const FailureReport lost = Report(2, absl::UnavailableError("left"));
  EXPECT_TRUE(Precedes(cause, late));
  EXPECT_FALSE(Precedes(late, cause));
  EXPECT_TRUE(Precedes(cause, lost));
  EXPECT_FALSE(Precedes(lost, cause));
  EXPECT_TRUE(Precedes(late, lost));
  EXPECT_FALSE(Precedes(cause, cause));
}

TEST(JobFailureTest, OfTwoCausesTheLowerRankComesFirst) {
  const FailureReport a = Report(1, absl::InternalError("x"));
  const FailureReport b = Report(2, absl::DataLossError("y"));
  EXPECT_TRUE(Precedes(a, b));
  EXPECT_FALSE(Precedes(b, a));
}

TEST(JobFailureTest, ThisHostHasAName) {
  EXPECT_THAT(LocalHostName(), Not(IsEmpty()));
}

}  // namespace
}  // namespace millrace::distributed
