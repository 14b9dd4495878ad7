#include "tools/training/sgd.h"

#include <vector>

#include "gtest/gtest.h"
#include "torch/optim/sgd.h"
#include "torch/types.h"
#include "torch/utils.h"

namespace millrace::tools::training {
namespace {

// A few steps of ours and of torch's with the same gradients.
void ExpectEqualToTorch(double momentum, double weight_decay) {
  torch::manual_seed(3);
  std::vector<at::Tensor> ours, theirs;
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{4, 3, 3, 3}, {7}}) {
    ours.push_back(torch::randn(shape).requires_grad_());
    theirs.push_back(ours.back().detach().clone().requires_grad_());
  }
  Sgd sgd({.momentum = momentum, .weight_decay = weight_decay}, ours);
  torch::optim::SGD reference(
      theirs, torch::optim::SGDOptions(0.1).momentum(momentum).weight_decay(
                  weight_decay));
  for (int step = 0; step < 5; ++step) {
    const double learning_rate = 0.1 / (step + 1);
    std::vector<at::Tensor> gradients;
    for (at::Tensor& parameter : theirs) {
      gradients.push_back(torch::randn_like(parameter.detach()));
      parameter.mutable_grad() = gradients.back().clone();
    }
    for (auto& group : reference.param_groups()) {
      static_cast<torch::optim::SGDOptions&>(group.options()).lr(learning_rate);
    }
    reference.step();
    sgd.Step(learning_rate, gradients);
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_TRUE(ours[i].equal(theirs[i])) << "step " << step;
    }
  }
}

TEST(SgdTest, IsBitEqualToTorch) {
  ExpectEqualToTorch(0.9, 5e-4);
  ExpectEqualToTorch(0.9, 0);
  ExpectEqualToTorch(0, 1e-2);
}

TEST(SgdTest, VelocitiesCarryOnARun) {
  const at::Tensor start = torch::ones({3});
  const auto run = [&](int from, int to, at::Tensor* velocity,
                       at::Tensor parameter) {
    Sgd sgd({.momentum = 0.5, .weight_decay = 0.1}, {parameter});
    if (velocity->defined()) sgd.velocities()[0].copy_(*velocity);
    for (int step = from; step < to; ++step) {
      std::vector<at::Tensor> gradients = {torch::full({3}, step + 1.0)};
      sgd.Step(0.1, gradients);
    }
    *velocity = sgd.velocities()[0].clone();
    return parameter;
  };
  at::Tensor whole_velocity, parts_velocity;
  const at::Tensor whole = run(0, 6, &whole_velocity, start.clone());
  const at::Tensor half = run(0, 3, &parts_velocity, start.clone());
  const at::Tensor parts = run(3, 6, &parts_velocity, half);
  EXPECT_TRUE(whole.equal(parts));
  EXPECT_TRUE(whole_velocity.equal(parts_velocity));
}

}  // namespace
}  // namespace millrace::tools::training
