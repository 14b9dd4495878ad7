#include "augment/resample.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::AnyOf;
using testing::Each;

PixelImage Resized(const ConstImageView& source, int height, int width) {
  PixelImage target(height, width, source.channels, 99);
  ResampleScratch scratch;
  EXPECT_OK(Resample(source, target.view(), &scratch));
  return target;
}

TEST(ResampleTest, GivesPillowsBytes) {
  PixelImage source = PixelImage::Test(48, 64);
  EXPECT_EQ(Resized(source.view(), 24, 32).Crc(), 0x238d9dd7);
  EXPECT_EQ(Resized(source.view(), 96, 128).Crc(), 0x18bbaac2);
  EXPECT_EQ(Resized(source.view(), 30, 40).Crc(), 0x132d0c4a);
  EXPECT_EQ(Resized(source.view().Crop({5, 7, 30, 40}), 224, 224).Crc(),
            0x9ab5c9c6);
}

TEST(ResampleTest, EqualSizeIsACopy) {
  PixelImage source = PixelImage::Test(7, 9);
  EXPECT_EQ(Resized(source.view(), 7, 9).pixels(), source.pixels());
}

TEST(ResampleTest, ConstantImagesStayConstant) {
  for (const int value : {0, 1, 127, 254, 255}) {
    PixelImage source(13, 29, 3, static_cast<uint8_t>(value));
    for (const int size : {1, 2, 12, 13, 14, 100}) {
      EXPECT_THAT(Resized(source.view(), size, 2 * size).pixels(), Each(value));
    }
  }
}

TEST(ResampleTest, CheckerboardBecomesGreyWhenShrunk) {
  PixelImage source(64, 64, 1);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      source.view().row(y)[x] = (x + y) % 2 == 0 ? 0 : 255;
    }
  }
  PixelImage shrunk = Resized(source.view(), 16, 16);
  for (int y = 1; y < 15; ++y) {
    for (int x = 1; x < 15; ++x) {
      EXPECT_THAT(shrunk.at(y, x), AnyOf(127, 128)) << y << ", " << x;
    }
  }
}

TEST(ResampleTest, PixelsOutsideOfABoxAreNotSeen) {
  PixelImage source = PixelImage::Test(40, 50);
  const Region box = {3, 4, 20, 30};
  PixelImage copy(box.height, box.width, 3);
  CopyImage(source.view().Crop(box), copy.view());
  for (const int size : {5, 20, 64}) {
    EXPECT_EQ(Resized(source.view().Crop(box), size, size).pixels(),
              Resized(copy.view(), size, size).pixels());
  }
}

TEST(ResampleTest, ScratchIsKeptAndDoesNotChangeResults) {
  PixelImage large = PixelImage::Test(60, 80);
  PixelImage small = PixelImage::Test(9, 5);
  PixelImage target(20, 20, 3);
  ResampleScratch scratch;
  ASSERT_OK(Resample(large.view(), target.view(), &scratch));
  const uint32_t crc = target.Crc();
  const int64_t bytes = scratch.ByteCount();
  EXPECT_GT(bytes, 0);
  ASSERT_OK(Resample(small.view(), target.view(), &scratch));
  EXPECT_EQ(target.Crc(), Resized(small.view(), 20, 20).Crc());
  ASSERT_OK(Resample(large.view(), target.view(), &scratch));
  EXPECT_EQ(target.Crc(), crc);
  EXPECT_EQ(scratch.ByteCount(), bytes);
}

}  // namespace
}  // namespace millrace::augment
