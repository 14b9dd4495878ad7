// The communicator conformance suite on real MPI ranks: each case that ends a
// job has a job of its own, started by mpirun.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/distributed/communicator_conformance.h"
#include "tests/support/subprocess.h"

namespace millrace::distributed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

SubprocessResult RunRanks(int ranks, const std::string& test_case) {
  return RunProcess(
      WithMpi({"mpirun", "-n", absl::StrCat(ranks),
               "tests/distributed/communicator_ranks", test_case}),
      {.limit = absl::Seconds(120)});
}

// What ranks said Close() gave them; each text once. A rank that is slow to say
// it may be ended by mpirun when another has exited, so some may be missing.
std::set<std::string> ClosedTexts(const SubprocessResult& result) {
  std::set<std::string> texts;
  for (const absl::string_view line : absl::StrSplit(result.out, '\n')) {
    const size_t found = line.find(" closed: ");
    if (absl::StartsWith(line, "rank ") && found != line.npos) {
      texts.insert(std::string(line.substr(found + 9)));
    }
  }
  return texts;
}

class CommunicatorMpirunTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorMpirunTest,
                         testing::Values(1, 2, 3, 4),
                         testing::PrintToStringParamName());

TEST_P(CommunicatorMpirunTest, ConformsWhileRunning) {
  const SubprocessResult result = RunRanks(GetParam(), "running");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.signal, 0);
  EXPECT_THAT(ClosedTexts(result), testing::ElementsAre("OK"));
}

TEST_P(CommunicatorMpirunTest, ConformsWhenEnding) {
  for (const EndingCase& ending : EndingCases()) {
    if (GetParam() < ending.min_size) continue;
    // All cases on two and three ranks, those that matter most elsewhere.
    if ((GetParam() == 1 || GetParam() == 4) &&
        ending.name != "FailsDuringSum" &&
        ending.name != "AgreesOnOneOfManyFailures") {
      continue;
    }
    SCOPED_TRACE(ending.name);
    const SubprocessResult result = RunRanks(GetParam(), ending.name);
    const std::string output = absl::StrCat(result.out, result.err);
    EXPECT_EQ(result.signal, 0) << output;
    EXPECT_THAT(output, Not(HasSubstr("Failure"))) << output;
    // mpirun passes the ranks' own code on.
    const std::set<std::string> closed = ClosedTexts(result);
    ASSERT_THAT(closed, SizeIs(1)) << output;
    const std::string code = absl::StrCat("'", result.exit_code, "'");
    if (*closed.begin() == "OK") {
      EXPECT_EQ(result.exit_code, 0) << output;
    } else {
      EXPECT_THAT(*closed.begin(), HasSubstr(code)) << output;
    }
  }
}

}  // namespace
}  // namespace millrace::distributed
