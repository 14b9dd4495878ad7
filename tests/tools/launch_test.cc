// Exit codes and last lines of `launch`, over mpirun where there are several
// ranks. The programs are shell scripts, which stand for any program.

#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"

namespace millrace::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// `arguments` of launch, and a script for sh.
std::vector<std::string> LaunchCommand(std::vector<std::string> arguments,
                                       const std::string& script) {
  std::vector<std::string> command = {"tools/launch"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"sh", "-c", script});
  return WithMpi(command);
}

SubprocessResult Launch(const std::vector<std::string>& arguments,
                        const std::string& script) {
  return RunProcess(LaunchCommand(arguments, script));
}

std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  return lines.empty() ? "" : lines.back();
}

TEST(LaunchTest, OneRankRunsWithoutMpi) {
  const SubprocessResult result =
      Launch({"-n", "1"}, "echo rank=$OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "rank=\n");
  EXPECT_EQ(result.err, "");
}

TEST(LaunchTest, OneRankPassesItsCodeOn) {
  EXPECT_EQ(Launch({}, "exit 3").exit_code, 3);
  EXPECT_EQ(Launch({"-n=1"}, "exit 99").exit_code, 99);
}

TEST(LaunchTest, OneRankThatIsKilledIsLost) {
  const SubprocessResult result = Launch({}, "kill -KILL $$");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(LastLine(result.err),
              AllOf(HasSubstr("signal 9 (SIGKILL)"), HasSubstr("process "),
                    HasSubstr("probably out of memory: check dmesg")));
}

TEST(LaunchTest, OneRankGetsSignals) {
  for (const auto& [signal, code] :
       {std::pair(SIGTERM, 143), std::pair(SIGINT, 130)}) {
    // Dies of it.
    Subprocess plain({"tools/launch", "sh", "-c", "echo up; sleep 1000"});
    ASSERT_TRUE(plain.WaitForLine("up"));
    kill(plain.pid(), signal);
    EXPECT_EQ(plain.Wait().exit_code, code);
    // Ends in good order.
    Subprocess handles({"tools/launch", "sh", "-c",
                        "trap 'echo got it; exit 7' TERM INT; echo up; "
                        "while :; do sleep 0.05; done"});
    ASSERT_TRUE(handles.WaitForLine("up"));
    kill(handles.pid(), signal);
    const SubprocessResult result = handles.Wait();
    EXPECT_THAT(result.out, HasSubstr("got it"));
    EXPECT_EQ(result.exit_code, 7);
  }
}

TEST(LaunchTest, SeveralRanksRun) {
  const SubprocessResult result =
      Launch({"-n", "3"}, "echo rank=$OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* line : {"rank=0\n", "rank=1\n", "rank=2\n"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
}

TEST(LaunchTest, TheCodeIsThatOfTheCause) {
  const SubprocessResult result =
      Launch({"-n", "3"},
             "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exit 3; fi; sleep 1000");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  // After all that mpirun has to say.
  EXPECT_THAT(LastLine(result.err),
              ContainsRegex("rank 1 \\(.+\\) exited with code 3"));
}

TEST(LaunchTest, AProgramsOwnReasonIsTheLastLine) {
  const SubprocessResult result =
      Launch({"-n", "2"},
             "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then "
             "printf '4\\nrank 1 (h): shard 3: checksum' "
             "> $MILLRACE_STATUS_FILE; exit 4; fi; sleep 1000");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(LastLine(result.err), HasSubstr("rank 1 (h): shard 3: checksum"));
}

TEST(LaunchTest, ARankThatIsKilledIsNamed) {
  const SubprocessResult result = Launch(
      {"-n", "2"},
      "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then kill -KILL $$; fi; sleep 1000");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(LastLine(result.err),
              AllOf(ContainsRegex("rank 1 \\(.+\\) was killed"),
                    HasSubstr("signal 9 (SIGKILL)")));
  const SubprocessResult crashed = Launch(
      {"-n", "2"},
      "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then kill -SEGV $$; fi; sleep 1000");
  EXPECT_EQ(crashed.exit_code, 5) << crashed.err;
  EXPECT_THAT(LastLine(crashed.err),
              AllOf(HasSubstr("rank 0"), HasSubstr("SIGSEGV"),
                    Not(HasSubstr("out of memory"))));
}

TEST(LaunchTest, OneOfSeveralRanksGetsASignal) {
  for (const auto& [signal, code] :
       {std::pair(SIGTERM, 143), std::pair(SIGINT, 130)}) {
    Subprocess process(LaunchCommand(
        {"-n", "2"},
        absl::StrCat("trap \"echo rank $OMPI_COMM_WORLD_RANK stops; exit ",
                     code,
                     "\" TERM INT; echo rank $OMPI_COMM_WORLD_RANK up; "
                     "while :; do sleep 0.05; done")));
    ASSERT_TRUE(process.WaitForLine("rank 0 up"));
    ASSERT_TRUE(process.WaitForLine("rank 1 up"));
    kill(process.pid(), signal);
    const SubprocessResult result = process.Wait();
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.out, HasSubstr("rank 0 stops"));
    EXPECT_THAT(LastLine(result.err), HasSubstr("rank 0"));
  }
}

TEST(LaunchTest, ASecondSignalEndsAllRanks) {
  // Ranks that do not care for signals.
  Subprocess process(LaunchCommand(
      {"-n", "2"},
      "trap 'echo caught' TERM INT; echo rank $OMPI_COMM_WORLD_RANK up; "
      "while :; do sleep 0.05; done"));
  ASSERT_TRUE(process.WaitForLine("rank 0 up"));
  ASSERT_TRUE(process.WaitForLine("rank 1 up"));
  kill(process.pid(), SIGINT);
  ASSERT_TRUE(process.WaitForLine("caught"));
  kill(process.pid(), SIGINT);
  const SubprocessResult result = process.Wait();
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_NE(result.exit_code, 0);
}

TEST(LaunchTest, ArgumentsAfterTheProgramAreItsOwn) {
  const SubprocessResult result =
      RunProcess({"tools/launch", "-n", "1", "echo", "--n=5", "--help", "-x"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "--n=5 --help -x\n");
  EXPECT_EQ(RunProcess({"tools/launch", "--", "echo", "a b"}).out, "a b\n");
}

TEST(LaunchTest, HelpExitsWithZero) {
  const SubprocessResult result = RunProcess({"tools/launch", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("launch -n 4"), HasSubstr("hosts")));
}

TEST(LaunchTest, WrongUseExitsWith2) {
  const auto refused = [](const std::vector<std::string>& arguments,
                          const std::string& text) {
    std::vector<std::string> command = {"tools/launch"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const SubprocessResult result = RunProcess(WithMpi(command));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(LastLine(result.err), HasSubstr(text));
  };
  refused({}, "no program");
  refused({"-n", "0", "true"}, "-n must be at least 1, got 0");
  refused({"--ranks=2", "true"}, "ranks");
  refused({"-n", "1", "/no/such/program"}, "/no/such/program");
  refused({"-n", "2", "/no/such/program"}, "/no/such/program");
  refused({"-n", "2", "--mpirun=/no/mpirun", "true"}, "/no/mpirun");
  refused({"-n", "2", "--mpirun_args=--no-such-option", "true"},
          "mpirun could not start");
}

}  // namespace
}  // namespace millrace::tools
