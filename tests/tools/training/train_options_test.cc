#include "tools/training/train_options.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools::training {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TrainOptions GoodOptions() {
  TrainOptions options;
  options.train_data = "d/train";
  options.val_data = "d/val";
  return options;
}

TEST(TrainOptionsTest, DefaultsNeedOnlyData) {
  EXPECT_OK(GoodOptions().Validate());
  EXPECT_THAT(
      TrainOptions().Validate(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--data=DIR")));
  TrainOptions half = GoodOptions();
  half.val_data.clear();
  EXPECT_THAT(half.Validate(), StatusIs(absl::StatusCode::kInvalidArgument));
}

struct RangeCase {
  // What the message must name.
  const char* flag;
  std::function<void(TrainOptions*)> bad;
};

TEST(TrainOptionsTest, ValuesOutsideTheirRangeAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const RangeCase cases[] = {
      {"--augment=Train", [](auto* o) { o->augment = "Train"; }},
      {"--image_size=15", [](auto* o) { o->image_size = 15; }},
      {"--image_size=4097", [](auto* o) { o->image_size = 4097; }},
      {"--epochs=0", [](auto* o) { o->epochs = 0; }},
      {"--global_batch_size=0", [](auto* o) { o->global_batch_size = 0; }},
      {"--accumulate=0", [](auto* o) { o->accumulate = 0; }},
      {"--accumulate=65", [](auto* o) { o->accumulate = 65; }},
      {"--learning_rate=0", [](auto* o) { o->learning_rate = 0; }},
      {"--learning_rate=nan", [=](auto* o) { o->learning_rate = nan; }},
      {"--learning_rate=inf", [=](auto* o) { o->learning_rate = inf; }},
      {"--momentum=1", [](auto* o) { o->momentum = 1; }},
      {"--momentum=-0.1", [](auto* o) { o->momentum = -0.1; }},
      {"--weight_decay=-1", [](auto* o) { o->weight_decay = -1; }},
      {"--weight_decay=nan", [=](auto* o) { o->weight_decay = nan; }},
      {"--label_smoothing=1", [](auto* o) { o->label_smoothing = 1; }},
      {"--warmup_epochs=-1", [](auto* o) { o->warmup_epochs = -1; }},
      {"--max_skipped_steps=0", [](auto* o) { o->max_skipped_steps = 0; }},
      {"--checkpoint_every_steps=-1",
       [](auto* o) { o->checkpoint_every_steps = -1; }},
      {"--checkpoint_every_steps=5 needs --checkpoint_dir",
       [](auto* o) { o->checkpoint_every_steps = 5; }},
      {"--keep_checkpoints=0", [](auto* o) { o->keep_checkpoints = 0; }},
      {"--resume=", [](auto* o) { o->resume = ""; }},
      {"--resume=auto needs --checkpoint_dir",
       [](auto* o) { o->resume = "auto"; }},
      {"--metrics_steps needs --metrics_json",
       [](auto* o) { o->metrics_steps = true; }},
      {"--workers=-1", [](auto* o) { o->workers = -1; }},
      {"--workers=1025", [](auto* o) { o->workers = 1025; }},
      {"--prefetch=0", [](auto* o) { o->prefetch = 0; }},
      {"--intra_op_threads=0", [](auto* o) { o->intra_op_threads = 0; }},
      {"--timeout=0", [](auto* o) { o->timeout = absl::ZeroDuration(); }},
  };
  for (const RangeCase& test_case : cases) {
    TrainOptions options = GoodOptions();
    test_case.bad(&options);
    EXPECT_THAT(options.Validate(), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr(test_case.flag)))
        << test_case.flag;
  }
}

TEST(TrainOptionsTest, EndsOfRangesAreAllowed) {
  TrainOptions options = GoodOptions();
  options.image_size = 16;
  options.epochs = 1;
  options.global_batch_size = 1;
  options.momentum = 0;
  options.weight_decay = 0;
  options.label_smoothing = 0;
  options.warmup_epochs = 0;
  options.max_skipped_steps = 1;
  options.workers = 0;
  options.prefetch = 1;
  options.intra_op_threads = 1;
  EXPECT_OK(options.Validate());
  options.image_size = 4096;
  options.global_batch_size = 8;
  options.accumulate = 8;
  options.workers = 1024;
  options.checkpoint_dir = "c";
  options.checkpoint_every_steps = 1;
  options.resume = "auto";
  EXPECT_OK(options.Validate());
}

TEST(TrainOptionsTest, NamesAndValuesMatchBothWays) {
  for (const ModelKind kind :
       {ModelKind::kSmallCnn, ModelKind::kResNet18, ModelKind::kResNet50}) {
    EXPECT_THAT(ParseModelKind(Name(kind)), IsOkAndHolds(kind));
  }
  for (const Norm norm : {Norm::kBatch, Norm::kGroup}) {
    EXPECT_THAT(ParseNorm(Name(norm)), IsOkAndHolds(norm));
  }
  for (const Precision precision : {Precision::kFloat32, Precision::kFloat64}) {
    EXPECT_THAT(ParsePrecision(Name(precision)), IsOkAndHolds(precision));
  }
  for (const DeviceChoice device :
       {DeviceChoice::kAuto, DeviceChoice::kCpu, DeviceChoice::kCuda}) {
    EXPECT_THAT(ParseDeviceChoice(Name(device)), IsOkAndHolds(device));
  }
  EXPECT_THAT(ParseModelKind("resnet34"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--model=resnet34"),
                             HasSubstr("small_cnn, resnet18, resnet50"))));
}

TEST(TrainOptionsTest, SharedSettingsShowWhatMustAgreeAndNothingElse) {
  TrainOptions options = GoodOptions();
  options.learning_rate = 0.1;
  EXPECT_THAT(options.Shared(), Contains(Pair("learning_rate", "0.1")));
  EXPECT_THAT(options.Shared(), Contains(Pair("global_batch_size", "64")));

  TrainOptions other = options;
  other.train_data = "/elsewhere";
  other.workers = 7;
  other.prefetch = 9;
  other.pin_memory = true;
  other.intra_op_threads = 3;
  other.metrics_json = "m.json";
  other.timeout = absl::Seconds(1);
  EXPECT_EQ(other.Shared(), options.Shared());

  other.digest_log = "x";
  EXPECT_NE(other.Shared(), options.Shared());
  other = options;
  other.learning_rate = std::nextafter(options.learning_rate, 1.0);
  EXPECT_NE(other.Shared(), options.Shared());
  EXPECT_NE(other.Course(), options.Course());
  EXPECT_EQ(other.Architecture(), options.Architecture());
  EXPECT_THAT(options.Architecture(), Not(Contains(Pair("epochs", "20"))));
}

}  // namespace
}  // namespace millrace::tools::training
