#ifndef MILLRACE_DISTRIBUTED_COMMUNICATION_THREAD_H_
#define MILLRACE_DISTRIBUTED_COMMUNICATION_THREAD_H_

// The one thread of a rank that talks to the other ranks.
//
//   caller's threads                communication thread
//   Post(operation) --- queue --->  start, test, sleep, test ... --> done
//   ReportFailure() -- outbox --->  control messages  <---> other ranks
//
// It never waits inside the transport, so word of a failure passes while a
// collective is stuck, and sums progress while the caller computes.
// PROTOCOL.md has the exchange of control messages in lettered steps.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "distributed/job_failure.h"
#include "distributed/transport.h"

namespace millrace::distributed {

// One use of the transport. Guarded by the thread's mutex once posted.
struct CommunicationOperation {
  // For messages: "barrier".
  std::string what;
  // Runs on the communication thread.
  std::function<absl::StatusOr<std::unique_ptr<Transport::Request>>(Transport*)>
      start;
  // Keeps what `start` refers to alive.
  std::shared_ptr<const void> owner;
  // Much data: the thread looks often, so that it keeps flowing.
  bool bulk = false;

  bool done = false;
  // Touched by the communication thread alone.
  std::unique_ptr<Transport::Request> request;
};

struct CommunicationThreadOptions {
  // Until all ranks have joined.
  absl::Duration join_timeout = absl::Minutes(5);
  // How long a rank may go on after the job has failed before it calls Close(),
  // and how long Close() then waits for the others. The process is ended by
  // `end_process` after that.
  absl::Duration failure_grace = absl::Seconds(5);
  // Ends the process because of the status, and does not return (but in tests).
  std::function<void(const absl::Status&)> end_process;
  // Called by the first Close() with the failure, if there is one, before that
  // returns; may be empty.
  std::function<void(const absl::Status&)> on_failure;
};

// Thread-safe.
class CommunicationThread {
 public:
  using TransportFactory =
      std::function<absl::StatusOr<std::unique_ptr<Transport>>()>;

  // Starts the thread, which calls `factory` and is the only one to use what
  // that gives. Blocks until all ranks have joined; ends the process if they
  // have not within the limit, since that can't be undone.
  static absl::StatusOr<std::unique_ptr<CommunicationThread>> Create(
      TransportFactory factory, CommunicationThreadOptions options);

  // As LeaveWithoutClosing().
  ~CommunicationThread();

  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  // Queues `operation`. The job's failure, or FailedPrecondition after Close().
  absl::Status Post(std::shared_ptr<CommunicationOperation> operation)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether Wait() would return at once.
  bool Done(const CommunicationOperation& operation) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until `operation` is done: OK; or the job has failed, which it does
  // after `timeout`. `operation` is then abandoned, and what it refers to is
  // kept alive.
  absl::Status Wait(const CommunicationOperation& operation,
                    absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

  // As in Communicator.
  void ReportFailure(const absl::Status& cause) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Close(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

  // Tells the others that this rank left, and closes. Does nothing after
  // Close().
  void LeaveWithoutClosing() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  explicit CommunicationThread(CommunicationThreadOptions options);

  // The thread's body.
  void Run(TransportFactory factory) ABSL_LOCKS_EXCLUDED(mutex_);
  void Join(TransportFactory factory) ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  // Parts of a turn of the loop.
  void StartPosted() ABSL_LOCKS_EXCLUDED(mutex_);
  void TestRunning() ABSL_LOCKS_EXCLUDED(mutex_);
  void AbandonAfterFailure() ABSL_LOCKS_EXCLUDED(mutex_);
  void ExchangeMessages() ABSL_LOCKS_EXCLUDED(mutex_);
  void Handle(const ControlMessage& message) ABSL_LOCKS_EXCLUDED(mutex_);
  void AdvanceClosing() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndIfStuck() ABSL_LOCKS_EXCLUDED(mutex_);
  void Sleep() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the loop is over.
  bool MayLeave() const ABSL_LOCKS_EXCLUDED(mutex_);

  // A failure of the transport itself.
  void FailOnTransport(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  void FailLocked(const absl::Status& cause)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes `report` for the job's failure if it comes before the known one.
  void ConsiderLocked(FailureReport report)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FailureLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendToOthersLocked(int kind, const std::string& bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits in Close() until the ranks have agreed how the job ended, or this
  // rank must go without.
  void AwaitSettlementLocked(absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string MissingAtCloseLocked() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CommunicationThreadOptions options_;
  const std::string host_;
  // Written by the thread before it reports joined_.
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;

  mutable Mutex mutex_;
  // Something for callers: an operation is done, a failure is known, ...
  mutable CondVar changed_;
  // Something for the thread: an operation is posted, Close() was called, ...
  CondVar wake_;
  // Set once joining is over: OK, or why it failed.
  std::optional<absl::Status> joined_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<CommunicationOperation>> posted_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<int, ControlMessage>> outbox_ ABSL_GUARDED_BY(mutex_);
  std::optional<FailureReport> failure_ ABSL_GUARDED_BY(mutex_);
  absl::Duration failed_at_ ABSL_GUARDED_BY(mutex_);
  bool close_called_ ABSL_GUARDED_BY(mutex_) = false;
  // Ranks that rank 0 has heard Close() of; empty elsewhere.
  std::vector<char> closing_ ABSL_GUARDED_BY(mutex_);
  // The ranks have agreed: failure_ is final.
  bool settled_ ABSL_GUARDED_BY(mutex_) = false;
  // Close() waits no longer for the others.
  bool give_up_ ABSL_GUARDED_BY(mutex_) = false;
  // The thread has left the transport.
  bool left_ ABSL_GUARDED_BY(mutex_) = false;

  // Touched by the communication thread alone.
  std::unique_ptr<Transport> transport_;
  std::vector<std::shared_ptr<CommunicationOperation>> running_;
  // What the transport may still write to.
  std::vector<std::shared_ptr<CommunicationOperation>> abandoned_;
  bool said_closing_ = false;
  // end_process was called.
  bool ended_ = false;
  absl::Duration last_event_;

  std::thread thread_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COMMUNICATION_THREAD_H_
