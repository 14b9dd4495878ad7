#include "augment/jpeg/jpeg_decoder.h"

#include <malloc.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "augment/image_header.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/decode_image.h"
#include "tests/augment/pixel_image.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

// Every kind of JPEG that differs in how it is decoded.
std::vector<JpegOptions> AllKinds() {
  std::vector<JpegOptions> kinds;
  for (const bool progressive : {false, true}) {
    for (const auto& [horizontal, vertical] :
         std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
      kinds.push_back({.horizontal_sampling = horizontal,
                       .vertical_sampling = vertical,
                       .progressive = progressive});
    }
    kinds.push_back({.progressive = progressive, .gray = true});
    kinds.push_back({.progressive = progressive, .restart_interval = 3});
  }
  kinds.push_back({.arithmetic = true});
  return kinds;
}

TEST(JpegDecoderTest, RegionIsPartOfTheWholeImage) {
  constexpr int kHeight = 45;
  constexpr int kWidth = 67;
  for (const JpegOptions& kind : AllKinds()) {
    const std::string jpeg = TestJpeg(kHeight, kWidth, 1, kind);
    for (const int channels : {1, 3}) {
      ASSERT_OK_AND_ASSIGN(PixelImage whole, DecodeImage(jpeg, channels));
      for (const Region& region : std::vector<Region>{{0, 0, 1, 1},
                                                      {0, 0, kHeight, 5},
                                                      {44, 66, 1, 1},
                                                      {7, 9, 16, 31},
                                                      {15, 17, 30, 50},
                                                      {17, 0, 3, kWidth}}) {
        PixelImage want(region.height, region.width, channels);
        CopyImage(whole.view().Crop(region), want.view());
        ASSERT_OK_AND_ASSIGN(const PixelImage part,
                             DecodeImage(jpeg, channels, region));
        EXPECT_EQ(part.pixels(), want.pixels());
      }
    }
  }
}

TEST(JpegDecoderTest, DecodesCloseToWhatWasEncoded) {
  for (const JpegOptions& kind : AllKinds()) {
    if (kind.horizontal_sampling != 1 || kind.vertical_sampling != 1) continue;
    JpegOptions best = kind;
    best.quality = 100;
    // A smooth part of the test picture, without its steps from 255 to 0.
    ASSERT_OK_AND_ASSIGN(const PixelImage image,
                         DecodeImage(TestJpeg(8, 8, 0, best)));
    const PixelImage want = PixelImage::Test(8, 8);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        EXPECT_NEAR(image.at(y, x, 0), want.at(y, x, 0), 3);
      }
    }
  }
}

TEST(JpegDecoderTest, ArithmeticCodingGivesTheSamePixels) {
  ASSERT_OK_AND_ASSIGN(const PixelImage huffman, DecodeImage(TestJpeg(33, 47)));
  ASSERT_OK_AND_ASSIGN(const PixelImage arithmetic,
                       DecodeImage(TestJpeg(33, 47, 0, {.arithmetic = true})));
  EXPECT_EQ(arithmetic.pixels(), huffman.pixels());
}

TEST(JpegDecoderTest, GreyGivesThreeEqualChannels) {
  ASSERT_OK_AND_ASSIGN(const PixelImage image,
                       DecodeImage(TestJpeg(9, 11, 0, {.gray = true})));
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 11; ++x) {
      EXPECT_EQ(image.at(y, x, 0), image.at(y, x, 1));
      EXPECT_EQ(image.at(y, x, 0), image.at(y, x, 2));
    }
  }
}

// Puts an EXIF block that names `orientation` behind SOI.
std::string WithExif(const std::string& jpeg, char orientation) {
  std::string tiff("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18);
  tiff.push_back(orientation);
  tiff.append(7, '\0');
  const std::string payload = absl::StrCat(std::string("Exif\0\0", 6), tiff);
  std::string segment("\xFF\xE1\0", 3);
  segment.push_back(static_cast<char>(payload.size() + 2));
  return absl::StrCat(jpeg.substr(0, 2), segment, payload, jpeg.substr(2));
}

TEST(JpegDecoderTest, IgnoresExif) {
  const std::string jpeg = TestJpeg(16, 24);
  ASSERT_OK_AND_ASSIGN(const PixelImage plain, DecodeImage(jpeg));
  for (char orientation = 1; orientation <= 9; ++orientation) {
    const std::string turned = WithExif(jpeg, orientation);
    ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(turned));
    EXPECT_EQ(header.height, 16);
    EXPECT_EQ(header.width, 24);
    ASSERT_OK_AND_ASSIGN(const PixelImage image, DecodeImage(turned));
    EXPECT_EQ(image.pixels(), plain.pixels());
  }
}

TEST(JpegDecoderTest, MissingEndMarkerAloneIsNoDamage) {
  for (const JpegOptions& kind : AllKinds()) {
    // Whose decoder can't tell where the data end.
    if (kind.arithmetic) continue;
    const std::string jpeg = TestJpeg(37, 41, 2, kind);
    ASSERT_OK_AND_ASSIGN(const PixelImage complete, DecodeImage(jpeg));
    for (const size_t missing : {1, 2}) {
      ASSERT_OK_AND_ASSIGN(const PixelImage image,
                           DecodeImage(jpeg.substr(0, jpeg.size() - missing)));
      EXPECT_EQ(image.pixels(), complete.pixels());
    }
  }
}

TEST(JpegDecoderTest, EveryShorterPrefixIsTruncated) {
  for (const JpegOptions& kind : AllKinds()) {
    const std::string jpeg = TestJpeg(37, 41, 2, kind);
    for (size_t size = 8; size + 2 < jpeg.size(); ++size) {
      EXPECT_THAT(
          DecodeImage(jpeg.substr(0, size)),
          StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated JPEG")))
          << size << " of " << jpeg.size();
    }
  }
}

TEST(JpegDecoderTest, TruncationIsFoundBelowTheRegionToo) {
  const std::string jpeg = TestJpeg(200, 100);
  EXPECT_THAT(
      DecodeImage(jpeg.substr(0, jpeg.size() / 2), 3, Region{0, 0, 8, 8}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")));
}

TEST(JpegDecoderTest, FlippedBytesGiveAnImageOrAnErrorWithoutAWord) {
  testing::internal::CaptureStderr();
  for (const JpegOptions& kind : AllKinds()) {
    const std::string jpeg = TestJpeg(17, 23, 0, kind);
    for (size_t i = 0; i < jpeg.size(); ++i) {
      std::string damaged = jpeg;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      const absl::StatusOr<PixelImage> image = DecodeImage(damaged);
      if (!image.ok()) {
        EXPECT_EQ(image.status().code(), absl::StatusCode::kDataLoss)
            << image.status();
      }
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(JpegDecoderTest, TablesOfOneImageAreNotUsedForTheNext) {
  const std::string jpeg = TestJpeg(16, 16);
  // Without its quantisation tables.
  std::string without = jpeg;
  for (size_t at = without.find("\xFF\xDB"); at != std::string::npos;
       at = without.find("\xFF\xDB")) {
    const size_t length = static_cast<uint8_t>(without[at + 2]) << 8 |
                          static_cast<uint8_t>(without[at + 3]);
    without.erase(at, length + 2);
  }
  JpegDecoder decoder;
  PixelImage out(16, 16, 3);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(jpeg));
  const DecodeRequest whole = {.region = {0, 0, 16, 16}};
  ASSERT_OK(decoder.Decode(jpeg, header, whole, out.view()));
  EXPECT_THAT(
      decoder.Decode(without, header, whole, out.view()),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("Quantization table")));
  EXPECT_OK(decoder.Decode(jpeg, header, whole, out.view()));
}

TEST(JpegDecoderTest, ScaleShrinksByTheTransform) {
  const std::string jpeg = TestJpeg(37, 50, 0, {.gray = true});
  JpegDecoder decoder;
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(jpeg));
  ASSERT_OK_AND_ASSIGN(const PixelImage full, DecodeImage(jpeg, 1));
  for (const int scale : {2, 4, 8}) {
    const int height = (37 + scale - 1) / scale;
    const int width = (50 + scale - 1) / scale;
    PixelImage out(height, width, 1);
    ASSERT_OK(decoder.Decode(jpeg, header,
                             {.region = {0, 0, height, width}, .scale = scale},
                             out.view()));
    PixelImage corner(1, 1, 1);
    ASSERT_OK(decoder.Decode(
        jpeg, header, {.region = {height - 1, width - 1, 1, 1}, .scale = scale},
        corner.view()));
    EXPECT_EQ(corner.at(0, 0), out.at(height - 1, width - 1));
  }
}

TEST(JpegDecoderTest, SecondPictureBehindTheFirstIsNotLookedAt) {
  const std::string first = TestJpeg(16, 24);
  ASSERT_OK_AND_ASSIGN(const PixelImage alone, DecodeImage(first));
  const std::string second = TestJpeg(8, 8, 3);
  ASSERT_OK_AND_ASSIGN(
      const PixelImage image,
      DecodeImage(first + second.substr(0, second.size() / 2)));
  EXPECT_THAT(image.pixels(), ElementsAreArray(alone.pixels()));
}

// Bytes that the process has allocated and not freed.
int64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

TEST(JpegDecoderTest, FailuresLeaveNoMemoryBehind) {
  // Fails inside libjpeg, after it has taken its memory.
  std::string jpeg = TestJpeg(64, 64, 0, {.progressive = true});
  const size_t table = jpeg.rfind("\xFF\xC4");
  jpeg[table + 5] = '\xFF';
  ASSERT_THAT(DecodeImage(jpeg), StatusIs(absl::StatusCode::kDataLoss,
                                          HasSubstr("Huffman table")));
  JpegDecoder decoder;
  PixelImage out(64, 64, 3);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(jpeg));
  int64_t after_warm_up = 0;
  for (int i = 0; i < 20000; ++i) {
    ASSERT_FALSE(
        decoder.Decode(jpeg, header, {.region = {0, 0, 64, 64}}, out.view())
            .ok());
    if (i == 1000) after_warm_up = AllocatedBytes();
  }
  EXPECT_LT(AllocatedBytes() - after_warm_up, 10000);
}

}  // namespace
}  // namespace millrace::augment
