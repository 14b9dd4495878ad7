#include "augment/crc32.h"

#include <array>
#include <cstddef>

namespace millrace::augment {
namespace {

// Table k tells what a byte does to the remainder k bytes later, so that eight
// bytes can be taken at a time.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0xEDB88320 : 0);
    }
    tables[0][i] = remainder;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (uint32_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32(absl::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    uint32_t next = 0;
    for (size_t k = 0; k < 4; ++k) {
      next ^= kTables[7 - k][(crc >> (8 * k) & 255) ^ p[k]];
      next ^= kTables[3 - k][p[4 + k]];
    }
    crc = next;
  }
  for (; left > 0; --left, ++p) {
    crc = (crc >> 8) ^ kTables[0][(crc & 255) ^ *p];
  }
  return ~crc;
}

}  // namespace millrace::augment
