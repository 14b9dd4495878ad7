#include <cuda_runtime.h>

#include <algorithm>

#include "distributed/gradient_average.h"

namespace millrace::distributed {
namespace {

constexpr int kThreads = 256;
// Enough to fill any GPU; each thread takes several elements of more.
constexpr int64_t kMaxBlocks = 4096;

template <typename T>
__global__ void Average(const T* sum, T* average, int64_t count, T divisor) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    average[i] = sum[i] / divisor;
  }
}

template <typename T>
int QueueAverageAs(const void* sum, void* average, int64_t count,
                   double divisor, cudaStream_t stream) {
  const int64_t blocks = std::min(kMaxBlocks, (count - 1) / kThreads + 1);
  Average<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<const T*>(sum), static_cast<T*>(average), count,
      static_cast<T>(divisor));
  return static_cast<int>(cudaGetLastError());
}

}  // namespace

int QueueAverage(const void* sum, void* average, int64_t count, double divisor,
                 bool is_double, uintptr_t stream) {
  if (count == 0) return 0;
  const cudaStream_t on = reinterpret_cast<cudaStream_t>(stream);
  return is_double ? QueueAverageAs<double>(sum, average, count, divisor, on)
                   : QueueAverageAs<float>(sum, average, count, divisor, on);
}

}  // namespace millrace::distributed
