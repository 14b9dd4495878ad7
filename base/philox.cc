#include "base/philox.h"

namespace millrace {

std::array<uint32_t, 4> Philox4x32(const std::array<uint32_t, 4>& counter,
                                   const std::array<uint32_t, 2>& key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9;
  constexpr uint32_t kWeyl1 = 0xBB67AE85;
  std::array<uint32_t, 4> c = counter;
  std::array<uint32_t, 2> k = key;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = kMultiplier0 * c[0];
    const uint64_t p1 = kMultiplier1 * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0],
         static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1],
         static_cast<uint32_t>(p0)};
    k[0] += kWeyl0;
    k[1] += kWeyl1;
  }
  return c;
}

PhiloxGenerator::PhiloxGenerator(uint64_t seed, int64_t epoch,
                                 uint64_t position)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      counter_{static_cast<uint32_t>(position),
               static_cast<uint32_t>(position >> 32),
               static_cast<uint32_t>(epoch), 0} {}

uint32_t PhiloxGenerator::NextU32() {
  if (used_ == 4) {
    block_ = Philox4x32(counter_, key_);
    // The block number is the low half of the last word: it wraps around
    // without touching the use in the high half.
    counter_[3] = (counter_[3] & 0xFFFF0000u) | ((counter_[3] + 1) & 0xFFFFu);
    used_ = 0;
  }
  return block_[used_++];
}

void PhiloxGenerator::StartUse(uint32_t use) {
  counter_[3] = use << 16;
  used_ = 4;
}

}  // namespace millrace
