#include "distributed/world_environment.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace millrace::distributed {
namespace {

WorldEnvironment Read(const std::map<std::string, std::string>& variables) {
  return ReadWorldEnvironment([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(WorldEnvironmentTest, AloneIsAWorldOfOne) {
  const WorldEnvironment environment = Read({{"PATH", "/bin"}});
  EXPECT_EQ(environment.ranks, 1);
  EXPECT_EQ(environment.variable, "");
  EXPECT_FALSE(environment.has_mpi);
}

TEST(WorldEnvironmentTest, KnowsMpirun) {
  const WorldEnvironment environment =
      Read({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}});
  EXPECT_EQ(environment.ranks, 4);
  EXPECT_EQ(environment.variable, "OMPI_COMM_WORLD_SIZE");
  EXPECT_TRUE(environment.has_mpi);
}

TEST(WorldEnvironmentTest, KnowsPmi) {
  const WorldEnvironment environment = Read({{"PMI_SIZE", "3"}});
  EXPECT_EQ(environment.ranks, 3);
  EXPECT_TRUE(environment.has_mpi);
}

TEST(WorldEnvironmentTest, KnowsSlurmWithAndWithoutPmix) {
  const WorldEnvironment without =
      Read({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(without.ranks, 2);
  EXPECT_EQ(without.variable, "SLURM_STEP_NUM_TASKS");
  EXPECT_FALSE(without.has_mpi);
  EXPECT_TRUE(
      Read({{"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "0"}}).has_mpi);
}

TEST(WorldEnvironmentTest, KnowsABatchJobsOwnCount) {
  const WorldEnvironment environment = Read({{"SLURM_NTASKS", "8"}});
  EXPECT_EQ(environment.ranks, 8);
  EXPECT_EQ(environment.variable, "SLURM_NTASKS");
}

TEST(WorldEnvironmentTest, OddValuesCountAsNotSet) {
  for (const char* value : {"", "x", "0", "-4", "4x"}) {
    EXPECT_EQ(Read({{"PMI_SIZE", value}, {"SLURM_NTASKS", "2"}}).ranks, 2)
        << value;
  }
}

}  // namespace
}  // namespace millrace::distributed
