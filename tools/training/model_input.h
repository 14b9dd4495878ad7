#ifndef MILLRACE_TOOLS_TRAINING_MODEL_INPUT_H_
#define MILLRACE_TOOLS_TRAINING_MODEL_INPUT_H_

// A loader's batch as torch tensors.

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "loader/batch.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

// The tensors may share the batch's memory: they live no longer than it.
struct ModelInput {
  // [n, 3, H, W], float32 or float64.
  at::Tensor images;
  // [n], int64.
  at::Tensor labels;
};

// `batch` with images float32 [n, 3, H, W] and labels int64 [n]; n may be 0.
// InvalidArgument where it has others. Throws torch's exceptions.
absl::StatusOr<ModelInput> ToModelInput(const loader::Batch& batch,
                                        Precision precision,
                                        c10::Device device);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_MODEL_INPUT_H_
