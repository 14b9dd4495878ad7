#include "tools/training/train_step.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "ATen/ATen.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "base/tensor.h"
#include "tools/training/model_input.h"
#include "tools/training/torch_status.h"
#include "torch/csrc/autograd/function.h"
#include "torch/csrc/autograd/function_hook.h"
#include "torch/csrc/autograd/variable.h"

namespace millrace::tools::training {
namespace {

// Further numbers that travel with the gradients.
enum Scalar {
  kImages = 0,
  kLossSum,
  kCorrect,
  kInterrupts,
  kTerminations,
  kNotFinite,
  kScalarCount,
};

DType TypeOf(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? DType::kFloat64
                                             : DType::kFloat32;
}

// Calls back when the gradient of one parameter has been accumulated, however
// many uses the parameter had. (A hook on the parameter itself runs before its
// gradient is added to that of earlier parts of the batch.)
class AccumulatedHook : public torch::autograd::FunctionPostHook {
 public:
  explicit AccumulatedHook(std::function<void()> callback)
      : callback_(std::move(callback)) {}

  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& outputs,
      const torch::autograd::variable_list& /*inputs*/) override {
    callback_();
    return outputs;
  }

 private:
  std::function<void()> callback_;
};

absl::StatusOr<std::unique_ptr<distributed::GradientReducer>> MakeReducer(
    distributed::Communicator* communicator, c10::Device device,
    std::vector<distributed::GradientSpec> specs, absl::Duration timeout) {
  distributed::GradientReducerOptions options;
  options.timeout = timeout;
  if (device.is_cuda()) {
    return distributed::MakeDeviceGradientReducer(communicator, device.index(),
                                                  std::move(specs), options);
  }
  return distributed::MakeHostGradientReducer(communicator, std::move(specs),
                                              options);
}

}  // namespace

class TrainStep::Impl {
 public:
  Impl(Model* model, const TrainStepOptions& options,
       std::vector<at::Tensor> parameters,
       std::unique_ptr<distributed::GradientReducer> reducer)
      : model_(model),
        options_(options),
        parameters_(std::move(parameters)),
        buffers_(model->buffers()),
        reducer_(std::move(reducer)),
        sgd_(options.sgd, parameters_),
        marked_(parameters_.size(), false) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      gradients_.push_back(at::zeros_like(parameters_[i].detach(),
                                          at::MemoryFormat::Contiguous));
      AddHook(i);
    }
  }

  // The hooks point here, and the model may outlive this.
  ~Impl() {
    for (const auto& [node, hook] : hooks_) node->del_post_hook(hook);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::StatusOr<StepResult> Run(const loader::Batch& batch,
                                 double learning_rate, int stop_signal) {
    StepResult result;
    const absl::Status status = CatchTorch("training step", [&] {
      return RunOrThrow(batch, learning_rate, stop_signal, &result);
    });
    if (absl::StrContains(status.message(),
                          "Expected more than 1 value per channel")) {
      return absl::FailedPreconditionError(absl::StrCat(
          "batch normalisation needs more than one sample of this size on a "
          "rank, and got ",
          batch.size(), " in ", options_.accumulate,
          " parts: use --norm=group or a larger --global_batch_size"));
    }
    if (!status.ok()) return status;
    return result;
  }

  const std::vector<at::Tensor>& gradients() const { return gradients_; }
  Sgd& sgd() { return sgd_; }
  distributed::GradientReducer::Overlap last_overlap() const {
    return reducer_->last_overlap();
  }

 private:
  using Scalars = std::array<double, kScalarCount>;

  void AddHook(size_t i);
  // The first error is kept for Reduce(): no status leaves backward.
  void MarkReady(size_t i);

  absl::Status RunOrThrow(const loader::Batch& batch, double learning_rate,
                          int stop_signal, StepResult* result);
  // Forward and backward of this rank's share, part by part; starts the
  // reduction before the last part's backward.
  absl::Status Compute(const loader::Batch& batch, Scalars* scalars,
                       StepResult* result);
  absl::Status StartReduction(const Scalars& scalars);
  // Sums of the scalars; gradients_ has the means over all samples.
  absl::StatusOr<std::vector<double>> FinishReduction();
  bool GradientsAreFinite() const;

  Model* model_;
  TrainStepOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> buffers_;
  std::unique_ptr<distributed::GradientReducer> reducer_;
  Sgd sgd_;
  // Sums over ranks, where Finish() writes them.
  std::vector<at::Tensor> gradients_;
  // Nodes that accumulate the parameters' gradients (the parameters hold them
  // weakly), and the keys of our hooks there.
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, uintptr_t>>
      hooks_;

  // Of the step under way: whether backward is in its last part, which
  // parameters have been handed to the reducer, and what it said.
  bool reducing_ = false;
  std::vector<bool> marked_;
  absl::Status mark_status_;
};

void TrainStep::Impl::AddHook(size_t i) {
  std::shared_ptr<torch::autograd::Node> node =
      torch::autograd::impl::grad_accumulator(parameters_[i]);
  const uintptr_t hook =
      node->add_post_hook(std::make_unique<AccumulatedHook>([this, i] {
        if (reducing_) MarkReady(i);
      }));
  hooks_.emplace_back(std::move(node), hook);
}

void TrainStep::Impl::MarkReady(size_t i) {
  if (marked_[i]) return;
  marked_[i] = true;
  const at::Tensor gradient = parameters_[i].grad().contiguous();
  const absl::Status status =
      reducer_->MarkReady(static_cast<int>(i), gradient.data_ptr());
  if (mark_status_.ok()) mark_status_ = status;
}

absl::Status TrainStep::Impl::StartReduction(const Scalars& scalars) {
  marked_.assign(marked_.size(), false);
  mark_status_ = absl::OkStatus();
  MILLRACE_RETURN_IF_ERROR(reducer_->StartStep(scalars));
  reducing_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> TrainStep::Impl::FinishReduction() {
  // A parameter that only earlier parts of the batch used.
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].grad().defined()) MarkReady(i);
  }
  reducing_ = false;
  MILLRACE_RETURN_IF_ERROR(mark_status_);
  std::vector<void*> places;
  for (const at::Tensor& gradient : gradients_) {
    places.push_back(gradient.data_ptr());
  }
  return reducer_->Finish(places);
}

absl::Status TrainStep::Impl::Compute(const loader::Batch& batch,
                                      Scalars* scalars, StepResult* result) {
  MILLRACE_ASSIGN_OR_RETURN(
      const ModelInput input,
      ToModelInput(batch, options_.precision, options_.device));
  const int64_t size = batch.size();
  const int64_t parts = std::min(options_.accumulate, size);
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = part * size / parts;
    const int64_t end = (part + 1) * size / parts;
    const at::Tensor labels = input.labels.slice(0, begin, end);
    const at::Tensor scores =
        model_->forward(input.images.slice(0, begin, end));
    const at::Tensor losses = at::cross_entropy_loss(
        scores, labels, /*weight=*/{}, at::Reduction::None,
        /*ignore_index=*/-100, options_.label_smoothing);
    const at::Tensor values = losses.detach().to(at::kCPU, at::kDouble);
    for (int64_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i - begin].item<double>())) {
        result->bad_samples.push_back(batch.indices()[i]);
      }
    }
    if (!result->bad_samples.empty()) {
      // No rank will use this step's gradients.
      (*scalars)[kNotFinite] = 1;
      return StartReduction(*scalars);
    }
    (*scalars)[kLossSum] += values.sum().item<double>();
    (*scalars)[kCorrect] +=
        scores.detach().argmax(1).eq(labels).sum().item<double>();
    if (part + 1 == parts) {
      MILLRACE_RETURN_IF_ERROR(StartReduction(*scalars));
    }
    losses.sum().backward();
  }
  if (parts == 0) return StartReduction(*scalars);
  return absl::OkStatus();
}

bool TrainStep::Impl::GradientsAreFinite() const {
  return std::all_of(gradients_.begin(), gradients_.end(),
                     [](const at::Tensor& gradient) {
                       return at::isfinite(gradient).all().item<bool>();
                     });
}

absl::Status TrainStep::Impl::RunOrThrow(const loader::Batch& batch,
                                         double learning_rate, int stop_signal,
                                         StepResult* result) {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  // A loss that is not finite has been through the norms' statistics by then.
  std::vector<at::Tensor> buffers_before;
  for (const at::Tensor& buffer : buffers_) {
    buffers_before.push_back(buffer.clone());
  }
  Scalars scalars = {};
  scalars[kImages] = static_cast<double>(batch.size());
  scalars[kInterrupts] = stop_signal == SIGINT ? 1 : 0;
  scalars[kTerminations] = stop_signal == SIGTERM ? 1 : 0;
  MILLRACE_RETURN_IF_ERROR(Compute(batch, &scalars, result));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<double> sums, FinishReduction());
  result->images = static_cast<int64_t>(sums[kImages]);
  result->correct = static_cast<int64_t>(sums[kCorrect]);
  result->stop_signal = sums[kTerminations] > 0 ? SIGTERM
                        : sums[kInterrupts] > 0 ? SIGINT
                                                : 0;
  const bool loss_not_finite = sums[kNotFinite] > 0;
  result->gradient_not_finite = !loss_not_finite && !GradientsAreFinite();
  result->skipped = loss_not_finite || result->gradient_not_finite;
  if (result->skipped) {
    result->loss = std::numeric_limits<double>::quiet_NaN();
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].copy_(buffers_before[i]);
    }
    return absl::OkStatus();
  }
  result->loss = sums[kLossSum] / sums[kImages];
  sgd_.Step(learning_rate, gradients_);
  return absl::OkStatus();
}

TrainStep::TrainStep(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TrainStep::~TrainStep() = default;

absl::StatusOr<std::unique_ptr<TrainStep>> TrainStep::Create(
    Model* model, distributed::Communicator* communicator,
    const TrainStepOptions& options) {
  std::vector<at::Tensor> parameters;
  std::vector<distributed::GradientSpec> specs;
  for (const auto& parameter : model->named_parameters()) {
    parameters.push_back(parameter.value());
    specs.push_back({parameter.key(), TypeOf(parameter.value()),
                     parameter.value().numel()});
  }
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<distributed::GradientReducer> reducer,
      MakeReducer(communicator, options.device, std::move(specs),
                  options.timeout));
  std::unique_ptr<Impl> impl;
  MILLRACE_RETURN_IF_ERROR(CatchTorch("preparing the model", [&] {
    impl = std::make_unique<Impl>(model, options, std::move(parameters),
                                  std::move(reducer));
    return absl::OkStatus();
  }));
  return std::unique_ptr<TrainStep>(new TrainStep(std::move(impl)));
}

absl::StatusOr<StepResult> TrainStep::Run(const loader::Batch& batch,
                                          double learning_rate,
                                          int stop_signal) {
  return impl_->Run(batch, learning_rate, stop_signal);
}

const std::vector<at::Tensor>& TrainStep::gradients() const {
  return impl_->gradients();
}

Sgd& TrainStep::sgd() { return impl_->sgd(); }

distributed::GradientReducer::Overlap TrainStep::last_overlap() const {
  return impl_->last_overlap();
}

}  // namespace millrace::tools::training
