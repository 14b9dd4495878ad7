#ifndef MILLRACE_BASE_GENERATOR_H_
#define MILLRACE_BASE_GENERATOR_H_

// Random draws with one meaning on every machine: how a stream of 32-bit words
// becomes floats, integers and permutations is fixed here, exactly as PyTorch's
// CPU generator does it, and only the source of the words varies.

#include <cstdint>

#include "absl/types/span.h"

namespace millrace {

// A stream of random words, and torch's draws from it.
//
// Confined to one thread.
class Generator {
 public:
  virtual ~Generator() = default;

  // The next word, uniform over all 2^32 values.
  virtual uint32_t NextU32() = 0;

  // Announces that the draws to come are for use number `use` (the ordinal of a
  // transform in its pipeline, below 2^15). A keyed generator jumps to the
  // stream of that use, so that what one transform draws never shifts another's
  // numbers; a sequential one goes on where it stands.
  virtual void StartUse(uint32_t use) = 0;

  // The next two words, the first one high.
  uint64_t NextU64();

  // Uniform in [0, 1) with 24 bits: torch.rand(1) in float32.
  float Rand();

  // torch.empty(1).uniform_(low, high) in float32. Torch contracts
  // x * (high - low) + low to a fused multiply-add where the processor has one,
  // and so does this, everywhere.
  float Uniform(float low, float high);

  // torch.randint(0, n). REQUIRES: 0 < n <= 2^32.
  int64_t RandInt(int64_t n);

  // torch.randperm(values.size()). REQUIRES: values.size() < 2^31.
  void RandPerm(absl::Span<int> values);
};

}  // namespace millrace

#endif  // MILLRACE_BASE_GENERATOR_H_
