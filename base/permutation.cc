#include "base/permutation.h"

#include <bit>

#include "base/philox.h"

namespace millrace {
namespace {

// A smaller domain would leave too few keys to tell permutations of two or
// three elements apart.
constexpr int kMinBits = 8;

uint64_t LowBits(int bits) { return (uint64_t{1} << bits) - 1; }

// The round function: a multiply-xorshift mix of one half and the round's key.
// Constants of the finaliser "moremur" (Pelle Evensen, 2019).
uint64_t Mix(uint64_t value, uint64_t key) {
  uint64_t x = value ^ key;
  x ^= x >> 27;
  x *= 0x3C79AC492BA7B653;
  x ^= x >> 33;
  x *= 0x1C69B3F74AC4AE35;
  x ^= x >> 27;
  return x;
}

}  // namespace

FeistelPermutation::FeistelPermutation(int64_t size, uint64_t key,
                                       uint64_t tweak)
    : size_(size) {
  int bits = kMinBits;
  if (size > (int64_t{1} << kMinBits)) {
    bits = std::bit_width(static_cast<uint64_t>(size - 1));
  }
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  for (uint32_t round = 0; round < kRounds; round += 2) {
    // Apart from every sample's generator: no transform has use 0xFE15.
    const std::array<uint32_t, 4> block = Philox4x32(
        {static_cast<uint32_t>(tweak), static_cast<uint32_t>(tweak >> 32),
         round, 0xFE157E10},
        {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
    round_keys_[round] = uint64_t{block[0]} << 32 | block[1];
    round_keys_[round + 1] = uint64_t{block[2]} << 32 | block[3];
  }
}

// The halves keep their place: even rounds change the left one by a function of
// the right, odd rounds the other way round, so each round is its own inverse.
uint64_t FeistelPermutation::Encrypt(uint64_t value) const {
  uint64_t left = value >> right_bits_;
  uint64_t right = value & LowBits(right_bits_);
  for (int round = 0; round < kRounds; round += 2) {
    left ^= Mix(right, round_keys_[round]) & LowBits(left_bits_);
    right ^= Mix(left, round_keys_[round + 1]) & LowBits(right_bits_);
  }
  return left << right_bits_ | right;
}

uint64_t FeistelPermutation::Decrypt(uint64_t value) const {
  uint64_t left = value >> right_bits_;
  uint64_t right = value & LowBits(right_bits_);
  for (int round = kRounds - 2; round >= 0; round -= 2) {
    right ^= Mix(left, round_keys_[round + 1]) & LowBits(right_bits_);
    left ^= Mix(right, round_keys_[round]) & LowBits(left_bits_);
  }
  return left << right_bits_ | right;
}

int64_t FeistelPermutation::At(int64_t position) const {
  uint64_t value = static_cast<uint64_t>(position);
  do {
    value = Encrypt(value);
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

int64_t FeistelPermutation::PositionOf(int64_t element) const {
  uint64_t value = static_cast<uint64_t>(element);
  do {
    value = Decrypt(value);
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

}  // namespace millrace
