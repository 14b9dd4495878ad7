#include "distributed/world_environment.h"

#include "absl/strings/numbers.h"

namespace millrace::distributed {

WorldEnvironment ReadWorldEnvironment(const EnvironmentLookup& lookup) {
  WorldEnvironment environment;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                           "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    const char* value = lookup(name);
    if (int ranks = 0;
        value != nullptr && absl::SimpleAtoi(value, &ranks) && ranks > 0) {
      environment.ranks = ranks;
      environment.variable = name;
      break;
    }
  }
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}) {
    if (lookup(name) != nullptr) environment.has_mpi = true;
  }
  return environment;
}

}  // namespace millrace::distributed
