#include "distributed/communicator_local.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "distributed/job_failure.h"
#include "distributed/tensor_sum.h"

namespace millrace::distributed {
namespace {

// The sum over one rank is there before it is started.
class DoneCollective : public PendingCollective {
 public:
  bool Done() const override { return true; }
  absl::Status Wait(absl::Duration /*timeout*/) override {
    return absl::OkStatus();
  }
};

class LocalCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  absl::string_view name() const override { return "local"; }

  absl::Status Barrier(absl::Duration /*timeout*/) override { return Check(); }

  absl::StatusOr<std::vector<std::string>> AllGather(
      absl::string_view bytes, absl::Duration /*timeout*/) override {
    MILLRACE_RETURN_IF_ERROR(Check());
    return std::vector<std::string>{std::string(bytes)};
  }

  absl::StatusOr<std::string> Broadcast(absl::string_view bytes, int root,
                                        absl::Duration /*timeout*/) override {
    MILLRACE_RETURN_IF_ERROR(Check());
    if (root != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("broadcast from rank ", root, " of 1"));
    }
    return std::string(bytes);
  }

  using Communicator::StartAllReduceSum;
  absl::StatusOr<std::unique_ptr<PendingCollective>> StartAllReduceSum(
      const TensorView& tensor,
      std::shared_ptr<const void> /*owner*/) override {
    MILLRACE_RETURN_IF_ERROR(Check());
    MILLRACE_RETURN_IF_ERROR(CheckSummable(tensor));
    return std::make_unique<DoneCollective>();
  }

  void ReportFailure(const absl::Status& cause) override {
    assert(!cause.ok());
    MutexLock lock(&mutex_);
    if (failure_.ok() && !closed_) {
      failure_ = ToStatus({0, LocalHostName(), cause}, /*world_size=*/1);
    }
  }

  absl::Status failure() const override {
    MutexLock lock(&mutex_);
    return failure_;
  }

  absl::Status Close(absl::Duration /*timeout*/) override {
    MutexLock lock(&mutex_);
    closed_ = true;
    return failure_;
  }

 private:
  // The failure, or that nothing may follow Close().
  absl::Status Check() const {
    MutexLock lock(&mutex_);
    MILLRACE_RETURN_IF_ERROR(failure_);
    if (closed_) {
      return absl::FailedPreconditionError("the communicator is closed");
    }
    return absl::OkStatus();
  }

  mutable Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<Communicator> MakeLocalCommunicator() {
  return std::make_unique<LocalCommunicator>();
}

}  // namespace millrace::distributed
