#include "base/status_macros.h"

#include <errno.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace {
namespace {

using testing::StartsWith;

absl::Status ReturnsEarly(const absl::Status& status, int& evaluated,
                          bool& reached) {
  MILLRACE_RETURN_IF_ERROR((++evaluated, status));
  reached = true;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnIfErrorReturnsErrorsAndPassesOk) {
  int evaluated = 0;
  bool reached = false;
  EXPECT_THAT(ReturnsEarly(absl::DataLossError("bad"), evaluated, reached),
              StatusIs(absl::StatusCode::kDataLoss, "bad"));
  EXPECT_FALSE(reached);
  EXPECT_OK(ReturnsEarly(absl::OkStatus(), evaluated, reached));
  EXPECT_TRUE(reached);
  EXPECT_EQ(evaluated, 2);
}

absl::StatusOr<int> AddsOne(absl::StatusOr<std::unique_ptr<int>> number,
                            int& evaluated) {
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<int> moved,
                            (++evaluated, std::move(number)));
  int value;
  MILLRACE_ASSIGN_OR_RETURN(value, absl::StatusOr<int>(*moved));
  return value + 1;
}

TEST(StatusMacrosTest, AssignOrReturnMovesValuesAndReturnsErrors) {
  int evaluated = 0;
  EXPECT_THAT(AddsOne(std::make_unique<int>(4), evaluated), IsOkAndHolds(5));
  EXPECT_THAT(AddsOne(absl::NotFoundError("none"), evaluated),
              StatusIs(absl::StatusCode::kNotFound, "none"));
  EXPECT_EQ(evaluated, 2);
}

TEST(StatusMacrosDeathTest, CheckOkNamesTheErrorAndAborts) {
  MILLRACE_CHECK_OK(absl::OkStatus());
  EXPECT_DEATH(MILLRACE_CHECK_OK(absl::DataLossError("torn")),
               "status_macros_test.*DATA_LOSS: torn");
}

TEST(AnnotateTest, PutsContextInFrontAndKeepsCodeAndPayload) {
  absl::Status status = absl::DataLossError("truncated");
  status.SetPayload("test/url", absl::Cord("payload"));
  const absl::Status annotated = Annotate(status, "sample 7");
  EXPECT_THAT(annotated,
              StatusIs(absl::StatusCode::kDataLoss, "sample 7: truncated"));
  EXPECT_EQ(annotated.GetPayload("test/url"), absl::Cord("payload"));
}

TEST(AnnotateTest, LeavesOkAlone) {
  EXPECT_OK(Annotate(absl::OkStatus(), "sample 7"));
}

TEST(ErrnoStatusTest, NamesTheActionAndTheSystemsReason) {
  EXPECT_THAT(ErrnoStatus(ENOENT, "open /d/a.jpg"),
              StatusIs(absl::StatusCode::kNotFound,
                       "open /d/a.jpg: No such file or directory"));
}

TEST(ErrnoStatusTest, MapsEachKindOfErrorToItsCode) {
  const std::pair<int, absl::StatusCode> kCases[] = {
      {ENOENT, absl::StatusCode::kNotFound},
      {ENOTDIR, absl::StatusCode::kNotFound},
      {EACCES, absl::StatusCode::kPermissionDenied},
      {EPERM, absl::StatusCode::kPermissionDenied},
      {EROFS, absl::StatusCode::kPermissionDenied},
      {ENOMEM, absl::StatusCode::kResourceExhausted},
      {EMFILE, absl::StatusCode::kResourceExhausted},
      {ENFILE, absl::StatusCode::kResourceExhausted},
      {ENOSPC, absl::StatusCode::kResourceExhausted},
      {EDQUOT, absl::StatusCode::kResourceExhausted},
      {ENAMETOOLONG, absl::StatusCode::kInvalidArgument},
      {ELOOP, absl::StatusCode::kInvalidArgument},
      {EISDIR, absl::StatusCode::kInvalidArgument},
      {EIO, absl::StatusCode::kUnavailable},
      {ESTALE, absl::StatusCode::kUnavailable},
      {EINTR, absl::StatusCode::kUnavailable},
      {EAGAIN, absl::StatusCode::kUnavailable},
      {ETIMEDOUT, absl::StatusCode::kUnavailable},
      {EBADF, absl::StatusCode::kInternal},
  };
  for (const auto& [error_number, code] : kCases) {
    EXPECT_THAT(ErrnoStatus(error_number, "read"),
                StatusIs(code, StartsWith("read: ")))
        << error_number;
  }
}

// A script must be able to tell a full disk from too little memory.
TEST(ErrnoStatusTest, AFullDiskIsAStorageError) {
  EXPECT_EQ(ExitCodeOf(ErrnoStatus(ENOSPC, "write")), ExitCode::kStorage);
  EXPECT_EQ(ExitCodeOf(ErrnoStatus(EDQUOT, "write")), ExitCode::kStorage);
  EXPECT_EQ(ExitCodeOf(ErrnoStatus(ENOMEM, "mmap")), ExitCode::kResource);
  EXPECT_EQ(ExitCodeOf(Annotate(ErrnoStatus(ENOSPC, "write"), "shard 3")),
            ExitCode::kStorage);
}

}  // namespace
}  // namespace millrace
