#ifndef MILLRACE_DISTRIBUTED_GRADIENT_AVERAGE_H_
#define MILLRACE_DISTRIBUTED_GRADIENT_AVERAGE_H_

// The last step of a reduction in device memory: from sums to averages.

#include <cstdint>

namespace millrace::distributed {

// Queues average[i] = sum[i] / divisor for i in [0, count) on the CUDA stream
// `stream` (cudaStream_t as a number). Pointers are device memory, as float, or
// as double if `is_double`. The division is IEEE's, as on the host. Returns
// CUDA's error code; 0 for success.
int QueueAverage(const void* sum, void* average, int64_t count, double divisor,
                 bool is_double, uintptr_t stream);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_GRADIENT_AVERAGE_H_
