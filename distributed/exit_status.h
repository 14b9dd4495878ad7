#ifndef MILLRACE_DISTRIBUTED_EXIT_STATUS_H_
#define MILLRACE_DISTRIBUTED_EXIT_STATUS_H_

// How a job's end reaches the program that started it: launchers report only
// how processes ended, and often not which came first.
//
//   launcher: names a file that does not exist in MILLRACE_STATUS_FILE
//   ranks:    the first that knows why the job failed writes it there
//   launcher: exits with the code in the file
//
// The file holds the exit code, a line end, and the message.

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/exit_code.h"

namespace millrace::distributed {

inline constexpr char kStatusFileVariable[] = "MILLRACE_STATUS_FILE";

struct ExitStatus {
  ExitCode code = ExitCode::kDone;
  std::string message;
};

// Writes the exit code and message of `status` to `path`, whole, unless it
// exists. Does nothing for OK. An error of the file system is returned.
absl::Status WriteExitStatus(const std::string& path,
                             const absl::Status& status);

// The same, to the file that MILLRACE_STATUS_FILE names; does nothing where
// that is not set or can't be written, as on a host that does not share it.
void ReportExitStatus(const absl::Status& status);

// What is in the file; nullopt if there is none. DataLoss if it can't be read
// as such.
absl::StatusOr<std::optional<ExitStatus>> ReadExitStatus(
    const std::string& path);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_EXIT_STATUS_H_
