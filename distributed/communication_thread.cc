#include "distributed/communication_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/thread_pool.h"
#include "distributed/rank_list.h"

namespace millrace::distributed {
namespace {

// Kinds of control messages; PROTOCOL.md says who sends which when. On the
// wire: never renumbered.
constexpr int kFailureMessage = 1;
constexpr int kClosingMessage = 2;
constexpr int kClosedMessage = 3;

// The longest cause that is told in full.
constexpr size_t kMaxCauseBytes = ControlMessage::kMaxBytes - 1024;

// Sleeps between looks at the transport. While something is under way they grow
// with the time it takes, so that a wait of seconds costs next to nothing.
constexpr absl::Duration kShortestSleep = absl::Microseconds(20);
constexpr absl::Duration kLongestBulkSleep = absl::Microseconds(100);
constexpr absl::Duration kLongestSleep = absl::Milliseconds(1);
// With nothing under way, but messages may come.
constexpr absl::Duration kIdleSleep = absl::Milliseconds(2);

// For messages to leave and Finalize() to return, when all ranks are there.
constexpr absl::Duration kLeaveLimit = absl::Seconds(10);

absl::Duration Now() { return Clock::Real()->Now(); }

// An empty message for OK.
std::string EncodeOptional(const std::optional<FailureReport>& report) {
  return report.has_value() ? Encode(*report) : "";
}

// Other ranks may still write to the memory of a network that was not left in
// good order: it must last until the process ends.
template <typename... Things>
void KeepForever(Things&&... things) {
  static Mutex* const mutex = new Mutex;
  static auto* const kept = new std::vector<std::tuple<Things...>>;
  MutexLock lock(mutex);
  kept->emplace_back(std::move(things)...);
}

void PrepareThread() {
  SetThreadName("mr-ranks");
  // Signals go to other threads; those that the transport starts inherit this.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  // Linux lengthens short sleeps by 50 us otherwise.
  prctl(PR_SET_TIMERSLACK, 1);
}

}  // namespace

CommunicationThread::CommunicationThread(CommunicationThreadOptions options)
    : options_(std::move(options)), host_(LocalHostName()) {}

absl::StatusOr<std::unique_ptr<CommunicationThread>>
CommunicationThread::Create(TransportFactory factory,
                            CommunicationThreadOptions options) {
  std::unique_ptr<CommunicationThread> self(
      new CommunicationThread(std::move(options)));
  self->thread_ = std::thread(
      [raw = self.get(), factory = std::move(factory)] { raw->Run(factory); });
  absl::Status status;
  {
    MutexLock lock(&self->mutex_);
    const absl::Duration deadline = Now() + self->options_.join_timeout;
    while (!self->joined_.has_value()) {
      const absl::Duration left = deadline - Now();
      if (left <= absl::ZeroDuration()) break;
      self->changed_.WaitFor(&self->mutex_, left);
    }
    status = self->joined_.value_or(absl::DeadlineExceededError(
        absl::StrCat(self->host_, ": joining the job: waited ",
                     absl::FormatDuration(self->options_.join_timeout),
                     " for the other ranks")));
  }
  if (status.ok()) return self;
  if (absl::IsDeadlineExceeded(status)) self->options_.end_process(status);
  {
    MutexLock lock(&self->mutex_);
    self->give_up_ = true;
  }
  self->thread_.join();
  return status;
  return self;
}

CommunicationThread::~CommunicationThread() { LeaveWithoutClosing(); }

void CommunicationThread::LeaveWithoutClosing() {
  if (!thread_.joinable()) return;
  ReportFailure(absl::UnavailableError("left the job without closing"));
  Close(options_.failure_grace).IgnoreError();
}

absl::Status CommunicationThread::Post(
    std::shared_ptr<CommunicationOperation> operation) {
  MutexLock lock(&mutex_);
  if (failure_.has_value()) return FailureLocked();
  if (close_called_) {
    return absl::FailedPreconditionError("the communicator is closed");
  }
  posted_.push_back(std::move(operation));
  wake_.Signal();
  return absl::OkStatus();
}

bool CommunicationThread::Done(const CommunicationOperation& operation) const {
  MutexLock lock(&mutex_);
  return operation.done || failure_.has_value();
}

absl::Status CommunicationThread::Wait(const CommunicationOperation& operation,
                                       absl::Duration timeout) {
  MutexLock lock(&mutex_);
  const absl::Duration deadline = Now() + timeout;
  while (!operation.done && !failure_.has_value()) {
    const absl::Duration left = deadline - Now();
    if (left <= absl::ZeroDuration()) {
      FailLocked(absl::DeadlineExceededError(
          absl::StrCat(operation.what, ": waited ",
                       absl::FormatDuration(timeout), " for other ranks")));
      break;
    }
    changed_.WaitFor(&mutex_, left);
  }
  return operation.done ? absl::OkStatus() : FailureLocked();
}

void CommunicationThread::ReportFailure(const absl::Status& cause) {
  MutexLock lock(&mutex_);
  FailLocked(cause);
}

absl::Status CommunicationThread::failure() const {
  MutexLock lock(&mutex_);
  return FailureLocked();
}

absl::Status CommunicationThread::FailureLocked() const {
  return failure_.has_value() ? ToStatus(*failure_, size_) : absl::OkStatus();
}

void CommunicationThread::FailLocked(const absl::Status& cause) {
  if (failure_.has_value() || settled_ || left_) return;
  FailureReport report = {
      rank_, host_,
      WithExitCode(
          absl::Status(cause.code(), cause.message().substr(0, kMaxCauseBytes)),
          ExitCodeOf(cause))};
  SendToOthersLocked(kFailureMessage, Encode(report));
  ConsiderLocked(std::move(report));
  wake_.Signal();
}

void CommunicationThread::ConsiderLocked(FailureReport report) {
  if (settled_) return;
  if (!failure_.has_value()) failed_at_ = Now();
  if (!failure_.has_value() || Precedes(report, *failure_)) {
    failure_ = std::move(report);
  }
  changed_.SignalAll();
}

void CommunicationThread::SendToOthersLocked(int kind,
                                             const std::string& bytes) {
  for (int to = 0; to < size_; ++to) {
    if (to != rank_) outbox_.push_back({to, {rank_, kind, bytes}});
  }
}

absl::Status CommunicationThread::Close(absl::Duration timeout) {
  absl::Status result;
  {
    MutexLock lock(&mutex_);
    close_called_ = true;
    wake_.Signal();
    AwaitSettlementLocked(timeout);
    const absl::Duration deadline = Now() + kLeaveLimit;
    while (!left_ && Now() < deadline) {
      changed_.WaitFor(&mutex_, deadline - Now());
    }
    result = FailureLocked();
    if (!left_) {
      mutex_.Unlock();
      options_.end_process(result.ok()
                               ? absl::DeadlineExceededError(absl::StrCat(
                                     "leaving the job: not through within ",
                                     absl::FormatDuration(kLeaveLimit)))
                               : result);
      mutex_.Lock();
      return result;
    }
  }
  if (!thread_.joinable()) return result;
  thread_.join();
  if (!result.ok() && options_.on_failure) options_.on_failure(result);
  return result;
}

void CommunicationThread::AwaitSettlementLocked(absl::Duration timeout) {
  const absl::Duration called_at = Now();
  while (!settled_ && !left_) {
    const absl::Duration limit =
        failure_.has_value()
            ? std::max(failed_at_, called_at) + options_.failure_grace
            : called_at + timeout;
    const absl::Duration left = limit - Now();
    if (left > absl::ZeroDuration()) {
      changed_.WaitFor(&mutex_, left);
    } else if (!failure_.has_value()) {
      FailLocked(absl::DeadlineExceededError(
          absl::StrCat("closing: waited ", absl::FormatDuration(timeout),
                       " for ", MissingAtCloseLocked())));
    } else {
      give_up_ = true;
      wake_.Signal();
      return;
    }
  }
}

std::string CommunicationThread::MissingAtCloseLocked() const {
  std::vector<int> missing;
  for (size_t r = 0; r < closing_.size(); ++r) {
    if (!closing_[r]) missing.push_back(static_cast<int>(r));
  }
  return missing.empty() ? "other ranks" : RanksToString(missing);
}

void CommunicationThread::Run(TransportFactory factory) {
  PrepareThread();
  Join(std::move(factory));
  if (transport_ == nullptr) return;
  while (!MayLeave()) {
    StartPosted();
    TestRunning();
    ExchangeMessages();
    AbandonAfterFailure();
    AdvanceClosing();
    EndIfStuck();
    Sleep();
  }
  Leave();
}

void CommunicationThread::Join(TransportFactory factory) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = factory();
  MutexLock lock(&mutex_);
  joined_ = transport.status();
  if (transport.ok()) {
    transport_ = *std::move(transport);
    rank_ = transport_->rank();
    size_ = transport_->size();
    local_rank_ = transport_->local_rank();
    local_size_ = transport_->local_size();
    if (rank_ == 0) closing_.resize(size_);
  }
  changed_.SignalAll();
}

void CommunicationThread::StartPosted() {
  std::vector<std::shared_ptr<CommunicationOperation>> fresh;
  {
    MutexLock lock(&mutex_);
    fresh.swap(posted_);
    if (failure_.has_value()) return;
  }
  for (std::shared_ptr<CommunicationOperation>& operation : fresh) {
    auto request = operation->start(transport_.get());
    if (!request.ok()) return FailOnTransport(request.status());
    operation->request = *std::move(request);
    running_.push_back(std::move(operation));
    last_event_ = Now();
  }
}

void CommunicationThread::TestRunning() {
  for (auto it = running_.begin(); it != running_.end();) {
    const absl::StatusOr<bool> done = (*it)->request->Test();
    if (!done.ok()) return FailOnTransport(done.status());
    if (!*done) {
      ++it;
      continue;
    }
    // What the operation refers to is the caller's again.
    (*it)->request = nullptr;
    (*it)->start = nullptr;
    (*it)->owner = nullptr;
    {
      MutexLock lock(&mutex_);
      (*it)->done = true;
      changed_.SignalAll();
    }
    it = running_.erase(it);
    last_event_ = Now();
  }
}

void CommunicationThread::AbandonAfterFailure() {
  {
    MutexLock lock(&mutex_);
    if (!failure_.has_value()) return;
  }
  for (std::shared_ptr<CommunicationOperation>& operation : running_) {
    abandoned_.push_back(std::move(operation));
  }
  running_.clear();
}

void CommunicationThread::ExchangeMessages() {
  std::vector<std::pair<int, ControlMessage>> outgoing;
  {
    MutexLock lock(&mutex_);
    outgoing.swap(outbox_);
  }
  for (const auto& [to, message] : outgoing) {
    const absl::Status sent = transport_->Send(to, message);
    if (!sent.ok()) return FailOnTransport(sent);
  }
  while (true) {
    const absl::StatusOr<std::optional<ControlMessage>> message =
        transport_->Receive();
    if (!message.ok()) return FailOnTransport(message.status());
    if (!message->has_value()) return;
    Handle(**message);
    last_event_ = Now();
  }
}

void CommunicationThread::Handle(const ControlMessage& message) {
  std::optional<FailureReport> report;
  if (!message.bytes.empty()) {
    absl::StatusOr<FailureReport> decoded = DecodeFailureReport(message.bytes);
    if (!decoded.ok()) return FailOnTransport(decoded.status());
    report = *std::move(decoded);
  }
  MutexLock lock(&mutex_);
  switch (message.kind) {
    case kClosingMessage:
      if (rank_ == 0) closing_[message.from] = true;
      [[fallthrough]];
    case kFailureMessage:
      if (report.has_value()) ConsiderLocked(*std::move(report));
      return;
    case kClosedMessage:
      failure_ = std::move(report);
      settled_ = true;
      changed_.SignalAll();
      return;
    default:
      // Of a newer program: the ranks' versions are compared by others.
      return;
  }
}

void CommunicationThread::AdvanceClosing() {
  MutexLock lock(&mutex_);
  if (!close_called_ || settled_) return;
  // What runs is finished first: other ranks may need this one's part.
  if (!said_closing_ && running_.empty() && posted_.empty()) {
    said_closing_ = true;
    if (rank_ == 0) {
      closing_[0] = true;
    } else {
      outbox_.push_back(
          {0, {rank_, kClosingMessage, EncodeOptional(failure_)}});
    }
  }
  if (rank_ == 0 && std::count(closing_.begin(), closing_.end(), 1) == size_) {
    SendToOthersLocked(kClosedMessage, EncodeOptional(failure_));
    settled_ = true;
    changed_.SignalAll();
  }
}

void CommunicationThread::EndIfStuck() {
  absl::Status failure;
  {
    MutexLock lock(&mutex_);
    if (!failure_.has_value() || close_called_ || ended_ ||
        Now() < failed_at_ + options_.failure_grace) {
      return;
    }
    failure = FailureLocked();
  }
  ended_ = true;
  options_.end_process(failure);
}

void CommunicationThread::Sleep() {
  absl::Duration longest = running_.empty() ? kIdleSleep : kLongestSleep;
  for (const std::shared_ptr<CommunicationOperation>& operation : running_) {
    if (operation->bulk) longest = kLongestBulkSleep;
  }
  const absl::Duration sleep =
      std::clamp((Now() - last_event_) / 64, kShortestSleep, longest);
  MutexLock lock(&mutex_);
  if (!posted_.empty() || !outbox_.empty() || give_up_ || settled_) return;
  wake_.WaitFor(&mutex_, sleep);
}

bool CommunicationThread::MayLeave() const {
  MutexLock lock(&mutex_);
  return give_up_ || settled_;
}

void CommunicationThread::Leave() {
  bool in_good_order = false;
  {
    MutexLock lock(&mutex_);
    in_good_order = settled_;
  }
  if (in_good_order) {
    ExchangeMessages();
    const absl::Duration deadline = Now() + kLeaveLimit;
    while (!transport_->SendsAreThrough().value_or(true) && Now() < deadline) {
      Clock::Real()->SleepFor(kShortestSleep);
    }
    const absl::Status finalized = transport_->Finalize();
    if (!finalized.ok()) {
      MILLRACE_LOG(kWarning) << finalized.message();
    }
  } else {
    KeepForever(std::move(abandoned_), std::move(running_),
                std::move(transport_));
  }
  MutexLock lock(&mutex_);
  left_ = true;
  changed_.SignalAll();
}

void CommunicationThread::FailOnTransport(const absl::Status& status) {
  MutexLock lock(&mutex_);
  FailLocked(status);
}

}  // namespace millrace::distributed
