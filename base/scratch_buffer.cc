#include "base/scratch_buffer.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <cstdint>

namespace millrace {
namespace {

// Capacities are multiples of this, so that sizes that differ a little don't
// make a buffer grow again.
constexpr size_t kBlock = 4096;

// From here on memory comes from the system. Below, malloc is faster and keeps
// little.
constexpr size_t kMapped = size_t{1} << 20;

}  // namespace

char* ScratchBuffer::Reserve(size_t size) {
  if (size > PTRDIFF_MAX - kBlock) {
    Free();
    return nullptr;
  }
  if (size <= capacity_ && data_ != nullptr) return data_;
  // Nothing is kept of the old contents: free them first, for a lower peak.
  Free();
  const size_t capacity = (size / kBlock + 1) * kBlock;
  void* data = nullptr;
  if (capacity >= kMapped) {
    data = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
  } else {
    data = malloc(capacity);
    if (data == nullptr) return nullptr;
  }
  data_ = static_cast<char*>(data);
  capacity_ = capacity;
  return data_;
}

void ScratchBuffer::Free() {
  if (capacity_ >= kMapped) {
    // Can't fail: it is a whole mapping.
    static_cast<void>(munmap(data_, capacity_));
  } else {
    free(data_);
  }
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace millrace
