#ifndef MILLRACE_BASE_CLOCK_H_
#define MILLRACE_BASE_CLOCK_H_

// Time as an argument, so that tests can pass a clock of their own.

#include "absl/time/time.h"

namespace millrace {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Time since an arbitrary start; never goes back.
  virtual absl::Duration Now() const = 0;

  // Blocks the calling thread for at least `duration`.
  virtual void SleepFor(absl::Duration duration) = 0;

  // The machine's monotonic clock. Never null, never destroyed.
  static Clock* Real();
};

}  // namespace millrace

#endif  // MILLRACE_BASE_CLOCK_H_
