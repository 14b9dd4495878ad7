#ifndef MILLRACE_TOOLS_TRAINING_PROGRESS_H_
#define MILLRACE_TOOLS_TRAINING_PROGRESS_H_

// How far training is, for people: a bar on a terminal, a plain line now and
// then elsewhere.
//
//   epoch 3/20 [=========>      ] 60%  812 images/s  loss 1.042  wait 3%  ETA
//   1:23

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace millrace::tools::training {

struct ProgressOptions {
  // A bar that is redrawn in its place; else plain lines.
  bool terminal = false;
  // Of the bar, in ANSI escapes.
  bool colour = false;
  // Columns of the terminal.
  int width = 80;
  // Between plain lines.
  absl::Duration line_interval = absl::Seconds(10);
  // Between redrawings of the bar.
  absl::Duration bar_interval = absl::Milliseconds(100);

  // As standard output has it: a bar where it is a terminal that can redraw
  // (TERM is not "dumb"), in colour unless NO_COLOR is set to anything.
  static ProgressOptions ForStandardOutput();
};

// A step's account.
struct ProgressStep {
  // Counted from 0.
  int64_t epoch = 0;
  int64_t epochs = 0;
  // Steps of the epoch that are done, and how many it has.
  int64_t step = 0;
  int64_t steps = 0;
  // Mean loss of the step's samples.
  double loss = 0;
  // Samples of the step, over all ranks.
  int64_t images = 0;
  // Time that the step waited for its batch.
  absl::Duration wait;
};

// Thread-safe. `write` is called with a lock held: it must not call back.
class Progress {
 public:
  // `write` gets text as it is to appear, line ends and escapes included.
  // `clock` is borrowed.
  Progress(const ProgressOptions& options, Clock* clock,
           std::function<void(absl::string_view)> write);

  // Forgets rates: call it before the first step, and after a pause that is
  // not training (validation, a checkpoint).
  void Restart() ABSL_LOCKS_EXCLUDED(mutex_);

  void Step(const ProgressStep& step) ABSL_LOCKS_EXCLUDED(mutex_);

  // A line of its own, the bar out of its way.
  void Line(absl::string_view text) ABSL_LOCKS_EXCLUDED(mutex_);

  // Removes the bar; the next Step() draws it again. For others who write to
  // the same terminal.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void ClearLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Bar(const ProgressStep& step) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string PlainLine(const ProgressStep& step) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // "812 images/s  loss 1.042  wait 3%  ETA 1:23"
  std::string Numbers(const ProgressStep& step) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Means over the last steps, newer ones counting more; made of 0 and so
  // divided by their weight. Rates start anew after a pause, the loss does not.
  struct Means {
    double seconds = 0;
    double wait_seconds = 0;
    double images = 0;
    double weight = 0;
  };

  const ProgressOptions options_;
  Clock* const clock_;
  const std::function<void(absl::string_view)> write_;
  Mutex mutex_;
  bool bar_shown_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration last_shown_ ABSL_GUARDED_BY(mutex_);
  absl::Duration last_step_ ABSL_GUARDED_BY(mutex_);
  Means means_ ABSL_GUARDED_BY(mutex_);
  double loss_ ABSL_GUARDED_BY(mutex_) = 0;
  double loss_weight_ ABSL_GUARDED_BY(mutex_) = 0;
};

// "1:23", "2:03:04"; "-:--" for what is not finite.
std::string FormatEta(absl::Duration duration);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_PROGRESS_H_
