#ifndef MILLRACE_TOOLS_TRAINING_TORCH_STATUS_H_
#define MILLRACE_TOOLS_TRAINING_TORCH_STATUS_H_

// libtorch reports errors by exceptions, which end here.

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace millrace::tools::training {

// Returns what `body` returns, or an error for the exception that leaves it,
// with `what` in front ("forward"): ResourceExhausted where memory is out, else
// Internal with torch's message, without its stack trace.
absl::Status CatchTorch(absl::string_view what,
                        const std::function<absl::Status()>& body);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TORCH_STATUS_H_
