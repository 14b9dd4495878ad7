#include "loader/byte_budget.h"

#include <algorithm>

namespace millrace::loader {

void ByteBudget::Begin(int64_t ticket) {
  MutexLock lock(&mutex_);
  holders_.push_back({ticket, 0});
}

bool ByteBudget::Acquire(int64_t ticket, int64_t bytes) {
  MutexLock lock(&mutex_);
  while (!cancelled_ && used_ + bytes > limit_ && !IsOldest(ticket)) {
    released_.Wait(&mutex_);
  }
  if (cancelled_) return false;
  used_ += bytes;
  Find(ticket).bytes += bytes;
  return true;
}

void ByteBudget::End(int64_t ticket) {
  {
    MutexLock lock(&mutex_);
    Holder& holder = Find(ticket);
    used_ -= holder.bytes;
    holder = holders_.back();
    holders_.pop_back();
  }
  // All: the next oldest may go ahead, and others may fit.
  released_.SignalAll();
}

void ByteBudget::Cancel() {
  {
    MutexLock lock(&mutex_);
    cancelled_ = true;
  }
  released_.SignalAll();
}

int64_t ByteBudget::used() const {
  MutexLock lock(&mutex_);
  return used_;
}

bool ByteBudget::IsOldest(int64_t ticket) const {
  return std::all_of(
      holders_.begin(), holders_.end(),
      [ticket](const Holder& holder) { return holder.ticket >= ticket; });
}

ByteBudget::Holder& ByteBudget::Find(int64_t ticket) {
  return *std::find_if(
      holders_.begin(), holders_.end(),
      [ticket](const Holder& holder) { return holder.ticket == ticket; });
}

}  // namespace millrace::loader
