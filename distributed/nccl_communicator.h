#ifndef MILLRACE_DISTRIBUTED_NCCL_COMMUNICATOR_H_
#define MILLRACE_DISTRIBUTED_NCCL_COMMUNICATOR_H_

// NCCL between the ranks of a job, without a call that waits for other ranks.
// Private to the device reducer.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// Confined to one thread at a time, with the device current.
class NcclCommunicator {
 public:
  // Joins the ranks of `communicator` (borrowed), each with the device that is
  // current; a collective. DeadlineExceeded, naming NCCL_SOCKET_IFNAME, after
  // `timeout`; the job's failure; Unavailable for NCCL's errors.
  static absl::StatusOr<std::unique_ptr<NcclCommunicator>> Create(
      Communicator* communicator, absl::Duration timeout);

  // Never waits for other ranks.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Whether the last call has been queued: nothing may be called before. An
  // error of NCCL, also one of another rank that shows up later.
  absl::StatusOr<bool> Ready();

  // Queues the sum of `count` device elements (float, or double if `is_double`)
  // over the ranks, in place, on a CUDA stream. REQUIRES: Ready().
  absl::Status QueueSum(void* elements, int64_t count, bool is_double,
                        uintptr_t stream);

  // Gives up what is under way: later calls fail.
  void Abort();

 private:
  struct Impl;
  explicit NcclCommunicator(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_NCCL_COMMUNICATOR_H_
