#include "augment/opencv_decoder.h"

#include <cstdint>
#include <string>
#include <vector>

#include "augment/crc32.h"
#include "augment/image_header.h"
#include "augment/image_structure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "opencv2/core.hpp"
#include "tests/augment/decode_image.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::vector<std::string>& Suffixes() {
  static const auto* const suffixes =
      new std::vector<std::string>{".png", ".bmp", ".tif", ".webp"};
  return *suffixes;
}

TEST(OpencvDecoderTest, LosslessFormatsGiveTheirPixelsInRgbOrder) {
  for (const char* suffix : {".png", ".bmp", ".tif"}) {
    ASSERT_OK_AND_ASSIGN(const PixelImage image,
                         DecodeImage(TestImage(suffix, 37, 53)));
    EXPECT_EQ(image.pixels(), TestPixels(37, 53)) << suffix;
  }
}

TEST(OpencvDecoderTest, RegionIsPartOfTheWholeImage) {
  const Region region = {5, 7, 11, 13};
  for (const std::string& suffix : Suffixes()) {
    const std::string bytes = TestImage(suffix, 37, 53);
    for (const int channels : {1, 3}) {
      ASSERT_OK_AND_ASSIGN(PixelImage whole, DecodeImage(bytes, channels));
      PixelImage want(region.height, region.width, channels);
      CopyImage(whole.view().Crop(region), want.view());
      ASSERT_OK_AND_ASSIGN(const PixelImage part,
                           DecodeImage(bytes, channels, region));
      EXPECT_EQ(part.pixels(), want.pixels()) << suffix;
    }
  }
}

TEST(OpencvDecoderTest, HasNoScales) {
  const std::string png = TestImage(".png", 8, 8);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(png));
  OpencvDecoder decoder;
  PixelImage out(4, 4, 3);
  EXPECT_THAT(decoder.Decode(png, header, {.region = {0, 0, 4, 4}, .scale = 2},
                             out.view()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("PNG at scale 1/2")));
}

TEST(OpencvDecoderTest, RunsInOneThread) {
  const OpencvDecoder decoder;
  EXPECT_EQ(cv::getNumThreads(), 1);
}

TEST(OpencvDecoderTest, EveryPrefixIsAnError) {
  for (const std::string& suffix : Suffixes()) {
    const std::string bytes = TestImage(suffix, 13, 17);
    // All end with something that is needed: a TIFF of OpenCV's with its
    // directory.
    for (size_t size = 8; size < bytes.size(); ++size) {
      const absl::StatusOr<PixelImage> image =
          DecodeImage(bytes.substr(0, size));
      EXPECT_THAT(image,
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")))
          << suffix << " " << size << " of " << bytes.size();
    }
  }
}

TEST(OpencvDecoderTest, FlippedBitsGiveAnImageOrAnErrorWithoutAWord) {
  testing::internal::CaptureStderr();
  for (const std::string& suffix : Suffixes()) {
    const std::string bytes = TestImage(suffix, 13, 17);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      const absl::StatusOr<PixelImage> image = DecodeImage(damaged);
      if (!image.ok()) {
        EXPECT_THAT(image.status().code(),
                    AnyOf(absl::StatusCode::kDataLoss,
                          absl::StatusCode::kResourceExhausted))
            << image.status();
      }
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(OpencvDecoderTest, FlippedBitsOfPngAreFoundByTheChecksums) {
  const std::string bytes = TestImage(".png", 13, 17);
  for (size_t i = 8; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_THAT(DecodeImage(damaged), StatusIs(absl::StatusCode::kDataLoss))
        << i;
  }
}

TEST(CheckImageStructureTest, PngWithoutMoreThanPixelsIsTakenAsItIs) {
  const std::string png = TestImage(".png", 5, 6);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(png));
  const std::string more = png + "behind its end";
  std::string rewritten;
  EXPECT_THAT(CheckImageStructure(more, header, &rewritten), IsOkAndHolds(png));
}

// Length, type, data, checksum.
std::string Chunk(const std::string& type, const std::string& data) {
  const auto big_endian = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(value >> shift));
    }
    return bytes;
  };
  return big_endian(static_cast<uint32_t>(data.size())) + type + data +
         big_endian(Crc32(type + data));
}

// A PNG with `chunk` behind its IHDR.
std::string WithChunk(std::string png, const std::string& chunk) {
  return png.insert(8 + 25, chunk);
}

TEST(CheckImageStructureTest, OtherChunksAreLeftOut) {
  const std::string png = TestImage(".png", 5, 6);
  const std::string more = WithChunk(png, Chunk("iCCP", "no profile"));
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(more));
  std::string rewritten;
  EXPECT_THAT(CheckImageStructure(more, header, &rewritten), IsOkAndHolds(png));
}

TEST(CheckImageStructureTest, DamageIsNamed) {
  const std::string png = TestImage(".png", 5, 6);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(png));
  std::string rewritten;
  const auto check = [&](const std::string& bytes) {
    return CheckImageStructure(bytes, header, &rewritten);
  };
  const auto is_damage = [](const std::string& message) {
    return StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message));
  };
  std::string flipped = WithChunk(png, Chunk("tEXt", "abc"));
  flipped[8 + 25 + 9] ^= 1;
  EXPECT_THAT(check(flipped), is_damage("wrong checksum"));
  EXPECT_THAT(check(WithChunk(png, Chunk("ABCD", ""))),
              is_damage("unknown critical chunk"));
  const std::string head = png.substr(0, 8 + 25);
  EXPECT_THAT(check(head + Chunk("IEND", "")), is_damage("no pixels"));
  EXPECT_THAT(check(head), is_damage("truncated PNG"));
  std::string palette = head;
  palette[25] = 3;
  palette.replace(8, 25, Chunk("IHDR", palette.substr(16, 13)));
  EXPECT_THAT(check(palette + Chunk("IDAT", "x") + Chunk("IEND", "")),
              is_damage("no palette"));
}

}  // namespace
}  // namespace millrace::augment
