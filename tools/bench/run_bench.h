#ifndef MILLRACE_TOOLS_BENCH_RUN_BENCH_H_
#define MILLRACE_TOOLS_BENCH_RUN_BENCH_H_

// All of tools/bench behind its flags.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "distributed/order.h"
#include "tools/bench/bench_task.h"
#include "tools/bench/measure.h"

namespace millrace::tools {

struct BenchOptions {
  std::string data;
  BenchTask task;
  // In place of the task's own. > 0.
  std::optional<int64_t> batch_size;
  std::optional<int> image_size;
  // 0 = samples are made by the measuring thread; none = as the loader chooses.
  std::optional<int> workers;
  int prefetch = 2;
  distributed::Order order = distributed::Order::kFeistel;
  uint64_t seed = 0;
  MeasureOptions measure;
  // Print one line of JSON in place of a table.
  bool json = false;
};

// Measures, and prints to `out`. Fails as Measure(), the data set and the
// loader do.
absl::Status RunBench(const BenchOptions& options, Clock* clock,
                      std::ostream& out);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_RUN_BENCH_H_
