#ifndef MILLRACE_BASE_HASH_H_
#define MILLRACE_BASE_HASH_H_

// Hashes that are written down: fingerprints of data sets, hashes of options,
// digests of pixels. 128 bits of XXH3, the same on every machine; not for use
// against an adversary.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const Hash128& a, const Hash128& b) {
    return a.high == b.high && a.low == b.low;
  }
  friend bool operator!=(const Hash128& a, const Hash128& b) {
    return !(a == b);
  }

  // 32 lower-case hexadecimal digits, high half first.
  std::string ToHex() const;
  // InvalidArgument unless `hex` is 32 lower-case hexadecimal digits.
  static absl::StatusOr<Hash128> FromHex(absl::string_view hex);
};

Hash128 HashBytes(absl::string_view bytes);

// Hashes a sequence of values. Each string is preceded by its length, so that
// ("ab", "c") and ("a", "bc") differ.
//
// Confined to one thread.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& AddBytes(const void* data, size_t size);
  Hasher& AddString(absl::string_view text);
  Hasher& AddInt(int64_t value);

  // The hash of what was added so far.
  Hash128 Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_HASH_H_
