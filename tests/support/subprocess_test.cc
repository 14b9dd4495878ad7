#include "tests/support/subprocess.h"

#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(SubprocessTest, GivesCodeAndOutputs) {
  const SubprocessResult result =
      RunProcess({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(SubprocessTest, ReadsMoreThanAPipeHolds) {
  const SubprocessResult result = RunProcess(
      {"sh", "-c", "yes | head -c 300000; yes | head -c 300000 >&2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.size(), 300000u);
  EXPECT_EQ(result.err.size(), 300000u);
}

TEST(SubprocessTest, TellsTheSignal) {
  const SubprocessResult result = RunProcess({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(SubprocessTest, AddsToTheEnvironment) {
  EXPECT_EQ(
      RunProcess({"sh", "-c", "echo $MILLRACE_A$MILLRACE_B"},
                 {.environment = {{"MILLRACE_A", "x"}, {"MILLRACE_B", "y"}}})
          .out,
      "xy\n");
}

TEST(SubprocessTest, KillsWhatTakesTooLong) {
  const SubprocessResult result = RunProcess(
      {"sh", "-c", "sleep 1000"}, {.limit = absl::Milliseconds(100)});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(SubprocessTest, AMissingProgramExitsWith127) {
  EXPECT_EQ(RunProcess({"/no/such/program"}).exit_code, 127);
}

TEST(SubprocessTest, WaitsForALineWhileItRuns) {
  Subprocess process({"sh", "-c", "echo ready; exec sleep 1000"});
  EXPECT_TRUE(process.WaitForLine("ready"));
  kill(process.pid(), SIGINT);
  EXPECT_EQ(process.Wait().signal, SIGINT);
  Subprocess ended({"true"});
  EXPECT_FALSE(ended.WaitForLine("ready"));
  EXPECT_EQ(ended.Wait().exit_code, 0);
}

}  // namespace
}  // namespace millrace
