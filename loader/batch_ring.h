#ifndef MILLRACE_LOADER_BATCH_RING_H_
#define MILLRACE_LOADER_BATCH_RING_H_

// Who makes which sample next: the one place where workers and the consumer
// meet. It knows nothing of reading or decoding.
//
//   slots, in the order of delivery:
//     [epoch 3 step 7: done][step 8: 64 of 64 given out, 61 done][step 9: 3 of
//     64]
//      ^ the consumer takes it                                    ^ given out
//      next
//
// Work is given out by sample, so a batch is ready after size / workers
// samples, and a slow sample delays its own batch alone. Past the last step of
// an epoch come the first of the next.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "loader/batch_slot.h"

namespace millrace::loader {

struct BatchId {
  int64_t epoch = 0;
  int64_t step = 0;

  friend bool operator==(const BatchId& a, const BatchId& b) {
    return a.epoch == b.epoch && a.step == b.step;
  }
};

struct BatchRingOptions {
  // Slots in the making or done that the consumer has not taken. > 0.
  int64_t depth = 2;
  // Steps of an epoch. > 0.
  int64_t steps = 1;
  // Whether to go on with the next epoch before the consumer asks for it by
  // Seek().
  bool cross_epochs = true;
};

// Thread-safe.
class BatchRing {
 public:
  struct Entry;

  // A sample to make. It keeps its slot alive, also when the ring has dropped
  // it.
  struct Task {
    std::shared_ptr<Entry> entry;
    BatchSlot* slot = nullptr;
    int64_t i = 0;
    // Rises from task to task, in the order of delivery but for Seek().
    int64_t ticket = 0;
  };

  // Makes the slot of a batch: its memory and its list of samples. Called by
  // one thread at a time, without a lock held.
  using OpenFunction =
      std::function<absl::StatusOr<std::shared_ptr<BatchSlot>>(BatchId)>;

  // Called, without a lock held, by the thread that finished a slot's last
  // sample (for an empty one: that opened it), before the slot is delivered.
  using CompleteFunction = std::function<absl::Status(BatchSlot*)>;

  BatchRing(const BatchRingOptions& options, OpenFunction open,
            CompleteFunction complete);
  ~BatchRing();
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;

  // The next sample to make. Blocks while all slots are given out; nullopt once
  // Stop() was called. With `block` false also where it would block.
  std::optional<Task> TakeTask(bool block) ABSL_LOCKS_EXCLUDED(mutex_);

  // Says that a task is done. A slot with a failed sample is delivered as the
  // error of its first one.
  void FinishTask(const Task& task, absl::Status status)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until Take() has something to give; false if `timeout` passes first.
  // Where opening the front's slot has failed, workers try it once more.
  bool WaitReady(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

  // The slot of the batch that comes next; the one after it then comes next. If
  // a sample failed: the error of the first that did, and the batch is passed
  // as well. If the slot could not be opened: that error, and the same batch is
  // tried again. REQUIRES: since the last Take() or Seek() WaitReady() returned
  // true, or the calling thread took tasks without blocking until there was
  // none and finished them.
  absl::StatusOr<std::shared_ptr<BatchSlot>> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // The batch that comes next.
  BatchId front() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes `next` the batch that comes next. Slots already made for it and what
  // follows are kept, others dropped.
  void Seek(BatchId next) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes TakeTask() return nullopt in all threads, until Resume().
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  void Resume() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::optional<Task> NextTask() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool CanOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Releases the lock while it calls open_.
  void OpenNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FrontIsReady() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BatchId Following(BatchId id) const;

  const BatchRingOptions options_;
  const OpenFunction open_;
  const CompleteFunction complete_;

  mutable Mutex mutex_;
  // Signalled when there may be a task, or the ring stops.
  CondVar work_;
  // Signalled when the front may be ready.
  CondVar ready_;
  std::deque<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  // Entries before this one are given out whole.
  size_t giving_ ABSL_GUARDED_BY(mutex_) = 0;
  // The batch of the next entry to be opened.
  BatchId cursor_ ABSL_GUARDED_BY(mutex_);
  // The batch that Take() gives next.
  BatchId front_ ABSL_GUARDED_BY(mutex_);
  // Of the last Seek().
  int64_t sought_epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  bool opening_ ABSL_GUARDED_BY(mutex_) = false;
  // Why the last opening failed. Workers don't open slots until it is cleared.
  absl::Status open_error_ ABSL_GUARDED_BY(mutex_);
  // Counts Seek(): what was opened for an older one is dropped.
  int64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_BATCH_RING_H_
