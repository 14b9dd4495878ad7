#ifndef MILLRACE_TOOLS_BENCH_MEASURE_H_
#define MILLRACE_TOOLS_BENCH_MEASURE_H_

// Measures the rate of a source of samples.
//
//   open + first batch | warm-up | interval 1 | interval 2 | ... | interval n
//     first_batch        dropped   whole batches, or whole epochs

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "tools/bench/sample_source.h"

namespace millrace::tools {

struct MeasureOptions {
  // Measure so many epochs, one an interval, after one for warming up; > 0.
  std::optional<int64_t> epochs;
  // Without `epochs`: measure for so long (> 0), in `intervals` parts of equal
  // time (> 0, and each of a batch at least), after `warm_up` (>= 0).
  absl::Duration duration = absl::Seconds(5);
  int intervals = 5;
  absl::Duration warm_up = absl::Milliseconds(2500);

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

struct Interval {
  int64_t images = 0;
  absl::Duration wall;
  // Of all threads of the process.
  absl::Duration cpu;

  double ImagesPerSecond() const;
  double CpuMillisecondsPerImage() const;
};

// The numbers are defined in tools/benchmark/METRICS.md.
struct Measurement {
  // SampleSource::Describe().
  std::string description;
  absl::Duration first_batch;
  std::vector<Interval> intervals;
  // Of the measured intervals together.
  Interval total;
  SampleSource::Counters counters;
  // Whole epochs that the source delivered and checked, warm-up included.
  int64_t epochs_checked = 0;
  // At the end, with the source alive; none where the kernel doesn't tell.
  std::optional<int64_t> pss_bytes;
};

// Opens a source and measures it. Fails as Validate(), `open` and the source.
absl::StatusOr<Measurement> Measure(
    const std::function<absl::StatusOr<std::unique_ptr<SampleSource>>()>& open,
    const MeasureOptions& options, Clock* clock);

// The middle value, or the mean of the two in the middle. REQUIRES: not empty.
double Median(std::vector<double> values);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_MEASURE_H_
