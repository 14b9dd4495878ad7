#ifndef MILLRACE_DISTRIBUTED_TENSOR_SUM_H_
#define MILLRACE_DISTRIBUTED_TENSOR_SUM_H_

// Sums of tensors in host memory.

#include <memory>
#include <string>

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

// "sum of 1000 float32"
std::string DescribeSum(const TensorView& tensor);

// A tensor's elements in memory of their own, for a sum that may go on after
// the caller's memory is gone.
//
// Thread-compatible. The memory lives as long as this or an owner() of it.
class TensorCopy {
 public:
  // Copies the elements of `original`, which is kept for WriteBack().
  explicit TensorCopy(const TensorView& original);

  const TensorView& view() const { return view_; }
  std::shared_ptr<const void> owner() const { return bytes_; }

  // Copies the elements to where they came from.
  void WriteBack() const;

 private:
  TensorView original_;
  // Of doubles, for their alignment.
  std::shared_ptr<double[]> bytes_;
  TensorView view_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TENSOR_SUM_H_
