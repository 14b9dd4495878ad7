#include "distributed/communicator_threads.h"

#include <cassert>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "distributed/job_failure.h"
#include "distributed/rank_list.h"
#include "distributed/tensor_sum.h"

namespace millrace::distributed {
namespace {

// One collective of the group: what the ranks have brought so far. All fields
// are guarded by the group's mutex, but for `bytes` and the tensors' memory
// while `summing`, and `bytes` once `done`: nobody changes them then.
struct Operation {
  // "AllGather", ...: ranks that call different ones at the same place have
  // lost step.
  std::string what;
  std::vector<char> arrived;
  int missing = 0;
  std::vector<std::string> bytes;
  std::vector<TensorView> tensors;
  std::vector<std::shared_ptr<const void>> owners;
  // The last rank to arrive is adding up, with the mutex released.
  bool summing = false;
  bool done = false;
};

class Group {
 public:
  explicit Group(int size)
      : size_(size), host_(LocalHostName()), next_(size), closed_(size) {}

  int size() const { return size_; }

  // Brings rank `rank`'s part of its next collective; the last to arrive
  // completes it.
  absl::StatusOr<std::shared_ptr<Operation>> Arrive(
      int rank, const std::string& what, std::string bytes,
      const TensorView* tensor, std::shared_ptr<const void> owner)
      ABSL_LOCKS_EXCLUDED(mutex_);

  bool Done(const Operation& operation) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until `operation` is done or the job has failed; after `timeout`
  // rank `rank` makes it fail.
  absl::Status Wait(int rank, const Operation& operation,
                    absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

  void ReportFailure(int rank, const absl::Status& cause)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    Fail(rank, cause);
  }

  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    return failure_;
  }

  absl::Status Close(int rank, absl::Duration timeout)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Rank `rank`'s end is destroyed.
  void Leave(int rank) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Fail(int rank, const absl::Status& cause)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Ranks for which `in_set` (one flag a rank) is false.
  static std::string RanksWithout(const std::vector<char>& in_set);

  // The collective that rank `rank` is at, made by the first to arrive.
  absl::StatusOr<std::shared_ptr<Operation>> NextOperation(
      int rank, const std::string& what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int size_;
  const std::string host_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // Number of the collective that each rank calls next.
  std::vector<int64_t> next_ ABSL_GUARDED_BY(mutex_);
  // Collectives that some ranks have not arrived at, by number.
  std::map<int64_t, std::shared_ptr<Operation>> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<char> closed_ ABSL_GUARDED_BY(mutex_);
  int closed_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

void Group::Fail(int rank, const absl::Status& cause) {
  // Once all have closed, the job has ended well and stays so.
  if (!failure_.ok() || closed_count_ == size_) return;
  failure_ = ToStatus({rank, host_, cause}, size_);
  changed_.SignalAll();
}

std::string Group::RanksWithout(const std::vector<char>& in_set) {
  std::vector<int> ranks;
  for (size_t r = 0; r < in_set.size(); ++r) {
    if (!in_set[r]) ranks.push_back(static_cast<int>(r));
  }
  return RanksToString(ranks);
}

absl::StatusOr<std::shared_ptr<Operation>> Group::NextOperation(
    int rank, const std::string& what) {
  MILLRACE_RETURN_IF_ERROR(failure_);
  if (closed_[rank]) {
    return absl::FailedPreconditionError("the communicator is closed");
  }
  const int64_t number = next_[rank]++;
  std::shared_ptr<Operation>& operation = open_[number];
  if (operation == nullptr) {
    operation = std::make_shared<Operation>();
    operation->what = what;
    operation->missing = size_;
    operation->arrived.resize(size_);
    operation->bytes.resize(size_);
    operation->tensors.resize(size_);
    operation->owners.resize(size_);
  } else if (operation->what != what) {
    Fail(rank, absl::InternalError(
                   absl::StrCat("ranks out of step: this rank is at ", what,
                                ", others at ", operation->what)));
    return failure_;
  }
  std::shared_ptr<Operation> result = operation;
  result->arrived[rank] = true;
  if (--result->missing == 0) open_.erase(number);
  return result;
}

absl::StatusOr<std::shared_ptr<Operation>> Group::Arrive(
    int rank, const std::string& what, std::string bytes,
    const TensorView* tensor, std::shared_ptr<const void> owner) {
  std::shared_ptr<Operation> operation;
  {
    MutexLock lock(&mutex_);
    MILLRACE_ASSIGN_OR_RETURN(operation, NextOperation(rank, what));
    operation->bytes[rank] = std::move(bytes);
    operation->owners[rank] = std::move(owner);
    if (tensor != nullptr) operation->tensors[rank] = *tensor;
    if (operation->missing > 0) return operation;
    operation->summing = tensor != nullptr;
  }
  if (tensor != nullptr) SumInPlace(operation->tensors);
  MutexLock lock(&mutex_);
  operation->summing = false;
  operation->done = true;
  operation->owners.clear();
  changed_.SignalAll();
  return operation;
}

bool Group::Done(const Operation& operation) const {
  MutexLock lock(&mutex_);
  return operation.done || (!failure_.ok() && !operation.summing);
}

absl::Status Group::Wait(int rank, const Operation& operation,
                         absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  // Not during a sum, even after a failure: the memory is being written.
  while (!operation.done && (failure_.ok() || operation.summing)) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration() && !operation.summing) {
      Fail(rank, absl::DeadlineExceededError(absl::StrCat(
                     operation.what, ": waited ", absl::FormatDuration(timeout),
                     " for ", RanksWithout(operation.arrived))));
      break;
    }
    if (operation.summing) {
      changed_.Wait(&mutex_);
    } else {
      changed_.WaitFor(&mutex_, left);
    }
  }
  return operation.done ? absl::OkStatus() : failure_;
}

absl::Status Group::Close(int rank, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  if (!closed_[rank]) {
    closed_[rank] = true;
    ++closed_count_;
    changed_.SignalAll();
  }
  while (failure_.ok() && closed_count_ < size_) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      Fail(rank, absl::DeadlineExceededError(absl::StrCat(
                     "closing: waited ", absl::FormatDuration(timeout), " for ",
                     RanksWithout(closed_))));
      break;
    }
    changed_.WaitFor(&mutex_, left);
  }
  return failure_;
}

void Group::Leave(int rank) {
  MutexLock lock(&mutex_);
  if (!closed_[rank]) {
    Fail(rank, absl::UnavailableError("left the job without closing"));
  }
}

class ThreadCollective : public PendingCollective {
 public:
  ThreadCollective(std::shared_ptr<Group> group, int rank,
                   std::shared_ptr<Operation> operation,
                   std::unique_ptr<TensorCopy> copy)
      : group_(std::move(group)),
        rank_(rank),
        operation_(std::move(operation)),
        copy_(std::move(copy)) {}

  bool Done() const override { return group_->Done(*operation_); }

  absl::Status Wait(absl::Duration timeout) override {
    MILLRACE_RETURN_IF_ERROR(group_->Wait(rank_, *operation_, timeout));
    if (copy_ != nullptr) copy_->WriteBack();
    copy_ = nullptr;
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<Group> group_;
  const int rank_;
  const std::shared_ptr<Operation> operation_;
  // Null if summed in place, or written back.
  std::unique_ptr<TensorCopy> copy_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Group> group, int rank)
      : group_(std::move(group)), rank_(rank) {}

  ~ThreadCommunicator() override { group_->Leave(rank_); }

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }
  int local_rank() const override { return rank_; }
  int local_size() const override { return group_->size(); }
  absl::string_view name() const override { return "threads"; }

  absl::Status Barrier(absl::Duration timeout) override {
    return Exchange("barrier", "", timeout).status();
  }

  absl::StatusOr<std::vector<std::string>> AllGather(
      absl::string_view bytes, absl::Duration timeout) override {
    MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<Operation> operation,
                              Exchange("all-gather", bytes, timeout));
    return operation->bytes;
  }

  absl::StatusOr<std::string> Broadcast(absl::string_view bytes, int root,
                                        absl::Duration timeout) override {
    if (root < 0 || root >= size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("broadcast from rank ", root, " of ", size()));
    }
    MILLRACE_ASSIGN_OR_RETURN(
        const std::shared_ptr<Operation> operation,
        Exchange(absl::StrCat("broadcast from rank ", root),
                 root == rank_ ? bytes : absl::string_view(), timeout));
    return operation->bytes[root];
  }

  using Communicator::StartAllReduceSum;
  absl::StatusOr<std::unique_ptr<PendingCollective>> StartAllReduceSum(
      const TensorView& tensor, std::shared_ptr<const void> owner) override {
    MILLRACE_RETURN_IF_ERROR(CheckSummable(tensor));
    std::unique_ptr<TensorCopy> copy;
    TensorView summand = tensor;
    if (owner == nullptr) {
      copy = std::make_unique<TensorCopy>(tensor);
      summand = copy->view();
      owner = copy->owner();
    }
    MILLRACE_ASSIGN_OR_RETURN(
        std::shared_ptr<Operation> operation,
        group_->Arrive(rank_, DescribeSum(tensor), /*bytes=*/"", &summand,
                       std::move(owner)));
    return std::make_unique<ThreadCollective>(
        group_, rank_, std::move(operation), std::move(copy));
  }

  void ReportFailure(const absl::Status& cause) override {
    assert(!cause.ok());
    group_->ReportFailure(rank_, cause);
  }

  absl::Status failure() const override { return group_->failure(); }

  absl::Status Close(absl::Duration timeout) override {
    return group_->Close(rank_, timeout);
  }

 private:
  // A collective that moves bytes, until its end.
  absl::StatusOr<std::shared_ptr<Operation>> Exchange(const std::string& what,
                                                      absl::string_view bytes,
                                                      absl::Duration timeout) {
    MILLRACE_ASSIGN_OR_RETURN(
        std::shared_ptr<Operation> operation,
        group_->Arrive(rank_, what, std::string(bytes), nullptr, nullptr));
    MILLRACE_RETURN_IF_ERROR(group_->Wait(rank_, *operation, timeout));
    return operation;
  }

  const std::shared_ptr<Group> group_;
  const int rank_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeThreadCommunicators(int size) {
  assert(size > 0);
  const auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < size; ++rank) {
    communicators.push_back(std::make_unique<ThreadCommunicator>(group, rank));
  }
  return communicators;
}

}  // namespace millrace::distributed
