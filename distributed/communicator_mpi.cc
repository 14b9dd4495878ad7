#include "distributed/communicator_mpi.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "distributed/tensor_sum.h"

namespace millrace::distributed {
namespace {

// Bytes that one all-gather brings to a rank, all ranks' together: keeps counts
// below MPI's 2^31 and the copy in transit small. Larger ones go in rounds.
constexpr int64_t kGatherRoundBytes = int64_t{64} << 20;

// A limit over several waits.
class Deadline {
 public:
  explicit Deadline(absl::Duration timeout)
      : end_(Clock::Real()->Now() + timeout) {}
  absl::Duration Left() const {
    return std::max(absl::ZeroDuration(), end_ - Clock::Real()->Now());
  }

 private:
  const absl::Duration end_;
};

class MpiCollective : public PendingCollective {
 public:
  MpiCollective(std::shared_ptr<CommunicationThread> thread,
                std::shared_ptr<CommunicationOperation> operation,
                std::unique_ptr<TensorCopy> copy)
      : thread_(std::move(thread)),
        operation_(std::move(operation)),
        copy_(std::move(copy)) {}

  bool Done() const override { return thread_->Done(*operation_); }

  absl::Status Wait(absl::Duration timeout) override {
    MILLRACE_RETURN_IF_ERROR(thread_->Wait(*operation_, timeout));
    if (copy_ != nullptr) copy_->WriteBack();
    copy_ = nullptr;
    return absl::OkStatus();
  }

 private:
  // Shared, so that a collective may outlive its communicator.
  const std::shared_ptr<CommunicationThread> thread_;
  const std::shared_ptr<CommunicationOperation> operation_;
  // Null if summed in place, or written back.
  std::unique_ptr<TensorCopy> copy_;
};

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(std::unique_ptr<CommunicationThread> thread)
      : thread_(std::move(thread)) {}

  // Collectives that are still held keep the thread's object, but not this rank
  // in the job. Without effect after Close().
  ~MpiCommunicator() override { thread_->LeaveWithoutClosing(); }

  int rank() const override { return thread_->rank(); }
  int size() const override { return thread_->size(); }
  int local_rank() const override { return thread_->local_rank(); }
  int local_size() const override { return thread_->local_size(); }
  absl::string_view name() const override { return "mpi"; }

  absl::Status Barrier(absl::Duration timeout) override {
    return Await("barrier", nullptr, timeout, [](Transport* transport) {
      return transport->StartBarrier();
    });
  }

  absl::StatusOr<std::vector<std::string>> AllGather(
      absl::string_view bytes, absl::Duration timeout) override;

  absl::StatusOr<std::string> Broadcast(absl::string_view bytes, int root,
                                        absl::Duration timeout) override;

  using Communicator::StartAllReduceSum;
  absl::StatusOr<std::unique_ptr<PendingCollective>> StartAllReduceSum(
      const TensorView& tensor, std::shared_ptr<const void> owner) override;

  void ReportFailure(const absl::Status& cause) override {
    assert(!cause.ok());
    thread_->ReportFailure(cause);
  }
  absl::Status failure() const override { return thread_->failure(); }
  absl::Status Close(absl::Duration timeout) override {
    return thread_->Close(timeout);
  }

 private:
  using Start =
      std::function<absl::StatusOr<std::unique_ptr<Transport::Request>>(
          Transport*)>;

  // Posts one operation and waits for it. `owner` has all that `start` refers
  // to.
  absl::Status Await(const std::string& what, std::shared_ptr<const void> owner,
                     absl::Duration timeout, Start start);

  // One all-gather of `mine`, sizes[r] bytes from rank r.
  absl::StatusOr<std::string> GatherRound(absl::string_view mine,
                                          const std::vector<int64_t>& sizes,
                                          absl::Duration timeout);

  const std::shared_ptr<CommunicationThread> thread_;
};

absl::Status MpiCommunicator::Await(const std::string& what,
                                    std::shared_ptr<const void> owner,
                                    absl::Duration timeout, Start start) {
  const auto operation = std::make_shared<CommunicationOperation>();
  operation->what = what;
  operation->owner = std::move(owner);
  operation->start = std::move(start);
  MILLRACE_RETURN_IF_ERROR(thread_->Post(operation));
  return thread_->Wait(*operation, timeout);
}

absl::StatusOr<std::string> MpiCommunicator::GatherRound(
    absl::string_view mine, const std::vector<int64_t>& sizes,
    absl::Duration timeout) {
  // Apart from the caller's memory, which may be gone when an abandoned
  // operation still goes on.
  struct Buffers {
    std::string mine;
    std::string all;
    std::vector<int64_t> sizes;
  };
  const auto buffers = std::make_shared<Buffers>();
  buffers->mine = std::string(mine);
  buffers->sizes = sizes;
  buffers->all.resize(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}));
  MILLRACE_RETURN_IF_ERROR(Await("all-gather", buffers, timeout,
                                 [raw = buffers.get()](Transport* transport) {
                                   return transport->StartAllGather(
                                       raw->mine.data(), raw->all.data(),
                                       raw->sizes);
                                 }));
  return std::move(buffers->all);
}

absl::StatusOr<std::vector<std::string>> MpiCommunicator::AllGather(
    absl::string_view bytes, absl::Duration timeout) {
  const Deadline deadline(timeout);
  const int64_t my_size = static_cast<int64_t>(bytes.size());
  MILLRACE_ASSIGN_OR_RETURN(
      const std::string size_bytes,
      GatherRound({reinterpret_cast<const char*>(&my_size), sizeof(my_size)},
                  std::vector<int64_t>(size(), sizeof(my_size)),
                  deadline.Left()));
  std::vector<int64_t> left(size());
  std::memcpy(left.data(), size_bytes.data(), size_bytes.size());
  std::vector<std::string> result(size());
  const int64_t most = std::max<int64_t>(1, kGatherRoundBytes / size());
  while (*std::max_element(left.begin(), left.end()) > 0) {
    std::vector<int64_t> sizes(size());
    for (int r = 0; r < size(); ++r) {
      sizes[r] = std::min(left[r], most);
      left[r] -= sizes[r];
    }
    const size_t sent = result[rank()].size();
    MILLRACE_ASSIGN_OR_RETURN(
        const std::string all,
        GatherRound(bytes.substr(sent, sizes[rank()]), sizes, deadline.Left()));
    int64_t offset = 0;
    for (int r = 0; r < size(); ++r) {
      result[r].append(all, offset, sizes[r]);
      offset += sizes[r];
    }
  }
  return result;
}

absl::StatusOr<std::string> MpiCommunicator::Broadcast(absl::string_view bytes,
                                                       int root,
                                                       absl::Duration timeout) {
  if (root < 0 || root >= size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("broadcast from rank ", root, " of ", size()));
  }
  const Deadline deadline(timeout);
  const std::string what = absl::StrCat("broadcast from rank ", root);
  const auto length = std::make_shared<int64_t>(bytes.size());
  MILLRACE_RETURN_IF_ERROR(
      Await(what, length, deadline.Left(),
            [raw = length.get(), root](Transport* transport) {
              return transport->StartBroadcast(reinterpret_cast<char*>(raw),
                                               sizeof(*raw), root);
            }));
  const auto buffer = std::make_shared<std::string>();
  if (rank() == root) {
    *buffer = std::string(bytes);
  } else {
    buffer->resize(*length);
  }
  MILLRACE_RETURN_IF_ERROR(
      Await(what, buffer, deadline.Left(),
            [raw = buffer.get(), root](Transport* transport) {
              return transport->StartBroadcast(
                  raw->data(), static_cast<int64_t>(raw->size()), root);
            }));
  return std::move(*buffer);
}

absl::StatusOr<std::unique_ptr<PendingCollective>>
MpiCommunicator::StartAllReduceSum(const TensorView& tensor,
                                   std::shared_ptr<const void> owner) {
  MILLRACE_RETURN_IF_ERROR(CheckSummable(tensor));
  std::unique_ptr<TensorCopy> copy;
  TensorView summand = tensor;
  if (owner == nullptr) {
    copy = std::make_unique<TensorCopy>(tensor);
    summand = copy->view();
    owner = copy->owner();
  }
  const auto operation = std::make_shared<CommunicationOperation>();
  operation->what = DescribeSum(tensor);
  operation->owner = std::move(owner);
  operation->start = [summand](Transport* transport) {
    return transport->StartSum(summand);
  };
  operation->bulk = true;
  MILLRACE_RETURN_IF_ERROR(thread_->Post(operation));
  return std::make_unique<MpiCollective>(thread_, operation, std::move(copy));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> MakeMpiCommunicator(
    CommunicationThread::TransportFactory factory,
    CommunicationThreadOptions options) {
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<CommunicationThread> thread,
      CommunicationThread::Create(std::move(factory), std::move(options)));
  return std::make_unique<MpiCommunicator>(std::move(thread));
}

}  // namespace millrace::distributed
