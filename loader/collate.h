#ifndef MILLRACE_LOADER_COLLATE_H_
#define MILLRACE_LOADER_COLLATE_H_

// Making a batch of samples in a way of the user's own: padding sequences to
// the longest, mixing pictures, counting boxes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/tensor.h"
#include "loader/batch.h"
#include "storage/dataset.h"

namespace millrace::loader {

// One finished sample as a collate function sees it. Valid during the call.
struct CollateSample {
  int64_t index = 0;
  int64_t position = 0;
  // What the transform made, in its order.
  absl::Span<const TensorView> outputs;
  // What the data set stored: for fields whose shape varies.
  absl::Span<const storage::FieldView> fields;
  storage::LabelView labels;
};

// Where a collate function puts its tensors.
//
// Confined to one thread.
class BatchBuilder {
 public:
  // A tensor of zeros that becomes part of the batch. InvalidArgument: the name
  // is taken, or the shape has a negative dimension. ResourceExhausted: no
  // memory.
  absl::StatusOr<TensorView> Add(absl::string_view name, DType dtype,
                                 const Shape& shape);

  // For the loader: what was added.
  std::vector<NamedTensor> TakeTensors() { return std::move(tensors_); }
  std::vector<std::unique_ptr<uint8_t[]>> TakeMemory() {
    return std::move(memory_);
  }

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<std::unique_ptr<uint8_t[]>> memory_;
};

// Called once a batch, by the worker that finished its last sample, with the
// samples by rising position; from several threads at once for different
// batches. The result must depend on the samples alone.
using CollateFunction = std::function<absl::Status(
    absl::Span<const CollateSample> samples, BatchBuilder* batch)>;

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_COLLATE_H_
