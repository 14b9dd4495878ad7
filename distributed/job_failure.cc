#include "distributed/job_failure.h"

#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/status_macros.h"

namespace millrace::distributed {
namespace {

bool OnlyMissedSomebody(const absl::Status& cause) {
  return cause.code() == absl::StatusCode::kUnavailable ||
         cause.code() == absl::StatusCode::kDeadlineExceeded;
}

}  // namespace

absl::Status ToStatus(const FailureReport& report, int world_size) {
  const absl::Status status =
      WithExitCode(absl::Status(report.cause.code(), report.cause.message()),
                   ExitCodeOf(report.cause));
  if (world_size <= 1) return status;
  return Annotate(status,
                  absl::StrCat("rank ", report.rank, " (", report.host, ")"));
}

std::string Encode(const FailureReport& report) {
  return absl::StrCat(report.rank, "\n", static_cast<int>(report.cause.code()),
                      "\n", static_cast<int>(ExitCodeOf(report.cause)), "\n",
                      report.host, "\n", report.cause.message());
}

absl::StatusOr<FailureReport> DecodeFailureReport(absl::string_view bytes) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(bytes, absl::MaxSplits('\n', 4));
  FailureReport report;
  int code = 0;
  int exit_code = 0;
  if (fields.size() != 5 || !absl::SimpleAtoi(fields[0], &report.rank) ||
      !absl::SimpleAtoi(fields[1], &code) ||
      !absl::SimpleAtoi(fields[2], &exit_code) || code == 0) {
    return absl::DataLossError(absl::StrCat(
        "a failure report of ", bytes.size(), " bytes can't be read"));
  }
  report.host = std::string(fields[3]);
  report.cause =
      WithExitCode(absl::Status(static_cast<absl::StatusCode>(code), fields[4]),
                   static_cast<ExitCode>(exit_code));
  return report;
}

bool Precedes(const FailureReport& a, const FailureReport& b) {
  const bool a_missed = OnlyMissedSomebody(a.cause);
  const bool b_missed = OnlyMissedSomebody(b.cause);
  return a_missed != b_missed ? b_missed : a.rank < b.rank;
}

std::string LocalHostName() {
  char name[256] = {};
  // Leaves the last byte alone: a longer name is cut, but still ends.
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown host";
  return name;
}

}  // namespace millrace::distributed
