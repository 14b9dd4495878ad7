#ifndef MILLRACE_DISTRIBUTED_TRANSPORT_H_
#define MILLRACE_DISTRIBUTED_TRANSPORT_H_

// The few things that communicator_mpi.h needs from MPI, none of which blocks:
// start something, ask whether it is through. Nothing of MPI is seen here, so
// tests can pass a network of their own, with faults in it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/tensor.h"

namespace millrace::distributed {

// A message between two ranks beside the collectives.
struct ControlMessage {
  // The sender; set on arrival.
  int from = 0;
  int kind = 0;
  // At most kMaxBytes.
  std::string bytes;

  static constexpr int kMaxBytes = 1 << 16;
};

// Guarantees: ranks match collectives by the order in which each starts them;
// sums apart from the others. Messages of one sender arrive in order, and
// arrive also while collectives are stuck.
//
// Confined to one thread.
class Transport {
 public:
  // Something under way. Memory it was started with must live until Test() has
  // said true, or, if that never happens, as long as the transport.
  class Request {
   public:
    virtual ~Request() = default;

    // True once it is through. Also makes the progress.
    virtual absl::StatusOr<bool> Test() = 0;
  };

  virtual ~Transport() = default;

  // As in Communicator.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;

  virtual absl::StatusOr<std::unique_ptr<Request>> StartBarrier() = 0;

  // sizes[r] bytes of rank r to `all`, one after the other; `mine` has
  // sizes[rank()]. REQUIRES: their sum is below 2^31, and `sizes` is the same
  // on all ranks.
  virtual absl::StatusOr<std::unique_ptr<Request>> StartAllGather(
      const char* mine, char* all, absl::Span<const int64_t> sizes) = 0;

  // `size` bytes of rank `root` to the same place of the others.
  virtual absl::StatusOr<std::unique_ptr<Request>> StartBroadcast(char* bytes,
                                                                  int64_t size,
                                                                  int root) = 0;

  // Of float32, float64 or int64, in place.
  virtual absl::StatusOr<std::unique_ptr<Request>> StartSum(
      const TensorView& tensor) = 0;

  // Sends without waiting for the receiver.
  virtual absl::Status Send(int to, const ControlMessage& message) = 0;

  // True once all that was sent has left this rank.
  virtual absl::StatusOr<bool> SendsAreThrough() = 0;

  // The next message, if one has arrived.
  virtual absl::StatusOr<std::optional<ControlMessage>> Receive() = 0;

  // Leaves the network in good order. All ranks call it, as the last; it may
  // wait for them.
  virtual absl::Status Finalize() = 0;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TRANSPORT_H_
