#ifndef MILLRACE_BASE_PHILOX_H_
#define MILLRACE_BASE_PHILOX_H_

// Counter-based random numbers: any number of any stream can be computed by
// itself, so nothing depends on who draws first, and there is no state to save.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011 (Philox4x32 with 10 rounds).

#include <array>
#include <cstdint>

#include "base/generator.h"

namespace millrace {

// One block of the bijection: four words from a counter and a key.
std::array<uint32_t, 4> Philox4x32(const std::array<uint32_t, 4>& counter,
                                   const std::array<uint32_t, 2>& key);

// The random numbers of one sample of one epoch.
//
// Key = seed; counter = (position: 64 bits, epoch: 32, use: 16, block: 16). By
// position and not by sample index, so that a sample drawn twice in an epoch is
// augmented anew. A use has 2^18 words; drawing more wraps around to its first.
//
// Confined to one thread.
class PhiloxGenerator : public Generator {
 public:
  // REQUIRES: 0 <= epoch < 2^32.
  PhiloxGenerator(uint64_t seed, int64_t epoch, uint64_t position);

  uint32_t NextU32() override;
  void StartUse(uint32_t use) override;

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_;
  // Words of block_ that are used up; 4 if there is none yet.
  int used_ = 4;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_PHILOX_H_
