#ifndef MILLRACE_TESTS_DISTRIBUTED_FAKE_TRANSPORT_H_
#define MILLRACE_TESTS_DISTRIBUTED_FAKE_TRANSPORT_H_

// A network between threads of one process, in place of MPI, with faults to
// order.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "distributed/communication_thread.h"
#include "distributed/transport.h"

namespace millrace::distributed {

// Must outlive the transports it makes.
//
// Thread-safe.
class FakeNetwork {
 public:
  explicit FakeNetwork(int size)
      : size_(size), mailboxes_(size), next_(size), cut_(size) {}

  int size() const { return size_; }

  // Makes rank `rank`'s transport.
  CommunicationThread::TransportFactory FactoryFor(int rank);

  // From now on nothing that `rank` sends or starts reaches the others, as if
  // its process had gone.
  void Cut(int rank) ABSL_LOCKS_EXCLUDED(mutex_);

  // From now on every call of `rank`'s transport gives `status`.
  void Break(int rank, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Finalize() blocks until AllowFinalize().
  void BlockFinalize() ABSL_LOCKS_EXCLUDED(mutex_);
  void AllowFinalize() ABSL_LOCKS_EXCLUDED(mutex_);

  // Ranks that have called Finalize().
  int finalized() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class FakeTransport;

  // A collective under way: what each rank has brought.
  struct Collective {
    int missing = 0;
    std::vector<TensorView> tensors;
    std::vector<std::pair<const char*, int64_t>> sources;
    std::vector<char*> targets;
    bool done = false;
  };

  // Brings `rank`'s part of its next collective of a channel (0: collectives,
  // 1: sums); `complete` runs, with the mutex held, when all parts are there.
  std::shared_ptr<Collective> Arrive(
      int rank, int channel, const std::function<void(Collective*)>& bring,
      const std::function<void(Collective*)>& complete)
      ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Status CheckLocked(int rank) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int size_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::deque<ControlMessage>> mailboxes_ ABSL_GUARDED_BY(mutex_);
  // Number of the next collective, by rank and channel.
  std::vector<std::map<int, int64_t>> next_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<int, int64_t>, std::shared_ptr<Collective>> open_
      ABSL_GUARDED_BY(mutex_);
  std::vector<char> cut_ ABSL_GUARDED_BY(mutex_);
  std::map<int, absl::Status> broken_ ABSL_GUARDED_BY(mutex_);
  bool finalize_blocked_ ABSL_GUARDED_BY(mutex_) = false;
  int finalized_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_TESTS_DISTRIBUTED_FAKE_TRANSPORT_H_
