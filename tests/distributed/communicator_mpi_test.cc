// The communicator over a network of threads: what it does with a transport,
// and with one that fails. communicator_mpirun_test.cc runs it over MPI.

#include "distributed/communicator_mpi.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "base/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/distributed/communicator_conformance.h"
#include "tests/distributed/fake_transport.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;

constexpr absl::Duration kLimit = absl::Seconds(60);

// What would have ended the process.
class EndedProcesses {
 public:
  void Add(int rank, const absl::Status& status) {
    MutexLock lock(&mutex_);
    statuses_.push_back(absl::StrCat(rank, ": ", status.message()));
    changed_.SignalAll();
  }

  void WaitForOne() {
    MutexLock lock(&mutex_);
    while (statuses_.empty()) changed_.Wait(&mutex_);
  }

  std::vector<std::string> statuses() const {
    MutexLock lock(&mutex_);
    return statuses_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> statuses_ ABSL_GUARDED_BY(mutex_);
};

// Runs `body` on each rank of `network`, each on a thread.
void RunOver(FakeNetwork* network,
             const std::function<void(Communicator&)>& body,
             EndedProcesses* ended = nullptr, absl::Duration grace = kLimit) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < network->size(); ++rank) {
    threads.emplace_back([=, &body] {
      ASSERT_OK_AND_ASSIGN(
          const std::unique_ptr<Communicator> communicator,
          MakeMpiCommunicator(network->FactoryFor(rank),
                              {.failure_grace = grace,
                               .end_process = [=](const absl::Status& status) {
                                 ASSERT_NE(ended, nullptr) << status;
                                 ended->Add(rank, status);
                               }}));
      body(*communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class MpiCommunicatorTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Sizes, MpiCommunicatorTest,
                         testing::Values(1, 2, 3, 4),
                         testing::PrintToStringParamName());

TEST_P(MpiCommunicatorTest, ConformsWhileRunning) {
  FakeNetwork network(GetParam());
  RunOver(&network, [](Communicator& comm) {
    EXPECT_EQ(comm.name(), "mpi");
    for (const ConformanceCase& test_case : RunningCases()) {
      SCOPED_TRACE(test_case.name);
      test_case.run(comm);
    }
    EXPECT_OK(comm.Close(kLimit));
  });
  EXPECT_EQ(network.finalized(), GetParam());
}

TEST_P(MpiCommunicatorTest, ConformsWhenEnding) {
  for (const EndingCase& test_case : EndingCases()) {
    if (GetParam() < test_case.min_size) continue;
    SCOPED_TRACE(test_case.name);
    FakeNetwork network(GetParam());
    std::vector<absl::Status> closed(GetParam());
    RunOver(&network, [&](Communicator& comm) {
      closed[comm.rank()] = test_case.run(comm);
    });
    EXPECT_THAT(closed, Each(Eq(closed[0])));
    // Also after a failure all leave in good order.
    EXPECT_EQ(network.finalized(), GetParam());
  }
}

TEST(MpiCommunicatorFaultTest, ACauseWinsOverATimeOutThatCrossedIt) {
  FakeNetwork network(3);
  std::vector<absl::Status> closed(3);
  RunOver(&network, [&](Communicator& comm) {
    EXPECT_OK(comm.Barrier(kLimit));
    if (comm.rank() == 0)
      comm.ReportFailure(absl::DeadlineExceededError("late"));
    if (comm.rank() == 1) comm.ReportFailure(absl::DataLossError("bad sample"));
    closed[comm.rank()] = comm.Close(kLimit);
  });
  // Rank 1 may have heard of rank 0's before it made its own, and dropped it.
  EXPECT_THAT(closed, Each(Eq(closed[0])));
  EXPECT_FALSE(closed[0].ok());
}

TEST(MpiCommunicatorFaultTest, ALostRankEndsTheWaitsOfTheOthers) {
  FakeNetwork network(3);
  RunOver(
      &network,
      [&](Communicator& comm) {
        EXPECT_OK(comm.Barrier(kLimit));
        if (comm.rank() == 2) {
          network.Cut(2);
          // Hears of nothing any more.
          EXPECT_THAT(comm.Close(absl::Milliseconds(20)),
                      StatusIs(absl::StatusCode::kDeadlineExceeded));
          return;
        }
        EXPECT_THAT(comm.Barrier(absl::Milliseconds(100)),
                    StatusIs(absl::StatusCode::kDeadlineExceeded,
                             HasSubstr("barrier")));
        EXPECT_THAT(comm.Close(kLimit),
                    StatusIs(absl::StatusCode::kDeadlineExceeded,
                             HasSubstr("barrier")));
      },
      /*ended=*/nullptr, /*grace=*/absl::Milliseconds(50));
  // They could not agree, so nobody waited for the others in Finalize().
  EXPECT_EQ(network.finalized(), 0);
}

TEST(MpiCommunicatorFaultTest, AnErrorOfTheTransportIsTheJobsFailure) {
  FakeNetwork network(2);
  RunOver(
      &network,
      [&](Communicator& comm) {
        EXPECT_OK(comm.Barrier(kLimit));
        if (comm.rank() == 1) {
          network.Break(1, absl::UnavailableError("MPI error 17"));
          EXPECT_THAT(
              comm.Barrier(kLimit),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("rank 1"), HasSubstr("MPI error 17"))));
          EXPECT_THAT(comm.Close(kLimit),
                      StatusIs(absl::StatusCode::kUnavailable));
          return;
        }
        EXPECT_THAT(comm.Barrier(absl::Milliseconds(100)),
                    StatusIs(absl::StatusCode::kDeadlineExceeded));
        EXPECT_EQ(ExitCodeOf(comm.Close(kLimit)), ExitCode::kCommunication);
      },
      /*ended=*/nullptr, /*grace=*/absl::Milliseconds(50));
}

TEST(MpiCommunicatorFaultTest, ARankThatIsStuckAfterAFailureIsEnded) {
  FakeNetwork network(2);
  EndedProcesses ended;
  RunOver(
      &network,
      [&](Communicator& comm) {
        if (comm.rank() == 1) {
          comm.ReportFailure(absl::DataLossError("bad sample"));
          comm.Close(kLimit).IgnoreError();
          return;
        }
        // Stands for a read that never returns.
        ended.WaitForOne();
        EXPECT_THAT(comm.Close(kLimit), StatusIs(absl::StatusCode::kDataLoss));
      },
      &ended, /*grace=*/absl::Milliseconds(50));
  ASSERT_EQ(ended.statuses().size(), 1u);
  EXPECT_THAT(ended.statuses()[0],
              AllOf(HasSubstr("0: rank 1 ("), HasSubstr("bad sample")));
}

TEST(MpiCommunicatorFaultTest, ARankThatLeavesIsToldToTheOthers) {
  FakeNetwork network(2);
  RunOver(&network, [&](Communicator& comm) {
    if (comm.rank() == 1) return;
    EXPECT_THAT(comm.Barrier(kLimit),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr("rank 1"), HasSubstr("left"))));
    EXPECT_EQ(ExitCodeOf(comm.Close(kLimit)), ExitCode::kCommunication);
  });
}

TEST(MpiCommunicatorFaultTest, AHeldCollectiveDoesNotKeepARankInTheJob) {
  FakeNetwork network(2);
  std::unique_ptr<PendingCollective> held;
  RunOver(&network, [&](Communicator& comm) {
    std::vector<float> values(10, 1.0f);
    if (comm.rank() == 1) {
      ASSERT_OK_AND_ASSIGN(
          held, comm.StartAllReduceSum({DType::kFloat32, {10}, values.data()}));
      return;
    }
    EXPECT_THAT(comm.Barrier(kLimit), StatusIs(absl::StatusCode::kUnavailable));
    comm.Close(kLimit).IgnoreError();
  });
  EXPECT_TRUE(held->Done());
}

TEST(MpiCommunicatorFaultTest, ClosingNamesTheRanksThatDidNot) {
  FakeNetwork network(3);
  std::atomic<bool> timed_out = false;
  RunOver(&network, [&](Communicator& comm) {
    if (comm.rank() == 0) {
      EXPECT_THAT(comm.Close(absl::Milliseconds(50)),
                  StatusIs(absl::StatusCode::kDeadlineExceeded,
                           AllOf(HasSubstr("closing"), HasSubstr("rank"))));
      timed_out = true;
    } else {
      // Hears of the time-out, and closes then.
      EXPECT_THAT(comm.Barrier(kLimit),
                  StatusIs(absl::StatusCode::kDeadlineExceeded,
                           HasSubstr("for ranks 1-2")));
      comm.Close(kLimit).IgnoreError();
    }
  });
  EXPECT_TRUE(timed_out);
}

TEST(MpiCommunicatorFaultTest, JoiningIsLimited) {
  Mutex mutex;
  CondVar changed;
  bool may_return = false;
  std::string ended;
  const auto factory = [&]() -> absl::StatusOr<std::unique_ptr<Transport>> {
    MutexLock lock(&mutex);
    while (!may_return) changed.Wait(&mutex);
    return absl::UnavailableError("too late");
  };
  const absl::Status status =
      MakeMpiCommunicator(factory, {.join_timeout = absl::Milliseconds(20),
                                    .end_process =
                                        [&](const absl::Status& why) {
                                          MutexLock lock(&mutex);
                                          ended = std::string(why.message());
                                          may_return = true;
                                          changed.SignalAll();
                                        }})
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(ended, AllOf(HasSubstr("joining"), HasSubstr("20ms")));
}

TEST(MpiCommunicatorFaultTest, AFailureToJoinIsReturned) {
  EXPECT_THAT(
      MakeMpiCommunicator(
          []() -> absl::StatusOr<std::unique_ptr<Transport>> {
            return absl::UnavailableError("MPI_Init: no network");
          },
          {.end_process = [](const absl::Status&) { FAIL(); }}),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no network")));
}

TEST(MpiCommunicatorFaultTest, LongCausesAreCutToFitAMessage) {
  FakeNetwork network(2);
  RunOver(&network, [](Communicator& comm) {
    if (comm.rank() == 1) {
      comm.ReportFailure(absl::DataLossError(std::string(1000000, 'x')));
    }
    const absl::Status closed = comm.Close(kLimit);
    EXPECT_THAT(closed,
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("xxx")));
    EXPECT_LT(closed.message().size(),
              static_cast<size_t>(ControlMessage::kMaxBytes));
  });
}

}  // namespace
}  // namespace millrace::distributed
