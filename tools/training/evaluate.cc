#include "tools/training/evaluate.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "ATen/ATen.h"
#include "base/status_macros.h"
#include "base/tensor.h"
#include "tools/training/model_input.h"
#include "tools/training/torch_status.h"

namespace millrace::tools::training {
namespace {

constexpr int64_t kTop = 5;

enum Sum {
  kImages = 0,
  kCorrect,
  kCorrectTop5,
  kLossSum,
  kInterrupts,
  kTerminations,
  kSumCount,
};
using Sums = std::array<double, kSumCount>;

// Adds this rank's share of a batch.
absl::Status AddBatch(Model* model, const loader::Batch& batch,
                      const EvaluateOptions& options, Sums* sums) {
  if (batch.size() == 0) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(
      const ModelInput input,
      ToModelInput(batch, options.precision, options.device));
  const at::Tensor scores = model->forward(input.images);
  const int64_t top = std::min(kTop, scores.size(1));
  const at::Tensor hits =
      std::get<1>(scores.topk(top, /*dim=*/1)).eq(input.labels.unsqueeze(1));
  (*sums)[kImages] += static_cast<double>(batch.size());
  (*sums)[kCorrect] += hits.select(1, 0).sum().item<double>();
  (*sums)[kCorrectTop5] += hits.sum().item<double>();
  (*sums)[kLossSum] +=
      at::cross_entropy_loss(scores, input.labels, {}, at::Reduction::None)
          .to(at::kDouble)
          .sum()
          .item<double>();
  return absl::OkStatus();
}

// Adds batch after batch into `result`, until the end of the epoch or a stop.
// Every batch's sums are exchanged, so that all ranks stop after the same one.
absl::Status AddBatches(Model* model, loader::DataLoader* loader,
                        distributed::Communicator* communicator,
                        const EvaluateOptions& options,
                        const std::function<int()>& stop_signal,
                        EvaluateResult* result) {
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(const std::optional<loader::Batch> batch,
                              loader->Next());
    if (!batch.has_value()) return absl::OkStatus();
    Sums sums = {};
    const int stop = stop_signal();
    sums[kInterrupts] = stop == SIGINT ? 1 : 0;
    sums[kTerminations] = stop == SIGTERM ? 1 : 0;
    MILLRACE_RETURN_IF_ERROR(AddBatch(model, *batch, options, &sums));
    MILLRACE_ASSIGN_OR_RETURN(
        const std::unique_ptr<distributed::PendingCollective> reduction,
        communicator->StartAllReduceSum(
            TensorView{DType::kFloat64, {kSumCount}, sums.data()}));
    MILLRACE_RETURN_IF_ERROR(reduction->Wait(options.timeout));
    result->images += static_cast<int64_t>(sums[kImages]);
    result->correct += static_cast<int64_t>(sums[kCorrect]);
    result->correct_top5 += static_cast<int64_t>(sums[kCorrectTop5]);
    result->loss_sum += sums[kLossSum];
    result->stop_signal = sums[kTerminations] > 0 ? SIGTERM
                          : sums[kInterrupts] > 0 ? SIGINT
                                                  : 0;
    if (result->stop_signal != 0) return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<EvaluateResult> Evaluate(
    Model* model, loader::DataLoader* loader,
    distributed::Communicator* communicator, const EvaluateOptions& options,
    const std::function<int()>& stop_signal) {
  EvaluateResult result;
  model->eval();
  const absl::Status status = CatchTorch("validation", [&] {
    const at::NoGradGuard no_grad;
    return AddBatches(model, loader, communicator, options, stop_signal,
                      &result);
  });
  model->train();
  if (!status.ok()) return status;
  return result;
}

}  // namespace millrace::tools::training
