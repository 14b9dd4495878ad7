#include "tools/training/report.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using testing::HasSubstr;

TEST(ReportTest, StepsAreWrittenWithAllDigits) {
  EXPECT_EQ(ToJson(StepReport{.epoch = 1,
                              .step = 2,
                              .images = 64,
                              .loss = 0.1 + 0.2,
                              .learning_rate = 0.05}),
            R"({"type":"step","epoch":1,"step":2,"images":64,)"
            R"("loss":0.30000000000000004,"learning_rate":0.05,)"
            R"("skipped":false})");
  EXPECT_THAT(
      ToJson(StepReport{.loss = std::numeric_limits<double>::quiet_NaN(),
                        .skipped = true}),
      HasSubstr(R"("loss":null)"));
}

TEST(ReportTest, EpochHasTrainingSpeedAndValidation) {
  const EpochReport report = {
      .epoch = 2,
      .epochs = 20,
      .train_loss = 1.5,
      .train_accuracy = 0.75,
      .skipped_steps = 1,
      .learning_rate = 0.125,
      .speed = {.images = 1000, .time = absl::Seconds(2), .wait_share = 0.25},
      .hidden_share = 0.5,
      .validation = {.images = 400,
                     .loss = 0.5,
                     .accuracy = 0.875,
                     .top5_accuracy = 1},
      .parameters = "abc"};
  EXPECT_EQ(ToJson(report),
            R"({"type":"epoch","epoch":2,"epochs":20,"train_loss":1.5,)"
            R"("train_accuracy":0.75,"skipped_steps":1,"learning_rate":0.125,)"
            R"("images":1000,"train_seconds":2.0,"images_per_s":500.0,)"
            R"("wait_share":0.25,"hidden_share":0.5,"val_images":400,)"
            R"("val_loss":0.5,"val_accuracy":0.875,"val_top5_accuracy":1.0,)"
            R"("parameters":"abc"})");
  EXPECT_EQ(ToText(report),
            "epoch 3/20: loss 1.5000, accuracy 0.7500, validation loss 0.5000, "
            "accuracy 0.8750 (top 5 1.0000); 500 images/s, waiting for data "
            "25.0%; steps left out: 1");
}

TEST(ReportTest, SummaryOfAStoppedRunHasNoAccuracy) {
  TrainSummary summary;
  summary.epochs_done = 0;
  summary.epochs = 20;
  summary.stopped_by = "SIGTERM";
  summary.ranks = 2;
  summary.seed = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(ToJson(summary),
            R"({"type":"summary","epochs_done":0,"epochs":20,)"
            R"("stopped_by":"SIGTERM","ranks":2,"seed":18446744073709551615,)"
            R"("val_images":null,"val_loss":null,"val_accuracy":null,)"
            R"("val_top5_accuracy":null,"images":0,"train_seconds":0.0,)"
            R"("images_per_s":0.0,"wait_share":0.0,"total_seconds":0.0,)"
            R"("parameters":""})");
  EXPECT_THAT(ToText(summary), HasSubstr("stopped by SIGTERM after 0 of 20"));
}

TEST(ReportTest, SummaryOfADoneRunHasItsAccuracy) {
  TrainSummary summary;
  summary.epochs_done = summary.epochs = 20;
  summary.validation = ValidationReport{.images = 409, .accuracy = 0.98};
  EXPECT_THAT(ToJson(summary), AllOf(HasSubstr(R"("stopped_by":null)"),
                                     HasSubstr(R"("val_accuracy":0.98)")));
  EXPECT_THAT(ToText(summary),
              HasSubstr("done after 20 of 20 epochs: validation accuracy "
                        "0.9800 (409 images)"));
}

TEST(ReportTest, MetricsGoOnAtTheCheckpoint) {
  const TempDir dir;
  const auto step = [](int64_t epoch, int64_t at) {
    return ToJson(StepReport{.epoch = epoch, .step = at}) + "\n";
  };
  const std::string epoch0 = ToJson(EpochReport{.epoch = 0}) + "\n";
  const std::string kept = step(0, 0) + step(0, 1) + epoch0 + step(1, 0);
  for (const std::string& dropped :
       {step(1, 1), ToJson(EpochReport{.epoch = 1}) + "\n",
        ToJson(TrainSummary()) + "\n", std::string("{\"type\":3}\n"),
        std::string("no JSON\n"), std::string("[1]\n"),
        std::string("{\"type\":\"ep")}) {
    dir.Write("m", kept + dropped);
    EXPECT_OK(ContinueMetrics(dir.Join("m"), 1, 1));
    EXPECT_EQ(ReadFileOrDie(dir.Join("m")), kept) << dropped;
  }
}

}  // namespace
}  // namespace millrace::tools::training
