#ifndef MILLRACE_TOOLS_RUN_IN_WORLD_H_
#define MILLRACE_TOOLS_RUN_IN_WORLD_H_

// The frame around what a tool does on every rank of its job.

#include <functional>

#include "absl/status/status.h"
#include "distributed/communicator.h"

namespace millrace::tools {

// Joins the job this process was started in, calls `body`, tells the other
// ranks if it fails, and leaves. Returns OK on all ranks or the job's failure
// on all of them. Call it once a process.
absl::Status RunInWorld(
    const std::function<absl::Status(distributed::Communicator&)>& body);

// The same in a job joined already.
absl::Status RunIn(
    distributed::Communicator& communicator,
    const std::function<absl::Status(distributed::Communicator&)>& body);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_RUN_IN_WORLD_H_
