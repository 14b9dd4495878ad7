#ifndef MILLRACE_TOOLS_TRAINING_REPORT_H_
#define MILLRACE_TOOLS_TRAINING_REPORT_H_

// What a run says of itself, for people and, as JSON lines, for machines.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/training/line_file.h"

namespace millrace::tools::training {

// One update.
struct StepReport {
  int64_t epoch = 0;
  int64_t step = 0;
  // Samples, over all ranks.
  int64_t images = 0;
  // Mean over the samples, in training's own terms (label smoothing included).
  double loss = 0;
  double learning_rate = 0;
  // The update was left out, since loss or gradient was not finite.
  bool skipped = false;
};

// How well a model does on the validation set.
struct ValidationReport {
  int64_t images = 0;
  double loss = 0;
  // Shares in [0, 1].
  double accuracy = 0;
  double top5_accuracy = 0;
};

// How fast training went, steps alone: validation and checkpoints take extra.
struct SpeedReport {
  // Samples over all ranks, since the process started or an epoch began.
  int64_t images = 0;
  absl::Duration time;
  // Time that ranks waited for batches, as a share of their time, in [0, 1].
  double wait_share = 0;

  // 0 while there is no time.
  double ImagesPerSecond() const;
};

struct EpochReport {
  // Counted from 0, and how many the run has.
  int64_t epoch = 0;
  int64_t epochs = 0;
  // Means over the epoch's samples.
  double train_loss = 0;
  double train_accuracy = 0;
  int64_t skipped_steps = 0;
  // Of the last step.
  double learning_rate = 0;
  SpeedReport speed;
  // Share of the gradients' bytes that were summed over ranks before backward
  // ended, in the last step.
  double hidden_share = 0;
  ValidationReport validation;
  // Hash of the parameters, the same on all ranks.
  std::string parameters;
};

struct TrainSummary {
  // Epochs that are trained and validated, and how many were wanted.
  int64_t epochs_done = 0;
  int64_t epochs = 0;
  // "SIGINT" or "SIGTERM" if that ended the run.
  std::string stopped_by;
  int ranks = 1;
  uint64_t seed = 0;
  // Of this process, resumed or not.
  SpeedReport speed;
  // From start to end, everything included.
  absl::Duration total_time;
  // Of the last epoch; none if the run was stopped before.
  std::optional<ValidationReport> validation;
  std::string parameters;
};

// One line each; a number that is not finite is null.
std::string ToJson(const StepReport& report);
std::string ToJson(const EpochReport& report);
std::string ToJson(const TrainSummary& summary);

// "epoch 3/20: loss 1.234, accuracy 0.812, validation 0.850 (top 5 0.991), ..."
std::string ToText(const EpochReport& report);
std::string ToText(const TrainSummary& summary);

// Goes on with the JSON lines of a run that stopped: keeps those of steps
// before `step` of `epoch` and of epochs before `epoch`, up to the first that
// is another. Errors as LineFile::Continue().
absl::StatusOr<LineFile> ContinueMetrics(const std::string& path, int64_t epoch,
                                         int64_t step);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_REPORT_H_
