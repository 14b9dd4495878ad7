#ifndef MILLRACE_TOOLS_BENCH_BENCH_TASK_H_
#define MILLRACE_TOOLS_BENCH_BENCH_TASK_H_

// What tools/bench can measure, by name.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::tools {

struct BenchTask {
  std::string name;
  // A preset of augment::Pipeline; empty: encoded reads only.
  std::string preset;
  // Where the user gives none: side of the output in pixels, samples a batch.
  int image_size = 224;
  int64_t batch_size = 64;
};

// basic, t1   preset "train", 224 pixels, batches of 64
// full, t2    preset "train_full", as t1
// eval, t3    preset "eval", as t1
// t4          preset "train", 64 pixels, batches of 256
// read        encoded reads, no decoding
// InvalidArgument for another name, listing these.
absl::StatusOr<BenchTask> FindBenchTask(absl::string_view name);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_BENCH_TASK_H_
