#include "augment/crc32.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace millrace::augment {
namespace {

// By the definition, bit by bit.
uint32_t BitwiseCrc32(const std::string& bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int i = 0; i < 8; ++i) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
    }
  }
  return ~crc;
}

TEST(Crc32Test, GivesTheStandardsCheckValue) {
  EXPECT_EQ(Crc32("123456789"), 0xCBF43926);
  EXPECT_EQ(Crc32(""), 0u);
}

TEST(Crc32Test, IsRightForEveryLengthAroundItsStride) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Crc32(bytes), BitwiseCrc32(bytes)) << i;
    bytes.push_back(static_cast<char>(37 * i + 200));
  }
}

}  // namespace
}  // namespace millrace::augment
