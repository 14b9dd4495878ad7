#include "tools/training/trainer.h"

#include <signal.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "distributed/communicator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/images.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using distributed::Communicator;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using Json = nlohmann::json;

// What each rank's Train() returned.
using Results = std::vector<absl::StatusOr<TrainSummary>>;

class TrainerTest : public testing::Test {
 protected:
  static constexpr int kTrainImages = 26;
  static constexpr int kValImages = 11;
  static constexpr int64_t kBatchSize = 8;
  // Steps of an epoch: 26 / 8, the rest dropped.
  static constexpr int64_t kSteps = 3;

  TrainerTest() {
    WriteImages("train", kTrainImages);
    WriteImages("val", kValImages);
    SetLogSink([this](absl::string_view line) { log_ += std::string(line); });
  }
  ~TrainerTest() override { SetLogSink(nullptr); }

  // `count` JPEGs in the classes a, b and c.
  void WriteImages(const std::string& folder, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i % 3));
      dir_.Write(absl::StrCat(folder, "/", name, "/", i, ".jpg"),
                 TestJpeg(20 + i % 3, 24, i));
    }
  }

  // A run that comes out the same on any number of ranks, but for rounding.
  TrainOptions Options() {
    TrainOptions options;
    options.train_data = dir_.Join("train");
    options.val_data = dir_.Join("val");
    options.image_size = 16;
    options.norm = Norm::kGroup;
    options.precision = Precision::kFloat64;
    options.device = DeviceChoice::kCpu;
    options.epochs = 2;
    options.global_batch_size = kBatchSize;
    options.learning_rate = 0.02;
    options.seed = 1;
    options.workers = 1;
    options.timeout = absl::Minutes(1);
    return options;
  }

  // `change` gives a rank its own options and environment.
  Results RunJob(int ranks, const TrainOptions& options,
                 const std::function<void(int rank, TrainOptions*,
                                          TrainEnvironment*)>& change = {}) {
    Results results(ranks, absl::UnknownError("did not run"));
    RunRanks(ranks, [&](Communicator& communicator) {
      const int rank = communicator.rank();
      TrainOptions own = options;
      TrainEnvironment environment;
      if (change) change(rank, &own, &environment);
      results[rank] = Train(own, &communicator, environment);
      const absl::Status& status = results[rank].status();
      if (!status.ok() && !absl::IsCancelled(status)) {
        communicator.ReportFailure(status);
      }
      communicator.Close(absl::Minutes(1)).IgnoreError();
    });
    return results;
  }

  // The same where all ranks must succeed; rank 0's summary.
  TrainSummary RunWell(int ranks, const TrainOptions& options) {
    const Results results = RunJob(ranks, options);
    for (const auto& result : results) {
      EXPECT_OK(result);
      if (!result.ok()) return {};
      EXPECT_EQ(result->parameters, results[0]->parameters);
    }
    return *results[0];
  }

  // Objects of type `type` in a file of JSON lines.
  static std::vector<Json> Metrics(const std::string& path,
                                   const std::string& type) {
    std::vector<Json> found;
    for (absl::string_view line :
         absl::StrSplit(ReadFileOrDie(path), '\n', absl::SkipEmpty())) {
      Json json = Json::parse(line.begin(), line.end());
      if (json["type"] == type) found.push_back(std::move(json));
    }
    return found;
  }

  TempDir dir_;
  std::string log_;
};

// Makes rank `rank` of a job be asked to stop the `count`-th time it looks.
std::function<void(int, TrainOptions*, TrainEnvironment*)> StopAt(
    int rank, int count, int signal_number) {
  return [=](int own, TrainOptions*, TrainEnvironment* environment) {
    if (own != rank) return;
    auto looked = std::make_shared<int>(0);
    environment->stop_signal = [=] {
      return ++*looked >= count ? signal_number : 0;
    };
  };
}

TEST_F(TrainerTest, EveryNumberOfRanksTakesTheSameCourse) {
  std::vector<std::vector<Json>> steps, epochs;
  std::vector<std::string> digests;
  for (const int ranks : {1, 2, 3}) {
    TrainOptions options = Options();
    options.metrics_json = dir_.Join(absl::StrCat("metrics", ranks));
    options.metrics_steps = true;
    options.digest_log = dir_.Join(absl::StrCat("digest", ranks));
    options.workers = ranks - 1;
    RunWell(ranks, options);
    steps.push_back(Metrics(options.metrics_json, "step"));
    epochs.push_back(Metrics(options.metrics_json, "epoch"));
    digests.push_back(ReadFileOrDie(options.digest_log));
  }
  EXPECT_THAT(digests, Each(digests[0]));
  EXPECT_THAT(digests[0], AllOf(HasSubstr("epoch 0 batch 0 indices="),
                                HasSubstr("epoch 1 batch 2 indices=")));
  for (int w = 0; w < 3; ++w) {
    ASSERT_EQ(steps[w].size(), 2 * kSteps);
    for (int64_t k = 0; k < 2 * kSteps; ++k) {
      const double loss = steps[0][k]["loss"];
      EXPECT_NEAR(steps[w][k]["loss"].get<double>(), loss, 1e-9 * loss);
      EXPECT_EQ(steps[w][k]["images"], kBatchSize);
    }
    ASSERT_EQ(epochs[w].size(), 2u);
    EXPECT_EQ(epochs[w][1]["val_images"], kValImages);
    EXPECT_EQ(epochs[w][1]["val_accuracy"], epochs[0][1]["val_accuracy"]);
    EXPECT_EQ(epochs[w][1]["val_top5_accuracy"], 1.0);
    EXPECT_EQ(epochs[w][1]["train_accuracy"], epochs[0][1]["train_accuracy"]);
    const double loss = epochs[0][1]["val_loss"];
    EXPECT_NEAR(epochs[w][1]["val_loss"].get<double>(), loss, 1e-9 * loss);
  }
}

TEST_F(TrainerTest, ARerunIsBitEqual) {
  TrainOptions options = Options();
  options.norm = Norm::kBatch;
  options.precision = Precision::kFloat32;
  const TrainSummary first = RunWell(2, options);
  options.workers = 0;
  options.prefetch = 5;
  EXPECT_EQ(RunWell(2, options).parameters, first.parameters);
  options.seed = 2;
  EXPECT_NE(RunWell(2, options).parameters, first.parameters);
}

TEST_F(TrainerTest, ADrawnSeedRepeatsTheRun) {
  TrainOptions options = Options();
  options.epochs = 1;
  options.seed.reset();
  const TrainSummary drawn = RunWell(2, options);
  EXPECT_THAT(log_, HasSubstr(absl::StrCat("seed: ", drawn.seed)));
  options.seed = drawn.seed;
  EXPECT_EQ(RunWell(2, options).parameters, drawn.parameters);
}

TEST_F(TrainerTest, EveryCheckpointLeadsToTheSameEnd) {
  TrainOptions options = Options();
  options.norm = Norm::kBatch;
  options.digest_log = dir_.Join("unbroken");
  options.metrics_json = dir_.Join("metrics");
  options.checkpoint_dir = dir_.Join("checkpoints");
  options.checkpoint_every_steps = 1;
  options.keep_checkpoints = 100;
  const TrainSummary unbroken = RunWell(2, options);
  const std::string digests = ReadFileOrDie(options.digest_log);
  const std::vector<Json> epochs = Metrics(options.metrics_json, "epoch");
  int resumed = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(options.checkpoint_dir)) {
    // A kill at the very end: the log is further than any checkpoint.
    TrainOptions after_kill = options;
    after_kill.digest_log = dir_.Write("resumed", digests + "epoch 9 bat");
    after_kill.metrics_json =
        dir_.Write("metrics2", ReadFileOrDie(options.metrics_json));
    after_kill.checkpoint_dir = dir_.Join(absl::StrCat("other", resumed++));
    after_kill.resume = entry.path().string();
    after_kill.seed.reset();
    EXPECT_EQ(RunWell(2, after_kill).parameters, unbroken.parameters)
        << after_kill.resume;
    EXPECT_EQ(ReadFileOrDie(after_kill.digest_log), digests);
    const std::vector<Json> again = Metrics(after_kill.metrics_json, "epoch");
    ASSERT_EQ(again.size(), 2u);
    for (size_t e = 0; e < 2; ++e) {
      EXPECT_EQ(again[e]["train_loss"], epochs[e]["train_loss"]);
      EXPECT_EQ(again[e]["val_loss"], epochs[e]["val_loss"]);
    }
    EXPECT_EQ(Metrics(after_kill.metrics_json, "summary").size(), 1u);
  }
  // One a step; that after an epoch replaces that of its last step.
  EXPECT_EQ(resumed, 2 * kSteps);
}

TEST_F(TrainerTest, GoesOnWithAnotherNumberOfRanks) {
  TrainOptions options = Options();
  options.digest_log = dir_.Join("unbroken");
  options.metrics_json = dir_.Join("metrics");
  options.metrics_steps = true;
  RunWell(1, options);
  const std::vector<Json> steps = Metrics(options.metrics_json, "step");
  const std::string digests = ReadFileOrDie(options.digest_log);
  for (const int ranks : {1, 3}) {
    options.digest_log = dir_.Join(absl::StrCat("resumed", ranks));
    options.metrics_json = dir_.Join(absl::StrCat("metrics", ranks));
    options.checkpoint_dir = dir_.Join(absl::StrCat("checkpoints", ranks));
    options.resume = "auto";
    // Stops after step 2 of epoch 0.
    for (const auto& result : RunJob(2, options, StopAt(1, 2, SIGTERM))) {
      EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled));
    }
    RunWell(ranks, options);
    EXPECT_EQ(ReadFileOrDie(options.digest_log), digests);
    const std::vector<Json> again = Metrics(options.metrics_json, "step");
    ASSERT_EQ(again.size(), steps.size());
    for (size_t k = 0; k < steps.size(); ++k) {
      const double loss = steps[k]["loss"];
      EXPECT_NEAR(again[k]["loss"].get<double>(), loss, 1e-9 * loss);
    }
  }
}

TEST_F(TrainerTest, AStopOfOneRankStopsAllAtOnceAndLosesNothing) {
  TrainOptions options = Options();
  options.norm = Norm::kBatch;
  const TrainSummary unbroken = RunWell(2, options);
  options.resume = "auto";
  // A rank looks once a step, then once for each of two validation batches: at
  // the first batch, in mid-epoch, at the last batch, in validation (twice),
  // in the second epoch.
  const struct {
    int look;
    const char* where;
  } cases[] = {{1, "epoch 0, step 1 of 3"}, {2, "epoch 0, step 2 of 3"},
               {3, "epoch 0, step 3 of 3"}, {4, "epoch 0, step 3 of 3"},
               {5, "epoch 0, step 3 of 3"}, {6, "epoch 1, step 1 of 3"}};
  for (const auto& [look, where] : cases) {
    options.checkpoint_dir = dir_.Join(absl::StrCat("c", look));
    const int signal_number = look % 2 == 0 ? SIGINT : SIGTERM;
    for (const auto& result :
         RunJob(2, options, StopAt(1, look, signal_number))) {
      EXPECT_THAT(result,
                  StatusIs(absl::StatusCode::kCancelled, HasSubstr(where)));
      EXPECT_EQ(static_cast<int>(ExitCodeOf(result.status())),
                128 + signal_number);
    }
    EXPECT_EQ(RunWell(2, options).parameters, unbroken.parameters) << look;
  }
}

TEST_F(TrainerTest, AStopWithoutACheckpointFolderSaysSo) {
  const Results results = RunJob(1, Options(), StopAt(0, 1, SIGINT));
  EXPECT_THAT(results[0],
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("--checkpoint_dir was not given")));
}

TEST_F(TrainerTest, AFinishedRunIsOnlyValidatedAgain) {
  TrainOptions options = Options();
  options.checkpoint_dir = dir_.Join("c");
  options.metrics_json = dir_.Join("m");
  options.resume = "auto";
  const TrainSummary first = RunWell(2, options);
  const TrainSummary again = RunWell(1, options);
  EXPECT_EQ(again.parameters, first.parameters);
  EXPECT_EQ(again.validation->accuracy, first.validation->accuracy);
  EXPECT_EQ(again.speed.images, 0);
  EXPECT_EQ(Metrics(options.metrics_json, "epoch").size(), 2u);
  EXPECT_EQ(Metrics(options.metrics_json, "summary").size(), 1u);
}

TEST_F(TrainerTest, ResumingSomethingElseIsRefused) {
  TrainOptions options = Options();
  options.epochs = 1;
  options.checkpoint_dir = dir_.Join("c");
  RunWell(1, options);
  const auto expect_refused = [&](const char* what, TrainOptions other) {
    other.resume = "auto";
    for (const auto& result : RunJob(2, other)) {
      EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr(what)));
      EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kUsage);
    }
  };
  TrainOptions other = options;
  other.seed = 2;
  expect_refused("seed", other);
  other = options;
  other.global_batch_size = 4;
  expect_refused("batch_size", other);
  other = options;
  other.image_size = 32;
  expect_refused("transform", other);
  other = options;
  other.norm = Norm::kBatch;
  expect_refused("norm", other);
  other = options;
  other.order = distributed::Order::kTorch;
  expect_refused("sampler", other);
}

TEST_F(TrainerTest, StepsThatBlowUpEndTheRunOnAllRanks) {
  TrainOptions options = Options();
  options.norm = Norm::kBatch;
  options.learning_rate = 1e200;
  options.warmup_epochs = 0;
  options.epochs = 10;
  options.max_skipped_steps = 4;
  for (const auto& result : RunJob(2, options)) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr("not finite in 4 steps in a row")));
    EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
  }
  EXPECT_THAT(log_, HasSubstr("left out on all ranks"));
}

TEST_F(TrainerTest, RanksThatDisagreeAreStopped) {
  const Results results =
      RunJob(3, Options(), [](int rank, TrainOptions* options, auto*) {
        if (rank == 1) options->learning_rate = 0.5;
      });
  for (const auto& result : results) {
    EXPECT_THAT(result,
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("learning_rate"), HasSubstr("0.5"))));
    EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kUsage);
  }
}

// With one class less the model would be smaller, too.
TEST_F(TrainerTest, RanksWithOtherDataAreStopped) {
  for (int i = 0; i < 40; ++i) {
    dir_.Write(absl::StrCat("other/train/a/", i, ".jpg"), TestJpeg(20, 24, i));
    dir_.Write(absl::StrCat("other/val/a/", i, ".jpg"), TestJpeg(20, 24, i));
  }
  const Results results =
      RunJob(2, Options(), [this](int rank, TrainOptions* options, auto*) {
        if (rank == 0) return;
        options->train_data = dir_.Join("other/train");
        options->val_data = dir_.Join("other/val");
      });
  for (const auto& result : results) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr("training data fingerprint"),
                                       HasSubstr("40 on rank 1"))));
    EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kUsage);
  }
}

TEST_F(TrainerTest, ABadImageIsNamedOnAllRanks) {
  dir_.Write("train/b/13.jpg", TestJpeg(20, 24).substr(0, 300));
  for (const auto& result : RunJob(2, Options())) {
    EXPECT_THAT(std::string(result.status().message()),
                AllOf(HasSubstr("train/b/13.jpg"), HasSubstr("truncated")));
    EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
  }
}

TEST_F(TrainerTest, DataThatCannotBeTrainedOnIsRefused) {
  TrainOptions options = Options();
  options.train_data = dir_.Join("nowhere");
  Results results = RunJob(1, options);
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kNotFound,
                                   HasSubstr(dir_.Join("nowhere"))));
  EXPECT_EQ(ExitCodeOf(results[0].status()), ExitCode::kData);

  options = Options();
  options.global_batch_size = 27;
  results = RunJob(1, options);
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kInvalidArgument,
                                   AllOf(HasSubstr("26"), HasSubstr("27"))));

  dir_.Write("val/d/1.jpg", TestJpeg(20, 24));
  results = RunJob(1, Options());
  EXPECT_THAT(results[0],
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("class 3 is nothing in one and d in the "
                                 "other")));
}

TEST_F(TrainerTest, StartAndSummaryAreTold) {
  std::string written;
  TrainOptions options = Options();
  options.workers = 1000;
  RunJob(2, options,
         [&](int rank, TrainOptions*, TrainEnvironment* environment) {
           environment->world = "mpi=off";
           if (rank != 0) return;
           environment->write = [&](absl::string_view text) {
             written += std::string(text);
           };
         });
  EXPECT_THAT(log_,
              AllOf(HasSubstr("ranks: 2, mpi=off, cpus allowed: "),
                    HasSubstr("workers: 1000"), HasSubstr("seed: 1\n"),
                    HasSubstr("norm=group"), HasSubstr("--workers=auto")));
  EXPECT_THAT(written, AllOf(HasSubstr("epoch 1/2: loss "),
                             HasSubstr("done after 2 of 2 epochs: validation "
                                       "accuracy ")));
}

}  // namespace
}  // namespace millrace::tools::training
