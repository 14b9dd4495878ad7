#ifndef MILLRACE_TOOLS_TRAINING_CHECKPOINT_H_
#define MILLRACE_TOOLS_TRAINING_CHECKPOINT_H_

// What a run needs to go on where another one stopped, as bytes:
//
//   8 bytes   "MRCKPT01"
//   8 bytes   length of the header, little-endian
//   header    JSON: loader state, settings, totals, names and types of tensors
//   tensors   their elements one after another, as the processor has them
//   32 bytes  XXH3-128 of everything before, as hexadecimal digits

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/tensor.h"
#include "loader/loader_state.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

// A named dense array with its elements, row-major.
struct CheckpointTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string bytes;
};

// Sums over the steps of an epoch that are done, over all ranks.
struct EpochTotals {
  int64_t images = 0;
  int64_t correct = 0;
  double loss_sum = 0;
  int64_t skipped_steps = 0;
};

struct Checkpoint {
  loader::LoaderState loader;
  // Epochs that are trained and validated.
  int64_t epochs_done = 0;
  // Of the epoch that `loader` is in.
  EpochTotals totals;
  // TrainOptions::Architecture(), with the number of classes, and Course().
  Settings architecture;
  Settings course;
  std::vector<CheckpointTensor> tensors;
};

// REQUIRES: each tensor's bytes are those of its type and shape.
std::string SerializeCheckpoint(const Checkpoint& checkpoint);

// DataLoss, saying what is wrong, for bytes that SerializeCheckpoint() did not
// make: cut off, longer, or with any bit changed.
absl::StatusOr<Checkpoint> ParseCheckpoint(absl::string_view bytes);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_CHECKPOINT_H_
