#ifndef MILLRACE_BASE_TORCH_RANDOM_H_
#define MILLRACE_BASE_TORCH_RANDOM_H_

// PyTorch's CPU random numbers, bit for bit: for runs that must visit samples
// in the order of an older PyTorch run, and for comparing with it.

#include <cstdint>
#include <random>
#include <vector>

#include "base/generator.h"

namespace millrace {

// The stream of torch.manual_seed(seed): MT19937 seeded with the low 32 bits.
// Sequential: StartUse() does nothing.
//
// Confined to one thread.
class TorchGenerator : public Generator {
 public:
  explicit TorchGenerator(uint64_t seed)
      : engine_(static_cast<uint32_t>(seed)) {}

  uint32_t NextU32() override { return static_cast<uint32_t>(engine_()); }
  void StartUse(uint32_t) override {}

 private:
  // The standard fixes this engine's output, unlike that of distributions.
  std::mt19937 engine_;
};

// torch.randperm(n, generator=Generator().manual_seed(seed)): 8n bytes.
// Checked against torch 2.15 up to n = 2^20; from 2^32 / 20 on torch draws 64
// bits an element, and so does this. REQUIRES: n >= 0.
std::vector<int64_t> TorchRandPerm(int64_t n, uint64_t seed);

}  // namespace millrace

#endif  // MILLRACE_BASE_TORCH_RANDOM_H_
