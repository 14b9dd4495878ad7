#ifndef MILLRACE_LOADER_BYTE_BUDGET_H_
#define MILLRACE_LOADER_BYTE_BUDGET_H_

// Bounds the memory that samples take while workers are at them.

#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace millrace::loader {

// Each sample in the making has a ticket, lower for samples that are delivered
// earlier. Guarantees:
//  * the bytes granted stay within the limit, but for what the oldest sample
//    needs;
//  * the sample with the lowest ticket is never kept waiting: it gets its bytes
//    also above the limit. So there is always one that moves, whatever sizes
//    come together, and the consumer, who waits for the oldest, is served.
//
// Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  // Announces a sample. Tickets are unique among those under way.
  void Begin(int64_t ticket) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until `bytes` more may be taken by the sample. False if Cancel() was
  // called. REQUIRES: Begin(ticket) and not yet End(ticket).
  bool Acquire(int64_t ticket, int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives back all that the sample took.
  void End(int64_t ticket) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes waiting and coming Acquire() calls return false, from now on.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

  int64_t used() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Holder {
    int64_t ticket;
    int64_t bytes;
  };

  bool IsOldest(int64_t ticket) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Holder& Find(int64_t ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t limit_;
  mutable Mutex mutex_;
  CondVar released_;
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // One entry a worker: few enough to search.
  std::vector<Holder> holders_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_BYTE_BUDGET_H_
