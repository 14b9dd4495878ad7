#ifndef MILLRACE_BASE_PERMUTATION_H_
#define MILLRACE_BASE_PERMUTATION_H_

// A pseudo-random permutation that is computed, not stored.

#include <array>
#include <cstdint>

namespace millrace {

// A keyed permutation of [0, size): element p of a shuffle of any size without
// a list of it.
//
// An unbalanced Feistel network permutes [0, 2^b), the least such domain with
// 2^b >= size and b >= 8; values outside [0, size) are sent through again
// ("cycle walking", Black and Rogaway 2002): for sizes above 128 twice on
// average at most. Cost: O(1) time and memory. The permutation is the same on
// every machine, and a golden test pins it: it is part of what a checkpoint
// promises.
//
// Thread-safe: immutable once created.
class FeistelPermutation {
 public:
  // `key` and `tweak` choose the permutation: seed and epoch, say.
  // REQUIRES: size in [0, 2^63).
  FeistelPermutation(int64_t size, uint64_t key, uint64_t tweak);

  int64_t size() const { return size_; }

  // The element at `position`. REQUIRES: position in [0, size()).
  int64_t At(int64_t position) const;

  // The position of `element`: At(PositionOf(e)) == e.
  // REQUIRES: element in [0, size()).
  int64_t PositionOf(int64_t element) const;

 private:
  static constexpr int kRounds = 8;

  uint64_t Encrypt(uint64_t value) const;
  uint64_t Decrypt(uint64_t value) const;

  int64_t size_;
  // Widths of the two halves of a value; right_bits_ >= left_bits_.
  int left_bits_;
  int right_bits_;
  std::array<uint64_t, kRounds> round_keys_;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_PERMUTATION_H_
