// The program train, alone and under mpirun, as a user starts it.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/images.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace millrace {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

class TrainCliTest : public testing::Test {
 protected:
  TrainCliTest() {
    for (const char* part : {"train", "val"}) {
      for (int i = 0; i < 26; ++i) {
        dir_.Write(absl::StrCat(part, "/", i % 3, "/", i, ".jpg"),
                   TestJpeg(20, 24, i));
      }
    }
  }

  // A small run's command line: 3 steps an epoch.
  std::vector<std::string> Command(const std::vector<std::string>& more) {
    std::vector<std::string> command = {"tools/train",
                                        "--data=" + dir_.path(),
                                        "--image_size=16",
                                        "--epochs=2",
                                        "--seed=1",
                                        "--norm=group",
                                        "--intra_op_threads=1",
                                        "--workers=1",
                                        "--device=cpu",
                                        "--global_batch_size=8"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  SubprocessResult RunOn(int ranks, const std::vector<std::string>& more) {
    return RunProcess(
        ranks == 0 ? Command(more) : OnRanks(ranks, Command(more)),
        {.limit = absl::Minutes(4)});
  }

  static std::vector<std::string> OnRanks(int ranks,
                                          std::vector<std::string> command) {
    command.insert(command.begin(), {"mpirun", "-n", absl::StrCat(ranks)});
    return WithMpi(command);
  }

  // Kills mpirun and all ranks: whatever has the test's folder among its
  // arguments.
  void KillRun() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0 || pid == getpid()) continue;
      std::ifstream file(entry.path() / "cmdline");
      const std::string arguments((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
      if (absl::StrContains(arguments, dir_.path())) kill(pid, SIGKILL);
    }
  }

  static std::vector<Json> Lines(const std::string& path) {
    std::vector<Json> lines;
    for (absl::string_view line :
         absl::StrSplit(ReadFileOrDie(path), '\n', absl::SkipEmpty())) {
      lines.push_back(Json::parse(line.begin(), line.end()));
    }
    return lines;
  }

  TempDir dir_;
};

TEST_F(TrainCliTest, TrainsAloneAndOnRanksTheSame) {
  // 0: without mpirun.
  std::vector<std::vector<Json>> all;
  std::vector<std::string> digests;
  for (const int ranks : {0, 1, 2, 3}) {
    const std::string metrics = dir_.Join(absl::StrCat("m", ranks));
    const std::string digest = dir_.Join(absl::StrCat("d", ranks));
    const SubprocessResult result =
        RunOn(ranks, {"--precision=fp64", "--metrics_json=" + metrics,
                      "--metrics_steps", "--digest_log=" + digest});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("done after 2 of 2 epochs"));
    EXPECT_THAT(result.err,
                HasSubstr(absl::StrCat("ranks: ", std::max(1, ranks))));
    all.push_back(Lines(metrics));
    digests.push_back(ReadFileOrDie(digest));
  }
  EXPECT_THAT(digests, testing::Each(digests[0]));
  for (const std::vector<Json>& lines : all) {
    // Three steps and an epoch, twice, and the summary.
    ASSERT_EQ(lines.size(), 9u);
    EXPECT_EQ(lines.back()["type"], "summary");
    EXPECT_EQ(lines.back()["val_accuracy"], all[0].back()["val_accuracy"]);
    EXPECT_EQ(lines.back()["val_images"], 26);
    for (int k = 0; k < 3; ++k) {
      const double loss = all[0][k]["loss"];
      EXPECT_NEAR(lines[k]["loss"].get<double>(), loss, 1e-9 * loss);
    }
  }
}

TEST_F(TrainCliTest, ARerunOnTwoRanksIsBitEqual) {
  std::vector<Json> parameters;
  for (const char* name : {"a", "b"}) {
    const std::string metrics = dir_.Join(name);
    ASSERT_EQ(RunOn(2, {"--norm=batch", "--metrics_json=" + metrics}).exit_code,
              0);
    parameters.push_back(Lines(metrics).back()["parameters"]);
  }
  EXPECT_EQ(parameters[0], parameters[1]);
}

TEST_F(TrainCliTest, AKilledRunGoesOnOnAnotherNumberOfRanks) {
  const std::string unbroken = dir_.Join("unbroken");
  ASSERT_EQ(RunOn(1, {"--epochs=40", "--digest_log=" + unbroken}).exit_code, 0);
  const std::string broken = dir_.Join("broken");
  const std::vector<std::string> flags = {
      "--epochs=40", "--digest_log=" + broken,
      "--checkpoint_dir=" + dir_.Join("c"), "--checkpoint_every_steps=2",
      "--resume=auto"};
  {
    Subprocess process(OnRanks(2, Command(flags)), {.limit = absl::Minutes(4)});
    // Plain lines on standard output: the first epoch is over.
    ASSERT_TRUE(process.WaitForLine("epoch 2/40"));
    KillRun();
    EXPECT_NE(process.Wait().exit_code, 0);
  }
  const SubprocessResult resumed = RunOn(3, flags);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("going on from "));
  EXPECT_EQ(ReadFileOrDie(broken), ReadFileOrDie(unbroken));
}

TEST_F(TrainCliTest, SigtermSavesAndExitsWith143) {
  const std::vector<std::string> flags = {"--epochs=1000000",
                                          "--checkpoint_dir=" + dir_.Join("c"),
                                          "--resume=auto"};
  Subprocess process(Command(flags), {.limit = absl::Minutes(4)});
  ASSERT_TRUE(process.WaitForLine("epoch 1/"));
  kill(process.pid(), SIGTERM);
  const SubprocessResult result = process.Wait();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("stopped by SIGTERM after epoch"),
                                EndsWith("goes on from there\n")));
  EXPECT_FALSE(std::filesystem::is_empty(dir_.Join("c")));
}

TEST_F(TrainCliTest, BadInputHasACodeAndALastLine) {
  const struct {
    std::vector<std::string> flags;
    int code;
    const char* last_line;
  } cases[] = {
      {{"--help"}, 0, ""},
      {{"--no_such_flag=1"}, 2, "unknown flag --no_such_flag"},
      {{"--epochs=many"}, 2, "flag --epochs=many"},
      {{"--epochs=0"}, 2, "--epochs=0: want 1 to"},
      {{"--model=resnet34"}, 2, "--model=resnet34: want one of"},
      {{"--device=cuda"}, 2, "--device=cuda"},
      {{"--resume=auto"}, 2, "--resume=auto needs --checkpoint_dir"},
      {{"--global_batch_size=27"}, 2, "27"},
      {{"--data=/does/not/exist"}, 3, "/does/not/exist/train"},
      {{"--resume=/does/not/exist"}, 3, "/does/not/exist"},
      {{"--metrics_json=/does/not/exist"}, 2, "/does/not/exist"},
      {{"stray"}, 2, "unexpected argument stray"},
  };
  for (const auto& [flags, code, last_line] : cases) {
    const SubprocessResult result = RunOn(0, flags);
    EXPECT_EQ(result.exit_code, code) << flags[0] << ": " << result.err;
    const std::vector<std::string> lines =
        absl::StrSplit(result.err, '\n', absl::SkipEmpty());
    EXPECT_THAT(lines.empty() ? "" : lines.back(), HasSubstr(last_line));
  }
}

TEST_F(TrainCliTest, ADataErrorOfOneRankEndsAllWithItsReason) {
  dir_.Write("train/1/7.jpg", "\xFF\xD8\xFF no picture");
  const SubprocessResult result = RunOn(2, {});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("train/1/7.jpg"));
}

}  // namespace
}  // namespace millrace
