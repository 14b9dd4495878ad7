#ifndef MILLRACE_TOOLS_TRAINING_SCHEDULE_H_
#define MILLRACE_TOOLS_TRAINING_SCHEDULE_H_

// The learning rate of each step: a linear warm-up, then half a cosine.
//
//   peak      __
//            /  `-.
//           /      `-.
//   0 _____/          `-.__
//        warm-up    total

#include <cstdint>

namespace millrace::tools::training {

// Immutable; thread-safe.
class Schedule {
 public:
  // `warmup_steps` (may be fractional) is cut to half of `total_steps`, so that
  // short runs reach their peak as well.
  // REQUIRES: peak > 0, warmup_steps >= 0, total_steps > 0.
  Schedule(double peak, double warmup_steps, int64_t total_steps);

  // The rate of `step`, counted from 0 at the beginning of training: in
  // (0, peak]. In the warm-up peak * (step + 1) / (warm-up + 1); then from peak
  // down a half cosine that reaches 0 at total_steps. Steps from total_steps on
  // get the rate of the last one.
  // REQUIRES: step >= 0.
  double LearningRate(int64_t step) const;

 private:
  double peak_;
  double warmup_;
  int64_t total_;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_SCHEDULE_H_
