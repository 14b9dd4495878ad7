#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "distributed/communicator_local.h"
#include "distributed/world.h"
#include "distributed/world_environment.h"

namespace millrace::distributed {

absl::StatusOr<std::unique_ptr<Communicator>> JoinWorld(
    const WorldOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  const WorldEnvironment environment = ReadWorldEnvironment(std::getenv);
  if (environment.ranks > 1) {
    return WithExitCode(
        absl::FailedPreconditionError(absl::StrCat(
            environment.variable, " says that ", environment.ranks,
            " ranks were started, but this program was built without MPI "
            "(--config=nompi): each would work alone")),
        ExitCode::kUsage);
  }
  return MakeLocalCommunicator();
}

std::string WorldDescription() { return "mpi=off"; }

}  // namespace millrace::distributed
