#ifndef MILLRACE_TOOLS_TRAINING_EVALUATE_H_
#define MILLRACE_TOOLS_TRAINING_EVALUATE_H_

// How good a model is on a data set, each sample counted once, over all ranks.

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "c10/core/Device.h"
#include "distributed/communicator.h"
#include "loader/data_loader.h"
#include "tools/training/model.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

struct EvaluateOptions {
  Precision precision = Precision::kFloat32;
  c10::Device device = c10::kCPU;
  // Of each wait for other ranks.
  absl::Duration timeout = absl::Minutes(5);
};

// Over all ranks, and the same on all of them.
struct EvaluateResult {
  int64_t images = 0;
  // Samples whose class was the model's first choice, or among its first five
  // (or all, where there are fewer).
  int64_t correct = 0;
  int64_t correct_top5 = 0;
  // Sum of the samples' cross entropy, without label smoothing.
  double loss_sum = 0;
  // Not 0: a rank was asked to stop by this signal, and the sums are those of
  // a part of the set.
  int stop_signal = 0;
};

// Runs `model` over what is left of the loader's epoch. The model is in
// training mode again afterwards. `stop_signal` is asked before each batch.
// A collective: `loader`'s ranks are those of `communicator`, and the models
// equal. Errors: those of the loader and the communicator; as CatchTorch().
absl::StatusOr<EvaluateResult> Evaluate(
    Model* model, loader::DataLoader* loader,
    distributed::Communicator* communicator, const EvaluateOptions& options,
    const std::function<int()>& stop_signal);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_EVALUATE_H_
