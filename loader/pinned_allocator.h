#ifndef MILLRACE_LOADER_PINNED_ALLOCATOR_H_
#define MILLRACE_LOADER_PINNED_ALLOCATOR_H_

// Host memory that a GPU copies from by itself, without the processor's help.

#include "absl/status/statusor.h"
#include "base/buffer_pool.h"

namespace millrace::loader {

// The allocator of page-locked memory for CUDA device `device`; lives for ever.
// With --config=cuda (pinned_allocator_cuda.cc): Unavailable, naming CUDA's
// error, where there is no such device. Otherwise (pinned_allocator_stub.cc):
// Unimplemented, naming the flag.
absl::StatusOr<HostAllocator*> PinnedAllocator(int device);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_PINNED_ALLOCATOR_H_
