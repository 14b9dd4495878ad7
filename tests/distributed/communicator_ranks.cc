// A rank of communicator_mpirun_test.cc and of the mpi_test() targets beside
// it:
//
//   mpirun -n 3 communicator_ranks running
//   mpirun -n 3 communicator_ranks FailsDuringBarrier
//
// Runs the conformance cases that leave the job running, or one that ends it.
// Prints "rank R closed: STATUS" to standard output. Exits with the code of
// that status, or with 99 if an expectation failed.

#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "base/exit_code.h"
#include "distributed/communicator.h"
#include "distributed/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/distributed/communicator_conformance.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

constexpr int kExpectationFailed = 99;

// From the command line, and for the exit code.
std::string& TestCase() {
  static auto* name = new std::string;
  return *name;
}
absl::Status& Closed() {
  static auto* status = new absl::Status;
  return *status;
}

TEST(RankTest, Conforms) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Communicator> comm, JoinWorld());
  if (TestCase() == "running") {
    for (const ConformanceCase& running : RunningCases()) {
      SCOPED_TRACE(running.name);
      running.run(*comm);
    }
    Closed() = comm->Close(absl::Seconds(60));
    EXPECT_OK(Closed());
  }
  for (const EndingCase& ending : EndingCases()) {
    if (ending.name == TestCase()) Closed() = ending.run(*comm);
  }
  std::cout << "rank " << comm->rank() << " closed: " << Closed() << std::endl;
}

int Main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc != 2) return kExpectationFailed;
  TestCase() = argv[1];
  if (RUN_ALL_TESTS() != 0) return kExpectationFailed;
  return static_cast<int>(ExitCodeOf(Closed()));
}

}  // namespace
}  // namespace millrace::distributed

int main(int argc, char** argv) {
  return millrace::distributed::Main(argc, argv);
}
