#include "loader/batch_ring.h"

#include <utility>

namespace millrace::loader {

// Guarded by the ring's mutex, but for the slot: its parts belong to the tasks.
struct BatchRing::Entry {
  BatchId id;
  std::shared_ptr<BatchSlot> slot;
  // Samples given out and not done.
  int64_t given = 0;
  int64_t done = 0;
  // Of the failed sample with the lowest number.
  absl::Status error;
  int64_t error_sample = 0;
  // Set when all samples are done and complete_ has returned.
  bool complete = false;
};

BatchRing::BatchRing(const BatchRingOptions& options, OpenFunction open,
                     CompleteFunction complete)
    : options_(options),
      open_(std::move(open)),
      complete_(std::move(complete)) {}

BatchRing::~BatchRing() = default;

BatchId BatchRing::Following(BatchId id) const {
  if (id.step + 1 < options_.steps) return {id.epoch, id.step + 1};
  return {id.epoch + 1, 0};
}

std::optional<BatchRing::Task> BatchRing::NextTask() {
  while (giving_ < entries_.size()) {
    const std::shared_ptr<Entry>& entry = entries_[giving_];
    if (entry->given < entry->slot->size()) {
      return Task{entry, entry->slot.get(), entry->given++, next_ticket_++};
    }
    ++giving_;
  }
  return std::nullopt;
}

bool BatchRing::CanOpen() const {
  return !opening_ && open_error_.ok() &&
         static_cast<int64_t>(entries_.size()) < options_.depth &&
         (options_.cross_epochs || cursor_.epoch == sought_epoch_);
}

void BatchRing::OpenNext() {
  opening_ = true;
  const int64_t generation = generation_;
  const auto entry = std::make_shared<Entry>();
  entry->id = cursor_;
  mutex_.Unlock();
  absl::StatusOr<std::shared_ptr<BatchSlot>> slot = open_(entry->id);
  if (slot.ok()) {
    entry->slot = *std::move(slot);
    if (entry->slot->size() == 0) {
      entry->error = complete_(entry->slot.get());
      entry->complete = true;
    }
  }
  mutex_.Lock();
  opening_ = false;
  if (generation == generation_) {
    if (entry->slot != nullptr) {
      entries_.push_back(entry);
      cursor_ = Following(cursor_);
    } else {
      open_error_ = std::move(slot).status();
    }
  }
  work_.SignalAll();
  ready_.Signal();
}

std::optional<BatchRing::Task> BatchRing::TakeTask(bool block) {
  MutexLock lock(&mutex_);
  while (!stopping_) {
    if (std::optional<Task> task = NextTask()) return task;
    if (CanOpen()) {
      OpenNext();
    } else if (block) {
      work_.Wait(&mutex_);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Statuses are moved from thread to thread, never shared: their reference
// counts are inside a library that ThreadSanitizer can't see into.
void BatchRing::FinishTask(const Task& task, absl::Status status) {
  Entry& entry = *task.entry;
  bool failed;
  {
    MutexLock lock(&mutex_);
    if (!status.ok() && (entry.error.ok() || task.i < entry.error_sample)) {
      entry.error = std::move(status);
      entry.error_sample = task.i;
    }
    if (++entry.done < entry.slot->size()) return;
    failed = !entry.error.ok();
  }
  // This thread finished the last sample, so the slot is its alone.
  if (!failed) status = complete_(entry.slot.get());
  {
    MutexLock lock(&mutex_);
    if (!failed) entry.error = std::move(status);
    entry.complete = true;
  }
  ready_.Signal();
}

bool BatchRing::FrontIsReady() const {
  // While there is no entry, an error of opening is the front's own.
  return entries_.empty() ? !open_error_.ok() : entries_.front()->complete;
}

bool BatchRing::WaitReady(absl::Duration timeout) {
  MutexLock lock(&mutex_);
  if (entries_.empty()) {
    // The consumer may have dropped batches since opening failed.
    open_error_ = absl::OkStatus();
    work_.SignalAll();
  }
  const absl::Time deadline = absl::Now() + timeout;
  while (!FrontIsReady()) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    ready_.WaitFor(&mutex_, left);
  }
  return true;
}

absl::StatusOr<std::shared_ptr<BatchSlot>> BatchRing::Take() {
  MutexLock lock(&mutex_);
  // Workers are woken by WaitReady(): now they would fail again before the
  // consumer has had a chance to drop batches.
  if (entries_.empty()) return std::exchange(open_error_, absl::OkStatus());
  const std::shared_ptr<Entry> entry = std::move(entries_.front());
  entries_.pop_front();
  if (giving_ > 0) --giving_;
  front_ = Following(front_);
  // There is room now, and perhaps memory again.
  open_error_ = absl::OkStatus();
  work_.SignalAll();
  if (!entry->error.ok()) return std::move(entry->error);
  return entry->slot;
}

BatchId BatchRing::front() const {
  MutexLock lock(&mutex_);
  return front_;
}

void BatchRing::Seek(BatchId next) {
  MutexLock lock(&mutex_);
  front_ = next;
  sought_epoch_ = next.epoch;
  while (!entries_.empty() && !(entries_.front()->id == next)) {
    entries_.pop_front();
    if (giving_ > 0) --giving_;
  }
  if (entries_.empty() && !(cursor_ == next)) {
    cursor_ = next;
    ++generation_;
  }
  open_error_ = absl::OkStatus();
  work_.SignalAll();
}

void BatchRing::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  work_.SignalAll();
}

void BatchRing::Resume() {
  MutexLock lock(&mutex_);
  stopping_ = false;
}

}  // namespace millrace::loader
