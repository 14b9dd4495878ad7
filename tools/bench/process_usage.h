#ifndef MILLRACE_TOOLS_BENCH_PROCESS_USAGE_H_
#define MILLRACE_TOOLS_BENCH_PROCESS_USAGE_H_

// What the process has used of the machine.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace millrace::tools {

// CPU time of all threads of the process, ended ones too, in user and kernel.
absl::Duration ProcessCpuTime();

// Proportional set size of the process, in bytes: its private pages and its
// share of those it has in common with others. NotFound where the kernel has no
// /proc/self/smaps_rollup (before Linux 4.14, or without CONFIG_PROC_FS).
absl::StatusOr<int64_t> ProportionalSetBytes();

// The "Pss:" line of the text of a smaps_rollup file, in bytes. DataLoss where
// there is none.
absl::StatusOr<int64_t> ParseProportionalSetBytes(absl::string_view rollup);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_PROCESS_USAGE_H_
