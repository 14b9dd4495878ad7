#include "tools/bench/measure.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// Moves only when a source works.
class FakeClock : public Clock {
 public:
  absl::Duration Now() const override { return now_; }
  void SleepFor(absl::Duration duration) override { now_ += duration; }

 private:
  absl::Duration now_ = absl::Seconds(1000);
};

// Epochs of three batches of 4, 4 and 2 images, a second each.
class FakeSource : public SampleSource {
 public:
  explicit FakeSource(Clock* clock, int64_t fail_at = -1)
      : clock_(clock), fail_at_(fail_at) {}

  absl::StatusOr<Step> Advance() override {
    if (batches_ == fail_at_) return absl::DataLossError("torn");
    clock_->SleepFor(absl::Seconds(1));
    const bool last = ++batches_ % 3 == 0;
    return Step{.images = last ? 2 : 4, .epoch_end = last};
  }
  Counters counters() const override {
    return {.bytes_read = 100 * batches_,
            .wait = absl::Milliseconds(250) * batches_};
  }
  std::string Describe() const override { return "fake"; }

 private:
  Clock* const clock_;
  const int64_t fail_at_;
  int64_t batches_ = 0;
};

absl::StatusOr<Measurement> MeasureFake(const MeasureOptions& options,
                                        int64_t fail_at = -1) {
  FakeClock clock;
  return Measure(
      [&clock, fail_at]() -> absl::StatusOr<std::unique_ptr<SampleSource>> {
        clock.SleepFor(absl::Milliseconds(500));
        return std::make_unique<FakeSource>(&clock, fail_at);
      },
      options, &clock);
}

TEST(MeasureTest, TimesIntervalsOfWholeBatches) {
  ASSERT_OK_AND_ASSIGN(const Measurement measurement,
                       MeasureFake({.duration = absl::Seconds(6),
                                    .intervals = 3,
                                    .warm_up = absl::Seconds(2)}));
  EXPECT_EQ(measurement.description, "fake");
  EXPECT_EQ(measurement.first_batch, absl::Milliseconds(1500));
  // Batches 1 to 3 are the first and the warm-up.
  EXPECT_THAT(measurement.intervals,
              ElementsAre(Field(&Interval::images, 4 + 4),
                          Field(&Interval::images, 2 + 4),
                          Field(&Interval::images, 4 + 2)));
  for (const Interval& interval : measurement.intervals) {
    EXPECT_EQ(interval.wall, absl::Seconds(2));
  }
  EXPECT_EQ(measurement.total.images, 20);
  EXPECT_EQ(measurement.total.wall, absl::Seconds(6));
  EXPECT_EQ(measurement.counters.bytes_read, 600);
  EXPECT_EQ(measurement.counters.wait, absl::Milliseconds(1500));
  EXPECT_EQ(measurement.epochs_checked, 3);
  EXPECT_THAT(measurement.total.ImagesPerSecond(), DoubleEq(20.0 / 6));
}

TEST(MeasureTest, IntervalsHaveABatchAtLeast) {
  ASSERT_OK_AND_ASSIGN(const Measurement measurement,
                       MeasureFake({.duration = absl::Milliseconds(1),
                                    .intervals = 5,
                                    .warm_up = absl::ZeroDuration()}));
  EXPECT_EQ(measurement.intervals.size(), 5);
  EXPECT_EQ(measurement.total.images, 4 + 2 + 4 + 4 + 2);
  EXPECT_EQ(measurement.total.wall, absl::Seconds(5));
}

TEST(MeasureTest, MeasuresWholeEpochsAfterOne) {
  ASSERT_OK_AND_ASSIGN(const Measurement measurement,
                       MeasureFake({.epochs = 2}));
  EXPECT_THAT(measurement.intervals, ElementsAre(Field(&Interval::images, 10),
                                                 Field(&Interval::images, 10)));
  EXPECT_EQ(measurement.total.wall, absl::Seconds(6));
  EXPECT_EQ(measurement.epochs_checked, 3);
}

TEST(MeasureTest, ErrorsOfTheSourceComeThrough) {
  for (const int64_t fail_at : {0, 1, 4}) {
    EXPECT_THAT(
        MeasureFake({.duration = absl::Seconds(6), .intervals = 3}, fail_at),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr("torn")));
  }
  FakeClock clock;
  EXPECT_THAT(
      Measure(
          []() -> absl::StatusOr<std::unique_ptr<SampleSource>> {
            return absl::NotFoundError("no such folder");
          },
          {}, &clock),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such folder")));
}

TEST(MeasureTest, RefusesOptionsOutOfRange) {
  const std::vector<std::pair<MeasureOptions, const char*>> cases = {
      {{.epochs = 0}, "epochs = 0"},
      {{.epochs = -1}, "epochs = -1"},
      {{.duration = absl::ZeroDuration()}, "seconds = 0"},
      {{.duration = absl::InfiniteDuration()}, "seconds = inf"},
      {{.duration = absl::Seconds(std::nan(""))}, "seconds"},
      {{.intervals = 0}, "intervals = 0"},
      {{.warm_up = -absl::Seconds(1)}, "warm_up = -1"},
      {{.warm_up = absl::InfiniteDuration()}, "warm_up = inf"},
  };
  for (const auto& [options, want] : cases) {
    EXPECT_THAT(MeasureFake(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(want)));
  }
}

TEST(MeasureTest, RatesOfNothingAreZero) {
  EXPECT_EQ(Interval().ImagesPerSecond(), 0);
  EXPECT_EQ(Interval().CpuMillisecondsPerImage(), 0);
  EXPECT_THAT((Interval{.images = 8,
                        .wall = absl::Seconds(4),
                        .cpu = absl::Milliseconds(20)})
                  .CpuMillisecondsPerImage(),
              DoubleEq(2.5));
}

TEST(MedianTest, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 9}), 3.5);
}

}  // namespace
}  // namespace millrace::tools
