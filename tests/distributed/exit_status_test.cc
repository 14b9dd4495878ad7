#include "distributed/exit_status.h"

#include <stdlib.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::distributed {
namespace {

using ::testing::HasSubstr;

absl::Status DiskFull() {
  return WithExitCode(absl::ResourceExhaustedError("write /d/x: disk full"),
                      ExitCode::kStorage);
}

TEST(ExitStatusTest, ReadingGivesWhatWasWritten) {
  const TempDir dir;
  ASSERT_OK(WriteExitStatus(dir.Join("status"), DiskFull()));
  ASSERT_OK_AND_ASSIGN(const std::optional<ExitStatus> status,
                       ReadExitStatus(dir.Join("status")));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, ExitCode::kStorage);
  EXPECT_EQ(status->message, "write /d/x: disk full");
}

TEST(ExitStatusTest, MessagesMayHaveSeveralLines) {
  const TempDir dir;
  ASSERT_OK(WriteExitStatus(dir.Join("status"), absl::InternalError("a\nb\n")));
  ASSERT_OK_AND_ASSIGN(const std::optional<ExitStatus> status,
                       ReadExitStatus(dir.Join("status")));
  EXPECT_EQ(status->message, "a\nb\n");
}

TEST(ExitStatusTest, TheFirstToWriteWins) {
  const TempDir dir;
  ASSERT_OK(WriteExitStatus(dir.Join("status"), DiskFull()));
  ASSERT_OK(WriteExitStatus(dir.Join("status"), absl::InternalError("late")));
  ASSERT_OK_AND_ASSIGN(const std::optional<ExitStatus> status,
                       ReadExitStatus(dir.Join("status")));
  EXPECT_EQ(status->message, "write /d/x: disk full");
}

TEST(ExitStatusTest, NothingIsWrittenForOk) {
  const TempDir dir;
  ASSERT_OK(WriteExitStatus(dir.Join("status"), absl::OkStatus()));
  ASSERT_OK_AND_ASSIGN(const std::optional<ExitStatus> status,
                       ReadExitStatus(dir.Join("status")));
  EXPECT_FALSE(status.has_value());
}

TEST(ExitStatusTest, AFolderThatIsNotThereIsAnError) {
  const TempDir dir;
  EXPECT_THAT(WriteExitStatus(dir.Join("no/status"), DiskFull()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/status")));
}

TEST(ExitStatusTest, DamagedFilesAreRefused) {
  const TempDir dir;
  for (const absl::string_view text :
       {"", "3", "x\nmessage", "0\nmessage", "256\nmessage", "-1\nm"}) {
    EXPECT_THAT(ReadExitStatus(dir.Write("status", text)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("status")));
  }
}

TEST(ExitStatusTest, ReportsToTheFileInTheEnvironment) {
  const TempDir dir;
  ReportExitStatus(DiskFull());  // Not set: nothing to do.
  ASSERT_EQ(setenv(kStatusFileVariable, dir.Join("no/status").c_str(), 1), 0);
  ReportExitStatus(DiskFull());  // Can't be written: nothing to do.
  ASSERT_EQ(setenv(kStatusFileVariable, dir.Join("status").c_str(), 1), 0);
  ReportExitStatus(DiskFull());
  ASSERT_EQ(unsetenv(kStatusFileVariable), 0);
  ASSERT_OK_AND_ASSIGN(const std::optional<ExitStatus> status,
                       ReadExitStatus(dir.Join("status")));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, ExitCode::kStorage);
}

}  // namespace
}  // namespace millrace::distributed
