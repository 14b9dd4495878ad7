#ifndef MILLRACE_BASE_SAMPLER_H_
#define MILLRACE_BASE_SAMPLER_H_

// The global order in which an epoch visits a data set.
//
// A sampler knows nothing of ranks, workers or batches: which part of the order
// a rank takes, and in which batches, is distributed/distributed_sampler.h's
// matter. So the order is the same on one rank and on a thousand.

#include <cstdint>
#include <optional>
#include <string>

namespace millrace {

// Implement this to visit samples in an order of your own.
//
// Guarantees: IndexAt() is a function of (epoch, position) and of what the
// sampler was made with, alone; any position can be asked for in any order.
//
// Thread-safe: implementations are immutable, or lock.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Positions in an epoch: the samples that one epoch visits, with repeats
  // counted.
  virtual int64_t size() const = 0;

  // The dataset index at `position` of `epoch`.
  // REQUIRES: epoch >= 0, position in [0, size()).
  virtual int64_t IndexAt(int64_t epoch, int64_t position) const = 0;

  // The position of dataset index `index` in `epoch`, where the order can be
  // inverted and visits each index once; nullopt elsewhere. Caches use it to
  // tell when a sample will be wanted next.
  virtual std::optional<int64_t> PositionOf(int64_t /*epoch*/,
                                            int64_t /*index*/) const {
    return std::nullopt;
  }

  // Name and parameters as text, such as "feistel(size=50000, seed=7)". Equal
  // texts must mean equal orders: ranks compare it, and a checkpoint refuses
  // another.
  virtual std::string Describe() const = 0;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_SAMPLER_H_
