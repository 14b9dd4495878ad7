#include "distributed/coordinator.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "distributed/communicator_local.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::Each;
using ::testing::EndsWith;
using ::testing::Eq;
using ::testing::HasSubstr;

constexpr absl::Duration kLimit = absl::Seconds(60);

// Statuses of Agree() by rank, each with terms of its own.
std::vector<absl::Status> AgreeOn(const std::vector<Terms>& terms_of,
                                  const std::string& what = "epoch 3") {
  std::vector<absl::Status> statuses(terms_of.size());
  RunRanks(static_cast<int>(terms_of.size()), [&](Communicator& comm) {
    Coordinator coordinator(&comm, kLimit);
    statuses[comm.rank()] = coordinator.Agree(what, terms_of[comm.rank()]);
    // All ranks have the same answer, so all can go on together.
    EXPECT_OK(comm.Close(kLimit));
  });
  return statuses;
}

// All ranks must have got this message, with exit code 2.
void ExpectRefused(const std::vector<absl::Status>& statuses,
                   const std::string& message) {
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kFailedPrecondition, Eq(message)));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
  }
}

TEST(CoordinatorTest, EqualTermsAreAgreed) {
  const Terms terms = {{"seed", "1"}, {"epoch", "3"}};
  for (const int size : {1, 2, 3, 8}) {
    EXPECT_THAT(AgreeOn(std::vector<Terms>(size, terms)), Each(IsOk()));
  }
  EXPECT_THAT(AgreeOn({{}, {}}), Each(IsOk()));
}

TEST(CoordinatorTest, ADifferenceNamesFieldValuesAndRanks) {
  std::vector<Terms> terms_of(4, {{"size", "10"}, {"seed", "1"}});
  terms_of[1][1].second = "2";
  ExpectRefused(AgreeOn(terms_of),
                "epoch 3: ranks disagree on seed: 1 on ranks 0, 2-3; 2 on "
                "rank 1");
}

TEST(CoordinatorTest, TheMostCommonValueComesFirst) {
  std::vector<Terms> terms_of(4, {{"steps", "17"}});
  terms_of[0][0].second = "16";
  ExpectRefused(
      AgreeOn(terms_of, "start"),
      "start: ranks disagree on steps: 17 on ranks 1-3; 16 on rank 0");
}

TEST(CoordinatorTest, EveryFieldThatDiffersIsNamed) {
  ExpectRefused(
      AgreeOn({{{"seed", "1"}, {"epoch", "0"}, {"size", "5"}},
               {{"seed", "2"}, {"epoch", "0"}, {"size", "6"}}}),
      "epoch 3: ranks disagree on seed: 1 on rank 0; 2 on rank 1; and on "
      "size: 5 on rank 0; 6 on rank 1");
}

TEST(CoordinatorTest, ALongListOfDifferencesIsCut) {
  Terms a, b;
  for (int i = 0; i < 9; ++i) {
    a.emplace_back(absl::StrCat("f", i), "x");
    b.emplace_back(absl::StrCat("f", i), "y");
  }
  for (const absl::Status& status : AgreeOn({a, b})) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 EndsWith("; and on f4: x on rank 0; y on rank "
                                          "1; and on 4 more")));
  }
}

TEST(CoordinatorTest, AFieldThatOnlySomeHaveIsADifference) {
  ExpectRefused(AgreeOn({{{"seed", "1"}}, {{"seed", "1"}, {"new", "x"}}}),
                "epoch 3: ranks disagree on new: (nothing) on rank 0; x on "
                "rank 1");
}

TEST(CoordinatorTest, TheOrderOfFieldsIsPartOfTheTerms) {
  ExpectRefused(AgreeOn({{{"a", "1"}, {"b", "2"}}, {{"b", "2"}, {"a", "1"}}}),
                "epoch 3: ranks disagree on the order of the fields");
}

TEST(CoordinatorTest, NamesAndValuesMayHoldAnyBytes) {
  ExpectRefused(
      AgreeOn({{{"a 1", std::string("x\n\0", 3)}}, {{"a 1", "12 34 "}}}),
      "epoch 3: ranks disagree on a 1: x\\x0A\\x00 on rank 0; 12 34  "
      "on rank 1");
}

TEST(CoordinatorTest, AFailureOfTheJobIsPassedOn) {
  RunRanks(2, [](Communicator& comm) {
    if (comm.rank() == 1) {
      comm.ReportFailure(absl::DataLossError("bad"));
    } else {
      Coordinator coordinator(&comm, kLimit);
      EXPECT_THAT(coordinator.Agree("epoch 0", {}),
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad")));
      EXPECT_THAT(coordinator.AgreeOnSeed(1),
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad")));
    }
    comm.Close(kLimit).IgnoreError();
  });
}

// Seeds by rank, and what AgreeOnSeed() gave each.
std::vector<absl::StatusOr<uint64_t>> SeedsFor(
    const std::vector<std::optional<uint64_t>>& seeds) {
  std::vector<absl::StatusOr<uint64_t>> results(seeds.size());
  RunRanks(static_cast<int>(seeds.size()), [&](Communicator& comm) {
    Coordinator coordinator(&comm, kLimit);
    results[comm.rank()] = coordinator.AgreeOnSeed(seeds[comm.rank()]);
    EXPECT_OK(comm.Close(kLimit));
  });
  return results;
}

TEST(CoordinatorTest, TheUsersSeedIsTaken) {
  EXPECT_THAT(SeedsFor({7, 7, 7}), Each(IsOkAndHolds(uint64_t{7})));
  EXPECT_THAT(SeedsFor({~uint64_t{0}}), Each(IsOkAndHolds(~uint64_t{0})));
  // Also where only some ranks were given it, rank 0 not among them.
  EXPECT_THAT(SeedsFor({std::nullopt, 0, std::nullopt, 0}),
              Each(IsOkAndHolds(uint64_t{0})));
}

TEST(CoordinatorTest, RankZeroDrawsWhereNobodyWasGivenASeed) {
  const std::vector<absl::StatusOr<uint64_t>> first =
      SeedsFor({std::nullopt, std::nullopt, std::nullopt});
  ASSERT_OK(first[0]);
  EXPECT_THAT(first, Each(IsOkAndHolds(*first[0])));
  // Another job draws another one, but for one chance in 2^32.
  const std::vector<absl::StatusOr<uint64_t>> second =
      SeedsFor({std::nullopt, std::nullopt});
  ASSERT_OK(second[0]);
  EXPECT_NE(*first[0], *second[0]);
}

TEST(CoordinatorTest, DifferentSeedsAreRefused) {
  for (const absl::StatusOr<uint64_t>& seed :
       SeedsFor({1, std::nullopt, 2, 1})) {
    EXPECT_THAT(seed, StatusIs(absl::StatusCode::kFailedPrecondition,
                               Eq("start: ranks disagree on seed: 1 on ranks "
                                  "0, 3; 2 on rank 2")));
    EXPECT_EQ(ExitCodeOf(seed.status()), ExitCode::kUsage);
  }
}

TEST(CoordinatorTest, GivesItsCommunicator) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  Coordinator coordinator(comm.get(), kLimit);
  EXPECT_EQ(&coordinator.communicator(), comm.get());
}

}  // namespace
}  // namespace millrace::distributed
