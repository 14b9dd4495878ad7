#include "base/exit_code.h"

#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(ExitCodeTest, HasTheNumbersThatScriptsKnow) {
  EXPECT_EQ(static_cast<int>(ExitCode::kDone), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::kData), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::kStorage), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::kCommunication), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::kResource), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::kInternal), 70);
  EXPECT_EQ(static_cast<int>(ExitCode::kInterrupted), 130);
  EXPECT_EQ(static_cast<int>(ExitCode::kTerminated), 143);
}

TEST(ExitCodeTest, EachStatusCodeHasOne) {
  const std::pair<absl::StatusCode, ExitCode> kCases[] = {
      {absl::StatusCode::kOk, ExitCode::kDone},
      {absl::StatusCode::kCancelled, ExitCode::kInterrupted},
      {absl::StatusCode::kUnknown, ExitCode::kInternal},
      {absl::StatusCode::kInvalidArgument, ExitCode::kUsage},
      {absl::StatusCode::kDeadlineExceeded, ExitCode::kCommunication},
      {absl::StatusCode::kNotFound, ExitCode::kData},
      {absl::StatusCode::kAlreadyExists, ExitCode::kInternal},
      {absl::StatusCode::kPermissionDenied, ExitCode::kData},
      {absl::StatusCode::kResourceExhausted, ExitCode::kResource},
      {absl::StatusCode::kFailedPrecondition, ExitCode::kUsage},
      {absl::StatusCode::kAborted, ExitCode::kCommunication},
      {absl::StatusCode::kOutOfRange, ExitCode::kUsage},
      {absl::StatusCode::kUnimplemented, ExitCode::kUsage},
      {absl::StatusCode::kInternal, ExitCode::kInternal},
      {absl::StatusCode::kUnavailable, ExitCode::kCommunication},
      {absl::StatusCode::kDataLoss, ExitCode::kData},
      {absl::StatusCode::kUnauthenticated, ExitCode::kInternal},
  };
  for (const auto& [code, exit_code] : kCases) {
    EXPECT_EQ(ExitCodeOf(absl::Status(code, "text")), exit_code)
        << absl::StatusCodeToString(code);
  }
}

TEST(ExitCodeTest, AnAttachedCodeCountsMoreThanTheStatus) {
  const absl::Status status =
      WithExitCode(absl::DataLossError("shard 0: torn"), ExitCode::kStorage);
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kStorage);
  EXPECT_EQ(status.message(), "shard 0: torn");
  EXPECT_EQ(ExitCodeOf(WithExitCode(status, ExitCode::kResource)),
            ExitCode::kResource);
}

TEST(ExitCodeTest, OkStaysOk) {
  const absl::Status status = WithExitCode(absl::OkStatus(), ExitCode::kData);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kDone);
}

}  // namespace
}  // namespace millrace
