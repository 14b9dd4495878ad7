#include "distributed/torch_permutations.h"

#include <utility>

#include "base/torch_random.h"

namespace millrace::distributed {

int64_t TorchPermutations::At(int64_t epoch, int64_t position) const {
  MutexLock lock(&mutex_);
  Slot* slot = FilledSlot(epoch);
  slot->last_use = ++uses_;
  return slot->list[position];
}

TorchPermutations::Slot* TorchPermutations::FilledSlot(int64_t epoch) const {
  while (true) {
    Slot* oldest = nullptr;
    bool wait = false;
    for (Slot& slot : slots_) {
      if (slot.epoch == epoch) {
        if (!slot.being_made) return &slot;
        wait = true;
      } else if (!slot.being_made &&
                 (oldest == nullptr || slot.last_use < oldest->last_use)) {
        oldest = &slot;
      }
    }
    if (wait || oldest == nullptr) {
      made_.Wait(&mutex_);
      continue;
    }
    oldest->epoch = epoch;
    oldest->being_made = true;
    // Freed first, so that there are never three lists.
    oldest->list = {};
    mutex_.Unlock();
    std::vector<int64_t> list =
        TorchRandPerm(size_, seed_ + static_cast<uint64_t>(epoch));
    mutex_.Lock();
    oldest->list = std::move(list);
    oldest->being_made = false;
    made_.SignalAll();
    return oldest;
  }
}

}  // namespace millrace::distributed
