#ifndef MILLRACE_DISTRIBUTED_ORDER_H_
#define MILLRACE_DISTRIBUTED_ORDER_H_

// The built-in orders of an epoch, as samplers.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/sampler.h"

namespace millrace::distributed {

enum class Order {
  // Shuffled by a permutation that is computed, not stored: O(1) memory.
  kFeistel = 0,
  // Shuffled as PyTorch does it: torch.randperm with seed + epoch. 8 bytes a
  // sample for each of the two epochs kept.
  kTorch = 1,
  // Not shuffled.
  kSequential = 2,
};

// "feistel", "torch", "sequential", and back. InvalidArgument for another name,
// listing these.
absl::string_view Name(Order order);
absl::StatusOr<Order> ParseOrder(absl::string_view name);

// A sampler that visits each index of [0, size) once an epoch; size() == size.
// PositionOf() is known for kFeistel and kSequential. InvalidArgument: size <
// 0.
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(Order order, int64_t size,
                                                     uint64_t seed);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_ORDER_H_
