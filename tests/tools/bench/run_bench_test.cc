#include "tools/bench/run_bench.h"

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/bench/bench_task.h"

namespace millrace::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunBenchTest : public testing::Test {
 protected:
  RunBenchTest() {
    for (int i = 0; i < 10; ++i) {
      dir_.Write(absl::StrCat(i % 2, "/", i, ".jpg"), TestJpeg(30, 40 + i, i));
    }
  }

  BenchOptions Options(const char* task, std::optional<int> workers) const {
    absl::StatusOr<BenchTask> found = FindBenchTask(task);
    EXPECT_OK(found);
    BenchOptions options;
    options.data = dir_.path();
    options.task = *std::move(found);
    options.batch_size = 4;
    options.image_size = 16;
    options.workers = workers;
    options.measure.epochs = 5;
    options.json = true;
    return options;
  }

  static absl::StatusOr<std::string> Run(const BenchOptions& options) {
    std::ostringstream out;
    absl::Status status = RunBench(options, Clock::Real(), out);
    if (!status.ok()) return status;
    return out.str();
  }

  const TempDir dir_;
};

TEST_F(RunBenchTest, EachTaskPrintsALineOfValidJson) {
  for (const char* task :
       {"basic", "full", "eval", "read", "t1", "t2", "t3", "t4"}) {
    for (const int workers : {0, 1, 3}) {
      ASSERT_OK_AND_ASSIGN(const std::string text, Run(Options(task, workers)));
      EXPECT_EQ(text.find('\n'), text.size() - 1);
      const nlohmann::json json = nlohmann::json::parse(text);
      EXPECT_EQ(json["task"], task);
      EXPECT_EQ(json["images"], 50) << task << ", " << workers << " workers";
      EXPECT_EQ(json["intervals"], 5);
      EXPECT_GT(json["images_per_s"], 0);
      EXPECT_GT(json["cpu_ms_per_image"], 0);
      EXPECT_GT(json["first_batch_s"], 0);
      EXPECT_GT(json["mb_per_s"], 0);
      EXPECT_GE(json["wait_share"], 0);
      EXPECT_TRUE(json["pss_mib"].is_null() || json["pss_mib"] > 0);
    }
  }
}

TEST_F(RunBenchTest, MeasuresByTimeAndPrintsATable) {
  BenchOptions options = Options("basic", 2);
  options.measure = {.duration = absl::Milliseconds(50),
                     .intervals = 5,
                     .warm_up = absl::ZeroDuration()};
  options.json = false;
  EXPECT_THAT(
      Run(options),
      IsOkAndHolds(
          AllOf(HasSubstr("task basic: RandomResizedCrop(16)"),
                HasSubstr(dir_.path()),
                HasSubstr("batch size 4, workers 2, prefetch 2, order feistel"),
                HasSubstr("images in 5 intervals"), HasSubstr("images/s"))));
}

TEST_F(RunBenchTest, BatchesLargerThanTheSetAreEpochs) {
  BenchOptions options = Options("basic", 1);
  options.batch_size = 64;
  ASSERT_OK_AND_ASSIGN(const std::string text, Run(options));
  EXPECT_EQ(nlohmann::json::parse(text)["images"], 50);
}

TEST_F(RunBenchTest, ABadFileIsAnErrorAndNoNumber) {
  const std::string jpeg = TestJpeg(30, 40);
  const std::string bad =
      dir_.Write("1/bad.jpg", jpeg.substr(0, jpeg.size() / 2));
  const absl::Status status = Run(Options("basic", 2)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(bad)));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

TEST_F(RunBenchTest, AnEmptyFileCanNotBeReadFast) {
  const std::string empty = dir_.Write("1/empty.jpg", "");
  for (const int workers : {0, 1, 3}) {
    EXPECT_THAT(Run(Options("read", workers)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(empty)));
  }
}

TEST_F(RunBenchTest, RefusesOptionsOutOfRange) {
  for (const char* task : {"basic", "read"}) {
    BenchOptions options = Options(task, 1);
    options.batch_size = -1;
    EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("batch_size")));
    options = Options(task, 1);
    options.measure.epochs = -1;
    EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("epochs")));
    options = Options(task, 1);
    options.data = dir_.Join("nowhere");
    EXPECT_THAT(Run(options),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
  }
  BenchOptions options = Options("basic", 1);
  options.image_size = -1;
  EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument));
  options = Options("basic", 1);
  options.prefetch = 0;
  EXPECT_THAT(Run(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("prefetch_factor")));
}

}  // namespace
}  // namespace millrace::tools
