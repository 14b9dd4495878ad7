#include "distributed/nccl_communicator.h"

#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace millrace::distributed {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(1);
// For the orderly end of a communicator that is idle.
constexpr absl::Duration kFinalizeLimit = absl::Seconds(2);

// OK also for a call that goes on in the background.
absl::Status NcclStatus(ncclResult_t result, absl::string_view what) {
  if (result == ncclSuccess || result == ncclInProgress) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(what, ": NCCL error ",
                                             static_cast<int>(result), ": ",
                                             ncclGetErrorString(result)));
}

std::string InterfaceHint() {
  const char* interface = std::getenv("NCCL_SOCKET_IFNAME");
  return absl::StrCat("NCCL_SOCKET_IFNAME=",
                      interface == nullptr ? "(not set)" : interface);
}

}  // namespace

struct NcclCommunicator::Impl {
  ncclComm_t comm = nullptr;
};

NcclCommunicator::NcclCommunicator(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<NcclCommunicator>> NcclCommunicator::Create(
    Communicator* communicator, absl::Duration timeout) {
  const absl::Duration deadline = Clock::Real()->Now() + timeout;
  ncclUniqueId id = {};
  if (communicator->rank() == 0) {
    MILLRACE_RETURN_IF_ERROR(
        NcclStatus(ncclGetUniqueId(&id), "ncclGetUniqueId"));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const std::string bytes,
      communicator->Broadcast({reinterpret_cast<const char*>(&id), sizeof(id)},
                              /*root=*/0, timeout));
  if (bytes.size() != sizeof(id)) {
    return absl::InternalError("rank 0 has another version of NCCL");
  }
  std::memcpy(&id, bytes.data(), sizeof(id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  std::unique_ptr<NcclCommunicator> self(
      new NcclCommunicator(std::make_unique<Impl>()));
  MILLRACE_RETURN_IF_ERROR(NcclStatus(
      ncclCommInitRankConfig(&self->impl_->comm, communicator->size(), id,
                             communicator->rank(), &config),
      "ncclCommInitRankConfig"));
  while (true) {
    absl::StatusOr<bool> ready = self->Ready();
    if (ready.ok() && *ready) return self;
    absl::Status status = ready.status();
    if (status.ok()) status = communicator->failure();
    if (status.ok() && Clock::Real()->Now() > deadline) {
      status = absl::DeadlineExceededError(
          absl::StrCat("starting NCCL: waited ", absl::FormatDuration(timeout),
                       " for the other ranks; ", InterfaceHint()));
    }
    if (!status.ok()) {
      self->Abort();
      return status;
    }
    Clock::Real()->SleepFor(kPoll);
  }
}

NcclCommunicator::~NcclCommunicator() {
  if (impl_->comm == nullptr) return;
  // An idle one ends in good order; one with a sum under way may wait for
  // others, and is aborted.
  const absl::StatusOr<bool> ready = Ready();
  if (!ready.ok() || !*ready ||
      !NcclStatus(ncclCommFinalize(impl_->comm), "ncclCommFinalize").ok()) {
    Abort();
    return;
  }
  const absl::Duration deadline = Clock::Real()->Now() + kFinalizeLimit;
  while (Clock::Real()->Now() < deadline) {
    const absl::StatusOr<bool> finalized = Ready();
    if (!finalized.ok()) break;
    if (*finalized) {
      // Nothing is left to be told of an error.
      static_cast<void>(ncclCommDestroy(impl_->comm));
      impl_->comm = nullptr;
      return;
    }
    Clock::Real()->SleepFor(kPoll);
  }
  Abort();
}

absl::StatusOr<bool> NcclCommunicator::Ready() {
  if (impl_->comm == nullptr) {
    return absl::FailedPreconditionError("NCCL was aborted");
  }
  ncclResult_t state = ncclSuccess;
  MILLRACE_RETURN_IF_ERROR(NcclStatus(
      ncclCommGetAsyncError(impl_->comm, &state), "ncclCommGetAsyncError"));
  MILLRACE_RETURN_IF_ERROR(NcclStatus(state, "NCCL between ranks"));
  return state == ncclSuccess;
}

absl::Status NcclCommunicator::QueueSum(void* elements, int64_t count,
                                        bool is_double, uintptr_t stream) {
  return NcclStatus(
      ncclAllReduce(elements, elements, static_cast<size_t>(count),
                    is_double ? ncclFloat64 : ncclFloat32, ncclSum, impl_->comm,
                    reinterpret_cast<cudaStream_t>(stream)),
      "ncclAllReduce");
}

void NcclCommunicator::Abort() {
  if (impl_->comm == nullptr) return;
  // The communicator is lost either way.
  static_cast<void>(ncclCommAbort(impl_->comm));
  impl_->comm = nullptr;
}

}  // namespace millrace::distributed
