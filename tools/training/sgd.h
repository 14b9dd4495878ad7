#ifndef MILLRACE_TOOLS_TRAINING_SGD_H_
#define MILLRACE_TOOLS_TRAINING_SGD_H_

// Stochastic gradient descent with momentum, as torch.optim.SGD does it, with
// its state laid open for checkpoints: torch keeps it under keys that differ
// between versions.

#include <vector>

#include "ATen/core/Tensor.h"

namespace millrace::tools::training {

struct SgdOptions {
  // In [0, 1).
  double momentum = 0.9;
  // >= 0; of all parameters, norms and biases too, as torch's default.
  double weight_decay = 0;
};

// For each parameter p with gradient g, velocity v (zeros at first) and
// learning rate r:
//
//   g += weight_decay * p;  v = momentum * v + g;  p -= r * v
//
// Bit-equal to torch.optim.SGD(parameters, r, momentum, 0, weight_decay).
//
// Thread-compatible.
class Sgd {
 public:
  // The parameters are changed in place by Step().
  Sgd(const SgdOptions& options, std::vector<at::Tensor> parameters);

  // REQUIRES: a gradient for each parameter, of its shape and type. The
  // gradients are overwritten. Throws torch's exceptions.
  void Step(double learning_rate, std::vector<at::Tensor>& gradients);

  // The velocities, by parameter; may be written to.
  const std::vector<at::Tensor>& velocities() const { return velocities_; }

 private:
  SgdOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> velocities_;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_SGD_H_
