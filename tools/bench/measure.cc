#include "tools/bench/measure.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/bench/process_usage.h"

namespace millrace::tools {
namespace {

// Drives a source, and counts what it delivers.
class Driver {
 public:
  Driver(SampleSource* source, Clock* clock) : source_(source), clock_(clock) {}

  // Batches until `duration` is over: one at least.
  absl::StatusOr<Interval> RunFor(absl::Duration duration) {
    const absl::Duration start = clock_->Now();
    return Run([this, start, duration](const SampleSource::Step&) {
      return clock_->Now() - start >= duration;
    });
  }

  // Batches up to the end of the epoch.
  absl::StatusOr<Interval> RunEpoch() {
    return Run([](const SampleSource::Step& step) { return step.epoch_end; });
  }

  int64_t epochs() const { return epochs_; }

 private:
  absl::StatusOr<Interval> Run(
      const std::function<bool(const SampleSource::Step&)>& done) {
    const absl::Duration start = clock_->Now();
    const absl::Duration cpu_start = ProcessCpuTime();
    Interval interval;
    while (true) {
      MILLRACE_ASSIGN_OR_RETURN(const SampleSource::Step step,
                                source_->Advance());
      interval.images += step.images;
      epochs_ += step.epoch_end ? 1 : 0;
      if (done(step)) break;
    }
    interval.wall = clock_->Now() - start;
    interval.cpu = ProcessCpuTime() - cpu_start;
    return interval;
  }

  SampleSource* const source_;
  Clock* const clock_;
  int64_t epochs_ = 0;
};

void Add(const Interval& interval, Measurement* measurement) {
  measurement->intervals.push_back(interval);
  measurement->total.images += interval.images;
  measurement->total.wall += interval.wall;
  measurement->total.cpu += interval.cpu;
}

}  // namespace

absl::Status MeasureOptions::Validate() const {
  if (epochs.has_value()) {
    if (*epochs > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("epochs = ", *epochs, ": want more than 0"));
  }
  if (duration <= absl::ZeroDuration() ||
      duration == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("seconds = ", absl::ToDoubleSeconds(duration),
                     ": want more than 0 and an end"));
  }
  if (intervals <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("intervals = ", intervals, ": want more than 0"));
  }
  if (warm_up < absl::ZeroDuration() || warm_up == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("warm_up = ", absl::ToDoubleSeconds(warm_up),
                     ": want at least 0 and an end"));
  }
  return absl::OkStatus();
}

double Interval::ImagesPerSecond() const {
  const double seconds = absl::ToDoubleSeconds(wall);
  return seconds > 0 ? static_cast<double>(images) / seconds : 0;
}

double Interval::CpuMillisecondsPerImage() const {
  return images > 0
             ? absl::ToDoubleMilliseconds(cpu) / static_cast<double>(images)
             : 0;
}

absl::StatusOr<Measurement> Measure(
    const std::function<absl::StatusOr<std::unique_ptr<SampleSource>>()>& open,
    const MeasureOptions& options, Clock* clock) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  Measurement measurement;
  const absl::Duration start = clock->Now();
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> source, open());
  measurement.description = source->Describe();
  Driver driver(source.get(), clock);
  MILLRACE_RETURN_IF_ERROR(driver.RunFor(absl::ZeroDuration()).status());
  measurement.first_batch = clock->Now() - start;

  // The first batch may have been a whole epoch already.
  if (options.epochs.has_value() && driver.epochs() == 0) {
    MILLRACE_RETURN_IF_ERROR(driver.RunEpoch().status());
  } else if (!options.epochs.has_value() &&
             options.warm_up > absl::ZeroDuration()) {
    MILLRACE_RETURN_IF_ERROR(driver.RunFor(options.warm_up).status());
  }

  const SampleSource::Counters before = source->counters();
  const int64_t intervals = options.epochs.value_or(options.intervals);
  for (int64_t i = 0; i < intervals; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        const Interval interval,
        options.epochs.has_value()
            ? driver.RunEpoch()
            : driver.RunFor(options.duration / options.intervals));
    Add(interval, &measurement);
  }
  measurement.counters = source->counters();
  measurement.counters.bytes_read -= before.bytes_read;
  measurement.counters.wait -= before.wait;
  measurement.epochs_checked = driver.epochs();
  if (const absl::StatusOr<int64_t> pss = ProportionalSetBytes(); pss.ok()) {
    measurement.pss_bytes = *pss;
  }
  return measurement;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace millrace::tools
