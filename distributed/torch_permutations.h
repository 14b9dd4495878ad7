#ifndef MILLRACE_DISTRIBUTED_TORCH_PERMUTATIONS_H_
#define MILLRACE_DISTRIBUTED_TORCH_PERMUTATIONS_H_

// PyTorch's shuffles of a data set, epoch by epoch, for the samplers that
// repeat its orders.

#include <array>
#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace millrace::distributed {

// torch.randperm(size) seeded with seed + epoch. The lists of the two epochs
// asked for last are kept, 8 bytes an element each: a loader reads the end of
// one epoch and the head of the next at the same time. A list is made by the
// first call for its epoch; calls for the other epoch go on meanwhile.
//
// Thread-safe.
class TorchPermutations {
 public:
  // REQUIRES: size >= 0.
  TorchPermutations(int64_t size, uint64_t seed) : size_(size), seed_(seed) {}

  TorchPermutations(const TorchPermutations&) = delete;
  TorchPermutations& operator=(const TorchPermutations&) = delete;

  int64_t size() const { return size_; }

  // REQUIRES: epoch >= 0, position in [0, size()).
  int64_t At(int64_t epoch, int64_t position) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Slot {
    // -1: never used.
    int64_t epoch = -1;
    bool being_made = false;
    int64_t last_use = 0;
    std::vector<int64_t> list;
  };

  // The slot of `epoch`, filled; makes it first if need be.
  Slot* FilledSlot(int64_t epoch) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t size_;
  const uint64_t seed_;
  mutable Mutex mutex_;
  mutable CondVar made_;
  mutable int64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::array<Slot, 2> slots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TORCH_PERMUTATIONS_H_
