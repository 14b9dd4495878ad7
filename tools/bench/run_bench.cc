#include "tools/bench/run_bench.h"

#include <memory>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/loader_source.h"
#include "tools/bench/read_source.h"
#include "tools/bench/sample_source.h"

namespace millrace::tools {
namespace {

absl::StatusOr<std::unique_ptr<SampleSource>> OpenSource(
    const BenchOptions& options) {
  const int64_t batch_size =
      options.batch_size.value_or(options.task.batch_size);
  if (options.task.preset.empty()) {
    return OpenReadSource({.data = options.data,
                           .batch_size = batch_size,
                           .order = options.order,
                           .seed = options.seed,
                           .workers = options.workers});
  }
  return OpenLoaderSource(
      {.data = options.data,
       .preset = options.task.preset,
       .image_size = options.image_size.value_or(options.task.image_size),
       .batch_size = batch_size,
       .order = options.order,
       .seed = options.seed,
       .workers = options.workers,
       .prefetch = options.prefetch});
}

}  // namespace

absl::Status RunBench(const BenchOptions& options, Clock* clock,
                      std::ostream& out) {
  MILLRACE_ASSIGN_OR_RETURN(const Measurement measurement,
                            Measure([&options] { return OpenSource(options); },
                                    options.measure, clock));
  if (options.json) {
    out << BenchJson(options.task.name, measurement) << "\n";
  } else {
    out << BenchTable(options.task.name, measurement);
  }
  return absl::OkStatus();
}

}  // namespace millrace::tools
