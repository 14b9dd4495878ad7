#ifndef MILLRACE_TOOLS_PARSE_WORKERS_H_
#define MILLRACE_TOOLS_PARSE_WORKERS_H_

// The value of every tool's --workers flag.

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::tools {

// "auto" (or nothing) gives none, a whole number itself: what
// DataLoaderOptions::num_workers takes. InvalidArgument, naming flag and value,
// for anything else and for numbers outside [0, 1024].
absl::StatusOr<std::optional<int>> ParseWorkers(absl::string_view text);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_PARSE_WORKERS_H_
