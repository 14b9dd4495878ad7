#include "augment/image_header.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::pair<std::string, ImageFormat>>& Formats() {
  static const auto* const formats =
      new std::vector<std::pair<std::string, ImageFormat>>{
          {".jpg", ImageFormat::kJpeg}, {".png", ImageFormat::kPng},
          {".bmp", ImageFormat::kBmp},  {".ppm", ImageFormat::kPnm},
          {".tif", ImageFormat::kTiff}, {".webp", ImageFormat::kWebp}};
  return *formats;
}

TEST(ReadImageHeaderTest, KnowsFormatsByTheirBytes) {
  for (const auto& [suffix, format] : Formats()) {
    ASSERT_OK_AND_ASSIGN(const ImageHeader header,
                         ReadImageHeader(TestImage(suffix, 37, 53)));
    EXPECT_EQ(header.format, format) << suffix;
    EXPECT_EQ(header.height, 37) << suffix;
    EXPECT_EQ(header.width, 53) << suffix;
    EXPECT_EQ(header.channels, 3) << suffix;
  }
}

TEST(ReadImageHeaderTest, EmptyAndShortFilesAreNamedSo) {
  EXPECT_THAT(ReadImageHeader(""),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("empty file")));
  for (const char* bytes : {"\xFF", "\xFF\xD8", "\x89PNG\r\n\x1A"}) {
    EXPECT_THAT(ReadImageHeader(bytes),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("too short")));
  }
}

TEST(ReadImageHeaderTest, UnknownFormatShowsItsBytes) {
  EXPECT_THAT(ReadImageHeader("GIF89a--"),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("known format"),
                             HasSubstr("47 49 46 38 39 61 2d 2d"))));
  EXPECT_THAT(ReadImageHeader("<html></html>"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("3c 68")));
}

TEST(ReadImageHeaderTest, EveryPrefixGivesTheSizeOrAnError) {
  for (const auto& [suffix, format] : Formats()) {
    const std::string bytes = TestImage(suffix, 37, 53);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // A copy, so that a sanitizer sees reads behind its end.
      const auto header = ReadImageHeader(bytes.substr(0, size));
      if (header.ok()) {
        EXPECT_EQ(header->height, 37);
        EXPECT_EQ(header->width, 53);
      } else {
        EXPECT_EQ(header.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

TEST(ReadImageHeaderTest, ProgressiveJpegNeedsMemoryForCoefficients) {
  ASSERT_OK_AND_ASSIGN(const ImageHeader baseline,
                       ReadImageHeader(TestJpeg(64, 64)));
  EXPECT_EQ(baseline.working_bytes, 0);
  ASSERT_OK_AND_ASSIGN(
      const ImageHeader progressive,
      ReadImageHeader(TestJpeg(64, 64, 0, {.progressive = true})));
  EXPECT_EQ(progressive.working_bytes, 64 * 64 * 3 * 2);
}

TEST(ReadImageHeaderTest, ReadsBitmapsWithTheTopRowFirst) {
  std::string bmp = TestImage(".bmp", 3, 5);
  bmp.replace(22, 4, "\xFD\xFF\xFF\xFF", 4);
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(bmp));
  EXPECT_EQ(header.height, 3);
}

TEST(ReadImageHeaderTest, ImpossibleSizesAreDamage) {
  std::string png = TestImage(".png", 3, 5);
  png.replace(16, 4, 4, '\0');
  EXPECT_THAT(ReadImageHeader(png),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("3 x 0")));
  png.replace(16, 4, 4, '\xFF');
  EXPECT_THAT(ReadImageHeader(png),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4294967295")));
}

TEST(ReadImageHeaderTest, AnimatedWebpIsRefused) {
  std::string webp("RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\x02\0\0\0\x09\0\0\x04\0\0",
                   30);
  EXPECT_THAT(ReadImageHeader(webp),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("animated")));
  webp[20] = 0x10;
  ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(webp));
  EXPECT_EQ(header.height, 5);
  EXPECT_EQ(header.width, 10);
  EXPECT_EQ(header.channels, 4);
}

}  // namespace
}  // namespace millrace::augment
