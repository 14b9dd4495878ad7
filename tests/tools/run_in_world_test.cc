#include "tools/run_in_world.h"

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "distributed/communicator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using distributed::Communicator;
using testing::AllOf;
using testing::HasSubstr;

// The status that each rank's RunIn() returns.
std::vector<absl::Status> RunOnAll(
    int world, const std::function<absl::Status(Communicator&)>& body) {
  std::vector<absl::Status> statuses(world);
  RunRanks(world, [&](Communicator& communicator) {
    statuses[communicator.rank()] = RunIn(communicator, body);
  });
  return statuses;
}

TEST(RunInWorldTest, AllRanksAreOkWhereAllBodiesAre) {
  for (const absl::Status& status : RunOnAll(3, [](Communicator& communicator) {
         return communicator.Barrier(absl::Minutes(1));
       })) {
    EXPECT_OK(status);
  }
}

TEST(RunInWorldTest, OneRanksFailureIsAllRanksEnd) {
  for (const absl::Status& status :
       RunOnAll(3, [](Communicator& communicator) -> absl::Status {
         if (communicator.rank() == 1) {
           return WithExitCode(absl::DataLossError("shard 3 is torn"),
                               ExitCode::kStorage);
         }
         // Waits for the rank that does not come.
         return communicator.Barrier(absl::Minutes(1));
       })) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 AllOf(HasSubstr("rank 1"),
                                       HasSubstr("shard 3 is torn"))));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kStorage);
  }
}

TEST(RunInWorldTest, AFailureReachesRanksThatAreThroughAlready) {
  for (const absl::Status& status :
       RunOnAll(2, [](Communicator& communicator) -> absl::Status {
         if (communicator.rank() == 1) return absl::OkStatus();
         return absl::InvalidArgumentError("no such preset");
       })) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("no such preset")));
  }
}

}  // namespace
}  // namespace millrace::tools
