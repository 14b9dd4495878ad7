#ifndef MILLRACE_BASE_BUFFER_POOL_H_
#define MILLRACE_BASE_BUFFER_POOL_H_

// Large buffers that are used again and again: batch slots above all. Memory is
// taken from the allocator once and kept, since fresh pages cost more to fault
// in than a batch costs to fill, and pinned ones stall the GPU's driver.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/mutex.h"

namespace millrace {

// Where buffers come from: plain memory, or pages pinned for a GPU.
//
// Thread-safe.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;

  // `bytes` (> 0) aligned to at least 64; ResourceExhausted when there are
  // none.
  virtual absl::StatusOr<void*> Allocate(size_t bytes) = 0;
  virtual void Free(void* data, size_t bytes) = 0;

  // Plain memory of the process. Never null, never destroyed.
  static HostAllocator* Plain();
};

class BufferPool;

// Memory on loan from a pool; goes back when destroyed. Contents are what the
// last user left.
//
// Thread-compatible.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  // Null for a default-constructed or moved-from buffer.
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  friend class BufferPool;
  Buffer(BufferPool* pool, uint8_t* data, size_t size)
      : pool_(pool), data_(data), size_(size) {}

  BufferPool* pool_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Buffers of one size. The pool must outlive its buffers.
//
// Thread-safe.
class BufferPool {
 public:
  // `allocator` is borrowed. REQUIRES: buffer_bytes > 0.
  BufferPool(HostAllocator* allocator, size_t buffer_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  size_t buffer_bytes() const { return buffer_bytes_; }

  // A buffer that came back, or a new one. Fails as the allocator does.
  absl::StatusOr<Buffer> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // Buffers that are with users now.
  int64_t outstanding() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Buffers ever allocated: constant after warm-up.
  int64_t allocated() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class Buffer;
  void Return(uint8_t* data) ABSL_LOCKS_EXCLUDED(mutex_);

  HostAllocator* const allocator_;
  const size_t buffer_bytes_;
  mutable Mutex mutex_;
  std::vector<uint8_t*> free_ ABSL_GUARDED_BY(mutex_);
  int64_t allocated_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_BUFFER_POOL_H_
