#ifndef MILLRACE_DISTRIBUTED_TENSOR_SUM_H_
#define MILLRACE_DISTRIBUTED_TENSOR_SUM_H_

// Sums of tensors in host memory.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/tensor.h"

namespace millrace::distributed {

// InvalidArgument unless `tensor` has a type that ranks can sum (float32,
// float64, int64), a valid shape, and memory for its elements.
absl::Status CheckSummable(const TensorView& tensor);

// Replaces each of `tensors` by the sum of all, added in the given order.
// int64 sums wrap around. REQUIRES: each is summable; type and count are equal.
void SumInPlace(absl::Span<const TensorView> tensors);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TENSOR_SUM_H_
