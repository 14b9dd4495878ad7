#include "tools/run_in_world.h"

#include <memory>

#include "absl/time/time.h"
#include "base/status_macros.h"
#include "distributed/world.h"

namespace millrace::tools {
namespace {

// Ranks end within seconds of each other: what takes longer is lost.
constexpr absl::Duration kCloseTimeout = absl::Minutes(1);

}  // namespace

absl::Status RunIn(
    distributed::Communicator& communicator,
    const std::function<absl::Status(distributed::Communicator&)>& body) {
  const absl::Status status = body(communicator);
  if (!status.ok()) communicator.ReportFailure(status);
  return communicator.Close(kCloseTimeout);
}

absl::Status RunInWorld(
    const std::function<absl::Status(distributed::Communicator&)>& body) {
  MILLRACE_ASSIGN_OR_RETURN(
      const std::unique_ptr<distributed::Communicator> communicator,
      distributed::JoinWorld());
  return RunIn(*communicator, body);
}

}  // namespace millrace::tools
