#include "distributed/communicator_local.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/distributed/communicator_conformance.h"

namespace millrace::distributed {
namespace {

TEST(LocalCommunicatorTest, IsAWorldOfOne) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  EXPECT_EQ(comm->local_rank(), 0);
  EXPECT_EQ(comm->local_size(), 1);
  EXPECT_EQ(comm->name(), "local");
}

TEST(LocalCommunicatorTest, ConformsWhileRunning) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  for (const ConformanceCase& test_case : RunningCases()) {
    SCOPED_TRACE(test_case.name);
    test_case.run(*comm);
  }
}

TEST(LocalCommunicatorTest, ConformsWhenEnding) {
  for (const EndingCase& test_case : EndingCases()) {
    if (test_case.min_size > 1) continue;
    SCOPED_TRACE(test_case.name);
    test_case.run(*MakeLocalCommunicator()).IgnoreError();
  }
}

}  // namespace
}  // namespace millrace::distributed
