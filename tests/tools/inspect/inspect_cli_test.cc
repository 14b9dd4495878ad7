// The inspect program as people run it.

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

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

SubprocessResult Inspect(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tools/inspect");
  return RunProcess(arguments);
}

TEST(InspectCliTest, HelpListsSubcommandsAndExitsWith0) {
  const SubprocessResult result = Inspect({"--help"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("inspect digest"), HasSubstr("inspect classes"),
                    HasSubstr("--global_batch_size=64")));
}

TEST(InspectCliTest, MistakesAreOneLineAndExitCode2) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"digset", "--data=/d"},
      {"digest"},
      {"classes"},
      {"digest", "--data=/d", "--workers=many"},
      {"digest", "--data=/d", "--order=random"},
      {"digest", "--data=/d", "--tail=cut"},
      {"digest", "--data=/d", "--seed=-1"},
      {"digest", "--data=/d", "--no_such_flag"},
      {"digest", "--data=/d", "--steps=-1"},
      {"digest", "--data=/d", "--global_batch_size=0"},
  };
  for (const std::vector<std::string>& arguments : mistakes) {
    const SubprocessResult result = Inspect(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, MatchesRegex("error: [^\n]*\n"));
  }
}

TEST(InspectCliTest, AMissingFolderIsADataErrorWithItsPath) {
  const TempDir dir;
  for (const char* subcommand : {"digest", "classes"}) {
    const SubprocessResult result =
        Inspect({subcommand, "--data=" + dir.Join("none")});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.err, HasSubstr(dir.Join("none")));
  }
}

TEST(InspectCliTest, ClassesPrintsLabelNameAndCount) {
  const TempDir dir;
  dir.Write("dog/1.jpg", TestJpeg(20, 20));
  dir.Write("dog/2.jpg", "never opened");
  dir.Write("cat/1.jpg", TestJpeg(20, 20));
  const SubprocessResult result = Inspect({"classes", "--data=" + dir.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "0\tcat\t1\n1\tdog\t2\n");
}

TEST(InspectCliTest, ABadImageEndsDigestWithCode3AfterTheGoodBatches) {
  const TempDir dir;
  for (int i = 0; i < 4; ++i) {
    dir.Write(absl::StrCat("a/", i, ".jpg"), TestJpeg(20, 20, i));
  }
  const std::string bad = dir.Write("a/4.jpg", "no image");
  const SubprocessResult result = Inspect(
      {"digest", "--data=" + dir.path(), "--order=sequential", "--tail=short",
       "--global_batch_size=2", "--image_size=8", "--workers=2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, MatchesRegex("batch 0 [^\n]*\nbatch 1 [^\n]*\n"));
  EXPECT_THAT(result.err, HasSubstr(bad));
}

}  // namespace
}  // namespace millrace
