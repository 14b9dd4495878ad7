#include <cuda_runtime_api.h>

#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "loader/pinned_allocator.h"

namespace millrace::loader {
namespace {

absl::Status CudaStatus(cudaError_t error, absl::string_view what) {
  if (error == cudaSuccess) return absl::OkStatus();
  const std::string message =
      absl::StrCat("CUDA: ", what, ": ", cudaGetErrorString(error));
  return error == cudaErrorMemoryAllocation
             ? absl::ResourceExhaustedError(message)
             : absl::UnavailableError(message);
}

class CudaPinnedAllocator : public HostAllocator {
 public:
  explicit CudaPinnedAllocator(int device) : device_(device) {}

  absl::StatusOr<void*> Allocate(size_t bytes) override {
    // The device belongs to the calling thread; without it the allocation would
    // open a context on device 0.
    absl::Status status = CudaStatus(
        cudaSetDevice(device_), absl::StrCat("selecting device ", device_));
    void* data = nullptr;
    if (status.ok()) {
      status =
          CudaStatus(cudaHostAlloc(&data, bytes, cudaHostAllocPortable),
                     absl::StrCat("pinning ", bytes, " bytes of host memory"));
    }
    if (!status.ok()) return status;
    return data;
  }

  void Free(void* data, size_t) override {
    // Fails only while the process ends and the driver is gone already.
    static_cast<void>(cudaFreeHost(data));
  }

 private:
  const int device_;
};

}  // namespace

absl::StatusOr<HostAllocator*> PinnedAllocator(int device) {
  int devices = 0;
  const absl::Status status =
      CudaStatus(cudaGetDeviceCount(&devices), "counting devices");
  if (!status.ok()) return status;
  if (device < 0 || device >= devices) {
    return absl::UnavailableError(
        absl::StrCat("CUDA: there is no device ", device, ", only ", devices));
  }
  static Mutex mutex;
  // Never destroyed: buffers may outlive everything.
  static auto* const allocators =
      new std::map<int, std::unique_ptr<CudaPinnedAllocator>>;
  MutexLock lock(&mutex);
  std::unique_ptr<CudaPinnedAllocator>& allocator = (*allocators)[device];
  if (allocator == nullptr) {
    allocator = std::make_unique<CudaPinnedAllocator>(device);
  }
  return static_cast<HostAllocator*>(allocator.get());
}

}  // namespace millrace::loader
