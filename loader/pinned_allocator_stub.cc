#include "absl/status/status.h"
#include "loader/pinned_allocator.h"

namespace millrace::loader {

absl::StatusOr<HostAllocator*> PinnedAllocator(int /*device*/) {
  return absl::UnimplementedError(
      "pin_memory needs CUDA, which this program was built without: build with "
      "--config=cuda, or leave pin_memory off");
}

}  // namespace millrace::loader
