#ifndef MILLRACE_BASE_SCRATCH_BUFFER_H_
#define MILLRACE_BASE_SCRATCH_BUFFER_H_

// Working memory of a thread, which goes back to the system when it is freed.
//
// malloc's does not always: once a program has freed blocks of up to 32 MiB,
// glibc takes further ones from the heaps of its threads, where they stay. A
// few huge files would swell every thread that ever read one.

#include <cstddef>

namespace millrace {

// Thread-compatible.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  ~ScratchBuffer() { Free(); }
  ScratchBuffer(const ScratchBuffer&) = delete;
  ScratchBuffer& operator=(const ScratchBuffer&) = delete;

  // Memory for `size` bytes, with any contents, until the next call or Free().
  // What there is is kept where it suffices. Null if there is no memory: the
  // buffer is then empty.
  char* Reserve(size_t size);

  void Free();

  // Null while empty.
  char* data() const { return data_; }
  size_t capacity() const { return capacity_; }

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_SCRATCH_BUFFER_H_
