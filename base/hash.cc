#include "base/hash.h"

#include <xxhash.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace millrace {

std::string Hash128::ToHex() const {
  return absl::StrFormat("%016x%016x", high, low);
}

absl::StatusOr<Hash128> Hash128::FromHex(absl::string_view hex) {
  Hash128 hash;
  if (hex.size() != 32 || !absl::SimpleHexAtoi(hex.substr(0, 16), &hash.high) ||
      !absl::SimpleHexAtoi(hex.substr(16), &hash.low) || hash.ToHex() != hex) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a hash is 32 lower-case hexadecimal digits, not \"", hex, "\""));
  }
  return hash;
}

Hash128 HashBytes(absl::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

struct Hasher::State {
  // Never null: XXH3 allocates 576 bytes; running out of that is not handled
  // anywhere in the process.
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(state_->xxh);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::AddBytes(const void* data, size_t size) {
  XXH3_128bits_update(state_->xxh, data, size);
  return *this;
}

Hasher& Hasher::AddString(absl::string_view text) {
  AddInt(static_cast<int64_t>(text.size()));
  return AddBytes(text.data(), text.size());
}

Hasher& Hasher::AddInt(int64_t value) {
  // Little endian, whatever the machine is.
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) {
    bytes[i] =
        static_cast<unsigned char>(static_cast<uint64_t>(value) >> 8 * i);
  }
  return AddBytes(bytes, sizeof(bytes));
}

Hash128 Hasher::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return {hash.high64, hash.low64};
}

}  // namespace millrace
