#ifndef MILLRACE_DISTRIBUTED_JOB_FAILURE_H_
#define MILLRACE_DISTRIBUTED_JOB_FAILURE_H_

// Why a job can't go on, as one rank tells it to the others.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::distributed {

struct FailureReport {
  int rank = 0;
  std::string host;
  // Not OK.
  absl::Status cause;
};

// What every collective of every rank returns from now on: the cause's code and
// exit code, and its message after "rank R (HOST): " if `world_size` is
// above 1.
absl::Status ToStatus(const FailureReport& report, int world_size);

// Bytes for the wire, and back. DataLoss for bytes that Encode() did not make.
std::string Encode(const FailureReport& report);
absl::StatusOr<FailureReport> DecodeFailureReport(absl::string_view bytes);

// Which of two reports that crossed on their way all ranks settle on: one that
// names a cause of its own before one that only missed somebody (Unavailable,
// DeadlineExceeded), then the lower rank's. A strict weak order.
bool Precedes(const FailureReport& a, const FailureReport& b);

// This machine's name, as reports carry it.
std::string LocalHostName();

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_JOB_FAILURE_H_
