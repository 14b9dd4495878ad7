#include "storage/file_status.h"

#include <errno.h>

#include "absl/status/status.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

TEST(FileStatusTest, SaysWhatWasTriedOnWhichEscapedPath) {
  EXPECT_THAT(FileStatus(ENOENT, "open", "/d/a\tb.jpg"),
              StatusIs(absl::StatusCode::kNotFound,
                       "open /d/a\\x09b.jpg: No such file or directory"));
}

TEST(FileStatusTest, EndsTheProcessWithTheCodeOfTheCause) {
  struct Case {
    int error_number;
    absl::StatusCode code;
    ExitCode exit_code;
  };
  const Case cases[] = {
      {ENOENT, absl::StatusCode::kNotFound, ExitCode::kData},
      {ENOTDIR, absl::StatusCode::kNotFound, ExitCode::kData},
      {EACCES, absl::StatusCode::kPermissionDenied, ExitCode::kData},
      {EMFILE, absl::StatusCode::kResourceExhausted, ExitCode::kResource},
      {ENFILE, absl::StatusCode::kResourceExhausted, ExitCode::kResource},
      {ENOMEM, absl::StatusCode::kResourceExhausted, ExitCode::kResource},
      {EIO, absl::StatusCode::kUnavailable, ExitCode::kStorage},
      {ESTALE, absl::StatusCode::kUnavailable, ExitCode::kStorage},
      {ELOOP, absl::StatusCode::kDataLoss, ExitCode::kData},
      {ENAMETOOLONG, absl::StatusCode::kDataLoss, ExitCode::kData},
      {ENXIO, absl::StatusCode::kDataLoss, ExitCode::kData},
  };
  for (const Case& c : cases) {
    const absl::Status status = FileStatus(c.error_number, "read", "/d/a");
    EXPECT_EQ(status.code(), c.code) << c.error_number;
    EXPECT_EQ(ExitCodeOf(status), c.exit_code) << c.error_number;
  }
}

}  // namespace
}  // namespace millrace::storage
