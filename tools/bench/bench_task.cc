#include "tools/bench/bench_task.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::tools {

absl::StatusOr<BenchTask> FindBenchTask(absl::string_view name) {
  const BenchTask tasks[] = {
      {.name = "basic", .preset = "train"},
      {.name = "full", .preset = "train_full"},
      {.name = "eval", .preset = "eval"},
      {.name = "read", .preset = ""},
      {.name = "t1", .preset = "train"},
      {.name = "t2", .preset = "train_full"},
      {.name = "t3", .preset = "eval"},
      {.name = "t4", .preset = "train", .image_size = 64, .batch_size = 256},
  };
  for (const BenchTask& task : tasks) {
    if (task.name == name) return task;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("flag --task=", name,
                   ": want basic, full, eval, read, t1, t2, t3 or t4"));
}

}  // namespace millrace::tools
