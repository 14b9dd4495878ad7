#ifndef MILLRACE_DISTRIBUTED_WORLD_H_
#define MILLRACE_DISTRIBUTED_WORLD_H_

// The job this process was started in: by mpirun, by Slurm's srun, or alone.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// Joins the job. Chosen when linking:
//  * world_mpi.cc: rank, local rank and size come from MPI; without mpirun the
//    world is one rank. Starts the communication thread that makes all MPI
//    calls.
//  * world_stub.cc (--config=nompi): a world of one. FailedPrecondition (exit
//    code 2) if OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_NTASKS says that there
//    are more, since each process would train alone.
// Also sets the rank that log lines carry. Call it once a process.
absl::StatusOr<std::unique_ptr<Communicator>> JoinWorld();

// "mpi=Open MPI v4.1.4" or "mpi=off", for the start line.
std::string WorldDescription();

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_WORLD_H_
