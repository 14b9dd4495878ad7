// `inspect digest` on MPI ranks: the same text for any number of them.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace millrace {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

SubprocessResult Digest(int ranks, int workers, const std::string& data,
                        std::vector<std::string> more) {
  std::vector<std::string> argv = {"mpirun",
                                   "-n",
                                   absl::StrCat(ranks),
                                   "tools/inspect",
                                   "digest",
                                   "--data=" + data,
                                   "--image_size=64",
                                   "--seed=1",
                                   "--epoch=0",
                                   absl::StrCat("--workers=", workers)};
  argv.insert(argv.end(), more.begin(), more.end());
  return RunProcess(WithMpi(argv), {.limit = absl::Minutes(3)});
}

void ExpectOneText(const std::string& data,
                   const std::vector<std::string>& more,
                   const std::string& pattern) {
  std::string expected;
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int workers : {0, 1, 4}) {
      // One row and one column of the table, and its far corner.
      if (ranks != 1 && workers != 1 && !(ranks == 4 && workers == 4)) continue;
      const SubprocessResult result = Digest(ranks, workers, data, more);
      ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
      if (expected.empty()) expected = result.out;
      EXPECT_EQ(result.out, expected)
          << ranks << " ranks, " << workers << " workers";
    }
  }
  EXPECT_THAT(expected, MatchesRegex(pattern));
}

TEST(InspectMpirunTest, DigestsAreTheSameOnAnyNumberOfRanks) {
  const TempDir dir;
  for (int i = 0; i < 30; ++i) {
    dir.Write(absl::StrCat("c", i % 3, "/", i, ".jpg"),
              TestJpeg(60 + i, 90 - i, i));
  }
  ExpectOneText(
      dir.path(),
      {"--global_batch_size=8", "--tail=short", "--augment=train_full"},
      "batch 0 [^\n]*\nbatch 1 [^\n]*\nbatch 2 [^\n]*\n"
      "batch 3 indices=[0-9a-f]{32} pixels=[0-9a-f]{32}\n");
}

TEST(InspectMpirunTest, ABadFileEndsAllRanksWithItsPathAndCode3) {
  const TempDir dir;
  for (int i = 0; i < 7; ++i) {
    dir.Write(absl::StrCat("a/", i, ".jpg"), TestJpeg(20, 20, i));
  }
  const std::string bad = dir.Write("a/7.jpg", "no image");
  const SubprocessResult result =
      Digest(3, 2, dir.path(), {"--global_batch_size=4"});
  EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr(bad));
}

TEST(InspectMpirunRealDataTest, DigestsOfPhotographsAreTheSame) {
  const char* const root = std::getenv("MILLRACE_REAL_DATA");
  const std::string sets[] = {"sign-digits/train", "imagenet-sample"};
  for (const std::string& set : sets) {
    if (root == nullptr ||
        !std::filesystem::exists(absl::StrCat(root, "/", set))) {
      GTEST_SKIP() << "MILLRACE_REAL_DATA names no folder with " << set;
    }
    ExpectOneText(absl::StrCat(root, "/", set), {"--steps=3"},
                  "batch 0 [^\n]*\nbatch 1 [^\n]*\nbatch 2 [^\n]*\n");
  }
}

}  // namespace
}  // namespace millrace
