#include "tools/inspect/digest.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "distributed/communicator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/run_in_world.h"

namespace millrace::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

class DigestTest : public testing::Test {
 protected:
  DigestTest() {
    for (int i = 0; i < 10; ++i) {
      dir_.Write(absl::StrCat(i % 2, "/", i, ".jpg"), TestJpeg(30, 40 + i, i));
    }
    options_.data = dir_.path();
    options_.image_size = 16;
    options_.batch_size = 4;
    options_.seed = 1;
    options_.workers = 1;
  }

  // What all ranks of a job print together, and the job's end.
  absl::StatusOr<std::string> Run(const DigestOptions& options, int world = 1) {
    std::ostringstream out;  // Rank 0's alone.
    absl::Status job;
    RunRanks(world, [&](distributed::Communicator& communicator) {
      const absl::Status status =
          RunIn(communicator, [&](distributed::Communicator& inner) {
            return RunDigest(options, inner, out);
          });
      if (communicator.rank() == 0) job = status;
    });
    if (!job.ok()) return job;
    return out.str();
  }

  const TempDir dir_;
  DigestOptions options_;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  return lines;
}

TEST_F(DigestTest, PrintsALineForEachGlobalBatch) {
  ASSERT_OK_AND_ASSIGN(const std::string text, Run(options_));
  EXPECT_THAT(
      Lines(text),
      ElementsAre(
          MatchesRegex("batch 0 indices=[0-9a-f]{32} pixels=[0-9a-f]{32}"),
          MatchesRegex("batch 1 indices=[0-9a-f]{32} pixels=[0-9a-f]{32}")));
}

TEST_F(DigestTest, PrintsTheSameForAnyRanksWorkersAndPrefetch) {
  options_.tail = distributed::Tail::kShort;
  options_.epoch = 2;
  ASSERT_OK_AND_ASSIGN(const std::string expected, Run(options_));
  EXPECT_THAT(Lines(expected), SizeIs(3));
  for (const int world : {1, 2, 3}) {
    for (const int workers : {0, 3}) {
      DigestOptions options = options_;
      options.workers = workers;
      options.prefetch = 1 + world;
      EXPECT_THAT(Run(options, world), IsOkAndHolds(expected));
    }
  }
}

TEST_F(DigestTest, StepsAreTheFirstOnes) {
  ASSERT_OK_AND_ASSIGN(const std::string all, Run(options_));
  options_.steps = 1;
  EXPECT_THAT(Run(options_), IsOkAndHolds(Lines(all)[0] + "\n"));
  options_.steps = 99;
  EXPECT_THAT(Run(options_), IsOkAndHolds(all));
}

TEST_F(DigestTest, OptionsThatDecideTheStreamChangeTheText) {
  std::vector<std::string> texts;
  const auto add = [&](const DigestOptions& options) {
    ASSERT_OK_AND_ASSIGN(const std::string text, Run(options));
    EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 0);
    texts.push_back(text);
  };
  add(options_);
  DigestOptions other = options_;
  other.seed = 2;
  add(other);
  other = options_;
  other.epoch = 1;
  add(other);
  other = options_;
  other.order = distributed::Order::kTorch;
  add(other);
  other = options_;
  other.tail = distributed::Tail::kPad;
  add(other);
  other = options_;
  other.augment = "eval";
  add(other);
  other = options_;
  other.image_size = 17;
  add(other);
  other = options_;
  other.batch_size = 5;
  add(other);
}

TEST_F(DigestTest, RefusesOptionsOutOfRange) {
  DigestOptions options = options_;
  options.steps = -1;
  EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("steps = -1")));
  options = options_;
  options.batch_size = 0;
  EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("batch_size")));
  options = options_;
  options.epoch = -3;
  EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("epoch -3")));
  options = options_;
  options.augment = "none";
  EXPECT_THAT(Run(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("none")));
}

TEST_F(DigestTest, ABadFileEndsTheJobOfAllRanks) {
  dir_.Write("1/bad.jpg", "not an image");
  options_.batch_size = 11;
  const absl::Status status = Run(options_, 3).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr(dir_.Join("1/bad.jpg"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

}  // namespace
}  // namespace millrace::tools
