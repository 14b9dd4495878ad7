#ifndef MILLRACE_DISTRIBUTED_WORLD_ENVIRONMENT_H_
#define MILLRACE_DISTRIBUTED_WORLD_ENVIRONMENT_H_

// What the environment says about the job that this process was started in.

#include <functional>
#include <string>

namespace millrace::distributed {

// A way to look up environment variables: null if it is not set. Tests pass
// their own.
using EnvironmentLookup = std::function<const char*(const char* name)>;

struct WorldEnvironment {
  // Ranks that the launcher says it started; 1 if it says nothing.
  int ranks = 1;
  // The variable that says so: "SLURM_STEP_NUM_TASKS".
  std::string variable;
  // There is something that MPI can find the other ranks by.
  bool has_mpi = false;
};

// Reads Open MPI's, PMI's and Slurm's variables. Slurm's count within a job
// step (SLURM_STEP_NUM_TASKS) goes before that of the whole job
// (SLURM_NTASKS), which is also set where nothing was started by srun.
WorldEnvironment ReadWorldEnvironment(const EnvironmentLookup& lookup);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_WORLD_ENVIRONMENT_H_
