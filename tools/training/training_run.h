#ifndef MILLRACE_TOOLS_TRAINING_TRAINING_RUN_H_
#define MILLRACE_TOOLS_TRAINING_TRAINING_RUN_H_

// The parts of a training run on one rank, put together and ready for the next
// step: the first one, or the one after a checkpoint.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "distributed/communicator.h"
#include "loader/data_loader.h"
#include "loader/loader_state.h"
#include "tools/training/checkpoint.h"
#include "tools/training/checkpoint_directory.h"
#include "tools/training/digest_log.h"
#include "tools/training/line_file.h"
#include "tools/training/model.h"
#include "tools/training/schedule.h"
#include "tools/training/train_options.h"
#include "tools/training/train_step.h"

namespace millrace::tools::training {

// Thread-compatible.
struct TrainingRun {
  // Agreed by all ranks.
  uint64_t seed = 0;
  int64_t classes = 0;
  c10::Device device = c10::kCPU;
  std::unique_ptr<loader::DataLoader> train_loader;
  std::unique_ptr<loader::DataLoader> val_loader;
  // Equal on all ranks.
  std::shared_ptr<Model> model;
  // Refers to `model`.
  std::unique_ptr<TrainStep> step;
  std::optional<Schedule> schedule;

  // Rank 0's, where the options want them.
  std::optional<CheckpointDirectory> checkpoints;
  std::optional<DigestLog> digest_log;
  std::optional<LineFile> metrics;

  // Epochs that are trained and validated.
  int64_t epochs_done = 0;
  // After the last batch that was trained on. Once an epoch is validated it
  // stays at that epoch's end until the next batch.
  loader::LoaderState position;
  // Of the epoch under way.
  EpochTotals totals;
};

// Agrees on options and seed, finds the checkpoint to go on from, opens data
// sets and reports, builds the model. A collective. Errors: as Train() (see
// trainer.h); some are of one rank alone.
absl::StatusOr<TrainingRun> PrepareTraining(
    const TrainOptions& options, distributed::Communicator* communicator);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TRAINING_RUN_H_
