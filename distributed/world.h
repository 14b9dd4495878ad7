#ifndef MILLRACE_DISTRIBUTED_WORLD_H_
#define MILLRACE_DISTRIBUTED_WORLD_H_

// The job this process was started in: by mpirun, by Slurm's srun, or alone.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

struct WorldOptions {
  // How long to wait until all ranks have joined; > 0. The process is ended
  // with exit code 5 after that, since joining can't be called off.
  absl::Duration join_timeout = absl::Minutes(5);
  // How long a rank may go on after the job has failed before it calls Close(),
  // and how long Close() then waits for the others; > 0. A rank that is stuck
  // for longer is ended with the failure's exit code.
  absl::Duration failure_grace = absl::Seconds(5);

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

// Joins the job. Chosen when linking:
//  * world_mpi.cc: rank, local rank and size come from MPI; without mpirun the
//    world is one rank, and MPI is left alone. Starts the communication thread
//    that makes all MPI calls. FailedPrecondition (exit code 2) where the
//    launcher started several ranks that MPI can't bring together.
//  * world_stub.cc (--config=nompi): a world of one. FailedPrecondition (exit
//    code 2) if OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_NTASKS says that there
//    are more, since each process would train alone.
// Also sets the rank that log lines carry. Call it once a process.
absl::StatusOr<std::unique_ptr<Communicator>> JoinWorld(
    const WorldOptions& options = {});

// "mpi=Open MPI v4.1.4" or "mpi=off", for the start line.
std::string WorldDescription();

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_WORLD_H_
