#ifndef MILLRACE_BASE_EXIT_CODE_H_
#define MILLRACE_BASE_EXIT_CODE_H_

// The exit codes of every Millrace process, and how a status carries one.
//
// A script that starts a job decides by the code what to do next: fix the
// command (2), the data (3), the store (4), the network or a host (5), memory
// and limits (6), or nothing (0).

#include "absl/status/status.h"

namespace millrace {

// Numbered for scripts: values never change.
enum class ExitCode : int {
  kDone = 0,
  // Wrong arguments, or settings that disagree between ranks.
  kUsage = 2,
  // A bad sample beyond the policy, or a data set with nothing in it.
  kData = 3,
  // A store (shard, database, disk) is damaged or full.
  kStorage = 4,
  // Communication failed, or a rank was lost.
  kCommunication = 5,
  // Memory, file handles, a time limit on reading.
  kResource = 6,
  // A bug in Millrace.
  kInternal = 70,
  kInterrupted = 130,  // SIGINT
  kTerminated = 143,   // SIGTERM
};

// `status` with `code` attached, to be found by ExitCodeOf(). OK stays OK.
// Layers attach a code where the status code alone does not tell, for example
// kStorage to a DataLoss of a shard.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// The attached code, or what the status code means: 0 for OK; kUsage for
// InvalidArgument, FailedPrecondition, Unimplemented and OutOfRange; kData for
// DataLoss, NotFound and PermissionDenied; kCommunication for Unavailable,
// DeadlineExceeded and Aborted; kResource for ResourceExhausted; kInterrupted
// for Cancelled; kInternal for the rest.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace millrace

#endif  // MILLRACE_BASE_EXIT_CODE_H_
