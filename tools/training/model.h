#ifndef MILLRACE_TOOLS_TRAINING_MODEL_H_
#define MILLRACE_TOOLS_TRAINING_MODEL_H_

// The image classifiers that `train` knows.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "tools/training/train_options.h"
#include "torch/nn/module.h"

namespace millrace::tools::training {

// A module from images [N, 3, H, W] to class scores [N, classes].
//
// Thread-compatible, as torch's modules are. forward() throws torch's
// exceptions: see torch_status.h.
class Model : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& images) = 0;
};

struct ModelOptions {
  ModelKind kind = ModelKind::kSmallCnn;
  Norm norm = Norm::kBatch;
  Precision precision = Precision::kFloat32;
  // > 0.
  int64_t classes = 0;
  // Decides the initial parameters, together with libtorch's version.
  uint64_t seed = 0;
};

// A new model, in host memory, in training mode. The ResNets have torchvision's
// structure, parameter names and initialisation; Norm::kGroup puts group
// normalisation of 8 (small_cnn) or 32 groups in place of batch normalisation,
// under the same names.
//
// Seeds torch's global generator: one call at a time in a process. Errors as
// CatchTorch().
absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelOptions& options);

// Type of the model's parameters and inputs.
torch::Dtype TorchType(Precision precision);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_MODEL_H_
