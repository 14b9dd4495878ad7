#ifndef MILLRACE_TOOLS_BENCH_SAMPLE_SOURCE_H_
#define MILLRACE_TOOLS_BENCH_SAMPLE_SOURCE_H_

// Something that delivers samples and can be measured doing so.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace millrace::tools {

// Confined to one thread.
class SampleSource {
 public:
  // Totals since the source was made.
  struct Counters {
    int64_t bytes_read = 0;
    // Time that Advance() waited for others; zero where it works itself.
    absl::Duration wait;
  };

  struct Step {
    int64_t images = 0;
    // The step is the last of its epoch.
    bool epoch_end = false;
  };

  virtual ~SampleSource() = default;

  // Delivers the next batch, over the ends of epochs. Checks what it delivers:
  // Internal where a sample is missing, comes twice, or is not what it should
  // be. Else fails as the data set and the loader do.
  virtual absl::StatusOr<Step> Advance() = 0;

  virtual Counters counters() const = 0;

  // Lines for people: what is measured, on which data.
  virtual std::string Describe() const = 0;
};

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_SAMPLE_SOURCE_H_
