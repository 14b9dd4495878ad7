#ifndef MILLRACE_TESTS_DISTRIBUTED_COMMUNICATOR_CONFORMANCE_H_
#define MILLRACE_TESTS_DISTRIBUTED_COMMUNICATOR_CONFORMANCE_H_

// What every Communicator must do, as functions that each rank of a job runs at
// the same time. How ranks come about (threads, processes) is the matter of the
// test that calls them.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// Uses gtest's EXPECT and ASSERT; works for any number of ranks.
struct ConformanceCase {
  std::string name;
  void (*run)(Communicator& communicator);
};

// Cases that leave the job running: several may use one communicator, one after
// the other.
const std::vector<ConformanceCase>& RunningCases();

// Cases that end the job, by Close() or by a failure: each needs a job of its
// own. They return what Close() did, which must be the same on all ranks.
struct EndingCase {
  std::string name;
  // Ranks that it needs at least.
  int min_size = 1;
  absl::Status (*run)(Communicator& communicator);
};
const std::vector<EndingCase>& EndingCases();

}  // namespace millrace::distributed

#endif  // MILLRACE_TESTS_DISTRIBUTED_COMMUNICATOR_CONFORMANCE_H_
