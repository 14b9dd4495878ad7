// Measures how fast a data set is read, decoded, augmented and batched, without
// a model. METRICS.md in tools/benchmark/ defines the numbers.
//
//   bazel run -c opt //tools:bench -- --data=DIR
//   bazel-bin/tools/bench --data=DIR --task=full --workers=4 --seconds=20
//   bazel-bin/tools/bench --data=DIR --task=read --epochs=5 --json

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "distributed/order.h"
#include "tools/bench/bench_task.h"
#include "tools/bench/run_bench.h"
#include "tools/command_line.h"
#include "tools/parse_workers.h"

ABSL_FLAG(std::string, data, "", "The data set: a folder, or SCHEME:PATH.");
ABSL_FLAG(std::string, task, "basic",
          "What to measure: basic (the train preset), full (train_full), eval, "
          "read (encoded reads only), or t1 to t4 of the comparison with other "
          "loaders: basic, full, eval, and basic at 64 pixels in batches of "
          "256.");
ABSL_FLAG(std::string, workers, "auto",
          "Worker threads: auto, or a number; 0 = none beside the measuring "
          "one.");
ABSL_FLAG(int64_t, batch_size, 0, "Samples of a batch; 0 = the task's own.");
ABSL_FLAG(int, image_size, 0,
          "Side of the square output, in pixels; 0 = the task's own.");
ABSL_FLAG(int, prefetch, 2, "Batches made ahead, in [1, 1024].");
ABSL_FLAG(std::string, order, "feistel",
          "Order of the samples: feistel, torch or sequential.");
ABSL_FLAG(uint64_t, seed, 0, "Decides order and augmentation.");
ABSL_FLAG(int64_t, epochs, 0,
          "Measure so many epochs, after one for warming up; 0 = measure by "
          "time.");
ABSL_FLAG(double, seconds, 5, "Seconds to measure, without --epochs.");
ABSL_FLAG(double, warm_up, 2.5,
          "Seconds before those, which don't count, without --epochs.");
ABSL_FLAG(bool, json, false, "Print one line of JSON for machines.");

namespace millrace::tools {
namespace {

// Five parts at least, and otherwise of a second or more.
int IntervalsOf(double seconds) {
  // Also false for what is not a number.
  if (!(seconds > 5)) return 5;
  return static_cast<int>(std::min(seconds, 60.0));
}

absl::StatusOr<BenchOptions> OptionsFromFlags() {
  BenchOptions options;
  if (absl::GetFlag(FLAGS_data).empty()) {
    return absl::InvalidArgumentError("--data is needed");
  }
  options.data = ResolveDatasetUri(absl::GetFlag(FLAGS_data));
  MILLRACE_ASSIGN_OR_RETURN(options.task,
                            FindBenchTask(absl::GetFlag(FLAGS_task)));
  MILLRACE_ASSIGN_OR_RETURN(options.workers,
                            ParseWorkers(absl::GetFlag(FLAGS_workers)));
  if (absl::GetFlag(FLAGS_batch_size) != 0) {
    options.batch_size = absl::GetFlag(FLAGS_batch_size);
  }
  if (absl::GetFlag(FLAGS_image_size) != 0) {
    options.image_size = absl::GetFlag(FLAGS_image_size);
  }
  options.prefetch = absl::GetFlag(FLAGS_prefetch);
  MILLRACE_ASSIGN_OR_RETURN(
      options.order, distributed::ParseOrder(absl::GetFlag(FLAGS_order)));
  options.seed = absl::GetFlag(FLAGS_seed);
  if (absl::GetFlag(FLAGS_epochs) != 0) {
    options.measure.epochs = absl::GetFlag(FLAGS_epochs);
  }
  const double seconds = absl::GetFlag(FLAGS_seconds);
  options.measure.duration = absl::Seconds(seconds);
  options.measure.intervals = IntervalsOf(seconds);
  options.measure.warm_up = absl::Seconds(absl::GetFlag(FLAGS_warm_up));
  options.json = absl::GetFlag(FLAGS_json);
  return options;
}

absl::Status Run() {
  MILLRACE_ASSIGN_OR_RETURN(const BenchOptions options, OptionsFromFlags());
  return RunBench(options, Clock::Real(), std::cout);
}

}  // namespace
}  // namespace millrace::tools

int main(int argc, char** argv) {
  millrace::tools::ParseCommandLine(
      argc, argv,
      "Measures how fast a data set is read, decoded, augmented and batched.\n"
      "\n"
      "  bench --data=DIR --task=basic --workers=2",
      {.groups = {{"What is measured",
                   {"data", "task", "workers", "batch_size", "image_size",
                    "prefetch", "order", "seed"}},
                  {"How", {"seconds", "warm_up", "epochs", "json"}}}});
  return millrace::tools::ExitWith(millrace::tools::Run());
}
