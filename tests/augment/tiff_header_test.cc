#include "augment/tiff_header.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::HasSubstr;

// Writes numbers in either byte order.
class TiffWriter {
 public:
  explicit TiffWriter(bool big_endian) : big_endian_(big_endian) {}

  TiffWriter& Put(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (big_endian_ ? size - 1 - i : i);
      bytes_.push_back(static_cast<char>(value >> shift & 255));
    }
    return *this;
  }
  // Tag, type, count and value of a classic entry.
  TiffWriter& Entry(int tag, int type, uint32_t count, uint32_t value) {
    Put(tag, 2).Put(type, 2).Put(count, 4);
    // Short values stand at the left of their field.
    return type == 3 && count == 1 ? Put(value, 2).Put(0, 2) : Put(value, 4);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  bool big_endian_;
  std::string bytes_;
};

std::string ClassicTiff(bool big_endian) {
  TiffWriter tiff(big_endian);
  tiff.Put(big_endian ? 0x4D4D : 0x4949, 2).Put(42, 2).Put(8, 4).Put(7, 2);
  tiff.Entry(256, 3, 1, 53).Entry(257, 4, 1, 37).Entry(274, 3, 1, 6);
  // Three values: they lie behind the directory.
  tiff.Entry(258, 3, 3, 98);
  tiff.Entry(273, 4, 1, 200).Entry(277, 3, 1, 3).Entry(279, 4, 1, 50);
  tiff.Put(0, 4).Put(16, 2).Put(16, 2).Put(16, 2);
  return tiff.bytes();
}

TEST(ReadTiffHeaderTest, ReadsBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    ASSERT_OK_AND_ASSIGN(const TiffHeader header,
                         ReadTiffHeader(ClassicTiff(big_endian)));
    EXPECT_EQ(header.height, 37);
    EXPECT_EQ(header.width, 53);
    EXPECT_EQ(header.channels, 3);
    EXPECT_EQ(header.bits, 16);
    EXPECT_EQ(header.sample_format, 1);
    EXPECT_EQ(header.orientation, 6);
    EXPECT_EQ(header.data_end, 250u);
  }
}

TEST(ReadTiffHeaderTest, ReadsBigTiff) {
  TiffWriter tiff(false);
  tiff.Put(0x4949, 2).Put(43, 2).Put(8, 2).Put(0, 2).Put(16, 8).Put(2, 8);
  tiff.Put(256, 2).Put(16, 2).Put(1, 8).Put(1000, 8);
  tiff.Put(257, 2).Put(4, 2).Put(1, 8).Put(2000, 8);
  ASSERT_OK_AND_ASSIGN(const TiffHeader header, ReadTiffHeader(tiff.bytes()));
  EXPECT_EQ(header.width, 1000);
  EXPECT_EQ(header.height, 2000);
}

TEST(ReadTiffHeaderTest, EveryPrefixIsTruncated) {
  const std::string tiff = ClassicTiff(false);
  for (size_t size = 4; size < tiff.size(); ++size) {
    EXPECT_THAT(ReadTiffHeader(tiff.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")))
        << size;
  }
}

TEST(ReadTiffHeaderTest, ListsBeyondTheFileAreTruncated) {
  TiffWriter tiff(false);
  tiff.Put(0x4949, 2).Put(42, 2).Put(8, 4).Put(3, 2);
  tiff.Entry(256, 3, 1, 5).Entry(257, 3, 1, 5);
  tiff.Entry(273, 4, 1000000, 60);
  tiff.Put(0, 4).Put(1, 4).Put(1, 4);
  EXPECT_THAT(ReadTiffHeader(tiff.bytes()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")));
}

TEST(ReadTiffHeaderTest, NeedsVersionAndSize) {
  EXPECT_THAT(ReadTiffHeader(std::string("II\x07\0\x08\0\0\0", 8)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("version 7")));
  EXPECT_THAT(
      ReadTiffHeader(std::string("II*\0\x08\0\0\0\0\0", 10)),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no width and height")));
}

}  // namespace
}  // namespace millrace::augment
