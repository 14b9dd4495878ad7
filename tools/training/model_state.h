#ifndef MILLRACE_TOOLS_TRAINING_MODEL_STATE_H_
#define MILLRACE_TOOLS_TRAINING_MODEL_STATE_H_

// The numbers inside a model: made equal on all ranks, saved, restored, hashed.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/hash.h"
#include "distributed/communicator.h"
#include "tools/training/checkpoint.h"
#include "tools/training/model.h"
#include "tools/training/sgd.h"

namespace millrace::tools::training {

// Gives every rank rank 0's parameters and buffers. A collective.
absl::Status BroadcastModel(Model* model,
                            distributed::Communicator* communicator,
                            absl::Duration timeout);

// Replaces the buffers (statistics of batch normalisation) by their means over
// ranks, weighted by the samples that each rank has seen since the last time;
// integers are rounded. They stay as they are on one rank, or where
// no rank has seen any. A collective.
absl::Status AverageBuffers(Model* model, int64_t samples,
                            distributed::Communicator* communicator,
                            absl::Duration timeout);

// Parameters ("parameter NAME"), buffers ("buffer NAME") and the optimiser's
// velocities ("velocity NAME"). Errors as CatchTorch().
absl::StatusOr<std::vector<CheckpointTensor>> SaveTensors(const Model& model,
                                                          const Sgd& sgd);

// The reverse. FailedPrecondition, naming the first tensor that is missing or
// has another type or shape; the model is then undefined.
absl::Status RestoreTensors(absl::Span<const CheckpointTensor> tensors,
                            Model* model, Sgd* sgd);

// Of names and bytes of the parameters: equal on all ranks, and for two runs
// that took the same course.
absl::StatusOr<Hash128> HashParameters(const Model& model);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_MODEL_STATE_H_
