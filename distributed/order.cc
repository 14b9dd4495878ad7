#include "distributed/order.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/permutation.h"
#include "distributed/torch_permutations.h"

namespace millrace::distributed {
namespace {

class FeistelSampler : public Sampler {
 public:
  FeistelSampler(int64_t size, uint64_t seed) : size_(size), seed_(seed) {}

  int64_t size() const override { return size_; }

  int64_t IndexAt(int64_t epoch, int64_t position) const override {
    return Permutation(epoch).At(position);
  }

  std::optional<int64_t> PositionOf(int64_t epoch,
                                    int64_t index) const override {
    return Permutation(epoch).PositionOf(index);
  }

  std::string Describe() const override {
    return absl::StrCat("feistel(size=", size_, ", seed=", seed_, ")");
  }

 private:
  FeistelPermutation Permutation(int64_t epoch) const {
    return FeistelPermutation(size_, seed_, static_cast<uint64_t>(epoch));
  }

  const int64_t size_;
  const uint64_t seed_;
};

class TorchSampler : public Sampler {
 public:
  TorchSampler(int64_t size, uint64_t seed)
      : permutations_(size, seed), seed_(seed) {}

  int64_t size() const override { return permutations_.size(); }

  int64_t IndexAt(int64_t epoch, int64_t position) const override {
    return permutations_.At(epoch, position);
  }

  std::string Describe() const override {
    return absl::StrCat("torch(size=", size(), ", seed=", seed_, ")");
  }

 private:
  const TorchPermutations permutations_;
  const uint64_t seed_;
};

class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(int64_t size) : size_(size) {}

  int64_t size() const override { return size_; }

  int64_t IndexAt(int64_t /*epoch*/, int64_t position) const override {
    return position;
  }

  std::optional<int64_t> PositionOf(int64_t /*epoch*/,
                                    int64_t index) const override {
    return index;
  }

  std::string Describe() const override {
    return absl::StrCat("sequential(size=", size_, ")");
  }

 private:
  const int64_t size_;
};

}  // namespace

absl::string_view Name(Order order) {
  switch (order) {
    case Order::kFeistel:
      return "feistel";
    case Order::kTorch:
      return "torch";
    case Order::kSequential:
      return "sequential";
  }
  return "unknown";
}

absl::StatusOr<Order> ParseOrder(absl::string_view name) {
  for (const Order order :
       {Order::kFeistel, Order::kTorch, Order::kSequential}) {
    if (name == Name(order)) return order;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("order \"", EscapeForMessage(name),
                   "\" is not one of feistel, torch, sequential"));
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(Order order, int64_t size,
                                                     uint64_t seed) {
  if (size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sampler size ", size, " is negative"));
  }
  switch (order) {
    case Order::kFeistel:
      return std::make_unique<FeistelSampler>(size, seed);
    case Order::kTorch:
      return std::make_unique<TorchSampler>(size, seed);
    case Order::kSequential:
      return std::make_unique<SequentialSampler>(size);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("order ", static_cast<int>(order),
                   " is not one of feistel, torch, "
                   "sequential"));
}

}  // namespace millrace::distributed
