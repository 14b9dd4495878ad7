#ifndef MILLRACE_TOOLS_TRAINING_TRAINER_H_
#define MILLRACE_TOOLS_TRAINING_TRAINER_H_

// A whole training run on one of its ranks: data, model, epochs, validation,
// checkpoints, reports.

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "distributed/communicator.h"
#include "tools/training/progress.h"
#include "tools/training/report.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

// What a run is given by the process around it.
struct TrainEnvironment {
  // SIGINT or SIGTERM once this rank was asked to stop; else 0. Thread-safe.
  std::function<int()> stop_signal = [] { return 0; };
  // Takes rank 0's progress and summary, as text for a terminal.
  std::function<void(absl::string_view)> write = [](absl::string_view) {};
  ProgressOptions progress;
  // "mpi=Open MPI v4.1.4", for the start line.
  std::string world;
  // Borrowed.
  Clock* clock = Clock::Real();
};

// Trains as `options` say. A collective: all ranks of `communicator` (borrowed)
// call it.
//
//  * Every rank computes on its share of each global batch; parameters are
//    bit-equal on all ranks at all times.
//  * If any rank is asked to stop, all stop after the same step, a checkpoint
//    is written if there is a folder for it, and all return Cancelled with exit
//    code kInterrupted or kTerminated.
//  * With a checkpoint, the run goes on where that was made, in mid-epoch too.
//  * A step whose loss or gradient is not finite is left out on all ranks;
//    after max_skipped_steps in a row all return DataLoss.
//
// Errors: as options.Validate(); FailedPrecondition where ranks differ in their
// options; those of the data sets, the loader, the communicator, and of writing
// checkpoints and reports. An error of this rank alone is not told to the
// others: Communicator::ReportFailure() does that.
absl::StatusOr<TrainSummary> Train(const TrainOptions& options,
                                   distributed::Communicator* communicator,
                                   const TrainEnvironment& environment);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TRAINER_H_
