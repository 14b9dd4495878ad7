#include "tests/distributed/communicator_conformance.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// No test waits that long unless something is broken.
constexpr absl::Duration kLimit = absl::Seconds(60);
// For waits that are meant to run out.
constexpr absl::Duration kShort = absl::Milliseconds(50);

constexpr DType DTypeOf(float) { return DType::kFloat32; }
constexpr DType DTypeOf(double) { return DType::kFloat64; }
constexpr DType DTypeOf(int64_t) { return DType::kInt64; }

template <typename T>
TensorView View(std::vector<T>& values) {
  return {DTypeOf(T()), {static_cast<int64_t>(values.size())}, values.data()};
}

template <typename T>
bool AllEqual(const std::vector<T>& values, T value) {
  return values == std::vector<T>(values.size(), value);
}

// Rank `rank`'s payload: another size for each, rank 0's empty; any bytes.
std::string Payload(int rank, int scale) {
  std::string bytes(static_cast<size_t>(rank) * scale,
                    static_cast<char>(250 + rank));
  for (size_t i = 0; i < bytes.size(); i += 997) {
    bytes[i] = static_cast<char>(i / 997);
  }
  return bytes;
}

void KnowsItsPlace(Communicator& comm) {
  EXPECT_GE(comm.rank(), 0);
  EXPECT_LT(comm.rank(), comm.size());
  EXPECT_GE(comm.local_rank(), 0);
  EXPECT_LT(comm.local_rank(), comm.local_size());
  EXPECT_LE(comm.local_size(), comm.size());
  ASSERT_OK_AND_ASSIGN(
      const std::vector<std::string> ranks,
      comm.AllGather(absl::StrCat(comm.rank(), "/", comm.size()), kLimit));
  std::vector<std::string> expected;
  for (int r = 0; r < comm.size(); ++r) {
    expected.push_back(absl::StrCat(r, "/", comm.size()));
  }
  EXPECT_EQ(ranks, expected);
}

void RepeatsBarriers(Communicator& comm) {
  for (int i = 0; i < 100; ++i) ASSERT_OK(comm.Barrier(kLimit));
  EXPECT_OK(comm.Barrier(absl::InfiniteDuration()));
}

void GathersUnequalSizes(Communicator& comm) {
  // The last scale is above what MPI sends in one piece without asking.
  for (const int scale : {0, 1, 1000, 70000}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<std::string> gathered,
                         comm.AllGather(Payload(comm.rank(), scale), kLimit));
    ASSERT_EQ(gathered.size(), static_cast<size_t>(comm.size()));
    for (int r = 0; r < comm.size(); ++r) {
      EXPECT_TRUE(gathered[r] == Payload(r, scale)) << "rank " << r;
    }
  }
}

void BroadcastsFromEachRank(Communicator& comm) {
  for (int root = 0; root < comm.size(); ++root) {
    for (const int scale : {0, 1, 70000}) {
      const std::string mine =
          comm.rank() == root ? Payload(root + 1, scale) : "ignored";
      ASSERT_OK_AND_ASSIGN(const std::string bytes,
                           comm.Broadcast(mine, root, kLimit));
      EXPECT_TRUE(bytes == Payload(root + 1, scale)) << "root " << root;
    }
  }
}

void RefusesRootsOutside(Communicator& comm) {
  for (const int root : {-1, comm.size()}) {
    EXPECT_THAT(comm.Broadcast("x", root, kLimit),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat(root))));
  }
  EXPECT_OK(comm.Barrier(kLimit));
}

// Element i of rank r is (r + 1) * (i % 97): the sum is exact in every type.
template <typename T>
void SumsExactly(Communicator& comm, int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((comm.rank() + 1) * (i % 97));
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PendingCollective> sum,
                       comm.StartAllReduceSum(View(values)));
  ASSERT_OK(sum->Wait(kLimit));
  EXPECT_TRUE(sum->Done());
  const int64_t factor = int64_t{comm.size()} * (comm.size() + 1) / 2;
  // Compared as a whole: gtest's own comparisons of a million elements take
  // longer than the sum.
  std::vector<T> expected(count);
  for (int64_t i = 0; i < count; ++i) {
    expected[i] = static_cast<T>(factor * (i % 97));
  }
  EXPECT_TRUE(values == expected);
}

void SumsEachType(Communicator& comm) {
  for (const int64_t count : {0, 1, 1000, 100003}) {
    SumsExactly<float>(comm, count);
    SumsExactly<double>(comm, count);
    SumsExactly<int64_t>(comm, count);
  }
}

void SumsShapes(Communicator& comm) {
  std::vector<double> values(6, comm.rank() == 0 ? 2.5 : 0.0);
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<PendingCollective> sum,
      comm.StartAllReduceSum({DType::kFloat64, {2, 3}, values.data()}));
  ASSERT_OK(sum->Wait(kLimit));
  EXPECT_THAT(values, Each(2.5));
}

void KeepsSeveralSumsInFlight(Communicator& comm) {
  constexpr int kSums = 8;
  std::vector<std::shared_ptr<std::vector<float>>> buffers;
  std::vector<std::unique_ptr<PendingCollective>> sums;
  for (int k = 0; k < kSums; ++k) {
    buffers.push_back(std::make_shared<std::vector<float>>(
        30000, static_cast<float>(k + comm.rank())));
    // Every second one in place.
    ASSERT_OK_AND_ASSIGN(
        std::unique_ptr<PendingCollective> sum,
        comm.StartAllReduceSum(View(*buffers[k]),
                               k % 2 == 0 ? buffers[k] : nullptr));
    sums.push_back(std::move(sum));
  }
  // Other collectives may go on meanwhile, and the order of waiting is free.
  ASSERT_OK(comm.Barrier(kLimit));
  const int w = comm.size();
  for (int k = kSums - 1; k >= 0; --k) {
    ASSERT_OK(sums[k]->Wait(kLimit));
    EXPECT_TRUE(
        AllEqual(*buffers[k], static_cast<float>(k * w + w * (w - 1) / 2)));
  }
}

void SumsProgressByThemselves(Communicator& comm) {
  std::vector<double> values(100000, 1.0);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PendingCollective> sum,
                       comm.StartAllReduceSum(View(values)));
  const absl::Time limit = absl::Now() + kLimit;
  while (!sum->Done() && absl::Now() < limit) std::this_thread::yield();
  EXPECT_TRUE(sum->Done());
  EXPECT_OK(sum->Wait(absl::ZeroDuration()));
  EXPECT_TRUE(AllEqual(values, static_cast<double>(comm.size())));
}

// Rank 0 loses interest, with and without an owner; the others need its part.
void DestroyingASumLetsItGoOn(Communicator& comm) {
  for (const bool in_place : {false, true}) {
    auto values = std::make_shared<std::vector<int64_t>>(50000, 3);
    {
      ASSERT_OK_AND_ASSIGN(
          const std::unique_ptr<PendingCollective> sum,
          comm.StartAllReduceSum(View(*values), in_place ? values : nullptr));
      if (comm.rank() != 0) {
        ASSERT_OK(sum->Wait(kLimit));
        EXPECT_TRUE(AllEqual(*values, int64_t{3} * comm.size()));
      }
    }
    values.reset();
  }
  EXPECT_OK(comm.Barrier(kLimit));
}

void SumsAreTheSameBitsEverywhere(Communicator& comm) {
  std::vector<std::string> runs;
  for (int run = 0; run < 3; ++run) {
    // Values whose sum depends on the order of adding.
    std::vector<float> values(20000);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = std::sin(static_cast<float>(i * 7 + comm.rank() * 1000003));
    }
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PendingCollective> sum,
                         comm.StartAllReduceSum(View(values)));
    ASSERT_OK(sum->Wait(kLimit));
    runs.emplace_back(reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(float));
  }
  EXPECT_TRUE(runs[1] == runs[0] && runs[2] == runs[0]);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> all,
                       comm.AllGather(runs[0], kLimit));
  for (const std::string& of_rank : all) EXPECT_TRUE(of_rank == all[0]);
}

void RefusesWhatItCantSum(Communicator& comm) {
  std::vector<int32_t> values(4);
  EXPECT_THAT(
      comm.StartAllReduceSum({DType::kInt32, {4}, values.data()}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("int32")));
  EXPECT_THAT(
      comm.StartAllReduceSum({DType::kFloat32, {4}, nullptr}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no memory")));
  EXPECT_OK(comm.Barrier(kLimit));
}

absl::Status ClosesWell(Communicator& comm) {
  EXPECT_OK(comm.Barrier(kLimit));
  EXPECT_OK(comm.failure());
  const absl::Status closed = comm.Close(kLimit);
  EXPECT_OK(closed);
  EXPECT_OK(comm.failure());
  EXPECT_THAT(
      comm.Barrier(kLimit),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
  // After the end nothing counts as a failure of the job.
  comm.ReportFailure(absl::InternalError("too late"));
  EXPECT_OK(comm.failure());
  EXPECT_OK(comm.Close(kLimit));
  return closed;
}

// The rank that fails in these cases.
int FailingRank(const Communicator& comm) { return comm.size() - 1; }

// So that all ranks have joined. A rank that is slow to return from it may see
// what the others do next already.
void MeetOnce(Communicator& comm) { comm.Barrier(kLimit).IgnoreError(); }

absl::Status BadSample() { return absl::DataLossError("sample 7: truncated"); }

// What every rank must see after FailingRank() reported BadSample().
void ExpectBadSample(Communicator& comm, const absl::Status& status) {
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("sample 7: truncated")));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
  if (comm.size() > 1) {
    EXPECT_THAT(std::string(status.message()),
                StartsWith(absl::StrCat("rank ", FailingRank(comm), " (")));
  } else {
    EXPECT_EQ(status.message(), "sample 7: truncated");
  }
}

// FailingRank() reports a bad sample while the others are in `collective`.
absl::Status FailDuring(Communicator& comm,
                        absl::Status (*collective)(Communicator&)) {
  MeetOnce(comm);
  if (comm.rank() == FailingRank(comm)) {
    comm.ReportFailure(BadSample());
  } else {
    ExpectBadSample(comm, collective(comm));
  }
  ExpectBadSample(comm, comm.failure());
  // Later ones fail at once.
  ExpectBadSample(comm, collective(comm));
  const absl::Status closed = comm.Close(kLimit);
  ExpectBadSample(comm, closed);
  ExpectBadSample(comm, comm.failure());
  return closed;
}

absl::Status FailsDuringBarrier(Communicator& comm) {
  return FailDuring(comm, [](Communicator& c) { return c.Barrier(kLimit); });
}

absl::Status FailsDuringAllGather(Communicator& comm) {
  return FailDuring(comm, [](Communicator& c) {
    return c.AllGather(std::string(1000000, 'x'), kLimit).status();
  });
}

absl::Status FailsDuringBroadcast(Communicator& comm) {
  return FailDuring(comm, [](Communicator& c) {
    return c.Broadcast("", FailingRank(c), kLimit).status();
  });
}

absl::Status FailsDuringSum(Communicator& comm) {
  return FailDuring(comm, [](Communicator& c) -> absl::Status {
    std::vector<float> values(100000, 1.0f);
    auto sum = c.StartAllReduceSum(View(values));
    if (!sum.ok()) return sum.status();
    return (*sum)->Wait(kLimit);
  });
}

absl::Status FailsWithSumsUnwaited(Communicator& comm) {
  return FailDuring(comm, [](Communicator& c) -> absl::Status {
    std::vector<float> values(100000, 1.0f);
    {
      auto sum = c.StartAllReduceSum(View(values));
      if (!sum.ok()) return sum.status();
    }
    return c.Barrier(kLimit);
  });
}

absl::Status FailsDuringClose(Communicator& comm) {
  MeetOnce(comm);
  if (comm.rank() == FailingRank(comm)) comm.ReportFailure(BadSample());
  const absl::Status closed = comm.Close(kLimit);
  ExpectBadSample(comm, closed);
  return closed;
}

absl::Status KeepsTheFirstFailure(Communicator& comm) {
  if (comm.rank() == FailingRank(comm)) {
    comm.ReportFailure(BadSample());
    comm.ReportFailure(absl::InternalError("second"));
  } else {
    ExpectBadSample(comm, comm.Barrier(kLimit));
    // Callers pass on what they got without asking where it came from.
    comm.ReportFailure(comm.failure());
  }
  const absl::Status closed = comm.Close(kLimit);
  ExpectBadSample(comm, closed);
  return closed;
}

absl::Status KeepsTheExitCode(Communicator& comm) {
  if (comm.rank() == FailingRank(comm)) {
    comm.ReportFailure(WithExitCode(absl::DataLossError("shard 3: checksum"),
                                    ExitCode::kStorage));
  }
  const absl::Status closed = comm.Close(kLimit);
  EXPECT_THAT(closed, StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("shard 3: checksum")));
  EXPECT_EQ(ExitCodeOf(closed), ExitCode::kStorage);
  return closed;
}

void ExpectTimedOut(const absl::Status& status, const std::string& what) {
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               AllOf(HasSubstr(what), HasSubstr("50ms"),
                                     HasSubstr("rank "))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kCommunication);
}

absl::Status TimesOutInBarrier(Communicator& comm) {
  if (comm.rank() != FailingRank(comm)) {
    ExpectTimedOut(comm.Barrier(kShort), "barrier");
  }
  const absl::Status closed = comm.Close(kLimit);
  ExpectTimedOut(closed, "barrier");
  return closed;
}

absl::Status TimesOutInSum(Communicator& comm) {
  if (comm.rank() != FailingRank(comm)) {
    std::vector<double> values(100000, 1.0);
    auto sum = comm.StartAllReduceSum(View(values));
    if (comm.rank() == 0) {
      EXPECT_OK(sum.status());
      EXPECT_FALSE(sum.ok() && (*sum)->Done());
    }
    // The others may come when rank 0's time is over already.
    ExpectTimedOut(sum.ok() ? (*sum)->Wait(comm.rank() == 0 ? kShort : kLimit)
                            : sum.status(),
                   "sum of 100000 float64");
    EXPECT_TRUE(!sum.ok() || (*sum)->Done());
  }
  const absl::Status closed = comm.Close(kLimit);
  ExpectTimedOut(closed, "sum");
  return closed;
}

// Reports of all ranks at once: which one counts is open, but it is one.
absl::Status AgreesOnOneOfManyFailures(Communicator& comm) {
  MeetOnce(comm);
  comm.ReportFailure(
      absl::DataLossError(absl::StrCat("sample ", comm.rank(), ": empty")));
  EXPECT_THAT(comm.Barrier(kLimit), Not(IsOk()));
  const absl::Status closed = comm.Close(kLimit);
  EXPECT_THAT(closed,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("empty")));
  return closed;
}

}  // namespace

const std::vector<ConformanceCase>& RunningCases() {
  static const auto* cases = new std::vector<ConformanceCase>{
      {"KnowsItsPlace", KnowsItsPlace},
      {"RepeatsBarriers", RepeatsBarriers},
      {"GathersUnequalSizes", GathersUnequalSizes},
      {"BroadcastsFromEachRank", BroadcastsFromEachRank},
      {"RefusesRootsOutside", RefusesRootsOutside},
      {"SumsEachType", SumsEachType},
      {"SumsShapes", SumsShapes},
      {"KeepsSeveralSumsInFlight", KeepsSeveralSumsInFlight},
      {"SumsProgressByThemselves", SumsProgressByThemselves},
      {"DestroyingASumLetsItGoOn", DestroyingASumLetsItGoOn},
      {"SumsAreTheSameBitsEverywhere", SumsAreTheSameBitsEverywhere},
      {"RefusesWhatItCantSum", RefusesWhatItCantSum},
  };
  return *cases;
}

const std::vector<EndingCase>& EndingCases() {
  static const auto* cases = new std::vector<EndingCase>{
      {"ClosesWell", 1, ClosesWell},
      {"FailsDuringBarrier", 1, FailsDuringBarrier},
      {"FailsDuringAllGather", 1, FailsDuringAllGather},
      {"FailsDuringBroadcast", 1, FailsDuringBroadcast},
      {"FailsDuringSum", 1, FailsDuringSum},
      {"FailsWithSumsUnwaited", 1, FailsWithSumsUnwaited},
      {"FailsDuringClose", 1, FailsDuringClose},
      {"KeepsTheFirstFailure", 1, KeepsTheFirstFailure},
      {"KeepsTheExitCode", 1, KeepsTheExitCode},
      {"TimesOutInBarrier", 2, TimesOutInBarrier},
      {"TimesOutInSum", 2, TimesOutInSum},
      {"AgreesOnOneOfManyFailures", 1, AgreesOnOneOfManyFailures},
  };
  return *cases;
}

}  // namespace millrace::distributed
