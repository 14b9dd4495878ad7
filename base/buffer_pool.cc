#include "base/buffer_pool.h"

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace millrace {
namespace {

class PlainAllocator : public HostAllocator {
 public:
  absl::StatusOr<void*> Allocate(size_t bytes) override {
    constexpr size_t kAlignment = 64;
    // Rounded up, as aligned_alloc wants it; above this the sum would overflow.
    void* data =
        bytes > SIZE_MAX - kAlignment
            ? nullptr
            : std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) /
                                                 kAlignment * kAlignment);
    if (data == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("allocating a buffer of ", bytes, " bytes: no memory"));
    }
    return data;
  }
  void Free(void* data, size_t) override { std::free(data); }
};

}  // namespace

HostAllocator* HostAllocator::Plain() {
  static PlainAllocator allocator;
  return &allocator;
}

Buffer::~Buffer() {
  if (data_ != nullptr) pool_->Return(data_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(other.pool_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  if (data_ != nullptr) pool_->Return(data_);
  pool_ = other.pool_;
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

BufferPool::BufferPool(HostAllocator* allocator, size_t buffer_bytes)
    : allocator_(allocator), buffer_bytes_(buffer_bytes) {}

BufferPool::~BufferPool() {
  MutexLock lock(&mutex_);
  for (uint8_t* data : free_) allocator_->Free(data, buffer_bytes_);
}

absl::StatusOr<Buffer> BufferPool::Take() {
  {
    MutexLock lock(&mutex_);
    if (!free_.empty()) {
      uint8_t* data = free_.back();
      free_.pop_back();
      return Buffer(this, data, buffer_bytes_);
    }
  }
  MILLRACE_ASSIGN_OR_RETURN(void* data, allocator_->Allocate(buffer_bytes_));
  MutexLock lock(&mutex_);
  ++allocated_;
  // Room for all to come back, so that Return() never allocates.
  free_.reserve(static_cast<size_t>(allocated_));
  return Buffer(this, static_cast<uint8_t*>(data), buffer_bytes_);
}

void BufferPool::Return(uint8_t* data) {
  MutexLock lock(&mutex_);
  free_.push_back(data);
}

int64_t BufferPool::outstanding() const {
  MutexLock lock(&mutex_);
  return allocated_ - static_cast<int64_t>(free_.size());
}

int64_t BufferPool::allocated() const {
  MutexLock lock(&mutex_);
  return allocated_;
}

}  // namespace millrace
