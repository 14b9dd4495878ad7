#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "distributed/communicator_local.h"
#include "distributed/communicator_mpi.h"
#include "distributed/exit_status.h"
#include "distributed/transport_mpi.h"
#include "distributed/world.h"
#include "distributed/world_environment.h"

namespace millrace::distributed {
namespace {

// Without exit handlers: they would wait for threads that are stuck.
void EndProcess(const absl::Status& status) {
  ReportExitStatus(status);
  MILLRACE_LOG(kError) << status.message();
  _exit(static_cast<int>(ExitCodeOf(status)));
}

// Ranks that MPI could not bring together.
absl::Status NotTogether(const WorldEnvironment& environment,
                         absl::string_view hint) {
  return WithExitCode(
      absl::FailedPreconditionError(
          absl::StrCat(environment.variable, " says that ", environment.ranks,
                       " ranks were started, but MPI finds one: ", hint)),
      ExitCode::kUsage);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> JoinWorld(
    const WorldOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  const WorldEnvironment environment = ReadWorldEnvironment(std::getenv);
  if (!environment.has_mpi) {
    // A batch job's own count says nothing of how this process was started.
    if (environment.ranks > 1 &&
        environment.variable == "SLURM_STEP_NUM_TASKS") {
      return NotTogether(environment, "start them with srun --mpi=pmix");
    }
    return MakeLocalCommunicator();
  }
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<Communicator> communicator,
      MakeMpiCommunicator(JoinMpi, {.join_timeout = options.join_timeout,
                                    .failure_grace = options.failure_grace,
                                    .end_process = EndProcess,
                                    .on_failure = ReportExitStatus}));
  if (communicator->size() == 1 && environment.ranks > 1) {
    communicator->Close(options.failure_grace).IgnoreError();
    return NotTogether(environment,
                       "the launcher may belong to another MPI library");
  }
  SetLogRank(communicator->rank(), communicator->size());
  return communicator;
}

std::string WorldDescription() {
  return absl::StrCat("mpi=", MpiLibraryVersion());
}

}  // namespace millrace::distributed
