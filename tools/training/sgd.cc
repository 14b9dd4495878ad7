#include "tools/training/sgd.h"

#include <utility>

#include "ATen/ATen.h"

namespace millrace::tools::training {

Sgd::Sgd(const SgdOptions& options, std::vector<at::Tensor> parameters)
    : options_(options), parameters_(std::move(parameters)) {
  for (const at::Tensor& parameter : parameters_) {
    velocities_.push_back(at::zeros_like(parameter.detach()));
  }
}

void Sgd::Step(double learning_rate, std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (options_.weight_decay != 0) {
      gradients[i].add_(parameters_[i], options_.weight_decay);
    }
    velocities_[i].mul_(options_.momentum).add_(gradients[i]);
    parameters_[i].add_(velocities_[i], -learning_rate);
  }
}

}  // namespace millrace::tools::training
