#include "tools/command_line.h"

#include <stdlib.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "base/exit_code.h"
#include "distributed/exit_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

ABSL_FLAG(int, epochs, 10,
          "Passes over the training set, more than 0. This help is long enough "
          "to be broken into several lines by the help text.");
ABSL_FLAG(std::string, data, "", "Folder with train/ and val/.");
ABSL_FLAG(bool, pin_memory, false, "Pin batches.");
ABSL_FLAG(double, learning_rate, 0.1, "Peak rate.");

namespace millrace::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CommandLineTest : public testing::Test {
 private:
  absl::FlagSaver saver_;
};

std::vector<char*> Argv(std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return argv;
}

[[noreturn]] void ParseAndExitWith77(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/somewhere/bin/train");
  std::vector<char*> argv = Argv(arguments);
  ParseCommandLine(static_cast<int>(argv.size()), argv.data(), "Trains.");
  exit(77);
}

TEST_F(CommandLineTest, TakesValuesAfterEqualsSignAndAsNextArgument) {
  ASSERT_OK(
      ParseArguments({"--epochs=3", "--data", "/d", "-learning_rate=0.5"}, {}));
  EXPECT_EQ(absl::GetFlag(FLAGS_epochs), 3);
  EXPECT_EQ(absl::GetFlag(FLAGS_data), "/d");
  EXPECT_EQ(absl::GetFlag(FLAGS_learning_rate), 0.5);
}

TEST_F(CommandLineTest, TakesNegativeNumberAsNextArgument) {
  ASSERT_OK(ParseArguments({"--epochs", "-3"}, {}));
  EXPECT_EQ(absl::GetFlag(FLAGS_epochs), -3);
}

TEST_F(CommandLineTest, TakesEmptyValue) {
  absl::SetFlag(&FLAGS_data, "/d");
  ASSERT_OK(ParseArguments({"--data="}, {}));
  EXPECT_EQ(absl::GetFlag(FLAGS_data), "");
}

TEST_F(CommandLineTest, BooleansNeedNoValueAndTakeNo) {
  ASSERT_OK(ParseArguments({"--pin_memory"}, {}));
  EXPECT_TRUE(absl::GetFlag(FLAGS_pin_memory));
  ASSERT_OK(ParseArguments({"--nopin_memory"}, {}));
  EXPECT_FALSE(absl::GetFlag(FLAGS_pin_memory));
  ASSERT_OK(ParseArguments({"--pin_memory=yes"}, {}));
  EXPECT_TRUE(absl::GetFlag(FLAGS_pin_memory));
}

TEST_F(CommandLineTest, LastOfARepeatedFlagCounts) {
  ASSERT_OK(ParseArguments({"--epochs=3", "--epochs=4"}, {}));
  EXPECT_EQ(absl::GetFlag(FLAGS_epochs), 4);
}

TEST_F(CommandLineTest, ReturnsPositionalArgumentsInOrder) {
  ASSERT_OK_AND_ASSIGN(
      const ParsedCommandLine parsed,
      ParseArguments({"digest", "--epochs=3", "-", "--", "--data"},
                     {.max_positional = 3}));
  EXPECT_THAT(parsed.positional, ElementsAre("digest", "-", "--data"));
  EXPECT_FALSE(parsed.help);
}

TEST_F(CommandLineTest, RefusesUnexpectedPositionalArgument) {
  EXPECT_THAT(ParseArguments({"data=/d"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unexpected argument data=/d")));
}

TEST_F(CommandLineTest, RefusesMissingPositionalArgument) {
  EXPECT_THAT(
      ParseArguments({}, {.min_positional = 1, .max_positional = 1}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 1")));
}

TEST_F(CommandLineTest, RefusesUnknownFlagNamingTheNearest) {
  EXPECT_THAT(
      ParseArguments({"--epoch=3"}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("unknown flag --epoch=3; did you mean --epochs?")));
  EXPECT_THAT(ParseArguments({"--zzzzzzzz"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("unknown flag --zzzzzzzz"),
                             Not(HasSubstr("did you mean")))));
}

TEST_F(CommandLineTest, RefusesNoOnOtherThanBooleans) {
  EXPECT_THAT(ParseArguments({"--noepochs"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown flag --noepochs")));
}

TEST_F(CommandLineTest, RefusesMissingValue) {
  EXPECT_THAT(ParseArguments({"--epochs"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("flag --epochs needs a value")));
}

TEST_F(CommandLineTest, RefusesValueOfAnotherTypeNamingFlagAndValue) {
  EXPECT_THAT(
      ParseArguments({"--epochs=many"}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("--epochs=many"), Not(HasSubstr("\n")))));
  EXPECT_THAT(
      ParseArguments({"--epochs", ""}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--epochs=:")));
}

TEST_F(CommandLineTest, SeesHelpBeforeLaterMistakes) {
  for (const char* flag : {"--help", "-h", "-help"}) {
    ASSERT_OK_AND_ASSIGN(const ParsedCommandLine parsed,
                         ParseArguments({flag, "--nonsense"}, {}));
    EXPECT_TRUE(parsed.help);
  }
}

TEST_F(CommandLineTest, HelpShowsOwnFlagsInTheirGroups) {
  EXPECT_EQ(HelpText("/somewhere/bin/train", "Trains a model.",
                     {.groups = {{"Data", {"data"}},
                                 {"Training", {"learning_rate", "epochs"}}}}),
            R"(train: Trains a model.

Data:
  --data=
      Folder with train/ and val/.

Training:
  --learning_rate=0.1
      Peak rate.
  --epochs=10
      Passes over the training set, more than 0. This help is long enough to be
      broken into several lines by the help text.

Other:
  --pin_memory=false
      Pin batches.
)");
}

TEST_F(CommandLineTest, HelpWithoutGroupsSortsFlagsByName) {
  const std::string text = HelpText("train", "Trains.", {});
  EXPECT_LT(text.find("--data"), text.find("--epochs"));
  EXPECT_LT(text.find("--epochs"), text.find("--learning_rate"));
  EXPECT_THAT(text, Not(HasSubstr("flagfile")));
}

TEST_F(CommandLineTest, MistakesEndTheProcessWithCode2AndOneLine) {
  EXPECT_EXIT(ParseAndExitWith77({"--epochs=3", "--bogus_flag"}),
              ExitedWithCode(2), "^error: unknown flag --bogus_flag[^\n]*\n$");
  EXPECT_EXIT(ParseAndExitWith77({"--epochs=x"}), ExitedWithCode(2),
              "^error: flag --epochs=x: [^\n]*\n$");
}

TEST_F(CommandLineTest, HelpEndsTheProcessWithCode0) {
  EXPECT_EXIT(ParseAndExitWith77({"--help"}), ExitedWithCode(0), "^$");
}

TEST_F(CommandLineTest, GoodArgumentsReturn) {
  EXPECT_EXIT(ParseAndExitWith77({"--epochs=3"}), ExitedWithCode(77), "^$");
}

TEST_F(CommandLineTest, ResolvesRelativePathsOnlyUnderBazelRun) {
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(ResolvePath("d/train"), "d/train");
  setenv("BUILD_WORKING_DIRECTORY", "/home/user", 1);
  EXPECT_EQ(ResolvePath("d/train"), "/home/user/d/train");
  EXPECT_EQ(ResolvePath("/abs"), "/abs");
  EXPECT_EQ(ResolvePath(""), "");
  EXPECT_EQ(ResolveDatasetUri("folder:d"), "folder:/home/user/d");
  EXPECT_EQ(ResolveDatasetUri("folder:/d"), "folder:/d");
  EXPECT_EQ(ResolveDatasetUri("d/a:b"), "/home/user/d/a:b");
  EXPECT_EQ(ResolveDatasetUri("data"), "/home/user/data");
  unsetenv("BUILD_WORKING_DIRECTORY");
}

TEST_F(CommandLineTest, ExitCodeIsTheOneOfTheStatus) {
  EXPECT_EQ(ExitWith(absl::OkStatus()), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ExitWith(absl::DataLossError("reading sample 3: truncated")), 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "error: reading sample 3: truncated\n");
}

TEST_F(CommandLineTest, AnErrorIsReportedToTheLauncher) {
  const TempDir dir;
  setenv("MILLRACE_STATUS_FILE", dir.Join("status").c_str(), 1);
  EXPECT_EQ(ExitWith(absl::OkStatus()), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ExitWith(absl::DataLossError("reading sample 3: truncated")), 3);
  testing::internal::GetCapturedStderr();
  unsetenv("MILLRACE_STATUS_FILE");
  ASSERT_OK_AND_ASSIGN(const std::optional<distributed::ExitStatus> status,
                       distributed::ReadExitStatus(dir.Join("status")));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, ExitCode::kData);
  EXPECT_EQ(status->message, "reading sample 3: truncated");
}

}  // namespace
}  // namespace millrace::tools
