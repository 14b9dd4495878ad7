// train on real photographs: sign-digits, 2062 JPEGs of hands in 10 classes.

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace millrace {
namespace {

using Json = nlohmann::json;

class TrainRealDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const root = std::getenv("MILLRACE_REAL_DATA");
    if (root == nullptr) {
      GTEST_SKIP() << "MILLRACE_REAL_DATA names no folder with sign-digits";
    }
    data_ = absl::StrCat(root, "/sign-digits");
  }

  // The JSON lines of a run on `ranks` ranks.
  std::vector<Json> Train(int ranks, const std::vector<std::string>& more) {
    const std::string metrics = dir_.Join("metrics");
    std::vector<std::string> command = {"mpirun",
                                        "-n",
                                        absl::StrCat(ranks),
                                        "tools/train",
                                        "--data=" + data_,
                                        "--model=small_cnn",
                                        "--image_size=64",
                                        "--global_batch_size=64",
                                        "--seed=1",
                                        "--metrics_json=" + metrics};
    command.insert(command.end(), more.begin(), more.end());
    const SubprocessResult result =
        RunProcess(WithMpi(command), {.limit = absl::Minutes(12)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<Json> lines;
    if (result.exit_code != 0) return lines;
    for (absl::string_view line :
         absl::StrSplit(ReadFileOrDie(metrics), '\n', absl::SkipEmpty())) {
      lines.push_back(Json::parse(line.begin(), line.end()));
    }
    return lines;
  }

  TempDir dir_;
  std::string data_;
};

TEST_F(TrainRealDataTest, LearnsSignDigitsOnTwoRanks) {
  const std::vector<Json> lines = Train(2, {"--epochs=20"});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back()["val_images"], 409);
  EXPECT_GE(lines.back()["val_accuracy"].get<double>(), 0.95);
}

TEST_F(TrainRealDataTest, LossesAreTheSameOnAnyNumberOfRanks) {
  std::vector<std::vector<Json>> runs;
  for (const int ranks : {1, 2, 3}) {
    runs.push_back(
        Train(ranks, {"--epochs=1", "--norm=group", "--precision=fp64",
                      "--intra_op_threads=1", "--metrics_steps"}));
    // 25 steps, the epoch, the summary.
    ASSERT_EQ(runs.back().size(), 27u);
  }
  for (const std::vector<Json>& run : runs) {
    for (int step = 0; step < 25; ++step) {
      const double loss = runs[0][step]["loss"];
      EXPECT_NEAR(run[step]["loss"].get<double>(), loss, 1e-9 * loss);
    }
  }
}

TEST_F(TrainRealDataTest, ARerunIsBitEqual) {
  const std::vector<Json> first = Train(2, {"--epochs=2", "--workers=1"});
  const std::vector<Json> second = Train(2, {"--epochs=2", "--workers=3"});
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(first.back()["parameters"], second.back()["parameters"]);
  EXPECT_EQ(first.back()["val_loss"], second.back()["val_loss"]);
}

}  // namespace
}  // namespace millrace
