#include "tests/support/faulty_dataset.h"

#include <utility>

namespace millrace {

FaultyDataset::FaultyDataset(std::shared_ptr<const storage::Dataset> base)
    : base_(std::move(base)) {}

void FaultyDataset::Fail(int64_t index, absl::Status status, int times) {
  MutexLock lock(&mutex_);
  states_[index].failure = std::move(status);
  states_[index].failures_left = times;
}

void FaultyDataset::Block(int64_t index, std::latch* latch) {
  MutexLock lock(&mutex_);
  states_[index].latch = latch;
}

int64_t FaultyDataset::reads(int64_t index) const {
  MutexLock lock(&mutex_);
  const auto it = states_.find(index);
  return it == states_.end() ? 0 : it->second.reads;
}

int64_t FaultyDataset::total_reads() const {
  MutexLock lock(&mutex_);
  return total_reads_;
}

void FaultyDataset::WaitForReads(int64_t index, int64_t count) const {
  MutexLock lock(&mutex_);
  while (states_[index].reads < count) read_began_.Wait(&mutex_);
}

absl::Status FaultyDataset::Read(int64_t index, storage::Sample* sample) const {
  absl::Status failure;
  std::latch* latch = nullptr;
  {
    MutexLock lock(&mutex_);
    State& state = states_[index];
    ++state.reads;
    ++total_reads_;
    if (state.failures_left != 0) failure = state.failure;
    if (state.failures_left > 0) --state.failures_left;
    latch = state.latch;
  }
  read_began_.SignalAll();
  if (latch != nullptr) latch->wait();
  if (!failure.ok()) {
    sample->Clear();
    return failure;
  }
  return base_->Read(index, sample);
}

}  // namespace millrace
