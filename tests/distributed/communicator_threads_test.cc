#include "distributed/communicator_threads.h"

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/distributed/communicator_conformance.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Eq;
using ::testing::HasSubstr;

constexpr absl::Duration kLimit = absl::Seconds(60);

class ThreadCommunicatorTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadCommunicatorTest,
                         testing::Values(1, 2, 3, 4, 8),
                         testing::PrintToStringParamName());

TEST_P(ThreadCommunicatorTest, ConformsWhileRunning) {
  RunRanks(GetParam(), [](Communicator& comm) {
    for (const ConformanceCase& test_case : RunningCases()) {
      SCOPED_TRACE(test_case.name);
      test_case.run(comm);
    }
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST_P(ThreadCommunicatorTest, ConformsWhenEnding) {
  for (const EndingCase& test_case : EndingCases()) {
    if (GetParam() < test_case.min_size) continue;
    SCOPED_TRACE(test_case.name);
    std::vector<absl::Status> closed(GetParam());
    RunRanks(GetParam(), [&](Communicator& comm) {
      closed[comm.rank()] = test_case.run(comm);
    });
    EXPECT_THAT(closed, Each(Eq(closed[0])));
  }
}

TEST(ThreadCommunicatorsTest, HasOneEndARank) {
  const auto communicators = MakeThreadCommunicators(3);
  ASSERT_EQ(communicators.size(), 3u);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(communicators[r]->rank(), r);
    EXPECT_EQ(communicators[r]->size(), 3);
    EXPECT_EQ(communicators[r]->local_rank(), r);
    EXPECT_EQ(communicators[r]->local_size(), 3);
    EXPECT_EQ(communicators[r]->name(), "threads");
  }
}

TEST(ThreadCommunicatorsTest, ARankThatLeavesIsLost) {
  RunRanks(3, [](Communicator& comm) {
    if (comm.rank() == 1) return;
    EXPECT_THAT(comm.Barrier(kLimit),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr("rank 1"), HasSubstr("left"))));
    EXPECT_EQ(ExitCodeOf(comm.Close(kLimit)), ExitCode::kCommunication);
  });
}

TEST(ThreadCommunicatorsTest, ATimeOutNamesThoseWhoDidNotCome) {
  RunRanks(5, [](Communicator& comm) {
    if (comm.rank() == 0) {
      EXPECT_THAT(comm.Barrier(absl::Milliseconds(20)),
                  StatusIs(absl::StatusCode::kDeadlineExceeded,
                           HasSubstr("for ranks 1-4")));
    }
    comm.Close(kLimit).IgnoreError();
  });
}

TEST(ThreadCommunicatorsTest, ClosingTimesOutForEveryRank) {
  std::vector<std::unique_ptr<Communicator>> comms = MakeThreadCommunicators(2);
  EXPECT_THAT(comms[0]->Close(absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("closing"), HasSubstr("for rank 1"))));
  EXPECT_EQ(comms[1]->Close(kLimit), comms[0]->failure());
}

TEST(ThreadCommunicatorsTest, RanksOutOfStepAreTold) {
  RunRanks(2, [](Communicator& comm) {
    const absl::Status status = comm.rank() == 0
                                    ? comm.Barrier(kLimit)
                                    : comm.AllGather("x", kLimit).status();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInternal,
                         AllOf(HasSubstr("barrier"), HasSubstr("all-gather"))));
    comm.Close(kLimit).IgnoreError();
  });
}

TEST(ThreadCommunicatorsTest, SumsInRankOrder) {
  RunRanks(3, [](Communicator& comm) {
    // (1e8 + 1) - 1e8 loses the 1 in float32; any other order keeps it.
    const std::vector<float> of_rank = {1e8f, 1.0f, -1e8f};
    float value = of_rank[comm.rank()];
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<PendingCollective> sum,
        comm.StartAllReduceSum({DType::kFloat32, {1}, &value}));
    ASSERT_OK(sum->Wait(kLimit));
    EXPECT_EQ(value, 0.0f);
    EXPECT_OK(comm.Close(kLimit));
  });
}

}  // namespace
}  // namespace millrace::distributed
