#ifndef MILLRACE_TOOLS_TRAINING_TRAIN_STEP_H_
#define MILLRACE_TOOLS_TRAINING_TRAIN_STEP_H_

// One update of the model from one global batch, over all ranks: forward,
// backward, sum of gradients while backward still runs, step of the optimiser.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "c10/core/Device.h"
#include "distributed/communicator.h"
#include "distributed/gradient_reducer.h"
#include "loader/batch.h"
#include "tools/training/model.h"
#include "tools/training/sgd.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

struct TrainStepOptions {
  Precision precision = Precision::kFloat32;
  c10::Device device = c10::kCPU;
  // As TrainOptions'.
  int64_t accumulate = 1;
  double label_smoothing = 0;
  SgdOptions sgd;
  // Of each wait for other ranks.
  absl::Duration timeout = absl::Minutes(5);
};

// What all ranks know after a step; the same on all of them but for
// bad_samples.
struct StepResult {
  // Over all ranks: samples, those whose class was the model's first choice,
  // and the mean loss.
  int64_t images = 0;
  int64_t correct = 0;
  double loss = 0;
  // The loss of some sample, or the gradient, was not finite: parameters and
  // buffers are as before the step on all ranks, and loss means nothing.
  bool skipped = false;
  // It was the gradient alone: every loss was finite.
  bool gradient_not_finite = false;
  // Dataset indices of this rank's samples whose loss was not finite; in the
  // part of the share that the step got to.
  std::vector<int64_t> bad_samples;
  // SIGTERM if any rank passed it, else SIGINT if any did, else 0.
  int stop_signal = 0;
};

// Guarantees:
//  * the update is that of the mean loss over the samples of all ranks,
//    whatever number each of them has, 0 included;
//  * with Norm::kGroup it does not depend on the number of ranks or on
//    `accumulate`, up to rounding;
//  * parameters that are equal on all ranks before a step are bit-equal after
//    it;
//  * parameters that took no part in computing the loss have gradient zero.
//
// Confined to one thread.
class TrainStep {
 public:
  // `model` and `communicator` are borrowed. A collective: all ranks must have
  // the same model. Errors as MakeHostGradientReducer() or
  // MakeDeviceGradientReducer().
  static absl::StatusOr<std::unique_ptr<TrainStep>> Create(
      Model* model, distributed::Communicator* communicator,
      const TrainStepOptions& options);

  ~TrainStep();
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  // A collective. `batch`: images float32 [n, 3, H, W], labels int64 [n].
  // `stop_signal`: SIGINT or SIGTERM if this rank was asked to stop, else 0.
  // Errors: those of the reduction; as CatchTorch(); FailedPrecondition where
  // batch normalisation has too few samples on a rank.
  absl::StatusOr<StepResult> Run(const loader::Batch& batch,
                                 double learning_rate, int stop_signal);

  // The mean gradient of the last step, by parameter, weight decay added. The
  // same on all ranks.
  const std::vector<at::Tensor>& gradients() const;

  Sgd& sgd();

  // How much of the last step's reduction was hidden behind backward.
  distributed::GradientReducer::Overlap last_overlap() const;

 private:
  class Impl;
  explicit TrainStep(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TRAIN_STEP_H_
