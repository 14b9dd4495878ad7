#ifndef MILLRACE_TOOLS_TRAINING_RESUME_H_
#define MILLRACE_TOOLS_TRAINING_RESUME_H_

// Which checkpoint a run goes on from, agreed by all ranks.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distributed/communicator.h"
#include "tools/training/checkpoint.h"
#include "tools/training/checkpoint_directory.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

// The checkpoint that options.resume means, read by rank 0 and sent to all, so
// that the others need not see the file; nullopt: begin anew. A collective.
// `directory` is rank 0's; null without --checkpoint_dir, and on other ranks.
//
// Fails as LoadCheckpoint(), and with FailedPrecondition where a new run would
// mix its checkpoints with those of an older one.
absl::StatusOr<std::optional<Checkpoint>> FindCheckpoint(
    const TrainOptions& options, const CheckpointDirectory* directory,
    distributed::Communicator* communicator);

// Options.Architecture() with the number of classes: what a checkpoint keeps.
Settings ArchitectureOf(const TrainOptions& options, int64_t classes);

// FailedPrecondition naming the first setting of the architecture in which the
// run differs from the checkpoint, with both values. Warns of each setting of
// its course that does, if `warn`.
absl::Status CheckResumable(const Checkpoint& checkpoint,
                            const TrainOptions& options, int64_t classes,
                            bool warn);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_RESUME_H_
