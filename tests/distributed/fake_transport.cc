#include "tests/distributed/fake_transport.h"

#include <cstring>
#include <numeric>
#include <optional>

#include "base/status_macros.h"
#include "distributed/tensor_sum.h"

namespace millrace::distributed {

class FakeTransport : public Transport {
 public:
  FakeTransport(FakeNetwork* network, int rank)
      : network_(network), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return network_->size(); }
  int local_rank() const override { return rank_; }
  int local_size() const override { return network_->size(); }

  absl::StatusOr<std::unique_ptr<Request>> StartBarrier() override {
    return Start(
        0, [](Collective*) {}, [](Collective*) {});
  }

  absl::StatusOr<std::unique_ptr<Request>> StartAllGather(
      const char* mine, char* all, absl::Span<const int64_t> sizes) override {
    const int64_t my_size = sizes[rank_];
    return Start(
        0,
        [=, this](Collective* collective) {
          collective->sources[rank_] = {mine, my_size};
          collective->targets[rank_] = all;
        },
        [](Collective* collective) {
          for (char* target : collective->targets) {
            for (const auto& [bytes, size] : collective->sources) {
              if (size > 0) std::memcpy(target, bytes, size);
              target += size;
            }
          }
        });
  }

  absl::StatusOr<std::unique_ptr<Request>> StartBroadcast(char* bytes,
                                                          int64_t size,
                                                          int root) override {
    return Start(
        0,
        [=, this](Collective* collective) {
          collective->targets[rank_] = bytes;
        },
        [=](Collective* collective) {
          for (char* target : collective->targets) {
            if (target != collective->targets[root] && size > 0) {
              std::memcpy(target, collective->targets[root], size);
            }
          }
        });
  }

  absl::StatusOr<std::unique_ptr<Request>> StartSum(
      const TensorView& tensor) override {
    return Start(
        1,
        [=, this](Collective* collective) {
          collective->tensors[rank_] = tensor;
        },
        [](Collective* collective) { SumInPlace(collective->tensors); });
  }

  absl::Status Send(int to, const ControlMessage& message) override {
    MutexLock lock(&network_->mutex_);
    MILLRACE_RETURN_IF_ERROR(network_->CheckLocked(rank_));
    if (!network_->cut_[rank_]) network_->mailboxes_[to].push_back(message);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> SendsAreThrough() override { return true; }

  absl::StatusOr<std::optional<ControlMessage>> Receive() override {
    MutexLock lock(&network_->mutex_);
    MILLRACE_RETURN_IF_ERROR(network_->CheckLocked(rank_));
    std::deque<ControlMessage>& mailbox = network_->mailboxes_[rank_];
    if (mailbox.empty() || network_->cut_[rank_]) {
      return std::optional<ControlMessage>();
    }
    std::optional<ControlMessage> message = std::move(mailbox.front());
    mailbox.pop_front();
    return message;
  }

  absl::Status Finalize() override {
    MutexLock lock(&network_->mutex_);
    while (network_->finalize_blocked_) {
      network_->changed_.Wait(&network_->mutex_);
    }
    ++network_->finalized_;
    return absl::OkStatus();
  }

 private:
  using Collective = FakeNetwork::Collective;

  class FakeRequest : public Request {
   public:
    FakeRequest(FakeNetwork* network, int rank,
                std::shared_ptr<Collective> collective)
        : network_(network), rank_(rank), collective_(std::move(collective)) {}

    absl::StatusOr<bool> Test() override {
      MutexLock lock(&network_->mutex_);
      MILLRACE_RETURN_IF_ERROR(network_->CheckLocked(rank_));
      return collective_->done;
    }

   private:
    FakeNetwork* const network_;
    const int rank_;
    const std::shared_ptr<Collective> collective_;
  };

  absl::StatusOr<std::unique_ptr<Request>> Start(
      int channel, const std::function<void(Collective*)>& bring,
      const std::function<void(Collective*)>& complete) {
    {
      MutexLock lock(&network_->mutex_);
      MILLRACE_RETURN_IF_ERROR(network_->CheckLocked(rank_));
    }
    return std::make_unique<FakeRequest>(
        network_, rank_, network_->Arrive(rank_, channel, bring, complete));
  }

  FakeNetwork* const network_;
  const int rank_;
};

CommunicationThread::TransportFactory FakeNetwork::FactoryFor(int rank) {
  return [this, rank]() -> absl::StatusOr<std::unique_ptr<Transport>> {
    return std::make_unique<FakeTransport>(this, rank);
  };
}

std::shared_ptr<FakeNetwork::Collective> FakeNetwork::Arrive(
    int rank, int channel, const std::function<void(Collective*)>& bring,
    const std::function<void(Collective*)>& complete) {
  MutexLock lock(&mutex_);
  if (cut_[rank]) return std::make_shared<Collective>();
  const std::pair<int, int64_t> key = {channel, next_[rank][channel]++};
  std::shared_ptr<Collective>& entry = open_[key];
  if (entry == nullptr) {
    entry = std::make_shared<Collective>();
    entry->missing = size_;
    entry->tensors.resize(size_);
    entry->sources.resize(size_);
    entry->targets.resize(size_);
  }
  std::shared_ptr<Collective> collective = entry;
  bring(collective.get());
  if (--collective->missing == 0) {
    complete(collective.get());
    collective->done = true;
    open_.erase(key);
  }
  return collective;
}

absl::Status FakeNetwork::CheckLocked(int rank) const {
  const auto it = broken_.find(rank);
  return it == broken_.end() ? absl::OkStatus() : it->second;
}

void FakeNetwork::Cut(int rank) {
  MutexLock lock(&mutex_);
  cut_[rank] = true;
}

void FakeNetwork::Break(int rank, const absl::Status& status) {
  MutexLock lock(&mutex_);
  broken_[rank] = status;
}

void FakeNetwork::BlockFinalize() {
  MutexLock lock(&mutex_);
  finalize_blocked_ = true;
}

void FakeNetwork::AllowFinalize() {
  MutexLock lock(&mutex_);
  finalize_blocked_ = false;
  changed_.SignalAll();
}

int FakeNetwork::finalized() const {
  MutexLock lock(&mutex_);
  return finalized_;
}

}  // namespace millrace::distributed
