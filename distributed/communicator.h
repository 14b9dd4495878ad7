#ifndef MILLRACE_DISTRIBUTED_COMMUNICATOR_H_
#define MILLRACE_DISTRIBUTED_COMMUNICATOR_H_

// What the ranks of a job say to each other: bytes and sums, with a limit on
// every wait, and word of a failure that reaches ranks which are waiting for
// something else. Nothing of MPI is seen here.
//
// Three implementations:
//   local     one rank                        communicator_local.h
//   threads   N ranks as threads of a process communicator_threads.h
//   mpi       N processes                     world.h

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/tensor.h"

namespace millrace::distributed {

// A collective that has been started and makes progress by itself, also while
// the caller computes.
//
// Thread-compatible.
class PendingCollective {
 public:
  // Never blocks. The collective goes on by itself, since the other ranks count
  // on this one's part.
  virtual ~PendingCollective() = default;

  // True once Wait() would not block.
  virtual bool Done() const = 0;

  // Blocks until the result is there: OK. DeadlineExceeded after `timeout`
  // (the collective is then abandoned and the job counts as failed), or the
  // job's failure.
  virtual absl::Status Wait(absl::Duration timeout) = 0;
};

// A rank's end of the line to all ranks of a job.
//
// Collectives are called by all ranks in the same order, each rank from one
// thread at a time. A failure of any rank (ReportFailure(), a time-out, a lost
// process) makes every collective of every rank, waiting or to come, return the
// same status soon: the cause, with "rank R (HOST): " in front where there are
// several ranks, and the cause's exit code (base/exit_code.h) attached. What a
// failed collective leaves in a tensor is unspecified. A time-out is such a
// failure, and InfiniteDuration() is none at all.
//
// Thread-safe: ReportFailure() and failure() from any thread, collectives as
// said above.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // This rank, in [0, size()).
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // This rank among those on the same host, and how many those are.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  // "local", "threads" or "mpi".
  virtual absl::string_view name() const = 0;

  // Returns when all ranks have called it.
  virtual absl::Status Barrier(absl::Duration timeout) = 0;

  // What each rank passed, by rank. Sizes may differ.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(
      absl::string_view bytes, absl::Duration timeout) = 0;

  // What rank `root` passed; the others' argument is ignored.
  virtual absl::StatusOr<std::string> Broadcast(absl::string_view bytes,
                                                int root,
                                                absl::Duration timeout) = 0;

  // Starts replacing `tensor` (float32, float64 or int64, same type and count
  // on all ranks) by the sum over ranks, which is there when Wait() has
  // returned. For one number of ranks the same input gives the same bits, and
  // all ranks get the same bits. InvalidArgument for another type; int64 sums
  // wrap around.
  //
  // `owner` keeps the memory alive, and nobody else touches it until the
  // collective is done: it is summed in place, and one that was abandoned after
  // a failure may go on writing there until the process ends. With null, where
  // the caller can't promise that, the sum is made in a copy.
  virtual absl::StatusOr<std::unique_ptr<PendingCollective>> StartAllReduceSum(
      const TensorView& tensor, std::shared_ptr<const void> owner) = 0;
  absl::StatusOr<std::unique_ptr<PendingCollective>> StartAllReduceSum(
      const TensorView& tensor) {
    return StartAllReduceSum(tensor, nullptr);
  }

  // Tells all ranks that this one can't go on. The first report of the job is
  // its failure; later ones are dropped. Never blocks for other ranks.
  // REQUIRES: !cause.ok().
  virtual void ReportFailure(const absl::Status& cause) = 0;

  // The job's failure, as far as this rank knows; OK while there is none.
  virtual absl::Status failure() const = 0;

  // Ends this rank's part of the job: waits until all ranks have called it, a
  // failure is known everywhere, or `timeout` is over. Returns failure(): OK on
  // all ranks or on none, so that ExitCodeOf() it is the job's exit code. Call
  // it last; nothing else may be called afterwards but the accessors.
  virtual absl::Status Close(absl::Duration timeout) = 0;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COMMUNICATOR_H_
